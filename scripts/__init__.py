"""One program per rule, with the rule's name: its arguments, a `Job`, and `main`, which calls the library and writes
files.
"""
