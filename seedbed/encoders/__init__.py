"""Encoders: sentence encoders, their training, loading and compression."""
