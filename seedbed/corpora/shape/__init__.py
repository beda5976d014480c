"""What a text, a label, a question has to be."""
