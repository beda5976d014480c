"""Models that label pairs of sentences, or texts."""
