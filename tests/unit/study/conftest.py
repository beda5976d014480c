"""Two studies that the graph is asked about: one of every kind of thing, and the paper's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from seedbed.study.model import Study
from tests.asking import TOLD, asking, study_of

Ask = Callable[..., Any]


@pytest.fixture(scope="session")
def told() -> Study:
    return study_of(TOLD)


@pytest.fixture(scope="session")
def ask(told: Study) -> Ask:
    return asking(told)


@pytest.fixture(scope="session")
def paper() -> Study:
    return study_of("config.yaml")
