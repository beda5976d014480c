"""Generation by language models: prompts, back ends, and caches of completions."""
