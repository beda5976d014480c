"""Checks of a study beyond the types of its settings: one module for each thing that they look at."""
