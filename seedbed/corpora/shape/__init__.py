"""The form of texts, labels, questions and answers: normalising and checking them."""
