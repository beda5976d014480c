"""What a study will cost."""
