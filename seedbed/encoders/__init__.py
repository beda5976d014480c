"""Room: sentence encoders."""
