"""One English translation of each text, chosen among several."""
