"""Prints the files of this project that importing a module runs, as JSON."""

import importlib
import json
import sys


def ours() -> list[str]:
    """Modules of this project that are imported."""
    return [name for name in sys.modules if name.partition(".")[0] in ("seedbed", "scripts")]


for name in ours():  # a fork of a process that has imported some, see `warm`
    del sys.modules[name]
importlib.import_module(sys.argv[1])
print(json.dumps([sys.modules[name].__file__ for name in ours()]))
