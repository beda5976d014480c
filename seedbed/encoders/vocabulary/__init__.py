"""Vocabulary replacement: a new tokenizer for a backbone, and word embeddings for its tokens (FOCUS)."""
