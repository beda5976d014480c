"""Classifiers: models that label texts or pairs of sentences."""
