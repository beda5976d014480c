"""Which encoder is the best of a language, how good it is, and how it compares with others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from scripts import choose_best
from seedbed import manifests
from seedbed.encoders.export.card import PAIRS, Usage
from seedbed.evaluation.files import write
from seedbed.evaluation.scores import Scores
from seedbed.io import UserError, write_table
from seedbed.tables import best
from seedbed.tables.plan import AvailableRecipe, Block, Cell
from seedbed.tables.quotes import Quote
from seedbed.tables.report import answer
from seedbed.tables.report.comparison import comparisons
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import Column
from seedbed.triplets.overlap import dice
from tests.programs import call

STATISTICS = Statistics(resamples=500)
N = 60
NOISE = {("base", 0): 3.0, ("plain", 1): 1.5, ("plain", 2): 1.5, ("good", 1): 0.3, ("good", 2): 0.2}
"""Recipe and seed -> noise of its cosines on the test."""
DEV = {("base", 0): 0.2, ("plain", 1): 0.9, ("plain", 2): 0.1, ("good", 1): 0.6, ("good", 2): 0.5}
"""Its main score on the development task: one seed of plain is above all, and good is better on average."""


def block() -> Block:
    seeds = {"base": [0], "plain": [1, 2], "good": [1, 2]}
    systems = [AvailableRecipe(recipe=name, language="hau", seeds=own) for name, own in seeds.items()]
    column = Column(label="test", protocol="sts", metric="spearman", tasks=["test"])
    names = {name: name for name in seeds}
    facts = {"backbone": "bert", "paper_backbone": "", "tests": {"hau": "test"}, "baseline": "base"}
    return Block(**facts, column=column, systems=systems, names=names)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    draw = np.random.default_rng(0)
    gold = draw.uniform(size=N)
    for (recipe, seed), noise in NOISE.items():
        folder = tmp_path / "scores/bert" / recipe / "hau" / str(seed)
        cosine = gold + noise * draw.normal(size=N)
        items = pd.DataFrame({"id": range(N), "gold": gold, "cosine": cosine})
        rho = float(spearmanr(gold, cosine).statistic)
        about = {
            "task": "test",
            "protocol": "sts",
            "language": "hau",
            "dataset": {"origin": [{"kind": "file", "name": "own"}]},
        }
        write(Scores(rho, {"cosine_spearman": rho}, items), about, folder / "test/hau.json")
        dev = DEV[recipe, seed]
        write(
            Scores(dev, {"accuracy": dev}, items),
            about | {"task": "dev", "protocol": "bitext"},
            folder / "dev/hau.json",
        )
    words = [f"w{n}" for n in range(8)]
    pairs = pd.DataFrame({"id": range(N), "sentence1": " ".join(words), "score": gold})
    pairs["sentence2"] = [" ".join(words[: 1 + int(8 * draw.uniform())]) for _ in range(N)]
    write_table(pairs, tmp_path / "pairs.tsv")
    return tmp_path / "scores"


def test_the_recipe_with_the_best_mean_is_chosen_on_the_development_task_and_its_best_seed(scores):
    cell, dev = best.choose_encoder([block()], scores, ["dev"])
    assert cell == Cell("bert", "good", "hau", 1, "test", "hau") and dev == {
        "tasks": ["dev"],
        "score": 0.55,
        "among": 3,
        "equal": 1,
    }


def test_of_equally_good_ones_the_first_is_chosen_and_the_answer_says_so(scores):
    for seed in (1, 2):
        file = scores / f"bert/plain/hau/{seed}/dev/hau.json"
        file.write_text(file.read_text().replace(f'"main_score": {DEV["plain", seed]}', '"main_score": 0.55'))
    cell, dev = best.choose_encoder([block()], scores, ["dev"])
    assert cell.recipe == "plain" and (dev["among"], dev["equal"]) == (3, 2)
    assert "rows, the first of 2 with the best score among 3 on dev, is significantly" in answer.text(
        {"best": told(dev=dev)}
    )


def test_several_tasks_choose_by_the_mean_of_their_scores(scores):
    """`dev` alone would choose `good`; a second task, on which `base` is far better, turns it."""
    for (recipe, seed), score in DEV.items():
        file = scores / f"bert/{recipe}/hau/{seed}/dev/hau.json"
        other = scores / f"bert/{recipe}/hau/{seed}/more/hau.json"
        other.parent.mkdir()
        more = 0.9 if recipe == "base" else 0.1
        other.write_text(file.read_text().replace(f'"main_score": {score}', f'"main_score": {more}'))
    cell, dev = best.choose_encoder([block()], scores, ["dev", "more"])
    assert cell.recipe == "base" and dev["tasks"] == ["dev", "more"]
    assert dev["score"] == pytest.approx((DEV["base", 0] + 0.9) / 2)


def test_scores_of_the_test_change_no_choice(scores):
    file = scores / "bert/base/hau/0/test/hau.json"
    file.write_text(file.read_text().replace('"main_score": ', '"main_score": 1'))
    assert best.choose_encoder([block()], scores, ["dev"])[0].recipe == "good"


def test_of_equals_the_first_is_chosen(scores):
    for recipe, seed in DEV:
        file = scores / f"bert/{recipe}/hau/{seed}/dev/hau.json"
        file.write_text(file.read_text().replace(f'"main_score": {DEV[recipe, seed]}', '"main_score": 0.5'))
    assert best.choose_encoder([block()], scores, ["dev"])[0][:4] == ("bert", "base", "hau", 0)


def test_means_that_differ_by_rounding_alone_are_equal(scores):
    """`base` has 0.7 and 0.1 of two tasks, whose mean is 0.39999999999999997 of a computer, and `good` 0.5 and 0.3."""
    own = {"base": (0.7, 0.1), "good": (0.5, 0.3)}
    for (recipe, seed), score in DEV.items():
        file = scores / f"bert/{recipe}/hau/{seed}/dev/hau.json"
        text, (one, two) = file.read_text(), own.get(recipe, (0.1, 0.1))
        other = scores / f"bert/{recipe}/hau/{seed}/more/hau.json"
        other.parent.mkdir()
        other.write_text(text.replace(f'"main_score": {score}', f'"main_score": {two}'))
        file.write_text(text.replace(f'"main_score": {score}', f'"main_score": {one}'))
    cell, dev = best.choose_encoder([block()], scores, ["dev", "more"])
    assert cell.recipe == "base" and dev["score"] == 0.4


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("of", [("base", 0), ("good", 2)])
def test_nothing_is_chosen_by_a_score_that_is_no_number(scores, of, number):
    """Python takes a NaN for the greatest where it is the first, and else for the least."""
    file = scores / f"bert/{of[0]}/hau/{of[1]}/dev/hau.json"
    file.write_text(file.read_text().replace(f'"main_score": {DEV[of]}', f'"main_score": {number}'))
    with pytest.raises(UserError, match=rf"{file}: the main score is -?(nan|inf), and nothing is chosen by it; delete"):
        best.choose_encoder([block()], scores, ["dev"])


def test_its_numbers_are_those_of_scipy_and_word_overlap_stands_beside_it(scores):
    cell, _ = best.choose_encoder([block()], scores, ["dev"])
    found = best.report([block()], cell, scores, STATISTICS, scores.parent / "pairs.tsv")
    items = pd.read_csv(scores / "bert/good/hau/1/test/hau.items.tsv", sep="\t")
    assert found["score"]["value"] == pytest.approx(100 * spearmanr(items["gold"], items["cosine"]).statistic, abs=2e-3)
    pairs = pd.read_csv(scores.parent / "pairs.tsv", sep="\t")
    overlaps = [dice(a, b) for a, b in zip(pairs["sentence1"], pairs["sentence2"], strict=True)]
    words = found["others"]["word overlap"]
    assert words["value"] == pytest.approx(100 * spearmanr(pairs["score"], overlaps).statistic, abs=2e-3)
    assert words["difference"] == pytest.approx(found["score"]["value"] - words["value"], abs=2e-3)
    assert {name: other["apart"] for name, other in found["others"].items()} == {
        "base": True, "plain": True, "word overlap": True,
    }  # fmt: skip
    assert found["score"]["low"] < found["score"]["value"] < found["score"]["high"] and found["n"] == N


def test_what_is_as_good_is_not_told_apart(scores):
    for name in ("json", "items.tsv"):
        text = (scores / f"bert/good/hau/1/test/hau.{name}").read_text()
        (scores / f"bert/base/hau/0/test/hau.{name}").write_text(text)
    cell, _ = best.choose_encoder([block()], scores, ["dev"])
    others = best.report([block()], cell, scores, STATISTICS, None)["others"]
    assert not others["base"]["apart"] and others["base"]["difference"] == 0 and others["plain"]["apart"]


def test_other_pairs_than_those_that_were_scored_are_refused(scores):
    table = pd.read_csv(scores.parent / "pairs.tsv", sep="\t")
    write_table(table[:-1], scores.parent / "pairs.tsv")
    with pytest.raises(UserError, match=r"pairs\.tsv: 59.*60"):
        best.report(
            [block()],
            best.choose_encoder([block()], scores, ["dev"])[0],
            scores,
            STATISTICS,
            scores.parent / "pairs.tsv",
        )


def test_an_encoder_of_no_block_is_refused(scores):
    with pytest.raises(UserError, match=r"blocks: no score of bert/good/hau/7; give its block too"):
        best.report([block()], Cell.named("bert/good/hau/7", "hau"), scores, STATISTICS, None)


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    folder = tmp_path / "encoder"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "1_Pooling/config.json").write_text("{}")
    manifests.write(folder, {"about": {"recipe": "good"}, "training": {"examples": 64}})
    return folder


def test_it_lies_in_a_folder_of_its_own_that_takes_no_room(encoder, tmp_path):
    best.link_encoder(encoder, tmp_path / "best/hau", {"recipe": "good"})
    taken = tmp_path / "best/hau"
    assert (taken / "model.safetensors").samefile(encoder / "model.safetensors")
    assert manifests.read(taken / "seedbed.json")["best"] == {"recipe": "good", "rows": 64, "use": Usage()._asdict()}
    reads = []
    for folder in (encoder, taken):
        manifests.read(folder / "seedbed.json", digest=lambda path: reads.append(path) or "")
    assert not reads, "both are as their jobs left them"


def test_an_encoder_that_was_edited_is_not_taken(encoder, tmp_path):
    (encoder / "model.safetensors").write_bytes(b"others")
    with pytest.raises(UserError, match=r"model\.safetensors: not what its job wrote"):
        best.link_encoder(encoder, tmp_path / "best/hau", {})
    assert not (tmp_path / "best/hau").exists()


def told(**changes) -> dict:
    number = {"value": 47.06, "low": 35.1, "high": 57.8}
    compared = {"difference_low": -1.04, "difference_high": 28.5, "apart": False}
    others = {"base": number | compared | {"value": 26.4, "difference": 20.66, "apart": True}}
    others["unsupervised"] = number | compared | {"difference": -0.12}
    others["word overlap"] = number | compared | {"value": 54.7, "difference": -7.64, "apart": True}
    test = {"task": "sts", "metric": "spearman", "n": 212, "score": number, "others": others}
    facts = {"name": "Hausa", "recipe": "xllora", "backbone": "e5", "rows": 1288, "base": "base"}
    return facts | {"dev": {"tasks": ["dev"], "score": 0.4, "among": 3}, "test": test} | changes


ANSWER = """**Hausa: xllora** of e5, trained on 1,288 rows, the best of 3 on dev, is significantly better than base, the encoder before training.

