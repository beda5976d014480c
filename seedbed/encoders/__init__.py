"""Room: sentence encoders: pooling, losses, training."""
