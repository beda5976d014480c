"""One program per rule, named as the rule: parse, call the library, write."""

import gc
import os
import sys

from seedbed import devices
from seedbed.io import UserError

try:
    devices.claim(os.environ)  # before a program imports what looks for GPUs
except UserError as error:
    sys.exit(f"error: {error}")
if sys.argv[0] == "-m":  # a program, which `cli.run` starts
    gc.disable()  # imports leave no garbage, and looking for it is a fifth of them
