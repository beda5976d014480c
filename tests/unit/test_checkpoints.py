"""State of killed jobs: whose it is, and that nothing with another result ever finds it."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts import synthesise, train_encoder
from scripts.cli import Fetching
from seedbed.checkpoints import RECORD, last_complete, own_state, place
from seedbed.classifiers import tuning
from seedbed.encoders import objectives
from seedbed.encoders.settings import Training
from seedbed.encoders.training import train
from seedbed.encoders.tuning_settings import FineTuning
from seedbed.generators.lora import training
from seedbed.generators.lora.data import Example
from seedbed.generators.settings import Generator, Lora, Sampling
from seedbed.generators.writing.journal import journal_name
from seedbed.locks import held_since
from seedbed.manifests import digest_of

TEXTS = {"anchor": ["a", "b"], "positive": ["c", "d"]}
EXAMPLES = [Example([1, 2], [3]), Example([1], [4])]
TUNING = FineTuning()
GENERATOR = Generator.model_validate({"source": {"file": "x"}, "dtype": "bfloat16"})

NOT_OF_A_COMPLETION = {"like", "lora", "composition", "task_adapters", "language_data", "language_text", "language_loss", "xllora", "adapters", "triplets",
                       "shots", "shard_rows"}  # fmt: skip
"""Settings of a generator that reach its completions through their prompts and adapters alone, which have digests."""
SERVED = {"backend": "openai", "source": {"file": "x"}, "endpoint": "https://host/v1", "served_model": "m"}
"""A generator whose weights are known, wherever they run."""


def other(value: Any) -> Any:
    """Another value; validity does not matter, only that a key sees it."""
    if isinstance(value, dict):
        return value | {"other": True}
    return "other" if value is None or isinstance(value, str) else [*value, 1] if isinstance(value, list) else value + 1


def changed(settings: Any) -> list[tuple[str, Any]]:
    """The settings once for each field, with another value there."""
    return [(name, settings.model_copy(update={name: other(value)})) for name, value in settings]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / "model.safetensors").write_text("weights")
    return folder


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_every_setting_of_an_encoder_and_every_input_changes_the_key(base: Path) -> None:
    settings, table, contrast = Training(), pd.DataFrame(TEXTS), objectives.load("contrast")

    def key(table=table, settings=settings, prefix="", seed=1, objective=contrast, **folders):
        return train.key_of(objective, table, settings, prefix, seed, {"weights": base, **folders})

    keys = {"": key()} | {name: key(settings=one) for name, one in changed(settings)}
    keys |= {"seed": key(seed=2), "prefix": key(prefix="query: "), "fewer texts": key(table[:1])}
    keys |= {
        "other parts": key(table.assign(negative=["e", "f"])),
        "objective": key(objective=objectives.load("graded")),
    }
    keys |= {f"of {name}": key(objective=one) for name, one in changed(objectives.load("ranking"))}
    keys["values"] = key(table.assign(score=["1", "2"]), objective=objectives.load("graded"))
    keys["teacher"] = key(teacher=base)
    (base / "model.safetensors").write_text("Weights")
    keys["weights"] = key()
    assert len(set(keys.values())) == len(keys) > len(Training.model_fields)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_every_setting_of_an_adapter_and_every_input_changes_the_key(base: Path) -> None:
    settings = Lora()
    keys = {"": training.key_of(base, settings, "float32", EXAMPLES)}
    keys |= {name: training.key_of(base, one, "float32", EXAMPLES) for name, one in changed(settings)}
    keys["dtype"] = training.key_of(base, settings, "bfloat16", EXAMPLES)
    keys["examples"] = training.key_of(base, settings, "float32", EXAMPLES[::-1])
    keys["border"] = training.key_of(base, settings, "float32", [Example([1], [2, 3]), EXAMPLES[1]])
    (base / "model.safetensors").write_text("Weights!")
    keys["weights"] = training.key_of(base, settings, "float32", EXAMPLES)
    assert len(set(keys.values())) == len(keys) > len(Lora.model_fields)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_every_setting_of_a_fine_tuning_and_every_input_changes_the_key(base: Path) -> None:
    def key(examples=EXAMPLES, settings=TUNING, dtype="float32", seed=1):
        return tuning.key_of(base, [vars(one) for one in examples], settings, dtype, seed)

    keys = {"": key(), "examples": key(EXAMPLES[::-1]), "dtype": key(dtype="bfloat16"), "seed": key(seed=2)}
    keys |= {name: key(settings=one) for name, one in changed(TUNING)}
    (base / "model.safetensors").write_text("Weights!")
    keys["weights"] = key()
    assert len(set(keys.values())) == len(keys) > len(FineTuning.model_fields)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_every_setting_of_a_completion_and_every_input_changes_the_key(base: Path) -> None:
    def key(generator=GENERATOR, prompt=(1, 2), adapters=None, weights="w"):
        return journal_name([(("r1", "positive"), list(prompt))], generator, weights, adapters)

    keys = {
        "": key(),
        "prompt": key(prompt=(1, 3)),
        "adapter": key(adapters={"positive": base}),
        "weights": key(weights="v"),
    }
    keys |= {name: key(GENERATOR.model_copy(update={"sampling": one})) for name, one in changed(Sampling())}
    for name in set(Generator.model_fields) - NOT_OF_A_COMPLETION - {"sampling", *GENERATOR.idle()}:
        value = getattr(GENERATOR, name)
        new = {"source": GENERATOR.source.updated({"file": "y"}), "dtype": "float32"}.get(name) or other(value)
        keys[name] = key(GENERATOR.model_copy(update={name: new}))
    assert len(set(keys.values())) == len(keys)
    for name in GENERATOR.idle():
        assert key(GENERATOR.model_copy(update={name: other(getattr(GENERATOR, name))})) == keys[""], name
    chat = Generator(backend="openai-chat", endpoint="https://host/v1", served_model="m")
    assert key(chat) == "95b00d90cbc305dcc3d862ad6977cad53138b618a0d72111925f01ee15ed6934", (
        "what a server was paid for is found again"
    )
    commits = [Generator.model_validate({"source": {"hub": "a/b"} | one}) for one in ({}, {"revision": "1" * 40})]
    assert key(commits[0]) == key(commits[1]) != key(commits[0], weights="v")
    assert key(chat) != key(chat.updated({"endpoint": "https://other/v1"})), "the server says whose model it is"


def test_another_library_changes_the_key_of_a_training_and_not_of_what_was_written(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keys() -> list[str]:
        return [
            train.key_of(objectives.load("contrast"), pd.DataFrame(TEXTS), Training(), "", 1, {"weights": base}),
            training.key_of(base, Lora(), "float32", EXAMPLES),
            tuning.key_of(base, [], FineTuning(), "float32", 1),
            journal_name([(("r1", "positive"), [1, 2])], GENERATOR, "w", None),
        ]

    before, version = keys(), importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"{version(name)}.1")
    assert [one == other for one, other in zip(before, keys(), strict=True)] == [False, False, False, True]


def test_weights_that_change_in_their_place_are_others(base: Path) -> None:
    first = digest_of(base)
    (base / "model.safetensors").write_text("Weights")
    second = digest_of(base)
    for digest in "ab":
        (base / "seedbed.json").write_text(json.dumps({"files": {"model.safetensors": digest}}))
        first, second = second, digest_of(base)
        assert first != second


def test_a_jobs_folder_goes_when_it_has_ended_well_and_stays_when_not(tmp_path: Path) -> None:
    words = Fetching.model_validate({"source": {"file": "x"}})
    with pytest.raises(KeyboardInterrupt), own_state(tmp_path, Path("out/seedbed.json"), words) as folder:
        raise KeyboardInterrupt
    assert json.loads((folder / RECORD).read_text()) == {"job": {"source": {"file": "x"}}, "output": "out/seedbed.json"}
    with own_state(tmp_path, Path("out/seedbed.json"), words) as again:
        assert again == folder
    assert not list(tmp_path.iterdir())


def test_a_jobs_folder_goes_before_another_run_of_it_can_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, held, remove = Fetching.model_validate({"source": {"file": "x"}}), [], shutil.rmtree

    def removed(folder: Path, **options: Any) -> None:
        held.append(held_since(folder / "lock"))
        remove(folder, **options)

    monkeypatch.setattr(shutil, "rmtree", removed)
    with own_state(tmp_path, Path("out/seedbed.json"), words):
        pass
    assert held[0] is not None and not list(tmp_path.iterdir())


def test_a_folder_is_of_one_command_but_for_what_changes_nothing(tmp_path: Path) -> None:
    needed = {"name": "n", "anchors": "a.tsv", "method": "xllora", "language": "x", "state": "s", "output": "o"}

    def at(**changes: Any) -> Path:
        return place(tmp_path, synthesise.Job.model_validate(needed | {"generator": SERVED} | changes))

    moved = SERVED | {"batch_size": 8, "key": "OTHER", "endpoint": "https://other/v1"}
    assert at() == at(state="t", generator=moved, rows=0)
    others = [at(output="p"), at(shards=3, shard=2), at(rows=7), at(generator=SERVED | {"sampling": {"seed": 2}})]
    assert len({at(), *others}) == 5

    def trained(**changes: Any) -> Path:
        told = {"weights": "w", "output": "o", "state": "s", "seed": 1} | changes
        return place(tmp_path, train_encoder.Job.model_validate(told))

    assert trained() == trained(about={"summary": "x"}, checkpoint_minutes=3) != trained(seed=2)


def test_the_newest_whole_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    """By its number, not its name; one whose last file is half written, or not there, does not count."""
    assert last_complete(tmp_path) is None
    for step, state in ((8, "{}"), (9, '{"a": 1}'), (10, '{"a": 1}'), (11, '{"a"'), (12, None)):
        (tmp_path / f"checkpoint-{step}").mkdir()
        if state is not None:
            (tmp_path / f"checkpoint-{step}/trainer_state.json").write_text(state)
    assert last_complete(tmp_path) == str(tmp_path / "checkpoint-10")
