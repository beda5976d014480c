"""A copy with the tokens of some texts alone: the word embeddings of a multilingual encoder are most of its weights."""

from pydantic import Field

from seedbed.encoders.objectives import Copy


class Trimmed(Copy):
    """Tokens that the texts do not use leave tokenizer and word embeddings; letters of the texts stay as tokens.

    On the texts themselves the vectors are the encoder's to the last bit. A word of a dropped token is split into
    smaller ones. Source: Abdaoui et al. (2020, "Load what you need: smaller versions of multilingual BERT").

        recipes:
          base-trimmed: {data: {corpus: text}, objective: trimmed}
          xllora-trimmed: {from: xllora, data: {corpus: text}, objective: trimmed}
    """

    least_count: int = Field(1, ge=1)
    """A token stays that stands so often in the texts."""

    def copied(self, encoder, texts, folders):
        """See `encoders.compression.copies.trimmed`."""
        from seedbed.encoders.compression.copies import trimmed

        return trimmed(encoder, texts, least=self.least_count)
