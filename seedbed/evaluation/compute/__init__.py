"""What classification costs: MINERS' table 4 as formulae, with counted operations and measured seconds."""
