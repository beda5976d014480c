"""A static copy: a vector for each token, and a text is their mean; no transformer is left."""

from pydantic import Field

from seedbed.encoders.objectives import Copy


class Condensed(Copy):
    """The encoder's vectors of single tokens, reduced by principal components, weighted by frequency, and averaged.

    Source: Tulkens and van Dongen (2024, "Model2Vec: fast state-of-the-art static embeddings"), with the weights of
    Arora et al. (2017, "A simple but tough-to-beat baseline for sentence embeddings"), equation 1, from the texts.

        recipes:
          xllora-static: {from: xllora, data: {corpus: text}, objective: {condensed: {dimensions: 256}}}
    """

    dimensions: int = Field(256, gt=0)
    """Numbers of a vector."""
    whiten: bool = True
    """Give all components the same variance: a few of them, which all tokens share, would drown the rest."""
    smoothing: float = Field(1e-4, gt=0)
    """a of the weight a / (a + p) of a token with the share p of all tokens of the texts."""
    least_count: int = Field(1, ge=1)
    """A token has a vector that stands so often in the texts; letters have one anyway."""

    def copied(self, encoder, texts, folders):
        """See `encoders.compression.copies.condensed`."""
        from seedbed.encoders.compression.copies import condensed

        given = {
            "dimensions": self.dimensions,
            "smoothing": self.smoothing,
            "whiten": self.whiten,
            "least": self.least_count,
        }
        return condensed(encoder, texts, **given)
