"""Vectors: exact nearest-neighbour search and the cache of embeddings. Imports no other package of Seedbed."""
