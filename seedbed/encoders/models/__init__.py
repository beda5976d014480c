"""Models: sentence-transformers modules of Seedbed's encoders, and loading encoders from folders."""
