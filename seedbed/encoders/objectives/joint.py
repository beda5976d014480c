"""Alignment of the encoders of all languages with each other, by adapters that learn together."""

from __future__ import annotations

from seedbed.encoders.objectives import Objective


class Joint(Objective):
    """`losses.simcse` on rows whose sentences are in different languages, at `training.temperature`.

    Each sentence is read by the encoder of its own language, which stays as it is but for its parallel adapters; those
    of all languages learn together. A batch has six languages at most. Source: paper 004, table 6;
    docs/papers/modular.md.

        corpora: {others: {paraphrases: {kind: paraphrases, file: "own/{lang}.paraphrases.tsv"}}}
        recipes:
          together:
            from: multi-m
            data: {corpus: paraphrases}
            objective: joint
            training: {part: adapter, adapter: parallel, learning_rate: 1.0e-4, epochs: 1}
    """

    shapes = (("anchor", "positive", "negative"), ("anchor", "positive"), ("sentence1", "sentence2"))
    least = 2
    partial = True
    together = True

    pivot: bool = False
    """Whether the encoder of the pivot language has adapters too; else it stays as it is, and others come to it."""
