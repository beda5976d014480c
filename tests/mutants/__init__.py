"""Planted bugs: `python -m tests.mutants` puts each into a copy of the project, and a test must see it."""
