"""What a rehearsal changes of a study is sizes, and what this machine cannot have: checked against the study as shipped."""

import pytest

from seedbed.study.loading import load
from tests.rehearsal.cutting import PAPERS, merged, read

SIZES = {
    "anchors": {"count"},
    "seed_pairs": {"count"},
    "corpora/*": {"rows"},
    "corpora/*/paraphrases": {"rows"},
    "generators/*": {"shard_rows"},
    "generators/*/lora": {"examples", "epochs", "batch_size"},
    "generators/*/sampling": {"max_new_tokens"},
    "classifiers/*/reasoning": {"max_new_tokens"},
    "classifiers/*/fine_tuning": {"epochs"},
    "recipes/*/data": {"rows"},
    "recipes/*/training": {"epochs", "steps", "batch_size"},
    "recipes/*/objective/vocabulary": {"size", "dimensions", "bucket", "threads"},
    "recipes/*/objective/masked": {"steps", "batch_size", "length"},
    "tasks/*/train": {"rows"},
    "tasks/*/fine_tuning": {"epochs"},
    "tasks/*/reading": {"epochs", "warmup_steps"},
    "training": {"epochs", "batch_size"},
    "statistics": {"resamples"},
    "compute": {"dev", "sample", "queries", "epochs"},
}
"""Group of settings -> its keys that are sizes; what they are of stays."""
LARGE = ("gemma-3-27b", "llama-3.3-70b", "gemma-2-27b", "qwen3-32b", "r1-32b", "qwen2.5-72b")
MACHINE = {
    "generators/gemma-3-27b/lora/quantization": "none",
    **{f"generators/{name}/backend": "transformers" for name in LARGE},
}
"""What a machine without GPUs runs in the place of vLLM and bitsandbytes."""
NAMED = ("generators", "classifiers", "recipes", "backbones", "corpora", "tasks")


def leaves(group, path=""):
    for key, value in group.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{path}{key}/")
        else:
            yield path + key, value


def group_of(path):
    kind, *rest = path.split("/")[:-1]
    return "/".join([kind, *(["*", *rest[1:]] if kind in NAMED else rest)])


@pytest.fixture(params=PAPERS.values(), ids=list(PAPERS))
def paper(request):
    return request.param


@pytest.fixture
def sizes(paper):
    return read(paper.overlays[0])


def test_it_sets_sizes_alone(sizes):
    for path, value in leaves(sizes):
        if path in MACHINE:
            assert value == MACHINE[path]
        else:
            assert path.rpartition("/")[2] in SIZES[group_of(path)] and isinstance(value, int), path


def test_what_comes_to_it_is_made_and_not_left_out(paper):
    for file in paper.overlays[1:]:
        for path, value in leaves(read(file)):
            assert path.endswith("/on_request") and value is False, path


def test_the_study_stays_what_it_was(paper):
    """Languages, seeds, recipes, tasks, checks, sources and tables are those of the shipped study, and nothing is added."""
    config = read(paper.config)
    overlays = [read(file) for file in paper.overlays]
    before = dict(leaves(load(config).model_dump(mode="json")))
    after = dict(leaves(load(merged(config, *overlays)).model_dump(mode="json")))
    given = after.keys() - before.keys()  # an objective says what it is given alone
    assert all(path.startswith("recipes/") and path.split("/")[2] == "objective" for path in given)
    assert before.keys() - after.keys() <= {path.rpartition("/")[0] for path in given}
    changed = {path for path in before.keys() & after.keys() if before[path] != after[path]} | given
    ours = {path.rpartition("/")[2] for overlay in overlays for path, _ in leaves(overlay)}
    assert changed and {path.rpartition("/")[2] for path in changed} == ours
    for path in changed:  # a variant has what the one that it is like has
        *_, key = path.split("/")
        assert key in SIZES.get(group_of(path), ()) or key in ("backend", "quantization", "on_request"), path
