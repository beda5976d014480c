"""Figures of tables."""
