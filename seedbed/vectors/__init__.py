"""The ground floor: exact neighbours, and the store of embeddings. It knows nothing of the rooms above."""
