"""`seedbed init`: a study from a file of text; what is wrong with the text is told in one line."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import yaml

from scripts import plan_table, tabulate
from seedbed import yamls
from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.columns import bucket
from seedbed.corpora.read.fetch import fetch
from seedbed.corpora.settings import Cleaning
from seedbed.encoders.recipes import presets
from seedbed.init import own_table, own_text, table_files
from seedbed.init.beginning import ADJACENT_WHY, BARE_WHY, GIVEN_WHY, unordered
from seedbed.init.command import main
from seedbed.init.own_text import ENGLISH, LEAST, language_of, sentences
from seedbed.io import UserError
from seedbed.resources import ROOT, resource
from seedbed.study.graph.available import Available
from seedbed.study.graph.best_encoder import BestEncoder
from seedbed.study.graph.corpus import Anchors, Corpus
from seedbed.study.graph.table import Table
from seedbed.study.loading import load
from tests.asking import within
from tests.programs import call
from tests.refusals import pattern
from tests.unit.tables.conftest import write_score

HAUSA = pd.read_csv(resource("demo/sts.hau.tsv"), sep="\t")
IN_ENGLISH = pd.read_csv(ENGLISH, sep="\t")["anchor"].drop_duplicates()[: len(HAUSA)]
"""A sentence for each of Hausa's."""


@pytest.fixture(scope="module", autouse=True)
def _told_once() -> Iterator[None]:
    """Most tests begin with the same texts: what tells these from English learns from them once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(own_text, "distinguished", remembered(own_text.distinguished))
        patched.setattr(own_table, "english_share", remembered(own_table.english_share))
        yield


def remembered(function: Callable[..., float]) -> Callable[..., float]:
    """The function, which computes once what it is asked again of the same texts."""
    computed = cache(function)
    return lambda *texts: computed(*map(tuple, texts))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Hausa text, and what a person may have besides."""
    folder = tmp_path_factory.mktemp("given")
    with contextlib.chdir(folder):
        _write_given()
    return folder


