"""What all tests have in common, set before anything imports a library that reads it."""

import gc
import os

import pytest
from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"
# Imports and collected tests leave no garbage; to look for it was a twentieth of all time.
gc.set_threshold(100_000, 50)
# As jobs have it: programs of all tests are then forks of the same server, see `tests.warm`.
os.environ["TQDM_MININTERVAL"] = "5"
# Threads that read a tiny model's weights take as long again as reading them.
os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
# Tests run side by side, one on each core: further threads of a test would wait for each other, and spin meanwhile.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The first call into torch takes seconds on a busy machine, and hypothesis allows a fifth of one.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="module", autouse=True)
def _stays() -> None:
    """What is there before a file's tests stays; each training collects garbage, for half a second if it looked there."""
    gc.collect()
    gc.freeze()
