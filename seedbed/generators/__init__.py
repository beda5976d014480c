"""Room: language models and their adapters."""
