"""The report, and the answer to the study's question."""
