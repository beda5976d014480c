"""What is told is no part of a job's code, and what makes its result is: seeded edits of both kinds, of many places."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seedbed.study import code, reachable
from seedbed.study.graph.encoder import INTEGERS, TWO_PATHS
from seedbed.study.messages import strip_messages
from tests.unit.study.test_code import Edit, copied, read_from, rewritten

TRAINING = (
    "scripts/train_encoder.py",
    ("seedbed/encoders/objectives/contrast.py",),
    (TWO_PATHS, INTEGERS),
)
"""The job of a plain encoder: its program, the objective, and kinds of modules that it never has."""
PROGRAMS = [f"scripts/{name}.py" for name in ("synthesise", "score", "train_task_adapter", "fetch_corpus", "tabulate")]


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return copied(tmp_path_factory.mktemp("code"))


def value(root: Path, program: str, modules: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> str:
    with read_from(root):
        return code.value(program, modules=modules, without=without)


@pytest.fixture(scope="module")
def before(root: Path) -> dict[tuple, str]:
    """Job -> its value before any edit."""
    return {job: value(root, *job) for job in JOBS}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        pytest.param("seedbed/encoders/losses/contrastive.py", "/ temperature", "* temperature", id="loss"),
        pytest.param("seedbed/encoders/training/train.py", "SequentialSampler(dataset)", "RandomSampler(dataset)", id="sampler"),
        pytest.param("seedbed/encoders/training/train.py", "DefaultBatchSampler(Seq", "RoundRobinBatchSampler(Seq", id="batches"),
        pytest.param("seedbed/encoders/models/loading.py", 'name.endswith(ending)', 'name.startswith(ending)', id="dropout"),
        pytest.param("seedbed/encoders/training/start.py", "training.dropout if objective else None", "None", id="no dropout"),
        pytest.param("seedbed/encoders/models/loading.py", 'padding_side = "right"', 'padding_side = "left"', id="tokens"),
        pytest.param("seedbed/encoders/training/train.py", "min(limit, length)", "max(limit, length)", id="length"),
        pytest.param("seedbed/encoders/models/loading.py", 'Pooling(width, "cls")', 'Pooling(width, "mean")', id="pooling"),
        pytest.param("seedbed/precision.py", '"bfloat16"', '"float16"', id="precision"),
        pytest.param("seedbed/trainers.py", 'bf16=dtype == "bfloat16"', "bf16=False", id="autocast"),
        pytest.param("seedbed/trainers.py", 'optim="adamw_torch_fused"', 'optim="sgd"', id="optimiser"),
        pytest.param("seedbed/trainers.py", "save_file(self.trained_weights(), folder", "save_file({}, folder", id="state"),
        pytest.param("seedbed/trainers.py", "tensor.copy_(saved[name])", "pass", id="state that is read"),
        pytest.param("seedbed/checkpoints.py", "str(max(complete", "str(min(complete", id="the newest checkpoint"),
        pytest.param("seedbed/encoders/export/save.py", "backend.no_truncation()", "pass", id="saving"),
        pytest.param("seedbed/encoders/export/save.py", "write_files(directory)", "pass", id="saving beside"),
        pytest.param("seedbed/trainers.py", "np.random.SeedSequence(seed)", "np.random.SeedSequence(seed + 1)", id="seed"),
        pytest.param("seedbed/corpora/select/subset.py", "16)", "8)", id="rows"),
        pytest.param("seedbed/encoders/prompts.py", "DOCUMENT", "QUERY", id="prompts"),
        pytest.param("seedbed/manifests.py", '"files": {str', '"file": {str', id="manifest"),
        pytest.param("scripts/train_encoder.py", '"seed": job.seed', '"seed": job.seed + 1', id="what is passed"),
        pytest.param("scripts/cli.py", 'prefix: str | None = None', 'prefix: str | None = "q: "', id="a default"),
        pytest.param("scripts/train_encoder.py", 'rows: int = Field', 'rows: float = Field', id="a type"),
    ],
)  # fmt: skip
def test_what_makes_an_encoder_trains_it_anew(root, before, file, old, new):
    with rewritten(root, lambda text: text.replace(old, new), file):
        assert value(root, *TRAINING) != before[TRAINING]


def told(tree: ast.AST) -> Iterator[ast.Constant]:
    """The texts of errors and logs, found without the code under test."""
    for node in ast.walk(tree):
        words: list[ast.AST] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            words = node.exc.args
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("log.warning", "log.info", "print"):
            words = node.args
        inside = [one for word in words for one in ast.walk(word)]
        yield from (one for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value)


def is_text(tree: ast.AST) -> bool:
    return isinstance(tree, ast.JoinedStr) or (isinstance(tree, ast.Constant) and isinstance(tree.value, str))


def numbers(tree: ast.AST) -> Iterator[ast.AST]:
    """Numbers and operators of statements that tell nothing and note no type; none in a text."""
    is_call = isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Call)
    words = isinstance(tree, ast.IfExp) and is_text(tree.body)
    words |= isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and is_text(tree.func.value)
    words |= isinstance(tree, ast.keyword) and tree.arg in ("desc", "unit")
    words |= isinstance(tree, ast.If) and all(isinstance(getattr(one, "value", 0), ast.JoinedStr) for one in tree.body)
    if isinstance(tree, ast.Raise | ast.JoinedStr) or is_call or words:
        return
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        yield tree
    if isinstance(tree, ast.Constant) and type(tree.value) in (int, float):
        yield tree
    for name, field in ast.iter_fields(tree):
        if name not in ("annotation", "returns"):
            for one in field if isinstance(field, list) else [field]:
                if isinstance(one, ast.AST):
                    yield from numbers(one)


def with_tree(edit: Callable[[ast.Module], None]) -> Edit:
    """An edit of a text's tree."""

    def edited(text: str) -> str:
        tree = ast.parse(text)
        edit(tree)
        return ast.unparse(ast.fix_missing_locations(tree))

    return edited


