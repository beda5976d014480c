"""Settings of the measurement of cost. A module of its own: no score depends on it."""

from pydantic import Field

from seedbed.encoders.settings import Reference
from seedbed.settings import Once, Settings


class Compute(Settings):
    """What labels cost by fine-tuning, by the nearest texts and in context: operations and seconds (MINERS, table 4).

    It changes no result.
    """

    task: str
    """The knn or icl task whose training and test set are labelled; an icl task also says how a label is asked for."""
    language: str
    """Language of the test set."""
    encoder: Reference
    """The encoder that finds the nearest texts, which are the examples in prompts too."""
    fine_tuned: str = ""
    """The backbone that is fine-tuned with a head; left out, the encoder's."""
    classifiers: Once[str] = []
    """Names under `classifiers` that learn in context; each is measured with all its examples."""
    epochs: int = Field(10, gt=0)
    """Epochs of fine-tuning, n_epoch of the formula (MINERS: 10)."""
    batch_size: int = Field(8, gt=0)
    """Texts of a step of fine-tuning (MINERS: 8)."""
    dev: int = Field(0, ge=0)
    """|D_dev|: texts of a development set, which fine-tuning reads after each epoch; they cost as training texts do."""
    sample: int = Field(64, gt=0)
    """Texts that the encoder and fine-tuning are counted on, and that fine-tuning is timed on; scaled to the sets."""
    queries: int = Field(16, gt=0)
    """Test texts that each language model is counted and timed on; scaled to the test set."""
    repeats: int = Field(3, gt=0)
    """Timed runs, after one that is not."""

    @property
    def learner(self) -> str:
        """The backbone that is fine-tuned."""
        return self.fine_tuned or self.encoder.backbone
