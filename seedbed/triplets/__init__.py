"""Room: synthetic triplets: shards, joining, audit."""
