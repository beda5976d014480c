"""Room: tables, figures and the report."""
