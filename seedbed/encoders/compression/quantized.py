"""A copy in integers of 8 bits, which onnxruntime runs: a quarter of the bytes, and faster on a CPU."""

from seedbed.encoders.objectives import Copy


class Quantized(Copy):
    """Weights of the transformer as integers of 8 bits.

    What they are multiplied with is so too, with a scale for each text.

        recipes:
          xllora-int8: {from: xllora-trimmed, data: {corpus: text}, objective: quantized}
    """

    def copied(self, encoder, texts, folders):
        """See `encoders.compression.onnx_int8.quantized`; the texts only say what is lost."""
        from seedbed.encoders.compression.copies import require_plain
        from seedbed.encoders.compression.onnx_int8 import quantized

        require_plain(encoder)
        return quantized(encoder)
