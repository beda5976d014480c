"""Room: sentences: sources, cleaning, language identification, anchors."""
