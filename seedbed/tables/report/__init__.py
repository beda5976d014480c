"""The report of a study: its best encoders, claims, tables, figures and texts on one page."""
