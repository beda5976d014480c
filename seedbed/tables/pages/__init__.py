"""Pages in Markdown and parts of the report: tables, neighbours, triplets."""
