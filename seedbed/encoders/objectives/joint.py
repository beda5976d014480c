"""Joint alignment: parallel adapters of the encoders of all languages are trained together."""

from collections.abc import Mapping

from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import Training


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

    def misfit(self, training, *, several=False, two_texts=False):
        """As `Objective.misfit`: batches are whole, of several languages, and encoders as they are."""
        if isinstance(training.batches, Mapping):
            return "batches: shares are of batches in one language; set `sets`, or `mixed`"
        for name in ("mini_batch", "distinct"):
            if getattr(training, name):
                return f"{name}: batches of aligned languages are whole and in order; leave it out"
        for name in ("dropout", "gradient_checkpointing", "mlm_weight"):
            if getattr(training, name) != Training.model_fields[name].default:
                return f"{name}: a joint training takes encoders as they are; leave it out"
        return ""
