"""What language models write: prompts, who runs them, and what is kept of it."""
