"""What a run is told by its profile, against Snakemake's own reading of it."""

from types import SimpleNamespace

from snakemake.cli import parse_set_resources

from seedbed.operations import runs


def test_several_gpus_of_a_profile_are_known_by_rule() -> None:
    given = ["train_encoder:gpu=4", "score:gpu=1", "judge:gpu=0", "judge:gres='gpu:4'", "translate:gpu=attempt * 2"]
    limits = SimpleNamespace(overwrite_resources=parse_set_resources(given))
    assert runs.gpus_given(SimpleNamespace(resource_settings=limits)) == {"train_encoder": 4}
