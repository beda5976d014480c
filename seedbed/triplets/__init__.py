"""Synthetic triplets: generating them in shards, joining the shards, and auditing them."""