JOBS = [TRAINING, *((program,) for program in PROGRAMS)]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: Path(job[0]).stem)
def test_texts_of_errors_and_logs_anywhere_are_no_part(root, before, job):
    def other_words(tree: ast.Module) -> None:
        for node in told(tree):
            node.value = f"{node.value} indeed"

    found = reachable.reached((job[0], *(job[1] if len(job) > 1 else ()))).digests
    with rewritten(root, with_tree(other_words), *(file for file in found if not Path(file).is_absolute())):
        assert value(root, *job) == before[job]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: Path(job[0]).stem)
def test_numbers_and_operators_of_what_is_reached_are_a_part(root, before, job):
    draw = random.Random(29)
    found = reachable.reached((job[0], *(job[1] if len(job) > 1 else ())), frozenset(job[2] if len(job) > 2 else ()))
    places = []
    for file in sorted(found.digests):
        for node in ast.parse(Path(file).read_text()).body:
            if getattr(node, "name", None) in found.definitions[file]:
                places += [(file, node.name, place) for place in range(len([*numbers(node)]))]
    for file, name, place in draw.sample(places, min(40, len(places))):

        def other_number(tree: ast.Module, name=name, place=place) -> None:
            definition = next(node for node in tree.body if getattr(node, "name", None) == name)
            node = [*numbers(definition)][place]
            if isinstance(node, ast.Constant):
                node.value += 1
            else:
                node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()

        with rewritten(root, with_tree(other_number), file):
            assert value(root, *job) != before[job], (file, name, place)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x: int) -> str:\n    return x", "def f(x):\n    return x"),
        ("if n > 3:\n    log.info('n')\nx = 1", "x = 1"),
        ("def f():\n    what = f'{n} rows'\n    raise E(what)", "def f():\n    raise E('no')"),
        ("from . import b\nb.c()", "from a import b\nb.c()"),
        ("from ..d import b", "from a.d import b"),
        ("for x in tqdm(y, desc='Texts', unit='text'):\n    f(x)", "for x in tqdm(y):\n    f(x)"),
        ("x = 1\nif __name__ == '__main__':\n    run()", "x = 1"),
    ],
)
def test_two_files_that_make_the_same(one, other):
    package = "a.e" if ".." in one else "a"
    assert ast.dump(strip_messages(ast.parse(one), package)) == ast.dump(strip_messages(ast.parse(other), package))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f():\n    what = next(rows)\n    raise E(what)", "def f():\n    raise E('no')"),
        ("if next(rows):\n    log.info('n')", ""),
        ("def f():\n    what = 'a'\n    return what", "def f():\n    what = 'b'\n    return what"),
        ("raise A('x')", "raise B('x')"),
        ("if x:\n    raise A('x')", "raise A('x')"),
        ("print(x, file=table)", ""),
        ("warnings.filterwarnings('error')", ""),
        ("class A:\n    x: int = 1", "class A:\n    x: float = 1"),
    ],
)
def test_two_files_that_do_not(one, other):
    assert ast.dump(strip_messages(ast.parse(one), "a")) != ast.dump(strip_messages(ast.parse(other), "a"))
