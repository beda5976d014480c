"""One program per rule, named as the rule: parse, call the library, write."""

import os

from seedbed import devices

devices.claim(os.environ)  # before a program imports what looks for GPUs
