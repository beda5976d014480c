"""Another tokenizer for a backbone, and the rows of its tokens."""
