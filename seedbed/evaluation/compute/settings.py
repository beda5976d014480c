"""Settings of the cost measurement, in their own module because no score depends on them."""

from pydantic import Field

from seedbed.classifiers.settings import InContext
from seedbed.encoders.settings import Reference
from seedbed.generators.settings import Generator
from seedbed.settings import Once, Settings


class Compute(Settings):
    """What labels cost by fine-tuning, by the nearest texts and in context: operations and seconds (MINERS, table 4).

    It changes no result.
    """

    task: str
    """The knn or icl task whose sets are labelled."""
    language: str
    """Language of the test set."""
    encoder: Reference
    """The encoder that retrieves neighbours and examples."""
    fine_tuned: str = ""
    """The backbone that is fine-tuned; left out, the encoder's."""
    classifiers: Once[str] = []
    """In-context classifiers to measure."""
    epochs: int = Field(10, gt=0)
    """Epochs of fine-tuning (MINERS: 10)."""
    batch_size: int = Field(8, gt=0)
    """Texts of a step of fine-tuning (MINERS: 8)."""
    dev: int = Field(0, ge=0)
    """|D_dev|: texts of a development set read after each epoch."""
    sample: int = Field(64, gt=0)
    """Texts that encoder and fine-tuning are counted and timed on, then scaled."""
    queries: int = Field(16, gt=0)
    """Test texts that language models are counted and timed on, then scaled."""
    repeats: int = Field(3, gt=0)
    """Timed runs, after one untimed."""

    @property
    def learner(self) -> str:
        """The backbone that is fine-tuned."""
        return self.fine_tuned or self.encoder.backbone


class Learner(Settings):
    """A language model with in-context learning."""

    generator: Generator
    in_context: InContext
