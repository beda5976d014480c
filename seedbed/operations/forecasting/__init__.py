"""Forecasts of a study's cost."""
