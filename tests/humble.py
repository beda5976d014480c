"""A program without the rights of root: what may not be written, it cannot write."""

from __future__ import annotations

import ctypes

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


def humble() -> None:
    """Give up, before a program begins, what lets root read and write any file; whoever is not root has it not."""
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
