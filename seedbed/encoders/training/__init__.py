"""Training of encoders."""
