"""Training losses of encoders: functions of sentence vectors, and modules that apply them to tokenised texts."""

from seedbed.encoders.losses.contrastive import simcse

__all__ = ["simcse"]
