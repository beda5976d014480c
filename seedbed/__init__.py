"""Seedbed: sentence embeddings for low-resource languages, in six rooms.

corpora -> generators -> triplets -> encoders -> evaluation -> tables; no room imports one to its right.
"""
