"""What all tests have in common, set before anything imports a library that reads it."""

import gc
import os

from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"
# Tests run side by side, one on each core: further threads of a test would wait for each other, and spin meanwhile.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The first call into torch takes seconds on a busy machine, and hypothesis allows a fifth of one.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_collection_finish() -> None:
    """What is there before the first test stays; each training collects garbage, for half a second if it looked there."""
    gc.collect()
    gc.freeze()
