"""Seedbed: sentence embeddings for low-resource languages.

Packages, in the order of the data: corpora -> generators -> triplets -> encoders -> classifiers -> evaluation ->
tables. None imports one to its right.
"""
