"""No test reaches the hub, set before anything imports a library that reads it; and none fails for being slow once."""

import os

from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"

# The first call into torch takes seconds on a busy machine, and hypothesis allows a fifth of one.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
