"""Evaluation: protocols that score systems on tasks, and statistics of the differences between systems."""
