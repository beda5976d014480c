"""Adapters of language models: what they learn from, how, and what is said of them."""
