"""Ten steps of a training whose weights two ways of computing must agree on."""

from seedbed.encoders.settings import Training

STEPS = Training(
    pooling="mean",
    batch_size=12,
    steps=10,
    max_length=16,
    precision="float32",
    dropout=0.0,
    learning_rate=1e-4,
    epsilon=1e-6,  # Adam divides by it where a gradient is near 0: the last bit of such a gradient would be a step
)
