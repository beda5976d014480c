"""Corpora: reading text from any source, selecting sentences and pairs, and checking their form."""
