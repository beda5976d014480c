"""What other packages read from a manifest."""

from pathlib import Path

import pytest

from seedbed import manifests
from seedbed.io import UserError
from seedbed.manifests import trained_rows


@pytest.mark.parametrize(
    ("training", "rows"),
    [
        ({"examples": 30, "steps": 10, "batch_size": 4}, 30),
        ({"examples": 30, "steps": 4, "batch_size": 4}, 16),
        ({"examples": 30, "examples_read": 12, "steps": 4, "batch_size": 4}, 12),
        ({"examples": 30}, 30),
        ({"examples": 0, "steps": 0, "batch_size": 4}, 0),
        ({}, None),
    ],
)
def test_rows_are_those_that_batches_had(training, rows):
    assert trained_rows({"training": training}) == rows


def test_a_folder_that_no_job_wrote_is_told(tmp_path: Path):
    with pytest.raises(UserError, match=r"no seedbed\.json; expected the folder that a job wrote"):
        manifests.of(tmp_path)
