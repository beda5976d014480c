"""Joint alignment: parallel adapters of the encoders of all languages are trained together."""

from seedbed.encoders.objectives import Objective


class Joint(Objective):
    """`losses.simcse` of rows whose sentences are in different languages, at `training.temperature`.

    Each sentence is encoded by the encoder of its language, which is frozen but for its parallel adapters; the
    adapters of all languages are trained together. A batch has at most six languages. Source: paper 004, table 6;
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
