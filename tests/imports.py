"""Prints the files of this project that importing a module runs, as JSON."""

import importlib
import json
import sys

importlib.import_module(sys.argv[1])
ours = (module for name, module in sys.modules.items() if name.partition(".")[0] in ("seedbed", "scripts"))
print(json.dumps([module.__file__ for module in ours]))
