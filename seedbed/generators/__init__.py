"""Generators: language models and their adapters."""
