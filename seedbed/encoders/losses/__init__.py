"""Losses of encoders in training: functions of vectors, and modules around them that read tokenised texts."""

from seedbed.encoders.losses.contrastive import simcse

__all__ = ["simcse"]
