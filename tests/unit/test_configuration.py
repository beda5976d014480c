"""What a configuration can do wrong is told in one line when it is read, before any job."""

from __future__ import annotations

import copy
import random
import re
from pathlib import Path
from typing import Any

import pytest
from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError

from seedbed import yamls
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.corpora.shape.clean import script_share
from seedbed.generators.weights.fetch import fetch
from seedbed.io import UserError, sha256
from seedbed.names import ROLES
from seedbed.study.loading import load
from seedbed.study.settings import Corpora
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.specs import TableSpec
from tests.refusals import pattern, tells
from tests.whole import read

GONE = object()
"""A value that takes its key away."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A study on local files that uses most kinds of settings; what is in the files is no matter here."""
    root = tmp_path_factory.mktemp("own")
    (root / "parts").mkdir()
    for name in (
        "hau.tsv",
        "eng.tsv",
        "more.tsv",
        "nli.tsv",
        "sts.tsv",
        "knn.tsv",
        "train.tsv",
        "dev.tsv",
        "parts/a.tsv",
    ):
        (root / name).write_text("id\ttext\n1\ta b c\n")
    for name in ("generator", "backbone"):
        (root / name).mkdir()
        (root / name / "config.json").write_text("{}")
    retriever = {"backbone": "bert", "recipe": "base"}
    return {
        "results": "results/own",
        "seeds": [1, 2],
        "paths": {"data": str(root)},
        "languages": {"hau": {"name": "Hausa", "codes": {"opus": "en-ha"}, "tests": {"own-sts": {"file": "{data}/sts.tsv"}}}},
        "corpora": {
            "text": {"file": "{data}/{lang}.tsv", "top_up": {"file": "{data}/more.tsv"}, "rows": 5, "where": {"a": ["b"]},
                     "buckets": [0, 50], "replace": {"text": {"a": "b"}}},
            "nli": {"file": "{data}/nli.tsv", "join": {"negative": {"columns": {"negative": "text"}}}},
            "instructions": {"file": "{data}/parts", "member": "*.tsv", "columns": {"prompt": ["a", "b"]}},
        },
        "cleaning": {"min_characters": 1, "max_characters": 100},
        "anchors": {"count": 8, "seed": 1},
        "generators": {
            "tiny": {"source": {"file": "{data}/generator"}, "language_data": "text", "lora": {"seed": 3}},
            "other": {"like": "tiny", "sampling": {"seed": 4}},
        },
        "backbones": {
            "bert": {"source": {"file": "{data}/backbone"}},
            "far": {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8, "key": "KEY"}},
            "both": {"fusion": {"of": {"bert": None, "far": None}, "dev": "dev-knn", "candidates": [[1, 0], [0, 1]]}},
        },
        "recipes": {
            "base": {"only": {"languages": ["hau"]}}, "unsupervised": {"only": {"backbones": ["bert"]}},
            "prompting": {"data": {"rows": 5}, "only": {"backbones": ["bert"]}},
            "mine": {"on_request": True, "like": "prompting", "training": {"epochs": 2}},
        },
        "classifiers": {
            "told": {"generator": "tiny", "tasks": ["own-icl"], "in_context": {"retriever": retriever, "shots": 1}},
            "tuned": {"backbone": "bert", "languages": ["hau"], "fine_tuning": {}},
        },
        "tasks": {
            "own-sts": {"protocol": "sts", "languages": ["hau"]},
            "own-knn": {"protocol": "knn", "distance": "euclidean", "k": [1, 5], "source": {"file": "{data}/knn.tsv"},
                        "train": {"file": "{data}/train.tsv"}},
            "dev-knn": {"protocol": "knn", "source": {"file": "{data}/dev.tsv"}, "train": {"file": "{data}/train.tsv"},
                        "on_request": True},
            "own-icl": {"protocol": "icl", "set_of": "own-knn"},
        },
        "compute": {"task": "own-knn", "language": "hau", "encoder": retriever, "classifiers": ["told"]},
        "statistics": {"baseline": "base", "seed": 5},
        "tables": ["table1"],
        "figures": ["table1"],
        "forecast": {"targets": ["report"]},
    }  # fmt: skip


