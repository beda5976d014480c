"""One program per rule, named as the rule: parse, call the library, write."""
