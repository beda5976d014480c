"""Cost of classification: MINERS' table 4 as formulae, with counted operations and measured seconds."""
