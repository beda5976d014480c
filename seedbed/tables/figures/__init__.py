"""Figures of tables: a file for each kind, whose `draw` takes what `plot.plot` takes, and one fact of each language."""
