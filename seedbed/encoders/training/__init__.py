"""Training of encoders: by an objective, by masked language modelling, and of joint adapters."""
