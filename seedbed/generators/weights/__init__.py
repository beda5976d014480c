"""Weights of language models: fetched, made safe, opened."""
