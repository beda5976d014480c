"""One program per rule, named as the rule: its arguments, a `Job`, and `main`, which calls the library and writes."""
