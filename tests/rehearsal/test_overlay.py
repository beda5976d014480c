"""What a rehearsal changes of a study is sizes alone, which is checked against the study as it is shipped."""

from pathlib import Path

import pytest
import yaml

from seedbed.config import load
from tests.rehearsal.run import OVERLAY

SIZES = {
    "anchors": {"count"},
    "generators/*": {"shard_rows"},
    "generators/*/lora": {"examples", "epochs", "batch_size"},
    "generators/*/sampling": {"max_new_tokens"},
    "recipes/*": {"rows"},
    "training": {"epochs", "batch_size"},
    "statistics": {"resamples"},
}
"""Group of settings -> its keys that are sizes."""
MACHINE = {"generators/gemma-3-27b/backend": "transformers", "generators/gemma-3-27b/lora/quantization": "none"}
"""What a machine without GPUs runs in the place of vLLM and bitsandbytes."""


def leaves(group, path=""):
    for key, value in group.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{path}{key}/")
        else:
            yield path + key, value


def merged(config, changes):
    both = {**config, **changes}
    for key in config.keys() & changes.keys():
        if isinstance(config[key], dict) and isinstance(changes[key], dict):
            both[key] = merged(config[key], changes[key])
    return both


@pytest.fixture
def overlay():
    return yaml.safe_load(Path(OVERLAY).read_text())


def test_it_is_short():
    assert len(Path(OVERLAY).read_text().splitlines()) <= 30


def test_it_sets_sizes_alone(overlay):
    for path, value in leaves(overlay):
        if path in MACHINE:
            assert value == MACHINE[path]
            continue
        *parents, key = path.split("/")
        group = "/".join(
            [
                parents[0],
                *("*" if parents[0] in ("generators", "recipes") else part for part in parents[1:2]),
                *parents[2:],
            ]
        )
        assert key in SIZES[group] and isinstance(value, int), path


def test_the_study_has_all_that_it_changes(overlay):
    """So that nothing is added: no generator, no recipe."""
    config = yaml.safe_load(Path("config.yaml").read_text())
    for kind in ("generators", "recipes"):
        assert {*overlay.get(kind, {})} <= {*config[kind]}


def test_the_study_stays_what_it_was(overlay):
    """Languages, seeds, recipes, tasks, checks, sources and tables are those of the shipped study."""
    config = yaml.safe_load(Path("config.yaml").read_text())
    before, after = load(config), load(merged(config, overlay))
    for group in (
        "seeds",
        "languages",
        "corpora",
        "start",
        "classifiers",
        "backbones",
        "tasks",
        "audit",
        "cleaning",
        "tables",
    ):
        assert getattr(after, group) == getattr(before, group), group
    assert [*after.recipes] == [*before.recipes] and [*after.generators] == [*before.generators]
    assert after.anchors.model_copy(update={"count": before.anchors.count}) == before.anchors
