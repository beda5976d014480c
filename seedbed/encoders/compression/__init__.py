"""Copies of an encoder that take less, or are of several seeds."""
