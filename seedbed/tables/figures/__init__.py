"""Figures of tables: one file for each kind, with a function `draw(data, spec, names)` that `plot.plot` calls."""
