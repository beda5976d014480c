"""The evaluation room: what encoders are worth, and which differences are real."""