def changed(study: dict[str, Any], path: str | list[Any], value: Any) -> dict[str, Any]:
    """A study with one value put in its place; `GONE` takes it away."""
    *parents, last = path.split("/") if isinstance(path, str) else path
    group = study = copy.deepcopy(study)
    for key in parents:
        group = group[key]
    if value is GONE:
        del group[last]
    else:
        group[last] = copy.deepcopy(value)
    return study


def fault(study: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        load(study)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_study_of_these_tests_is_right(own: dict[str, Any]) -> None:
    assert load(own).seeds == [1, 2]


@pytest.mark.parametrize("place", ["results", "downloads", "lock", "paths/more"])
@pytest.mark.parametrize(
    "value",
    [
        "",
        "res$(touch x)",
        "~/x",
        "~",
        "-x",
        "a b",
        "a\nb",
        "a'b",
        'a"b',
        "a`b`",
        "a*",
        "a{b}",
        "a;b",
        "/",
        ".",
        "./",
        "/.",
        "./.",
        "//x",
        3,
    ],
)
def test_a_place_is_a_plain_path(own: dict[str, Any], place: str, value: Any) -> None:
    assert fault(changed(own, place, value)).startswith(f"config.{place.replace('/', '.')}: ")


def test_a_plain_path_may_be_in_any_script_and_is_kept_in_its_normal_form(own: dict[str, Any], tmp_path: Path) -> None:
    study = load(changed(own, "results", "./भाषा/été-1/x_y+z@2,a=b//c/"))
    assert study.results == "भाषा/été-1/x_y+z@2,a=b/c"
    assert load(changed(own, "downloads", str(tmp_path))).downloads == str(tmp_path)
    assert fault(changed(own, "results", "README.md")) == "results: README.md is a file; give a folder"
    assert fault(changed(own, "lock", "docs")).startswith("lock: docs is a folder")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("languages/hau/codes", {"script": "Latn$(touch y)"}, "config.languages.hau.codes.script: expected a plain name"),
        ("languages/hau/codes", {"script": "Arab"}, "languages.hau.codes.script: no name in a resource"),
        ("languages/hau/codes", {"a b": "x"}, "config.languages.hau.codes.a b"),
        ("languages/hau/name", "Hau\nsa", "config.languages.hau.name: expected a name like"),
        ("languages/hau/name", "-x", "config.languages.hau.name: expected a name like"),
        ("languages/hau/script", "Xxxx", "config.languages.hau.script: ... ISO 15924"),
        ("languages/hau/script", "Zyyy", "config.languages.hau.script: expected a script"),
        ("seeds", [1, 1], "config.seeds: 1 appears twice; ... [1, 1]"),
        ("seeds", [-1], "config.seeds.0: ... greater ... 0"),
        ("seeds", [10**30], "config.seeds.0: ... less ... 4294967296"),
        ("anchors/seed", -1, "config.anchors.seed"),
        ("statistics/seed", 2**32, "config.statistics.seed"),
        ("statistics/level", float("nan"), "config.statistics.level"),
        ("training", {"learning_rate": float("inf")}, "config.training.learning_rate: ... finite"),
        ("recipes/mine/like", ["base"], "config.recipes.mine.like: ... string ... 'base'"),
        ("cleaning", {"min_characters": 9, "max_characters": 8}, "config.cleaning: min_characters 9 is more than"),
        ("corpora/text/buckets", [50, 50], "config.corpora.text: buckets: ... with first < last"),
        ("corpora/text/buckets", [0, 101], "config.corpora.text.buckets.1: ... less ... 100"),
        ("corpora/text/top_up", {"file": "none.tsv"}, "text corpus of hau: ... none.tsv"),
        ("corpora/text/top_up", {"fil": "x"}, "config.corpora.text: top_up.fil: unknown ... 'file'"),
        ("corpora/nli/join/negative/file", "none.tsv", "corpora.nli: no such file none.tsv"),
        ("corpora/instructions/member", "b.tsv", "the instructions corpus of hau: no member of"),
        ("corpora/instructions/member", "*.csv", "matches '*.csv'"),
        ("corpora/instructions/member", GONE, "folder; say ... `member:`"),
        ("corpora/text/file", "", "config.corpora.text: file: nothing is there"),
        ("backbones/bert/source/file", "README.md", "backbones.bert.source: README.md ... folder"),
        ("recipes/unsupervised", {"data": {"from_languages": ["hau"]}}, "recipes.unsupervised.data.from_languages: ... two or more distinct codes"),
        ("recipes/unsupervised", {"data": {"from_languages": ["hau", "hau"]}}, "recipes.unsupervised.data.from_languages: ... two or more distinct codes"),
        ("recipes/base", {"only": {"languages": ["hau"]}, "published": {"brt": {"file": "x"}}}, "recipes.base.published: no backbone 'brt'"),
        ("generators/tiny/triplets", {"promptin": {"file": "x"}}, "config.generators.tiny.triplets.promptin"),
        ("recipes/zero", 0, "config.recipes.zero: ... '0'; known: aligned, copies, data"),
        ("recipes/prompting", 0, "config.recipes: mine.like: no 'prompting'"),
        ("languages/hau", False, "config.languages.hau"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told(own: dict[str, Any], path: str, value: Any, message: str) -> None:
    assert tells(fault(changed(own, path, value)), message)


@pytest.mark.parametrize(
    "path",
    ["tables", "figures", "forecast/targets", "compute/classifiers", "classifiers/tuned/languages", "classifiers/told/tasks",
     "recipes/base/only/languages", "recipes/unsupervised/only/backbones", "tasks/own-sts/languages", "tasks/own-knn/k",
     "corpora/text/where/a", "backbones/both/fusion/candidates"],
)  # fmt: skip
def test_an_entry_that_is_repeated_is_told(own: dict[str, Any], path: str) -> None:
    entries = own
    for key in path.split("/"):
        entries = entries[key]
    said = fault(changed(own, path, [*entries, entries[0]]))
    assert said.startswith(f"config.{path.replace('/', '.')}: ") and "once" in said


@pytest.mark.parametrize(("group", "key"), [("audit", "refusals"), ("generators/tiny/xllora", "languages")])
def test_an_entry_that_is_repeated_is_told_in_other_lists(own: dict[str, Any], group: str, key: str) -> None:
    assert "'fra' appears twice" in fault(changed(own, group, {key: ["fra", "fra"]}))


def test_lists_of_tables_name_each_once() -> None:
    spec = yamls.read("seedbed/resources/tables/table1.yaml")
    with pytest.raises(ValueError, match="'hau' appears twice"):
        TableSpec.model_validate(spec | {"languages": ["hau", "hau"]})


@pytest.mark.parametrize(
    ("kind", "name"),
    [("tasks", name) for name in ("text", "instructions", "annotated", "nli", "parallel", "anchors", "anchors.audit", "text.sample", "all")]
    + [("recipes", "weights"), ("backbones", "avg"), ("languages", "mul"), ("languages", "avg")],
)  # fmt: skip
def test_a_name_that_stands_for_something_else_is_refused(own: dict[str, Any], kind: str, name: str) -> None:
    """A task `parallel` was scored on the corpus of that name; a task `anchors` was trained on."""
    entry = {"tasks": {"protocol": "bitext"}, "recipes": {"like": "base"}, "backbones": own["backbones"]["bert"]}
    language = {"name": "X", "script": "Latn"}
    said = fault(changed(own, f"{kind}/{name}", entry.get(kind, language)))
    assert said.startswith(f"config: {kind}.{name}: this name is reserved for ") and said.endswith("; take another")


def test_the_roles_of_corpora_are_the_keys_of_the_configuration() -> None:
    assert {*ROLES} == {*Corpora.model_fields, "annotated"} - {"others"}


def test_a_script_that_unicode_calls_otherwise_is_known(own: dict[str, Any]) -> None:
    assert load(changed(own, "languages/hau/script", "Aran")).facts("hau")["script"] == "Aran"
    assert script_share("یہ اردو ہے", "Aran") == 1


def test_a_quote_in_a_name_stays_within_its_text() -> None:
    source = Source.model_validate({"file": "{name}/{code}.tsv"})
    assert source.resolved({"name": 'N"Ko\\', "code": "{name}"}).file == 'N"Ko\\/{name}.tsv'
    with pytest.raises(UserError, match=r"^source for nqo.replace: text"):
        Source.model_validate({"file": "x", "replace": {"text": {"{name}": "a"}}}).resolved(
            {"name": "(", "lang": "nqo"}
        )


def test_a_pin_is_of_the_place_it_was_given_for() -> None:
    digest = "0" * 64
    source = Source.model_validate(
        {"file": "a", "sha256": digest, "join": {"pivot": {"file": "b"}, "same": {"columns": {}}}}
    )
    assert source.joined("pivot")[0].sha256 == "" and source.joined("same")[0].sha256 == digest
    more = Source.model_validate({"hub": "a/b", "revision": "1" * 40, "top_up": {"hub": "a/c"}}).topped_up()
    assert more.revision is None


def test_a_local_file_has_the_digest_that_is_given(tmp_path: Path) -> None:
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "a.tsv"
    file.write_text("id\ttext\n1\ta b c\n")
    for source in ({"file": str(file)}, {"file": str(tmp_path / "in"), "member": "*.tsv"}):
        right = Source.model_validate(source | {"sha256": sha256(source["file"])})
        assert list(read(right, store)["text"] if "text" in right.columns else read(right, store)["id"]) == ["1"]
        with pytest.raises(UserError, match=f"sha256 is {right.sha256}, the config says 0000"):
            read(right.updated({"sha256": "0" * 64}), store)
    with pytest.raises(UserError, match="the config says 0000"):
        fetch(Source(file=str(tmp_path / "in"), sha256="0" * 64), store, tmp_path / "model")
    assert file.exists()


STRANGE = [
    GONE, None, True, 0, -1, 10**30, 1.5, float("nan"), "", " ", "x\ny", "$(touch x)", "a'b\"c", "{lang}", "{nope}", "{3}", "*",
    "..", "\0", "x" * 5000, [], [None], ["a", "a"], [[]], [{}], {}, {"x": None}, {None: 1}, {1: {}}, {"like": ["base"]},
    {"like": "x"}, b"x", "(", "\\1",
]  # fmt: skip


def places(group: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = group.items() if isinstance(group, dict) else enumerate(group) if isinstance(group, list) else ()
    return [found for key, value in entries for found in ((*path, key), *places(value, (*path, key)))]


@pytest.mark.parametrize("file", ["", "config/demo.yaml"])
def test_whatever_stands_in_a_configuration_it_is_read_or_told_in_one_line(own: dict[str, Any], file: str) -> None:
    study = yamls.read(file) if file else own
    draw = random.Random(42)
    for path in places(study):
        for value in draw.sample(STRANGE, 3):
            mutant = changed(study, list(path), value)
            try:
                load(mutant)
            except UserError as error:
                assert len(str(error).splitlines()) == 1 and len(str(error)) <= 1000, (path, value)
            except Exception as error:
                raise AssertionError(f"{path} = {value!r}: {error!r}") from error


def bomb(form: str) -> str:
    """YAML of few lines, whose aliases repeat ten values of the line before in each."""
    lines = ["a0: &a0 {k: 1}"]
    lines += [f"a{n}: &a{n} {form.format(', '.join([f'*a{n - 1}'] * 10))}" for n in range(1, 10)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds: [1]\nresults: a\nseeds: [2]\n", "line 3: key 'seeds' ... line 1; keep one"),
        ("tasks:\n  a: {k: [1], k: [2]}\n", "line 2: key 'k' is there already"),
        ("- a: 1\n  a: 2\n", "line 2: key 'a'"),
        ('{"a": 1,\n\t"a": 2}', "line 2: key 'a'"),
        ("yes: 1\ntrue: 2\n", "line 2: key True"),
        ("a: [", "not YAML"),
        ("a: !!python/object/apply:os.getcwd []", "not YAML"),
        ("a: " + "[" * 3000 + "]" * 3000, "line 1: nested too deeply; at most 100"),
        ("a:\n  " + "[" * 100_000, "line 2: nested too deeply"),  # of which libyaml dies
        (bomb("[{}]"), "line 7: more than 1,000,000 values, those that aliases repeat"),
        (bomb("{{k: [{}]}}"), "line 7: more than 1,000,000 values"),
        (bomb("{{<<: [{}]}}"), "line 7: more than 1,000,000 values"),
        ("a: {b: &b {c: *b}}\n", "line 1: what is here holds itself"),
    ],
)
def test_a_key_is_given_once(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=pattern(f"{file}: {message}")) as caught:
        yamls.check_configuration(file)
    assert "\n" not in str(caught.value)
    for spec in (TableSpec, FigureSpec):
        with pytest.raises(UserError, match=pattern(f"{file}: {message}")):
            spec.load(file)


@pytest.mark.parametrize(
    ("key", "read"), [("true", True), ("yes", True), ("off", False), ("1", 1), ("0x10", 16), ("~", None)]
)
@pytest.mark.parametrize("group", ["", "languages", "tasks", "recipes", "generators", "corpora", "paths"])
def test_a_name_that_yaml_takes_for_something_else_is_told(
    own: dict[str, Any], tmp_path: Path, group: str, key: str, read: Any
) -> None:
    entry = both_readings(tmp_path, f"{key}: {{}}\n")
    study = changed(own, [group], own[group] | entry) if group else own | entry
    place = f"config.{group}".rstrip(".")
    assert fault(study) == f"{place}: key {read!r} is no text; put it in quotes, or take another"
    assert both_readings(tmp_path, f'"{key}": {{}}\n') == {key: {}}


TABS = ["a:\n\tb: 1\n", "\ta: 1\n", "a:\n  b: 1\n\tc: 2\n", "a: |\n\tb\n", "a:\n- b\n-\tc: 1\n"]


@pytest.mark.parametrize("text", TABS)
def test_a_tab_is_no_indentation(tmp_path: Path, text: str) -> None:
    """Neither reader guesses how many blanks it stands for."""
    file = tmp_path / "study.yaml"
    file.write_text(text)
    with pytest.raises(WorkflowError, match="not mix whitespace and tab indentation"):
        load_configfile(file)
    with pytest.raises(UserError, match=r"study\.yaml: not YAML"):
        yamls.check_configuration(file)


def test_a_tab_within_a_text_stays(tmp_path: Path) -> None:
    assert both_readings(tmp_path, 'a: "b\\tc"\nd: |\n  e\tf\n') == {"a": "b\tc", "d": "e\tf\n"}


def both_readings(folder: Path, text: str) -> Any:
    """What Snakemake reads, and so do we."""
    file = folder / "study.yaml"
    file.write_text(text)
    yamls.check_configuration(file)
    found = load_configfile(file)
    assert found == yamls.read(file)
    return found


@pytest.mark.parametrize("group", ["recipes", "generators"])
@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_entries_that_are_like_each_other_are_told(own: dict[str, Any], group: str, length: int) -> None:
    names = [f"entry-{number}" for number in range(length)]
    ring = {name: {"like": names[number - 1]} for number, name in enumerate(names)}
    outside = {"outside": {"like": names[-1]}}
    for entries in (own[group] | ring | outside, outside | ring | own[group]):
        said = fault(changed(own, group, entries))
        told = rf"config\.{group}: entry-\d\.like: (outside needs )?(entry-\d) needs (.* needs )?\2; take one that does not "
        assert re.match(told, said), said


def test_merge_keys_may_bring_what_they_override(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("a: &a {x: 1, y: 1}\nb: &b {<<: *a, x: 2}\nc: {<<: [*b, *a], y: 3}\nd: *a\n")
    assert yamls.read(file)["c"] == {"x": 2, "y": 3}


def test_a_configuration_that_is_a_program_goes_no_further(tmp_path: Path) -> None:
    """But Snakemake has run it by then; no Python is run by the check."""
    file, marker = tmp_path / "study.yaml", tmp_path / "run"
    file.write_text(f"__use_yte__: true\n__definitions__:\n  - import os\n  - os.mkdir({str(marker)!r})\nseeds: [1]\n")
    with pytest.raises(UserError, match="__use_yte__ makes a configuration a program"):
        yamls.check_configuration(file)
    assert not marker.exists()
    load_configfile(file)
    assert marker.exists()
