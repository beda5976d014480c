"""What of the state is stale, and that nothing else is."""

from dataclasses import replace

import pytest

from seedbed.checkpoints import RECORD, own_state
from seedbed.encoders.models.digests import embeddings_folder
from seedbed.generators.writing.journal import ANSWERS
from seedbed.io import write_json
from seedbed.operations.jobs import Job
from seedbed.operations.stale_files import listing, remove, stale
from tests.programs import told


@pytest.fixture
def killed(tmp_path):
    """A job that was killed, its state, and the state's folder."""
    state = tmp_path / "state"
    value = told("train_encoder", f"--training.epochs 2 --state {state} --output enc/1")
    job = Job("train_encoder", {}, value, ("enc/1/seedbed.json",))
    with pytest.raises(KeyboardInterrupt), own_state(state, "enc/1/seedbed.json", job.arguments) as folder:
        (folder / "abc").mkdir()
        (folder / "abc" / "weights").write_bytes(b"0" * 2000)
        raise KeyboardInterrupt
    return job, state, folder


def test_state_of_a_job_that_is_to_do_is_kept(killed):
    job, state, folder = killed
    assert stale(state, [job]) == []
    assert "nothing is stale" in listing([], state) and folder.is_dir()


def test_state_of_done_changed_and_unknown_jobs_is_stale(killed):
    job, state, folder = killed
    cases = {
        "its job is done": [replace(job, todo=False)],
        "its settings have changed": [replace(job, value=job.value | {"training": {"epochs": 3}})],
        "not in this study": [],
    }
    for why, jobs in cases.items():
        (found,) = stale(state, jobs)
        assert (found.path, found.output, found.why) == (folder, "enc/1/seedbed.json", why)
        assert found.size > 2000
    page = listing(stale(state, []), state)
    assert "2 KiB" in page and f"{folder.name}  not in this study: enc/1/seedbed.json" in page


def test_what_has_no_record_is_found_by_no_job(killed):
    job, state, folder = killed
    (state / "old.jsonl").write_text("{}\n")
    (folder / RECORD).write_text("{")
    assert {one.path.name for one in stale(state, [job])} == {"old.jsonl", folder.name}


def test_embeddings_are_kept_as_long_as_their_encoder(tmp_path):
    state, manifest = tmp_path / "state", {"files": {"model.safetensors": "a"}}
    write_json(manifest, tmp_path / "encoders/b/base/mul/0/seedbed.json")
    write_json(manifest, tmp_path / "encoders/b/weights/seedbed.json")
    for files in ("a", "b"):
        embeddings_folder(state, {"files": {"model.safetensors": files}}).mkdir(parents=True)
    (found,) = stale(state, [])
    assert (
        found.path == embeddings_folder(state, {"files": {"model.safetensors": "b"}})
        and found.why == "of no encoder with this code and these libraries"
    )


def test_what_a_server_answered_is_never_listed(tmp_path):
    (tmp_path / "state" / ANSWERS / "abc").mkdir(parents=True)
    (tmp_path / "state" / ANSWERS / "abc" / "journal.jsonl").write_text("{}\n")
    assert stale(tmp_path / "state", []) == []


def test_what_is_removed_is_what_was_listed(killed):
    job, state, folder = killed
    (state / "old.jsonl").write_text("{}\n")
    remove(stale(state, [job]))
    assert [path.name for path in state.iterdir()] == [folder.name]
    remove(stale(state, []))
    assert not list(state.iterdir())


def test_there_need_be_no_state(tmp_path):
    assert stale(tmp_path / "state", []) == []