@pytest.fixture(autouse=True)
def place(given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which a test is."""
    shutil.copytree(given, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write_given() -> None:
    """Write Hausa text and tables."""
    Path("hau.txt").write_text("\n".join([*HAUSA["sentence1"], *HAUSA["sentence2"]]) + "\n")
    HAUSA.to_csv("test.tsv", sep="\t", index=False)
    pairs = HAUSA.rename(columns={"sentence1": "anchor", "sentence2": "positive"})
    pairs.to_csv("pairs.csv", index=False)
    pairs.assign(negative=[*pairs["anchor"][7:], *pairs["anchor"][:7]]).to_csv("triplets.csv", index=False)
    parallel = HAUSA.rename(columns={"sentence1": "text"}).assign(pivot=IN_ENGLISH.to_numpy())
    parallel[["id", "text", "pivot"]].to_csv("parallel.tsv", sep="\t", index=False)


def written(*words: str) -> dict:
    """The study that the command writes, checked."""
    main(["init", *words, "--output", "study.yaml"])
    found = yamls.read("study.yaml")
    load(found)
    return found


@pytest.fixture
def long_text() -> Path:
    """Three hundred lines, none twice, and as many words in each."""
    rows = [f"{one} {number}" for number in range(3) for one in HAUSA["sentence1"]]
    Path("long.hau.txt").write_text("\n".join(rows[:300]) + "\n")
    return Path("long.hau.txt")


def test_text_alone_gives_a_recommended_encoder_and_a_test_that_needs_no_labels(capsys, long_text):
    study = written("long.hau.txt")
    assert [*study["recipes"]] == ["base", "bare", "unsupervised", "adjacent"] and study["tables"] == []
    assert study["best"]["recipe"] == "adjacent" and study["best"]["test"] == "next-line" and study["best"]["limits"]
    assert all(recipe.prefix == "" for recipe in load(study).recipes.values() if recipe.trained)
    said = capsys.readouterr().out
    assert "# * The language is Hausa (hau), as the file is named long.hau.txt; its script is Latn." in said
    assert "--dry-run" in said and said in Path("study.yaml").read_text()
    # What nobody needs: English text, a task that tests no language.
    assert not {"text", "nli"} & {*study["corpora"]} and [*study["tasks"]] == ["next-line"]


def test_lines_that_test_are_not_trained_on(long_text):
    """Also where the rest of the text repeats them."""
    lines = long_text.read_text().splitlines()
    long_text.write_text("\n".join([*lines, *lines[:3]]) + "\n")
    found, store = load(written("long.hau.txt")), Store(Path("downloads"), Path("lock.json"))
    tests, _ = fetch(found.test("next-line", "hau"), "parallel", store, Cleaning())
    held = {*(test := pd.concat(tests))["text"], *test["pivot"]}
    assert 40 < len(held) <= 50 and held <= {*lines[:50]}
    assert list(test["text"][:2]) == lines[0:4:2] and list(test["pivot"][:2]) == lines[1:4:2], "a line and the next"
    assert not {*test["text"]} & {*test["pivot"]}, "what is searched for is not itself among what is found"
    assert within(Corpus.get(found, "hau", "adjacent").kept_apart(), found) == ["corpora/hau/next-line.tsv"]
    assert within(Anchors.get(found, "hau", "anchors").inputs()["tests"], found) == ["corpora/hau/next-line.tsv"]
    for source, kind in ((found.corpora.others["adjacent"], "matched_pairs"), (found.languages["hau"].corpus, "text")):
        trained, _ = fetch(source, kind, store, Cleaning())
        rows = pd.concat(trained).drop(columns="id").to_numpy()
        assert not {*lines[3:50]} & {*rows.ravel()} and len(rows) > 200


def test_a_text_that_is_too_short_or_in_no_order_has_no_test(long_text):
    study = written("hau.txt")
    assert "tasks" not in study and study["best"]["recipe"] == "adjacent" and "test" not in study["best"]
    Path("study.yaml").unlink()
    lines = long_text.read_text().splitlines()
    Path("apart.hau.txt").write_text("\n\n".join(lines))
    study = written("apart.hau.txt")
    assert study["best"]["recipe"] == "bare" and "adjacent" not in study["recipes"]
    Path("study.yaml").unlink()
    pd.DataFrame({"text": lines}).to_csv("table.hau.csv")
    assert written("table.hau.csv")["best"]["recipe"] == "bare"


def test_each_study_has_a_name_and_results_of_its_own(capsys, tmp_path, monkeypatch):
    """Also in the folder of a clone, where a config.yaml is."""
    Path("config.yaml").write_text("languages: {hau: {}}\n")
    main(["init", "hau.txt"])
    assert yamls.read("hau.yaml")["results"] == "results/hau"
    assert f"snakemake --snakefile {ROOT / 'Snakefile'} --configfile hau.yaml --cores 2 " in capsys.readouterr().out
    Path("news.hau.txt").write_text(Path("hau.txt").read_text())
    main(["init", "news.hau.txt"])
    assert yamls.read("news.hau.yaml")["results"] == "results/news.hau"
    for taken in (
        "results/hau",
        "results",
        "results/hau/",
        "./results/hau",
        "results/x/../hau",
        str(tmp_path / "results/hau"),
    ):
        with pytest.raises(SystemExit, match=r"give another .*by --results"):
            main(["init", "hau.txt", "--output", "other.yaml", "--results", taken])
    Path("results/swh").mkdir(parents=True)
    with pytest.raises(SystemExit, match="give another folder by --results"):
        main(["init", "hau.txt", "--output", "swh.yaml"])
    assert not Path("swh.yaml").exists() and not Path("other.yaml").exists()


def test_in_a_clone_the_command_names_the_study_alone(capsys):
    Path("seedbed/init").mkdir(parents=True)
    for file in ("Snakefile", "seedbed/init/command.py"):
        Path(file).write_text("")
    main(["init", "hau.txt"])
    assert "#     snakemake --configfile hau.yaml --cores 2 --dry-run\n" in capsys.readouterr().out


def test_what_a_person_changes_has_a_comment_above_it():
    written("hau.txt", "--parallel", "parallel.tsv", "--pairs", "pairs.csv")
    lines = Path("study.yaml").read_text().splitlines()
    for key in ("results:", "    corpus:", "anchors:", "backbones:", "training:", "recipes:", "tasks:", "best:"):
        (place,) = (number for number, line in enumerate(lines) if line.split(" #")[0].startswith(key))
        assert lines[place - 1].strip().startswith("# "), key


@pytest.mark.parametrize("name", ["a: b", "x # y", "- z", "'q'", '"d"', "&a *b", "!!x", "%TAG", "null", "1e3"])
def test_a_name_of_a_file_means_nothing_in_yaml(name):
    Path(f"{name}.hau.txt").write_text(Path("hau.txt").read_text())
    Path(f"{name}.tsv").write_text(Path("test.tsv").read_text())
    study = written(f"./{name}.hau.txt", "--test", f"{name}.tsv")
    assert study["languages"]["hau"]["corpus"]["file"] == f"{name}.hau.txt"
    assert study["tasks"]["own-sts-dev"]["source"]["file"] == f"{name}.tsv"


def apart_from_the_text() -> None:
    """Make the test set one whose sentences are not in the text: their words are in another order."""
    turned = {name: HAUSA[name].str.split().str[::-1].str.join(" ") for name in ("sentence1", "sentence2")}
    HAUSA.assign(**turned).to_csv("test.tsv", sep="\t", index=False)


def test_half_of_a_test_set_chooses_and_half_reports():
    apart_from_the_text()
    study = written("hau.txt", "--test", "test.tsv", "--triplets", "triplets.csv", "--parallel", "parallel.tsv")
    assert study["best"] == {"dev": "own-sts-dev", "test": "own-sts-test"}
    buckets = [study["tasks"][f"own-sts-{half}"]["source"]["buckets"] for half in ("dev", "test")]
    assert buckets == [[0, 50], [50, 100]] and study["tasks"]["own-sts-dev"]["scale"] == [0, 1]
    assert {"own-triplets", "translations"} <= {*study["recipes"]}
    trained = {name: recipe for name, recipe in load(study).recipes.items() if recipe.made}
    assert len(trained) == 7 and {name for name in trained if not trained[name].prefix_of} == {"bootstrap"}
    assert all(recipe.prefix_of in ([], ["base", "bare"]) for recipe in trained.values())


@pytest.mark.parametrize("first", ["score", "id", "sentence2", "pivot"])
def test_the_halves_that_are_announced_are_those_that_are_read(capsys, first):
    """Whatever the order of the file's columns, and whatever others it has: the first sentence says the half."""
    table = HAUSA.assign(pivot=IN_ENGLISH.to_numpy())
    table[[first, *table.columns.drop(first)]].to_csv("test.tsv", sep="\t", index=False)
    study = written("hau.txt", "--test", "test.tsv")
    announced = re.search(r"; (\d+) of its pairs choose, (\d+) report", capsys.readouterr().out)
    Path("study.yaml").unlink()
    written("hau.txt")
    main(["add", "test.tsv", "--test"])
    assert announced[0] in capsys.readouterr().out
    for tasks in (study["tasks"], yamls.read("study.yaml")["tasks"]):
        sources = [load(study | {"tasks": tasks}).tasks[f"own-sts-{half}"].source for half in ("dev", "test")]
        store = Store(Path(), Path())
        halves = [pd.concat(fetch(source, "pairs", store, Cleaning(), test=True)[0]) for source in sources]
        assert [*map(len, halves)] == [*map(int, announced.groups())]
        assert [half["sentence1"].map(bucket).lt(50).unique().tolist() for half in halves] == [[True], [False]]


def test_few_translations_are_tests_and_train_nothing(capsys):
    study = written("hau.txt", "--parallel", "parallel.tsv")
    assert study["best"]["dev"] == "own-bitext-dev" and "parallel" not in study["corpora"]
    assert re.search(
        r"of 120, \d+ choose, \d+ report, and none train: for that 300 are needed", capsys.readouterr().out
    )


def test_repeated_and_blank_translations_count_for_nothing(capsys):
    """A sentence that is there twice has two right answers, so half of them would be wrong."""
    rows = pd.read_csv(translations(160), sep="\t")
    blank = pd.DataFrame({"text": [f"Yara {row} suna karatu" for row in range(400, 410)], "pivot": ""})
    pd.concat([rows, rows, blank])[["text", "pivot"]].to_csv("twice.tsv", sep="\t", index=False)
    study = written("hau.txt", "--parallel", "twice.tsv")
    said = capsys.readouterr().out
    assert "of 160, " in said and "none train" in said and "170 of 330 translations are left out" in said
    assert "bootstrap" not in study["recipes"]
    counts = []
    for half in ("dev", "test"):
        task = load(study).tasks[f"own-bitext-{half}"]
        assert task.clean
        counts.append(sum(map(len, fetch(task.source, "parallel", Store(Path(), Path()), Cleaning())[0])))
    assert sum(counts) == 160


def test_of_a_text_with_several_translations_each_set_has_one(capsys):
    """Of each set each sentence is kept once, so a translation that one set loses may stay in another."""
    rows = pd.read_csv(translations(160), sep="\t")
    rows["text"] = [*rows["text"][:120], *rows["text"][:40]]
    rows[["text", "pivot"]].to_csv("several.tsv", sep="\t", index=False)
    study = load(written("hau.txt", "--parallel", "several.tsv"))
    told = re.search(r"of 120, (\d+) choose, (\d+) report", capsys.readouterr().out).groups()
    spans = [study.tasks[f"own-bitext-{half}"].source.buckets for half in ("dev", "test")]
    buckets = rows["pivot"].map(bucket)
    kept = [rows["text"][buckets.between(first, end - 1)].nunique() for first, end in spans]
    assert [*map(int, told)] == kept and sum(kept) > 120


@pytest.mark.parametrize("name", ["KIN.TXT", "kinyarwanda.txt", "My Text KIN.txt", "rw.txt"])
def test_a_language_is_recognised_whatever_its_case(name):
    Path(name).write_text("".join(f"Abana {row} biga gusoma mu rugo rwabo\n" for row in range(70)))
    assert language_of(Path(name), sentences(Path(name)), sure=True).code == "kin"
    assert language_of(Path(name), sentences(Path(name)), "KIN", sure=True).code == "kin"


def translations(count: int) -> str:
    """The name of a file of so many different translations."""
    rows = [f"{row}\tYara {row} suna karatu a gida\tChildren read at home {row}" for row in range(count)]
    Path("many.tsv").write_text("id\ttext\tpivot\n" + "\n".join(rows) + "\n")
    return "many.tsv"


@pytest.mark.parametrize(("count", "share"), [(300, 33), (500, 20), (1000, 10), (5000, 2)])
def test_of_many_translations_about_a_hundred_choose_as_many_report_and_the_others_train(capsys, count, share):
    study = written("hau.txt", "--parallel", translations(count))
    parts = [study["tasks"][f"own-bitext-{part}"]["source"]["buckets"] for part in ("dev", "test")]
    learnt = study["corpora"]["parallel"]["buckets"]
    assert [*parts, learnt] == [[0, share], [share, 2 * share], [2 * share, 100]]
    said = re.search(r"of (\d+), (\d+) choose, (\d+) report, and (\d+) train", capsys.readouterr().out)
    whole, *told = map(int, said.groups())
    table = pd.read_csv("many.tsv", sep="\t")
    buckets = table["pivot"].map(bucket)
    assert whole == count and told == [int(buckets.between(one, end - 1).sum()) for one, end in (*parts, learnt)]
    if count < 2000:
        assert all(75 <= number <= 130 for number in told[:2])


def test_translations_that_test_are_not_trained_on():
    study = written("hau.txt", "--parallel", translations(500))
    assert {"translations", "distilled"} <= {*study["recipes"]}
    found, store = load(study), Store(Path("downloads"), Path("assets.lock.json"))
    (tested, _), (learnt, _) = (
        fetch(source, kind, store, Cleaning())
        for source, kind in (
            (found.tasks["own-bitext-test"].source, "parallel"), (found.corpora.others["translations"], "matched_pairs")
        )
    )  # fmt: skip
    pivots = {*pd.concat(learnt)["sentence1"]}
    assert pivots and not pivots & {*pd.concat(tested)["pivot"]}


def test_running_text_and_translations_are_trained_on_together_and_first():
    """Nothing of the translations that test is among them."""
    study = written("hau.txt", "--parallel", translations(500))
    assert [*study["recipes"]][:4] == ["base", "bare", "retained", "bootstrap"]
    assert "&id" not in Path("study.yaml").read_text(), "what stands twice is written twice, and no anchor"
    found, store = load(study), Store(Path("downloads"), Path("assets.lock.json"))
    learnt, _ = fetch(found.corpora.others["bootstrap"], "matched_pairs", store, Cleaning())
    tested, _ = fetch(found.tasks["own-bitext-test"].source, "parallel", store, Cleaning())
    rows = pd.concat(learnt).set_index("id")
    sets = rows.groupby(rows.index.str.partition(":").get_level_values(0)).size()
    assert sets["adjacent"] > 50 and 200 < sets["translations"] < 400
    pivots = {*rows[rows.index.str.startswith("translations:")]["sentence1"]}
    assert all(text.startswith("Children") for text in pivots) and not pivots & {*pd.concat(tested)["pivot"]}
    Path("study.yaml").unlink()
    assert "bootstrap" not in written("hau.txt", "--parallel", "parallel.tsv")["recipes"], "none of these train"


@pytest.mark.parametrize("lines, count, lacking", [(240, 40, "translations"), (100, 500, "adjacent")])
def test_what_would_not_fill_a_batch_is_not_trained_on_together(capsys, lines, count, lacking):
    """The preset takes 32 translations and 64 neighbours in each batch, and a training with fewer stops."""
    apart_from_the_text()
    Path("hau.txt").write_text("\n".join(Path("hau.txt").read_text().splitlines()[:lines]))
    given = ("hau.txt", "--parallel", translations(count), "--test", "test.tsv")
    assert not {"retained", "bootstrap"} & {*written(*given)["recipes"]}
    said = capsys.readouterr().out
    assert f"Its {count} translations train, but for those with a sentence of a test set." in said
    assert re.search(rf"pairs of `{lacking}` or more", said)
    Path("study.yaml").unlink()
    written("hau.txt", "--test", "test.tsv")
    main(["add", "many.tsv", "--parallel"])
    assert "bootstrap" not in yamls.read("study.yaml")["recipes"]


@pytest.mark.parametrize("kind", ["--parallel", "--pairs"])
def test_a_table_of_one_row_trains_nothing(kind: str, capsys) -> None:
    columns = ("text", "pivot") if kind == "--parallel" else ("anchor", "positive")
    first = pd.read_csv("parallel.tsv", sep="\t", dtype=str)[:1]
    pd.DataFrame(dict(zip(columns, (first["text"], first["pivot"]), strict=True))).to_csv(
        "one.tsv", sep="\t", index=False
    )
    with pytest.raises(SystemExit, match=r"one\.tsv: 1 rows; two are the least"):
        main(["init", "hau.txt", "--test", "test.tsv", kind, "one.tsv"])


def test_lines_that_are_repeated_count_once_as_neighbours() -> None:
    lines = Path("hau.txt").read_text().splitlines()
    Path("hau.txt").write_text("\n".join(lines[:100] * 4))
    assert "adjacent" not in written("hau.txt")["recipes"]
    Path("study.yaml").unlink()
    Path("hau.txt").write_text("\n".join(lines[:1] * 60 + lines))
    assert "next-line" not in written("hau.txt").get("tasks", {})


@pytest.mark.parametrize(("name", "why"), [("gaps.hau.txt", "blank lines between documents only"), ("a.tsv", "table")])
def test_lines_that_do_not_follow_one_another_are_told_why(name, why, capsys) -> None:
    lines = Path("hau.txt").read_text().splitlines()
    Path("gaps.hau.txt").write_text("\n\n".join(lines))
    Path("a.tsv").write_text("\n".join(["text", *lines]))
    assert "adjacent" not in written(name, "--language", "hau")["recipes"]
    assert "There is no `adjacent`: " in (said := capsys.readouterr().out) and why in said
    Path(f"more.{name}").write_text(Path(name).read_text())
    with pytest.raises(SystemExit, match=f"{name}: its lines do not follow one another: .*{why}"):
        main(["add", f"more.{name}", "--text", "--study", "study.yaml"])


def test_sorted_lines_do_not_follow_one_another_and_others_are_taken_to(capsys) -> None:
    lines = Path("hau.txt").read_text().splitlines()
    for ordered in (sorted(lines), sorted(lines, key=str.casefold)):
        Path("hau.txt").write_text("\n".join(ordered))
        assert "adjacent" not in written("hau.txt")["recipes"]
        assert "There is no `adjacent`: its lines are sorted; " in capsys.readouterr().out
        Path("study.yaml").unlink()
    Path("hau.txt").write_text("\n".join(f"{number:03} {line}" for number, line in enumerate(lines)))
    assert "adjacent" in written("hau.txt")["recipes"]
    assert "taken to follow one another; if they are in no order" in capsys.readouterr().out


def test_neighbours_that_are_in_a_test_set_do_not_count(capsys):
    """A text that is the translations' own side loses the pairs that have one of those that choose or report."""
    table = pd.read_csv(translations(340), sep="\t")
    Path("hau.txt").write_text("\n".join(table["text"]))
    study = written("hau.txt", "--parallel", "many.tsv")
    found, store = load(study), Store(Path(), Path())
    tests = [found.tasks[f"own-bitext-{half}"].source for half in ("dev", "test")]
    held = pd.concat([block for test in tests for block in fetch(test, "parallel", store, Cleaning())[0]])["text"]
    adjacent = pd.concat(fetch(found.corpora.others["adjacent"], "matched_pairs", store, Cleaning())[0])
    left = (~adjacent[["sentence1", "sentence2"]].isin([*held])).all(axis=1).sum()
    assert len(adjacent) > 128 > left > 0
    said = f"`bootstrap` is left out: it takes 128 pairs of `adjacent` or more that have no text of a test set, not {left}."
    assert said in capsys.readouterr().out and not {"retained", "bootstrap"} & {*study["recipes"]}
    Path("study.yaml").unlink()
    written("hau.txt")
    main(["add", "many.tsv", "--parallel"])
    assert "bootstrap" not in yamls.read("study.yaml")["recipes"] and said in capsys.readouterr().out


def test_pairs_that_are_all_in_the_test_set_are_left_out_and_it_is_said(capsys):
    """The job that fetches them would stop, as no row is left; and `distilled` would learn the test."""
    study = written("hau.txt", "--pairs", "pairs.csv", "--parallel", "parallel.tsv", "--test", "test.tsv")
    assert [*study["recipes"]] == ["base", "bare", "unsupervised"] and "corpora" not in study
    said = capsys.readouterr().out
    assert all(f"`{name}` is left out: of all its rows but one" in said for name in ("own-pairs", "translations"))
    Path("study.yaml").unlink()
    rows = pd.read_csv("pairs.csv")
    words = rows["anchor"].str.split().str[::-1].str.join(" ")
    rows.assign(anchor=[*words[:2], *rows["anchor"][2:]], positive=words).to_csv("two.csv", index=False)
    assert "own-pairs" in written("hau.txt", "--pairs", "two.csv", "--test", "test.tsv")["recipes"]
    with pytest.raises(SystemExit, match=r"pairs\.csv: of all its rows but one at most, a test set has a sentence"):
        main(["add", "pairs.csv", "--pairs"])


def test_translations_that_come_later_add_what_they_would_have_begun():
    """But for the prefix, which is that of the encoders that are trained already."""
    at_once = written("hau.txt", "--parallel", translations(500))
    Path("study.yaml").unlink()
    written("hau.txt")
    main(["add", "many.tsv", "--parallel"])
    later = yamls.read("study.yaml")
    assert (
        later["corpora"]["others"] == at_once["corpora"]["others"]
        and later["tasks"].items() >= at_once["tasks"].items()
    )
    assert {*later["recipes"]} == {*at_once["recipes"]} and later["recipes"]["retained"] == {"prefix": ""}
    assert later["recipes"]["bootstrap"] == {} and load(later)
    Path("more.tsv").write_text(Path("many.tsv").read_text().replace("Children", "Pupils"))
    main(["add", "more.tsv", "--parallel"])
    assert yamls.read("study.yaml")["recipes"].keys() == later["recipes"].keys() | {"translations-2"}


def test_translations_that_come_later_are_learnt_from_the_studys_own_backbone_or_without_a_teacher():
    """With two backbones, without `base`, or where `parallel` is another corpus, there is no teacher."""
    study = written("hau.txt")
    translations(500)
    own, there = {"other": study["backbones"]["me5-small"]}, {"parallel": {"file": "parallel.tsv"}}
    no_base = {name: recipe for name, recipe in study["recipes"].items() if name not in ("base", "bare")}
    for change, teacher in (
        ({"backbones": own}, "other"),
        ({"backbones": own | study["backbones"]}, ""),
        ({"recipes": no_base}, ""),
        ({"corpora": study["corpora"] | there}, ""),
    ):
        Path("study.yaml").write_text(yaml.safe_dump(study | {"best": {"recipe": "adjacent"}} | change))
        main(["add", "many.tsv", "--parallel", "--study", "study.yaml"])
        later = yamls.read("study.yaml")
        learnt = later["recipes"].get("distilled", {}).get("objective", {}).get("distillation", {}).get("teacher")
        assert learnt == ({"backbone": teacher, "recipe": "base"} if teacher else None)
        assert "translations" in later["recipes"]
    assert later["corpora"]["parallel"] == there["parallel"], "what is there stays"


def test_a_text_that_comes_later_is_trained_on_with_the_first_though_its_recipe_is_left_out(long_text):
    """The corpus of the first is there still, and keeps its name."""
    study = written(str(long_text))
    first = study["corpora"]["others"]["adjacent"]
    del study["recipes"]["adjacent"]
    Path("study.yaml").write_text(yaml.safe_dump(study | {"best": study["best"] | {"recipe": "bare"}}))
    for name in ("more", "most"):
        Path(f"{name}.txt").write_text("\n".join(f"{line} {name}" for line in HAUSA["sentence2"]))
        main(["add", f"{name}.txt", "--text", "--sure", "--study", "study.yaml"])
    later = yamls.read("study.yaml")["corpora"]["others"]
    files = {name: one["file"] for name, one in later["adjacent-3"]["sets"].items()}
    assert files == {"adjacent": str(long_text), "adjacent-2": "more.txt", "adjacent-3": "most.txt"}
    assert later["adjacent"] == first


def test_what_comes_later_is_recommended_with_its_own_reason_where_nothing_trained_was():
    """Later pairs and triplets leave a trained one recommended; running text does not."""
    pd.DataFrame({"text": Path("hau.txt").read_text().splitlines()}).to_csv("table.hau.csv")
    best = [written("table.hau.csv")["best"]]
    Path("more.txt").write_text("\n".join(f"{line} more" for line in HAUSA["sentence2"]))
    for file, kind in (("pairs.csv", "pairs"), ("triplets.csv", "triplets"), ("more.txt", "text")):
        main(["add", file, f"--{kind}", "--sure", "--study", "study.yaml"])
        best.append(yamls.read("study.yaml")["best"])
    assert [one["recipe"] for one in best] == ["bare", "own-pairs", "own-pairs", "adjacent"]
    assert [one["why"] for one in best] == [BARE_WHY, GIVEN_WHY, GIVEN_WHY, ADJACENT_WHY]


def in_swahili(study: dict) -> dict:
    """The entry of another language with a text of its own."""
    pairs = {key: value for key, value in study["corpora"]["others"]["adjacent"].items() if key != "kind"}
    return {"corpus": {"file": "swh.txt"}, "corpora": {"adjacent": pairs | {"file": "swh.txt"}}}


def test_two_languages_are_not_trained_on_one_file():
    """As they would be where a language is added by hand to a study of one text."""
    study = written("hau.txt")
    Path("swh.txt").write_text(Path("hau.txt").read_text())
    study["languages"]["swh"] = {"corpus": {"file": "swh.txt"}}
    with pytest.raises(
        UserError, match=r"corpora\.others\.adjacent: .*hau and swh .*hau\.txt.*languages\.swh\.corpora"
    ):
        load(study)
    later = study | {"languages": {**study["languages"]}}
    later["languages"]["afr"] = later["languages"].pop("swh")
    with pytest.raises(UserError, match=r"hau and afr .*languages\.afr\.corpora.*languages: \[hau\]"):
        load(later)
    study["languages"]["swh"] = in_swahili(study)
    load(study)


def test_of_several_languages_that_of_the_file_alone_is_trained_on_it(capsys, long_text):
    """So are recipes that later files of another language add: they take nothing of the first."""
    study = written("hau.txt")
    study["languages"]["swh"] = in_swahili(study)
    Path("study.yaml").write_text(yaml.safe_dump(study))
    before = {*study["recipes"]}
    for file in ("swh.txt", "more.txt"):
        Path(file).write_text(long_text.read_text())
    translations(500)
    given = {"text": "long.hau.txt", "pairs": "pairs.csv", "triplets": "triplets.csv", "parallel": "many.tsv"}
    for kind, file in given.items():
        main(["add", file, f"--{kind}", "--sure", "--language", "hau", "--study", "study.yaml"])
    assert "`adjacent` is still recommended" in capsys.readouterr().out
    found = load(yamls.read("study.yaml"))
    new = {"own-pairs", "own-triplets", "translations", "distilled", "retained", "bootstrap", "adjacent-2"}
    has = {
        code: {one.recipe for one in Available.get(found).recipes if one.has("me5-small", code)}
        for code in ("hau", "swh")
    }
    assert has["hau"] == before | new and has["swh"] == before
    assert found.recipes["distilled"].data.corpus == "own-parallel" and found.corpus("parallel", "swh") is None
    main(["add", "more.txt", "--text", "--sure", "--language", "swh", "--study", "study.yaml"])
    later = yamls.read("study.yaml")
    assert {*later["corpora"]["others"]["adjacent-3"]["sets"]} == {"adjacent", "adjacent-3"}
    assert later["recipes"]["adjacent-3"]["only"] == {"languages": ["swh"]}


def test_what_recipes_learn_from_can_be_read():
    apart_from_the_text()
    HAUSA.rename(columns={"sentence1": "anchor", "sentence2": "positive"}).to_csv("pairs.tsv", sep="\t", index=False)
    own = ("--pairs", "pairs.tsv", "--triplets", "triplets.csv", "--parallel", "parallel.tsv", "--test", "test.tsv")
    study = load(written("hau.txt", *own))
    store = Store(Path("downloads"), Path("assets.lock.json"))
    for name in ("adjacent", "own-pairs", "own-triplets", "translations"):
        corpus = study.corpora.others[name]
        blocks, _ = fetch(corpus.source, corpus.kind, store, Cleaning())
        assert sum(map(len, blocks)) > 50


def test_cards_say_of_each_recipe_what_it_trains_on():
    """And not what that says which it is `like`."""
    own = ("--pairs", "pairs.csv", "--triplets", "triplets.csv", "--parallel", translations(500))
    recipes = load(written("hau.txt", *own)).recipes
    said = {
        "adjacent": "the one that follows it",
        "own-pairs": "pairs of sentences that belong together, each without 30 %",
        "translations": "sentences and their translations, each without 30 %",
        "own-triplets": "one that is alike and one that is unlike",
        "distilled": "the vector that the encoder before training gives the translation",
    }
    assert all(words in recipes[name].summary for name, words in said.items())
    assert len({recipe.summary for name, recipe in recipes.items() if recipe.made}) == len(said) + 3, "each its own"
    assert recipes["own-pairs"].objective["ranking"] == {"cutoff": 0.3} == recipes["translations"].objective["ranking"]


def test_quotes_and_na_are_text():
    rows = [f'{row}\t"Sannu da zuwa {row}\tYou are welcome {row}' for row in range(69)] + ["69\tNA\tNA"]
    Path("quoted.tsv").write_text("id\ttext\tpivot\n" + "\n".join(rows) + "\n")
    assert sentences(Path("quoted.tsv"))[1] == '"Sannu da zuwa 1'
    assert written("hau.txt", "--parallel", "quoted.tsv")["best"]["dev"] == "own-bitext-dev"


def test_a_tsv_that_a_spreadsheet_quoted_is_refused():
    said = [f'"Sannu da zuwa {row}," in ji Audu' if row % 3 else f"Sannu da zuwa {row}" for row in range(69)]
    table = pd.DataFrame({"text": said, "pivot": [f"You are welcome {row}" for row in range(69)]})
    table.to_csv("quoted.tsv", sep="\t", index=False)
    with pytest.raises(UserError, match=r"""^quoted.tsv: row 2: its cells are quoted, like '\"\"\"Sannu .* as .csv$"""):
        table_files.read(Path("quoted.tsv"), ["text", "pivot"])
    table.to_csv("quoted.csv", index=False)
    table.to_csv("plain.tsv", sep="\t", index=False, quoting=csv.QUOTE_NONE)
    for name in ("quoted.csv", "plain.tsv"):
        assert list(table_files.read(Path(name), ["text", "pivot"])["text"]) == said


def test_a_language_that_nobody_knows_needs_a_name():
    study = written("hau.txt", "--language", "xyz", "--name", "Xyz")
    assert study["languages"]["xyz"] == {"name": "Xyz", "script": "Latn", "corpus": {"file": "hau.txt"}}


def test_what_is_unlike_the_registry_is_written():
    row = written("hau.txt", "--name", "Hausa of Ghana")["languages"]["hau"]
    assert row == {"name": "Hausa of Ghana", "corpus": {"file": "hau.txt"}}
    Path("study.yaml").unlink()
    Path("ajami.hau.txt").write_text("\n".join(f"يارا سنا كراتو {number} غدا" for number in range(70)))
    row = written("ajami.hau.txt", "--script", "Arab", "--sure")["languages"]["hau"]
    assert row == {"script": "Arab", "corpus": {"file": "ajami.hau.txt"}}


@pytest.mark.parametrize("first, script", [("ހ", "Thaa"), ("𞤀", "Adlm"), ("ა", "Geor"), ("ߊ", "Nkoo")])
def test_the_script_of_a_language_that_the_registry_lacks_is_seen(first, script):
    letters = [chr(ord(first) + number) for number in range(20)]
    words = ["".join(letters[start : start + 4]) for start in range(16)]
    lines = (" ".join([*words[:8], words[number % 16], words[number // 16]]) for number in range(70))
    Path("abc.txt").write_text("\n".join(lines))
    assert written("abc.txt", "--language", "abc", "--name", "Abc")["languages"]["abc"]["script"] == script


def test_a_text_is_lines_or_a_table_and_any_name_will_do(capsys):
    HAUSA.rename(columns={"sentence1": "text"}).to_json("rows.hau.JSONL", orient="records", lines=True)
    assert "adjacent" not in written("rows.hau.JSONL")["recipes"]
    Path("study.yaml").unlink()
    Path("my hau.text1").write_text(Path("hau.txt").read_text())
    study = written("my hau.text1")
    source = {"file": "my hau.text1", "format": "text"}
    assert study["languages"]["hau"]["corpus"] == source
    blocks, _ = fetch(
        load(study).languages["hau"].corpus, "text", Store(Path("downloads"), Path("lock.json")), Cleaning()
    )
    assert sum(map(len, blocks)) > 50
    main(["init", "hau.txt", "--output", "my study.yaml"])
    assert "--configfile 'my study.yaml' --cores" in capsys.readouterr().out
    assert yamls.read("my study.yaml")["results"] == "results/my-study"


def test_pairs_need_no_ids():
    HAUSA.rename(columns={"sentence1": "anchor", "sentence2": "positive"}).drop(columns="id").to_csv("pairs.csv")
    columns = written("hau.txt", "--pairs", "pairs.csv")["corpora"]["others"]["own-pairs"]["columns"]
    assert columns == {"sentence1": "anchor", "sentence2": "positive"}


def test_lines_that_a_run_leaves_out_are_told():
    text = "\n".join(HAUSA["sentence1"])
    Path("hau.txt").write_text(text + f"\n{' '.join(text.split())}" * 20)
    written("hau.txt")
    kept = HAUSA["sentence1"].nunique()
    said = f"# * A run leaves out {140 - kept} of the first 140 lines: sentences are of 3 words or more and 10 to 500"
    assert said in Path("study.yaml").read_text()


@pytest.mark.parametrize("width", [50, 72, 100])
def test_lines_that_are_broken_within_sentences_are_told_with_what_joins_them(capsys, long_text, width):
    text = [*dict.fromkeys(HAUSA["sentence1"])]
    paragraphs = [
        "\n".join(textwrap.wrap(" ".join(text[at : at + 10]), width, break_on_hyphens=False))
        for at in range(0, len(text), 10)
    ]
    Path("hau.txt").write_text("\n\n".join(paragraphs))
    assert own_text.wrapped(Path("hau.txt")) and not own_text.wrapped(long_text)
    written("hau.txt")
    said = re.search(r"lines seem to be broken at \d+ characters, .* by (awk .*), then divide", capsys.readouterr().out)
    done = subprocess.run(f"{said[1]} hau.txt", shell=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [" ".join(text[at : at + 10]) for at in range(0, len(text), 10)]


def test_of_repeated_lines_it_is_told_that_they_are():
    """They are each on a line already."""
    lines = HAUSA["sentence1"].drop_duplicates()
    Path("hau.txt").write_text("\n".join([*lines, *lines[:60]]))
    written("hau.txt")
    said = re.search("A run leaves out 60 of .* each counted once[.] (.*)", Path("study.yaml").read_text())
    assert said and said[1] == "60 repeat a line before them."


def test_of_many_columns_the_first_are_named():
    Path("wide.csv").write_text(",".join(f"c{place}" for place in range(5000)) + "\n" + "," * 4999 + "\n")
    with pytest.raises(SystemExit, match=r"no column 'anchor'; its columns are 'c0', .*'c29', [.]{3}; expected anchor"):
        main(["init", "hau.txt", "--pairs", "wide.csv"])


@pytest.mark.parametrize("words", [["check"], ["add", "pairs.csv", "--pairs", "--study"]])
def test_nobody_waits_for_a_pipe_that_is_no_study(words):
    os.mkfifo("pipe.yaml")
    with pytest.raises(SystemExit, match="error: pipe.yaml: a pipe or a device, no file; expected YAML"):
        main([*words, "pipe.yaml"])


def test_no_job_waits_for_a_pipe():
    study = written("hau.txt")
    Path("hau.txt").unlink()
    os.mkfifo("hau.txt")
    with pytest.raises(UserError, match="hau.txt is a pipe or a device, which jobs would wait for; give a file"):
        load(study)


def test_links_in_a_circle_are_no_file_to_add():
    written("hau.txt")
    Path("circle.tsv").symlink_to("circle.tsv")
    with pytest.raises(SystemExit, match=r"error: circle.tsv: no such file"):
        main(["add", "circle.tsv", "--pairs"])


@pytest.mark.parametrize("one, other", [("positive", "negative"), ("anchor", "positive"), ("anchor", "negative")])
def test_triplets_whose_sentences_are_the_same_are_refused(one, other):
    """A few of them among many are no reason."""
    table = pd.read_csv("triplets.csv")
    same = table[:40].assign(**{other: table[one]})
    same.to_csv("same.csv", index=False)
    pd.concat([table[40:], same[:10]]).to_csv("mostly-right.csv", index=False)
    assert "own-triplets" in written("hau.txt", "--triplets", "mostly-right.csv")["recipes"]
    fault = f"same.csv: row 1: the {other} is the {one} again, as in 40 of 40 rows; give a {other} that"
    with pytest.raises(SystemExit, match=fault):
        main(["init", "hau.txt", "--triplets", "same.csv", "--output", "other.yaml"])
    with pytest.raises(SystemExit, match=fault):
        main(["add", "same.csv", "--triplets"])


def test_its_encoder_is_the_demos():
    demo = yamls.read(ROOT / "config/demo.yaml")
    assert written("hau.txt")["backbones"] == demo["backbones"]


@pytest.fixture(scope="module")
def wrong(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of which each is wrong in its own way."""
    folder = tmp_path_factory.mktemp("wrong")
    text = (given / "hau.txt").read_text()
    with contextlib.chdir(folder):
        _write_wrong(text)
    return folder


def _write_wrong(text: str) -> None:
    """Write files of which each is wrong in its own way."""
    Path("utf16.hau.txt").write_text(text, encoding="utf-16")
    Path("latin.hau.txt").write_text("à" + text, encoding="latin-1", errors="replace")
    english = pd.read_csv(ENGLISH, sep="\t")["positive"]
    Path("english.hau.txt").write_text("\n".join(english))
    for name in ("text.txt", "news.swa.v2.txt"):
        Path(name).write_text(text)
    Path("runes.txt").write_text("\n".join(f"ᚠᚢᚦᚨᚱᚲ ᚷᚹᚺᚾᛁᛃ ᛇᛈᛉᛊᛏᛒ {'ᛖ' * row}" for row in range(1, 71)))
    Path("few.hau.txt").write_text("Yara suna karatu.\nYa tafi gida.\n")
    pd.read_csv(resource("demo/sts.ind.tsv"), sep="\t").to_csv("indonesian.tsv", sep="\t", index=False)
    told = HAUSA.assign(text=HAUSA["sentence1"], pivot=HAUSA["sentence2"])
    told[:3].to_csv("three.tsv", sep="\t", index=False)
    told[["sentence2", "text"]] = pd.DataFrame({name: english[: len(told)] for name in ("sentence2", "text")})
    told = told.assign(anchor=told["text"], positive=told["text"])
    told.to_csv("english.tsv", sep="\t", index=False)
    told[:0].to_csv("none.tsv", sep="\t", index=False)
    told.assign(sentence1="سلام عليكم").to_csv("arabic.tsv", sep="\t", index=False)
    HAUSA.assign(score="high").to_csv("words.tsv", sep="\t", index=False)
    pd.concat([HAUSA[:2], HAUSA.assign(id=HAUSA["id"] + "x")]).to_csv("again.tsv", sep="\t", index=False)
    HAUSA.assign(sentence2=["Sannu", "", *HAUSA["sentence2"][2:]]).to_csv("gap.tsv", sep="\t", index=False)
    hausa = HAUSA.rename(columns={"sentence1": "text", "sentence2": "pivot"})
    hausa.assign(pivot=hausa["text"]).to_csv("same_text.tsv", sep="\t", index=False)
    hausa.to_csv("hausa.tsv", sep="\t", index=False)
    hausa.assign(pivot="").to_csv("no_pivot.tsv", sep="\t", index=False)
    pairs16 = HAUSA.rename(columns={"sentence1": "anchor", "sentence2": "positive"})
    pairs16.to_csv("marks.csv", sep=";", index=False)
    pairs16.to_csv("wide16.tsv", sep="\t", index=False, encoding="utf-16")
    Path("numbered.hau.txt").write_text("".join(f"{row}\t{one}\n" for row, one in enumerate(HAUSA["sentence1"], 1)))
    HAUSA.assign(score=1).to_csv("same.tsv", sep="\t", index=False)
    Path("numbers.hau.txt").write_text("".join(f"{row} {row} {row} 1000\n" for row in range(100, 200)))
    HAUSA.assign(sentence1=range(1000, 1000 + len(HAUSA))).to_csv("digits.tsv", sep="\t", index=False)
    HAUSA.assign(sentence2=HAUSA["sentence1"]).to_csv("twins.tsv", sep="\t", index=False)
    HAUSA.assign(score=["inf" if row == 40 else "1" for row in range(len(HAUSA))]).to_csv("endless.tsv", sep="\t")
    HAUSA.assign(id=1).to_csv("twice.tsv", sep="\t", index=False)
    HAUSA.assign(id=["x", "x ", *range(2, len(HAUSA))]).to_csv("blanks.tsv", sep="\t", index=False)
    pairs = HAUSA.rename(columns={"sentence1": "anchor", "sentence2": "positive"})
    pairs.assign(id=[None if row == 30 else f"n{row}" for row in range(len(HAUSA))]).to_json(
        "anonymous.jsonl", orient="records", lines=True
    )
    wide = HAUSA.assign(sentence1=HAUSA["sentence1"].str.replace(" ", "\n"))
    wide.assign(score=["1", "2", "high", *["3"] * (len(HAUSA) - 3)]).to_csv("wide.csv", index=False)
    HAUSA[["id", "sentence1"]].to_json("rows.hau.jsonl", orient="records", lines=True)
    Path("hau.txt.gz").write_bytes(gzip.compress(text.encode()))
    Path("hau.txt.bz2").write_bytes(bz2.compress(text.encode()))
    Path("word.hau.doc").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500))
    Path("nul.hau.txt").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(500))
    Path("columns.hau.tsv").write_text("text\ttext\n" + "".join(f"{one}\t{one}\n" for one in HAUSA["sentence1"]))
    told.assign(text="").to_csv("blank.tsv", sep="\t", index=False)
    Path("packed.tsv").write_bytes(gzip.compress(text.encode(), mtime=0))
    HAUSA.to_parquet("rows.csv")
    Path("nuls.hau.txt").write_text(text[:7] + "\0" + text[8:10] + "\0" + text[11:])
    Path("image.hau.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    HAUSA["sentence1"].to_csv("rows.hau.txt")
    HAUSA[["sentence1", "sentence2"]].to_csv("tabs.hau.txt", sep="\t", index=False)
    HAUSA[["sentence1"]].to_json("json.hau.txt", orient="records", lines=True, force_ascii=False)
    Path("page.hau.txt").write_text("<html>\n" + "".join(f'<p class="x">{one}</p>\n' for one in HAUSA["sentence1"]))
    pairs.to_csv("bars.csv", sep="|", index=False)
    pairs.to_csv("commas.tsv", index=False)
    Path("excel.csv").write_text("sep=,\n" + pairs.to_csv(index=False))
    pairs.to_json("list.jsonl", orient="records")
    pairs.to_json("lines.json", orient="records", lines=True)
    Path("bare.csv").write_bytes(b"\xef\xbb\xbf\r\n")
    rows = pairs[["anchor", "positive"]].to_csv(index=False, quoting=csv.QUOTE_ALL).splitlines()
    Path("open.csv").write_text("\n".join([*rows[:3], '"Yara suna karatu,Yara na karatu', *rows[4:]]))
    Path("last.csv").write_text("\n".join([*rows[:-1], '"Yara suna karatu,Yara na karatu']))
    hausa.assign(pivot=[*english[:55], *hausa["text"][55:].str.upper()]).to_csv("half.tsv", sep="\t", index=False)
    pairs.assign(positive=pairs["anchor"]).to_csv("itself.csv", index=False)
    pairs.assign(positive=None).to_json("lone.jsonl", orient="records", lines=True)
    nested = pairs.assign(positive=[[[word] for word in text.split()] for text in pairs["positive"]])
    nested.to_json("nested.jsonl", orient="records", lines=True)
    Path("ragged.csv").write_text("anchor,positive\nYara suna karatu,yara\nYara suna karatu\n")
    Path("{x}.hau.txt").write_text(text)
    Path("long.hau.txt").write_text(f"{' '.join(text.split())}\n" * 60)
    Path("copies.hau.txt").write_text("Yara suna karatu a gida.\n" * 60)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["utf16.hau.txt"], "utf16.hau.txt: UTF-16 ... iconv -f UTF-16 -t UTF-8 <"),
        (
            ["latin.hau.txt"],
            "latin.hau.txt: byte 0 ... Windows-1252 ... iconv -f",
        ),
        (["english.hau.txt"], "english.hau.txt: ... reads like English; expected Hausa"),
        (["english.hau.txt", "--language", "bjn", "--name", "Banjar"], "english.hau.txt: reads like English"),
        (
            ["hau.txt", "--language", "swh"],
            "hau.txt: ... reads like Hausa; expected Swahili, as --language says",
        ),
        (["hau.txt", "--test", "indonesian.tsv"], "indonesian.tsv: column sentence1: ... reads like Indonesian"),
        (
            ["hau.txt", "--language", "amh"],
            "hau.txt: 0% ... Ethi ... Amharic ... Latn",
        ),
        (["hau.txt", "--language", "xyz"], "--language xyz: ... registry; known: "),
        (["hau.txt", "--language", "xyz", "--name", "Xyz", "--script", "Foo"], "--script Foo: not known"),
        (["text.txt"], "text.txt: ... give --language"),
        (["news.swa.v2.txt"], "news.swa.v2.txt: ... give --language, ... like kin; swa: did you mean 'swh'?"),
        (["runes.txt", "--language", "abc", "--name", "Abc"], "runes.txt: ... no script ... --script"),
        (["few.hau.txt"], "few.hau.txt: 2 sentences among its first 2 lines ... 3 words"),
        (
            ["long.hau.txt"],
            "long.hau.txt: 0 sentences among its first 60 lines ... 500 characters ... 60 lines are longer ... sed",
        ),
        (["gone.txt"], "gone.txt: no such file"),
        (["test.tsv"], "test.tsv: no column 'text'; ... 'id', 'sentence1', 'sentence2', 'score'"),
        (
            ["hau.txt", "--test", "parallel.tsv"],
            "parallel.tsv: no column 'sentence1' ... sentence1, sentence2, score, named in its first line",
        ),
        (["hau.txt", "--test", "words.tsv"], "words.tsv: row 1: ... number"),
        (["hau.txt", "--test", "again.tsv"], "again.tsv: row 3 has the sentences of row 1, and 2 of"),
        (["hau.txt", "--test", "gap.tsv"], "gap.tsv: row 2 lacks a sentence"),
        (
            ["hau.txt", "--parallel", "same_text.tsv"],
            "same_text.tsv: column pivot: 100% ... texts themselves; expected English",
        ),
        (
            ["hau.txt", "--parallel", "hausa.tsv"],
            "hausa.tsv: column pivot: ... reads like Hausa; expected English, as of all",
        ),
        (["hau.txt", "--parallel", "no_pivot.tsv"], "no_pivot.tsv: column pivot: 0 of the first 120 cells have text"),
        (["hau.txt", "--pairs", "marks.csv"], "marks.csv: ... divided by ';', not by commas; save it with commas"),
        (["hau.txt", "--pairs", "wide16.tsv"], "wide16.tsv: UTF-16, not UTF-8; convert it: iconv -f UTF-16"),
        (["numbered.hau.txt"], "numbered.hau.txt: its lines begin with a number and a tab; ... cut -f 2-"),
        (["hau.txt", "--test", "three.tsv"], "three.tsv: 3 pairs; at least 20 ... half"),
        (["hau.txt", "--parallel", "three.tsv"], "three.tsv: 3 pairs; at least 20"),
        (["hau.txt", "--test", "english.tsv"], "english.tsv: column sentence2: "),
        (["hau.txt", "--test", "test.tsv", "--parallel", "english.tsv"], "english.tsv: column text: "),
        (["hau.txt", "--test", "arabic.tsv"], "arabic.tsv: column sentence1: 0% ... Latn"),
        (["hau.txt", "--language", "bad code", "--name", "X"], "--language bad code: ... ISO 639-3"),
        (["hau.txt", "--output", "hau.txt"], "hau.txt: is there already ... --output ... seedbed add"),
        (["copies.hau.txt"], "copies.hau.txt: 1 sentences among its first 60 lines"),
        (["hau.txt.gz"], "hau.txt.gz: no text (gzip); unpack ... one sentence a line"),
        (["rows.hau.jsonl"], "rows.hau.jsonl: no column 'text'; ... 'id', 'sentence1'"),
        (["hau.txt.bz2"], "hau.txt.bz2: no text (bzip2); unpack it"),
        (["word.hau.doc"], "word.hau.doc: no text (OLE, like .doc)"),
        (["nul.hau.txt"], "nul.hau.txt: no text (it has NUL bytes)"),
        (["columns.hau.tsv"], "columns.hau.tsv: ... 'text'; rename"),
        (
            ["hau.txt", "--parallel", "blank.tsv"],
            "blank.tsv: column text: 0 ... 120",
        ),
        (["hau.txt", "--output", "/proc/x.yaml"], "/proc/"),
        ([f"{'a' * 300}.hau.txt"], f"{'a' * 300}.hau."),
        (["{x}.hau.txt"], "{x}.hau.txt: ... braces ... rename"),
        (["hau.txt", "--test", "same.tsv"], "same.tsv: ... 120 pairs ... two different"),
        (["numbers.hau.txt"], "numbers.hau.txt: 0 ... letters ... Hausa"),
        (["hau.txt", "--test", "digits.tsv"], "digits.tsv: column sentence1: 0 ... letters ... Hausa"),
        (["hau.txt", "--test", "twins.tsv"], "twins.tsv: row 1: sentence2 is sentence1 again, as in 120 of 120 rows"),
        (["hau.txt", "--test", "endless.tsv"], "endless.tsv: row 41: ... number"),
        (["hau.txt", "--test", "twice.tsv"], "twice.tsv: id '1' ... make ids unique"),
        (["hau.txt", "--test", "blanks.tsv"], "blanks.tsv: id 'x ' appears in several rows; make ids unique"),
        (["hau.txt", "--pairs", "anonymous.jsonl"], "anonymous.jsonl: row 31 has no id; give every row one"),
        (["hau.txt", "--test", "wide.csv"], "wide.csv: row 3: the score 'high' is no number; expected one like 0.5"),
        (["hau.txt", "--pairs", "english.tsv"], "english.tsv: column anchor: "),
        (
            ["hau.txt", "--language", "xyz", "--name", "Xyz", "--pairs", "english.tsv"],
            "english.tsv: column anchor: 100% reads like English; expected Xyz",
        ),
        (["hau.txt", "--pairs", "none.tsv"], "none.tsv: no row ... anchor, positive"),
        (["hau.txt", "--pairs", "packed.tsv"], "packed.tsv: no text (gzip); unpack it, or give it the ending"),
        (["hau.txt", "--pairs", "rows.csv"], "rows.csv: no text (Parquet); ... give it the ending of what it is"),
        (["nuls.hau.txt"], "nuls.hau.txt: no text (it has NUL bytes)"),
        (["image.hau.txt"], "image.hau.txt: no text (it has NUL bytes)"),
        (["rows.hau.txt"], "rows.hau.txt: its lines begin with a number and a comma ... name it .csv"),
        (["tabs.hau.txt"], "tabs.hau.txt: its lines have tabs ... name it .tsv"),
        (["json.hau.txt"], "json.hau.txt: its lines are objects of JSON; name it .jsonl"),
        (["page.hau.txt"], "page.hau.txt: its lines have markup, like <p>; save it as plain text"),
        (["hau.txt", "--pairs", "bars.csv"], "bars.csv: its columns are divided by '|', not by commas; save it with"),
        (["hau.txt", "--pairs", "commas.tsv"], "commas.tsv: its columns are divided by ',', not by tabs; name it .csv"),
        (["hau.txt", "--pairs", "excel.csv"], "excel.csv: its first line is 'sep=,' ... take it out"),
        (["hau.txt", "--pairs", "list.jsonl"], "list.jsonl: begins as one list of JSON; name it .json"),
        (["hau.txt", "--pairs", "lines.json"], "lines.json: begins with an object ... on each line, name it .jsonl"),
        (["hau.txt", "--pairs", "bare.csv"], "bare.csv: empty; expected a table"),
        (["folder.hau.txt"], "folder.hau.txt: a folder; expected a text with one sentence a line"),
        (["hau.txt", "--pairs", "folder.csv"], "folder.csv: a folder; expected a table with the columns anchor"),
        (["pipe.hau.txt"], "pipe.hau.txt: a pipe or a device, no file; expected a text"),
        (["hau.txt", "--pairs", "pipe.csv"], "pipe.csv: a pipe or a device, no file; expected a table"),
        (["/dev/zero", "--language", "hau"], "/dev/zero: a pipe or a device, no file; expected a text"),
        (
            ["hau.txt", "--pairs", "open.csv"],
            "open.csv: the row that begins in line 4 has a quotation that does not end",
        ),
        (["hau.txt", "--pairs", "last.csv"], "last.csv: the row that begins in line 121 has a quotation that does not"),
        (["hau.txt", "--parallel", "half.tsv"], "half.tsv: column pivot: 54% ... texts themselves; expected English"),
        (["hau.txt", "--pairs", "itself.csv"], "itself.csv: row 1: the positive is the anchor again, as in 120 of 120"),
        (["hau.txt", "--pairs", "lone.jsonl"], "lone.jsonl: column positive: 0 of the first 120 cells have text"),
        (["hau.txt", "--pairs", "nested.jsonl"], "nested.jsonl: column positive: 0 ... nor has a list of lists"),
        (["hau.txt", "--pairs", "ragged.csv"], "ragged.csv: row 3 has 1 fields, the first 2; write every cell"),
        (["hau.txt", "pairs.csv"], "pairs.csv: one file too many; `init` takes tables after --pairs"),
        (["hau.txt", "--paris", "pairs.csv"], "--paris: no such option; `seedbed init --help`"),
        (["hau.txt", "--results", "hau.txt"], "results: hau.txt is a file; give a folder"),
        (["hau.txt", "--results", "hau.txt/own"], "results: hau.txt is a file; give a folder"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(words, fault, wrong):
    for file in wrong.iterdir():
        shutil.copy(file, file.name)
    for name in ("hau.txt", "csv"):
        Path(f"folder.{name}").mkdir()
        os.mkfifo(f"pipe.{name}")
    with pytest.raises(SystemExit) as error:
        main(["init", *words])
    assert re.match(pattern(f"error: {fault}"), str(error.value)) and "\n" not in str(error.value)
    assert not [*Path().glob("*.yaml")]


BREAKS = ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x1b", "\udcff"]
"""What ends a line for YAML, for Python or for neither, what a terminal obeys, and a byte that is no UTF-8."""


@pytest.mark.parametrize("letter", BREAKS, ids=ascii)
def test_a_name_that_is_no_line_becomes_no_yaml(letter, capsys):
    """Snakemake would run what follows it."""
    main(["init", "hau.txt", "--output", "there.yaml"])
    name = f'hau{letter}__use_yte__: true{letter}__definitions__: ["import os"]{letter}#'
    Path(f"{name}.txt").write_text(Path("hau.txt").read_text())
    Path(f"{name}.csv").write_text(Path("pairs.csv").read_text())
    Path(f"{name}.yaml").write_text(before := Path("there.yaml").read_text())
    for words in (
        ["init", f"{name}.txt"], ["init", f"{name}.txt", "--language", "hau", "--output", "new.yaml"],
        ["init", "hau.txt", "--pairs", f"{name}.csv"], ["init", "hau.txt", "--output", f"a{name}.yaml"],
        ["init", "hau.txt", "--results", name], ["init", "hau.txt", "--name", name, "--language", "xyz"],
        ["add", f"{name}.csv", "--pairs", "--study", "there.yaml"], ["add", "pairs.csv", "--pairs", "--study", f"{name}.yaml"],
    ):  # fmt: skip
        with pytest.raises(SystemExit, match="rename it") as error:
            main(words)
        assert str(error.value).isprintable()
    assert {*Path().glob("*.yaml")} == {Path("there.yaml"), Path(f"{name}.yaml")}
    assert Path("there.yaml").read_text() == Path(f"{name}.yaml").read_text() == before


def test_what_a_terminal_obeys_is_no_part_of_an_error():
    Path("columns.hau.tsv").write_text("\x1b[2Jtext\nYara suna karatu.\n")
    Path("broken\x1b[2J.yaml").write_text("a: [")
    for words in (["init", "columns.hau.tsv"], ["check", "broken\x1b[2J.yaml"], ["check", "gone\x1b[2J.yaml"]):
        with pytest.raises(SystemExit) as error:
            main(words)
        assert str(error.value).isprintable() and "\\x1b[2J" in str(error.value)


@pytest.mark.parametrize(
    "encoding", ["latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_advice_for_a_shell_runs_as_it_is(encoding):
    folder = Path("my texts")
    folder.mkdir()
    text = "".join(letter for letter in f"è {Path('hau.txt').read_text()}" if letter < "\u0100")
    path = folder / "hau $(touch PWNED) 'x'; touch PWNED.txt"
    path.write_text(text, encoding=encoding)
    with pytest.raises(SystemExit) as error:
        main(["init", str(path)])
    subprocess.run(
        ["bash", "-ec", str(error.value).partition("by: " if encoding == "latin-1" else "it: ")[2]], check=True
    )
    (made,) = {*folder.iterdir()} - {path}
    assert made.read_text() == text and not [*Path().rglob("PWNED")]
    assert written(str(made))["languages"]["hau"]["corpus"]["file"] == str(made)


def test_no_encoding_is_guessed_of_what_is_too_long(monkeypatch):
    monkeypatch.setattr("seedbed.io.LINE", 1000)
    Path("long.hau.txt").write_text("Ya tafi gida.\n" + "Yara suna karatu. " * 1000)
    with pytest.raises(SystemExit) as error:
        main(["init", "long.hau.txt"])
    assert re.search("long.hau.txt: a line of more than .* begins at byte 14; break it", str(error.value))
    assert "iconv" not in str(error.value)


@pytest.mark.parametrize("ending", ["txt", "tsv"])
def test_lines_that_a_run_leaves_out_say_nothing_of_the_language(ending):
    """Nor are they read whole."""
    lines = Path("hau.txt").read_text().splitlines()
    path = Path(f"long.hau.{ending}")
    text = "\n".join([*lines, *["a b c " * 200_000] * 3, *["the cat"] * 200]) + "\n"
    path.write_text(("" if ending == "txt" else "text\n") + text)
    assert {*sentences(path)} <= {*lines}
    study = written(str(path))
    assert [*study["languages"]] == ["hau"] and len(Path("study.yaml").read_text()) < 10_000


def test_lines_are_those_of_a_run():
    """It ends no line at U+2028, and a mark at the beginning is no part of the first."""
    lines = Path("hau.txt").read_text().splitlines()
    Path("hau.txt").write_text("\ufeff" + "\n".join([*lines, "Yara suna karatu\u2028a gida yau"]) + "\n")
    blocks, _ = fetch(load(written("hau.txt")).languages["hau"].corpus, "text",
                      Store(Path("downloads"), Path("lock.json")), Cleaning())  # fmt: skip
    assert sentences(Path("hau.txt")) == [*pd.concat(blocks)["text"]]


def test_a_person_who_is_sure_is_right():
    assert [*written("hau.txt", "--language", "swh", "--sure")["languages"]] == ["swh"]
    assert "Whether the text is in that language was not checked." in Path("study.yaml").read_text()


def test_what_was_seen_of_the_language_is_said():
    written("hau.txt")
    assert "CLD2 reads 99% of the text as Hausa." in Path("study.yaml").read_text()
    Path("study.yaml").unlink()
    written("hau.txt", "--language", "xyz", "--name", "Xyz")
    assert "whether it is Xyz, which CLD2 does not know by the code xyz, or another" in Path("study.yaml").read_text()


def test_a_short_text_is_told_from_english_and_english_of_any_kind_is_not():
    """Both sides learn from as many sentences."""
    indonesian = pd.read_csv(resource("demo/sts.ind.tsv"), sep="\t")["sentence1"]
    for lines, code in ((indonesian, "ind"), (HAUSA["sentence1"], "hau")):
        short = [" ".join(line.split()[:5]) for line in lines[:50]]
        assert language_of(Path(f"{code}.txt"), short).code == code
    prose = (ROOT / "docs/recipes.md").read_text() + (ROOT / "docs/data.md").read_text()
    told = [" ".join(prose.split()[first : first + 20]) for first in range(0, 20 * 200, 20)]
    for count in (50, 200):
        with pytest.raises(UserError, match="reads like English"):
            language_of(Path("ind.txt"), told[:count])


def test_a_language_is_found_wherever_the_name_of_the_file_has_it():
    for name in ("news.ha.txt", "Hausa.txt", "ntrex-hau.txt"):
        Path(name).write_text(Path("hau.txt").read_text())
        assert language_of(Path(name), sentences(Path(name))).code == "hau"
    with pytest.raises(UserError):
        language_of(Path("a.txt"), sentences(Path("hau.txt")))


def test_of_several_languages_a_test_of_one_reports_and_chooses_for_none(capsys, long_text):
    """A recipe that is recommended for all stays: the others would have no encoder."""
    study = written("long.hau.txt")
    study["languages"]["swh"] = in_swahili(study)
    Path("swh.txt").write_text(long_text.read_text())
    for before in (study["best"], {"recipe": "adjacent"}):
        Path("study.yaml").write_text(yaml.safe_dump(study | {"best": before}))
        main(["add", "test.tsv", "--test", "--language", "hau", "--study", "study.yaml"])
        later = yamls.read("study.yaml")
        shown = {key: value for key, value in before.items() if key != "limits"}  # it asks for what is there now
        assert later["best"] == (shown | {"also": ["own-sts"]} if "test" in before else before)
        assert "`adjacent` is still recommended, since own-sts tests one language alone." in capsys.readouterr().out
        found = load(later)
        assert [BestEncoder.get(found, code).exists for code in ("hau", "swh")] == [True, True]
        rows = fetch(found.test("own-sts", "hau"), "pairs", Store(Path("downloads"), Path("lock.json")), Cleaning())[0]
        assert len(pd.concat(rows)) == len(HAUSA), "all rows report"


def test_the_least_text_fills_a_batch():
    assert presets()["adjacent"]["training"]["batch_size"] == LEAST
    lines = Path("hau.txt").read_text().splitlines()
    for count, told in ((LEAST - 1, "at least 64"), (LEAST, "")):
        Path("few.hau.txt").write_text("\n".join(lines[:count]))
        if told:
            with pytest.raises(UserError, match=told):
                sentences(Path("few.hau.txt"))
        else:
            assert len(sentences(Path("few.hau.txt"))) == count and "keeps 63;" in unordered(Path("few.hau.txt"))
    Path("few.hau.txt").write_text("\n".join(lines[: LEAST + 1]))
    assert not unordered(Path("few.hau.txt")), "65 lines are 64 pairs"


def test_a_link_that_leads_in_a_circle_is_no_file(capsys):
    for name in ("loop.csv", "loop"):
        Path(name).symlink_to(name)
    main(["init", "hau.txt"])
    before = Path("hau.yaml").read_bytes()
    with pytest.raises(SystemExit, match=r"^error: loop\.csv: no such file"):
        main(["add", "loop.csv", "--pairs"])
    assert Path("hau.yaml").read_bytes() == before
    Path("hau.yaml").unlink()
    main(["init", "hau.txt", "--results", "loop"])


def test_a_file_that_is_no_study_and_cannot_be_read_is_passed_over(monkeypatch, capsys):
    main(["init", "hau.txt"])
    Path("other.yaml").write_text("languages: {}")
    plain = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: plain(path) if path.name == "hau.yaml" else _refused(path))
    main(["add", "pairs.csv", "--pairs"])


def _refused(path: Path) -> bytes:
    raise PermissionError(13, "Permission denied", str(path))


def test_an_edited_study_keeps_its_line_ends_its_mode_and_its_link(capsys):
    Path("real").mkdir()
    main(["init", "hau.txt", "--output", "real/hau.yaml"])
    file = Path("real/hau.yaml")
    file.write_bytes(before := file.read_bytes().replace(b"\n", b"\r\n"))
    file.chmod(0o640)
    Path("my.yaml").symlink_to("real/hau.yaml")
    main(["add", "pairs.csv", "--pairs", "--study", "my.yaml"])
    after = file.read_bytes()
    assert Path("my.yaml").is_symlink() and file.stat().st_mode & 0o777 == 0o640
    assert {*before.splitlines(keepends=True)} < {*after.splitlines(keepends=True)} and b"own-pairs" in after
    assert after.count(b"\n") == after.count(b"\r\n")


def test_a_study_that_may_not_be_written_stays(capsys, monkeypatch):
    main(["init", "hau.txt"])
    before = Path("hau.yaml").read_bytes()
    with monkeypatch.context() as patched, pytest.raises(SystemExit) as error:
        patched.setattr("os.access", lambda path, mode: False)  # root may always
        main(["add", "pairs.csv", "--pairs"])
    assert str(error.value).startswith("error: hau.yaml: is write-protected")
    with monkeypatch.context() as patched, pytest.raises(SystemExit) as error:
        patched.setattr("pathlib.Path.write_bytes", lambda path, _: _refused(path))
        main(["add", "pairs.csv", "--pairs"])
    assert str(error.value) == "error: hau.yaml: cannot be written (permission denied)"
    assert Path("hau.yaml").read_bytes() == before


def test_a_study_in_another_encoding_is_refused(capsys):
    main(["init", "hau.txt"])
    text = Path("hau.yaml").read_text()
    Path("hau.yaml").write_text(text, encoding="utf-16")
    for words in (["check", "hau.yaml"], ["add", "pairs.csv", "--pairs", "--study", "hau.yaml"]):
        with pytest.raises(SystemExit, match=r"^error: hau\.yaml: byte 0 is not UTF-8; convert the file"):
            main(words)


def test_a_test_set_of_ones_own_becomes_a_table_of_both_halves():
    """From the study to its page by the programs of a run, of scores that are given, so that nothing is trained."""
    apart_from_the_text()
    study = load(written("hau.txt", "--test", "test.tsv"))
    table = Table.get(study, "table1")
    blocks = json.dumps([block.model_dump(mode="json") for block in table.plan.blocks])
    for number, one in enumerate(sorted(table.plan.cells), start=2):
        items = pd.DataFrame({"gold": range(13), "cosine": [gold * number % 13 for gold in range(13)]})
        rho = items["gold"].corr(items["cosine"])
        write_score(Path("scores", one.path), "sts", items.astype(float), rho, "own")
    call(plan_table, ["--blocks", blocks, "--output", "plan.json"])
    words = ["--spec", table.plan.spec_file, "--scores", "scores", "--plan", "plan.json"]
    call(tabulate, [*words, "--output", "table.csv", "--compared", "compared.csv", "--layout", "table.md"])
    shown = pd.read_csv("table.csv")
    assert (shown["language"] == "hau").sum() == len(table.plan.cells) == 8
    page = Path("table.md").read_text()
    for half in ("dev", "test"):
        assert f"## STS (own-sts-{half}), me5-small" in page
