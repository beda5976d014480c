"""Pages of the report and Markdown of tables."""
