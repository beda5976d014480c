"""Saving an encoder as a sentence-transformers folder, with a manifest and a model card."""
