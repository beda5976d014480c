"""Training on monolingual pairs that preserves the encoder's cross-lingual similarities."""

from pydantic import Field

from seedbed.encoders.objectives import Objective
from seedbed.io import UserError

BATCH = 64
"""Sentences that are encoded at a time before training."""


class Retention(Objective):
    """`ranking` of monolingual pairs, plus translations that preserve the alignment with the pivot language.

    Training on pairs of a language moves its sentences, so that their translations are no longer retrieved. Here the
    pivot sentences follow: a batch's translations are trained to be as similar to each other's pivot sentences as the
    pivot sentences were among themselves before training, see `retention.similarity_distillation`. This objective is
    Seedbed's own; docs/results.md has its measured effect.

    The corpus has sets (docs/data.md): one is named in `translations`, with the pivot sentence in sentence1 and the
    language's in sentence2; all others are pairs. Without that set this is `ranking`. (A corpus of pairs has each
    sentence1 once. If sentence1 were the language's in all sets, translations of the running text would be dropped.)

        corpora:
          others:
            bootstrap:
              kind: matched_pairs
              sets:
                lines:
                  file: "own/{lang}.txt"
                  columns: {sentence1: text}
                  following: {columns: {sentence2: sentence1}}
                translations: {file: "own/{lang}.train.tsv", columns: {sentence1: pivot, sentence2: text}}
        recipes:
          retained: {data: {corpus: bootstrap}, objective: {retention: {scale: 50, weight: 2}}}
    """

    shapes = (("sentence1", "sentence2"),)
    optional = ("id",)  # which say of which set a row is
    least = 4
    mixed = True

    scale: float = Field(50.0, gt=0)
    """What cosines of pairs are multiplied by."""
    cutoff: float = Field(0.3, ge=0, lt=1)
    """Share of its tokens that each text of a pair loses in training, others each time (token cutoff)."""
    translations: str = "translations"
    """The set of the corpus that has translations."""
    temperature: float = Field(0.02, gt=0)
    """What cosines of translations are divided by."""
    weight: float = Field(2.0, gt=0)
    """Of the translations' loss, added to that of pairs."""

    def loss(self, encoder, table, training, folders):
        """Build a `RetentionLoss`; its teacher is the encoder before training.

        Raises:
            UserError: all rows are translations.
        """
        import torch

        from seedbed.encoders.losses.retention import RetentionLoss

        of_set = table["id"].astype(str).str.rpartition(":")[0] == self.translations
        translated = torch.tensor(of_set.tolist())
        if translated.all():
            raise UserError(f"retention: every row is of set {self.translations!r}; add a set of pairs")
        teacher = torch.zeros(len(table), encoder.get_embedding_dimension())
        if translated.any():
            pivot = table["sentence1"][of_set].tolist()
            vectors = encoder.encode(pivot, batch_size=BATCH, convert_to_tensor=True, show_progress_bar=False)
            teacher[translated] = vectors.float().cpu()
        settings = self.model_dump(include={"scale", "cutoff", "temperature", "weight"})
        return RetentionLoss(encoder, translated, teacher, **settings)
