"""Tables, figures, pages and the report of a study."""
