"""A copy whose weights are saved in bfloat16: half the bytes."""

from seedbed.encoders.objectives import Copy


class Halved(Copy):
    """Weights of the transformer rounded to bfloat16 (8 bits of precision).

    Whoever opens the copy computes in float32.

        recipes:
          xllora-half: {from: xllora, data: {corpus: text}, objective: halved}
    """

    def copied(self, encoder, texts, folders):
        """See `encoders.compression.copies.rounded`."""
        from seedbed.encoders.compression.copies import rounded

        return rounded(encoder)

    def stored(self, copy):
        """See `encoders.compression.copies.halved`."""
        from seedbed.encoders.compression.copies import halved

        return halved(copy)
