"""Settings of the audit of triplets."""

from pydantic import Field

from seedbed.settings import Once, Settings


class Audit(Settings):
    """Checks that each triplet must pass before training; each has a value at which it is off."""

    finished: bool = True
    """Drop completions cut by the length limit (paper 000's code does not)."""
    language_id: bool = True
    """Drop a row of which a text is not in its language."""
    script_share: float = Field(0.7, ge=0, le=1)
    """Least share of letters in the expected script."""
    other_script: bool = True
    """Drop a text with a word, or two letters in a row, in a script that is neither the expected one nor Latin."""
    latin_words: float = Field(1.0, ge=0, le=1)
    """Greatest share of Latin words in a text of another script; 1: not checked."""
    foreign_words: float = Field(0.0, ge=0, lt=1)
    """Drop a text with a word that the other language makes far likelier; the threshold would drop this share of the
    language's own sentences. 0: not checked."""
    unlikely_words: float = Field(0.0, ge=0, lt=1)
    """Drop a text with an unknown word of improbable spelling; a share as in `foreign_words`. 0: not checked."""
    length_ratio: float = Field(8.0, gt=1)
    """Greatest ratio of characters of anchor and target, either way."""
    max_repetition: float = Field(0.5, gt=0, le=1)
    """Greatest share of one word among the words of a text of six words or more."""
    refusals: Once[str] = [
        "as an ai", "i cannot", "i can't", "i'm sorry", "i am sorry", "here is", "here's", "sure,", "sure!",
        "certainly", "premise:", "entailment", "contradiction", "hypothesis", "output:", "input:", "okay, here",
    ]  # fmt: skip
    """A text that starts so is a refusal, a preamble or an echo of the prompt."""
    max_lost: float = Field(0.98, gt=0, le=1)
    """The job fails if a greater share of rows is dropped."""
    min_rows: int = Field(16, ge=0)
    """The job fails if fewer rows are left. 0 and `max_lost: 1` let none be left; see `training.allow_untrained`."""

    @property
    def reads_pivot(self) -> bool:
        """Whether a check needs sentences of the pivot language."""
        return self.language_id or self.reads_words

    @property
    def reads_words(self) -> bool:
        """Whether a check judges single words."""
        return self.foreign_words > 0 or self.unlikely_words > 0