| sts: spearman, 212 items | score | xllora compared with it |
| --- | --- | --- |
| **xllora**: `results/best/hau` | 47.1 [35.1, 57.8] |  |
| base, before training | 26.4 [35.1, 57.8] | +20.7 [-1.0, 28.5], significantly better |
| unsupervised | 47.1 [35.1, 57.8] | -0.1 [-1.0, 28.5], not significantly different |
| word overlap, no encoder | 54.7 [35.1, 57.8] | -7.6 [-1.0, 28.5], significantly worse |
"""


def test_the_answer_says_in_one_sentence_and_a_table_what_is_best_and_how_it_compares():
    text = answer.text({"results/best/hau": told()})
    assert ANSWER in text
    assert '    SentenceTransformer("results/best/hau").encode(["a sentence", "another one"])\n' in text


def test_a_difference_that_is_rounded_to_nothing_keeps_its_sign():
    below = told()
    numbers = {"difference": -0.04, "difference_low": -0.06, "difference_high": -0.02, "apart": True}
    below["test"]["others"]["base"] |= numbers
    assert "| -0.0 [-0.1, -0.0], significantly worse |" in answer.text({"best": below})


def test_what_others_report_is_a_row_with_its_source_and_without_a_verdict(scores):
    quoted = [Quote(system="BGE-M3", language="hau", value=56.5, source="their paper, table 2")]
    cell, _ = best.choose_encoder([block()], scores, ["dev"])
    test = best.report([block().model_copy(update={"quoted": quoted})], cell, scores, STATISTICS, None)
    text = answer.text({"best": told(test=test)})
    assert "\n| BGE-M3, quoted | 56.5 | their paper, table 2; no interval |\n" in text
    assert "quoted" not in best.report([block()], cell, scores, STATISTICS, None)


def test_of_few_items_the_answer_says_scores_and_nothing_about_differences():
    few = told()
    few["test"]["others"] = {"base": {"value": 26.4}, "unsupervised": {"value": 47.06}}
    text = answer.text({"best": few})
    assert (
        "the best of 3 on dev.\n" in text and "| base, before training | 26.4 |  |\n| unsupervised | 47.1 |  |" in text
    )
    why = "there are no intervals and no tests; at least 10 are needed."
    assert why not in text, "it has more"
    few["test"]["n"] = 9
    assert f"Of 9 items {why}" in answer.text({"best": few})


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        (["a.py", "model.onnx"], 'with onnxruntime installed:|best", trust_remote_code=True).encode(["a sentence"'),
        (["parallel_adapters.py"], 'use it:|best", trust_remote_code=True).encode(["a sentence", "another one"])'),
        (["two_paths.py", "english/config.json"], f'use it:|best", trust_remote_code=True).encode({PAIRS})'),
    ],
)
def test_the_lines_say_what_the_encoder_needs(encoder, tmp_path, files, lines):
    """A copy in integers, one with parallel adapters, and one of two texts."""
    for name in files:
        (encoder / name).parent.mkdir(exist_ok=True)
        (encoder / name).write_text("")
    manifests.write(encoder, {"training": {}})
    best.link_encoder(encoder, tmp_path / "best", {})
    text = answer.text({"best": told() | manifests.read(tmp_path / "best/seedbed.json")["best"]})
    assert all(part in text for part in lines.split("|"))


def test_a_recommended_encoder_is_reported_as_one_that_was_chosen(scores, encoder, tmp_path):
    """With its reason, the limits of its test, and every encoder with the lines that open it."""
    for recipe, seed in NOISE:
        folder = tmp_path / "encoders/bert" / recipe / "hau" / str(seed)
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(recipe.encode())
        training = {"examples": 0 if recipe == "base" else 64}
        manifests.write(folder, {"about": {"recipe": recipe, "backbone": "bert"}, "training": training})
    blocks = json.dumps([block().model_dump(mode="json")])
    told = ["--language", "hau", "--name", "Hausa", "--root", str(tmp_path), "--statistics", STATISTICS.dump()]
    told += ["--why=Measured elsewhere.", "--limits=The test is weak.", "--encoder", "bert/plain/hau/2"]
    call(choose_best, [*told, "--blocks", blocks, "--also", blocks, "--output", str(tmp_path / "best/hau")])
    found = manifests.read(tmp_path / "best/hau/seedbed.json")["best"]
    assert (found["recipe"], found["seed"], found["dev"], found["rows"]) == ("plain", 2, None, 64)
    assert found["statistics"] == {"resamples": STATISTICS.resamples, "level": STATISTICS.level, "seed": 42}
    assert found["test"] == found["also"][0] and found["test"]["others"]["good"]["apart"]
    listed = [
        answer.Listed.of(tmp_path / f"encoders/bert/{name}") for name in ("base/hau/0", "plain/hau/1", "good/hau/1")
    ]
    text = answer.text({"best/hau": found}, {"Hausa": listed})
    begins = "**Hausa: plain** of bert, trained on 64 rows, recommended, is not significantly different from base, the encoder before training. Measured elsewhere.\n\n| test: spearman, 60 items |"
    assert begins in text and "\n\nThe test is weak.\n" in text
    number = found["test"]["score"]
    cell = f"{number['value']:.1f} [{number['low']:.1f}, {number['high']:.1f}]"
    assert f"| **plain** of bert | 64 rows | {cell} | {cell} |" in text and "| base of bert | nothing | " in text
    for one in listed:
        folder = "best/hau" if one.recipe == "plain" else one.folder  # the score is of the second seed's
        line = f'    SentenceTransformer("{folder}").encode(["a sentence", "another one"])  # {one.recipe} of bert'
        assert line in text
    assert comparisons([found], {})[0].marks[0].value == number["value"]


def test_a_recommended_encoder_without_a_test_is_reported_too(encoder, tmp_path):
    folder = tmp_path / "encoders/bert/good/hau/1"
    folder.parent.mkdir(parents=True)
    encoder.rename(folder)
    told = ["--language", "hau", "--name", "Hausa", "--root", str(tmp_path), "--blocks", "[]"]
    call(choose_best, [*told, "--encoder", "bert/good/hau/1", "--output", str(tmp_path / "best/hau")])
    found = manifests.read(tmp_path / "best/hau/seedbed.json")["best"]
    text = answer.text({"best/hau": found}, {"Hausa": [answer.Listed.of(folder)]})
    assert "**Hausa: good** of bert, trained on 64 rows, recommended.\n\nIt is `best/hau`." in text
    assert "| Hausa | trained on |\n| --- | --- |\n| good of  | 64 rows |" in text and comparisons([found], {}) == []


def test_without_a_choice_the_answer_says_how_one_is_made():
    assert "`best: {dev: TASK}`" in answer.text({})
