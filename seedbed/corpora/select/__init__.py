"""Which texts are taken: by language, by what is no test set's, by a draw."""
