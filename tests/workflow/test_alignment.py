"""Alignment on tiny models: an encoder a language, then adapters beside one of them; what is shared, and what re-runs."""

import re
import signal

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from seedbed.encoders.models.loading import open_encoder
from seedbed.encoders.models.parallel_adapters import ADAPTERS
from seedbed.io import read_json, sha256
from tests import tiny
from tests.programs import signalled
from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project

SMALL = {"training": {"batch_size": 8, "learning_rate": 0.003, "epochs": 20}}
ALIGNED = STUDY | {
    "results": "results/aligned",
    "languages": {"hau": {}, "eng": {}, "swh": {}},
    "recipes": {
        "multi-m": {"like": "unsupervised", "data": {"rows": 24}, "training": {"learning_rate": 1.0e-3, "epochs": 10}},
        "multi-mc": SMALL,
        "by-triplets": {"like": "multi-mc", "data": {"corpus": "rows"}} | SMALL,
        "multi": {"like": "multi-mc", "aligned": "pairs"},
        "multi-m-larger": {"like": "multi-m", "only": {"languages": ["eng"]}, "data": {"rows": 16}},
        "multi-mc-larger": {
            "like": "multi-mc",
            "objective": {"alignment": {"pivot": {"recipe": "multi-m-larger"}}},
            "training": {"epochs": 1},
        },
        "multi-mc-pairs": {
            "data": {"corpus": "rows"},
            "training": {**SMALL["training"], "epochs": 10, "batches": "mixed"},
        },
    },
    "corpora": STUDY["corpora"] | {"others": {"rows": {"kind": "triplets", "file": "own/{lang}.rows.tsv"}}},
    "tasks": {"own-sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}, "pairs": "all"}},
    "tables": [],
    "figures": [],
    "generators": {},
}
FOLDER = "results/aligned/encoders/tiny-bert"


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Project:
    """The study after its encoders are made and scored."""
    project = copy_project(tmp_path_factory.mktemp("aligned"), ALIGNED)
    for lang in ("hau", "eng", "swh"):
        columns = {
            name: tiny.sentences(lang, 24, seed) for seed, name in enumerate(("anchor", "positive", "negative"), 6)
        }
        rows = pd.DataFrame({"id": range(24), **columns})
        rows.iloc[int(lang == "hau") * 2 :].to_csv(project.root / f"own/{lang}.rows.tsv", sep="\t", index=False)
    graded = pd.read_csv(project.root / "own/hau.sts.tsv", sep="\t")
    graded.assign(sentence1=tiny.sentences("eng", 24, 1)).to_csv(
        project.root / "own/eng.sts.tsv", sep="\t", index=False
    )
    done = project.snakemake(*targets("multi-mc"), *targets("by-triplets"))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def targets(recipe: str) -> list[str]:
    return [f"{FOLDER}/{recipe}/{lang}/1/seedbed.json" for lang in ("hau", "eng")]


@pytest.mark.parametrize("recipe", ["multi-mc", "by-triplets"])
def test_the_weights_are_the_files_of_the_encoder_that_was_aligned(study, recipe):
    parent, aligned = (study.root / FOLDER / name / "hau/1" for name in ("multi-m", recipe))
    assert (aligned / "model.safetensors").samefile(parent / "model.safetensors")
    texts = tiny.sentences("hau", 8, 9)
    one, other = open_encoder(parent), open_encoder(aligned)
    assert np.array_equal(other.encode(texts, aligned=False), one.encode(texts))
    assert np.abs(other.encode(texts) - one.encode(texts)).max() > 0.01
    assert (aligned / ADAPTERS).stat().st_size < 50_000


def test_the_pivots_encoder_is_the_parents_and_its_vectors_are_what_others_learnt_from(study):
    parent, pivot = (study.root / FOLDER / name / "eng/1" for name in ("multi-m", "multi-mc"))
    assert (pivot / "model.safetensors").samefile(parent / "model.safetensors") and not (pivot / ADAPTERS).exists()
    vectors = study.root / FOLDER / "multi-m/pivot"
    assert sorted(str(path.relative_to(vectors).parent) for path in vectors.rglob("seedbed.json")) == [
        "parallel/hau/1", "rows/eng/1",
    ]  # fmt: skip
    manifest = read_json(vectors / "parallel/hau/1/seedbed.json")
    assert read_json(study.root / FOLDER / "multi-mc/hau/1/seedbed.json")["training"]["pivot"] == manifest["encoder"]
    texts = pd.read_csv(study.root / "own/hau-eng.tsv", sep="\t")["pivot"].tolist()
    assert manifest["texts"] == len({*texts})


def test_the_loss_falls_and_sentences_come_nearer_to_their_translations(study):
    record = read_json(study.root / FOLDER / "multi-mc/hau/1/seedbed.json")["training"]
    assert record["steps"] == 60 and record["loss"][-1] < record["loss"][0] - 2
    pairs = pd.read_csv(study.root / "own/hau-eng.tsv", sep="\t")
    english = open_encoder(study.root / FOLDER / "multi-m/eng/1").encode(pairs["pivot"].tolist())
    encoder = open_encoder(study.root / FOLDER / "multi-mc/hau/1")

    def apart(aligned: bool) -> float:
        """How much nearer a translation is than the other sentences' are, in the mean."""
        found = encoder.encode(pairs["text"].tolist(), aligned=aligned)
        unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (found, english)]
        cosines = unit[0] @ unit[1].T
        return float(np.diag(cosines).mean() - cosines.mean())

    assert apart(aligned=True) > apart(aligned=False) + 0.1


def test_a_killed_alignment_goes_on_to_the_same_bytes(study, tmp_path):
    corpus = study.root / "results/aligned/corpora/hau/parallel.tsv"
    words = [
        "--weights", f"{FOLDER}/multi-m/hau/1", "--objective", '{"alignment": {}}',
        "--texts", str(corpus), "--refer", f"pivot={FOLDER}/multi-m/pivot/parallel/hau/1", "--seed", "1",
        "--training", '{"part": "adapter", "adapter": "parallel", "pooling": "own", "batch_size": 4, "epochs": 2, '
        '"learning_rate": 0.01, "precision": "float32"}',
        "--checkpoint-minutes", "0",
    ]  # fmt: skip

    def command(name: str) -> list[str]:
        return [*words, "--state", str(tmp_path / f"{name}.state"), "--output", str(tmp_path / name)]

    whole = study.program("train_encoder", *command("whole"))
    assert whole.returncode == 0, whole.stderr
    saved = "seedbed.encoders.training.train:_Trainer._save_checkpoint"
    ended = signalled(signal.SIGKILL, "train_encoder", command("killed"), after=saved, folder=study.root)
    assert ended == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()
    again = study.program("train_encoder", *command("killed"))
    assert again.returncode == 0, again.stderr
    assert sha256(tmp_path / "killed") == sha256(tmp_path / "whole")


SCORES = "results/aligned/scores/tiny-bert"


@pytest.fixture(scope="module")
def scores(study) -> dict[str, dict]:
    """Recipe and test language -> score file."""
    asked = [("multi-m", "hau"), ("multi-mc", "hau"), ("multi", "hau"), ("multi-mc", "eng-hau"), ("multi", "eng-hau")]
    folders = {(recipe, lang): f"{SCORES}/{recipe}/{lang.partition('-')[0]}" for recipe, lang in asked}
    done = study.snakemake(*(f"{folder}/{lang}.all.json" for (_, lang), folder in folders.items()))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert "train_encoder" not in done.stdout + done.stderr, "adapters that are taken off need no training"
    return {
        f"{recipe} {lang}": read_json(study.root / folder / f"1/own-sts/{lang}.json")
        for (recipe, lang), folder in folders.items()
    }


def test_a_pair_is_scored_in_both_orders_by_an_encoder_for_each_language(study, scores):
    found = scores["multi-mc eng-hau"]
    assert (found["language"], found["encoder"]["language"], found["second"]["language"]) == ("eng-hau", "eng", "hau")
    digests = {found["encoder"]["digest"], found["second"]["digest"]}
    assert len(digests) == 2 and len(found["dataset"]["sets"]) == 2
    items = pd.read_csv(study.root / SCORES / "multi-mc/eng/1/own-sts/eng-hau.items.tsv", sep="\t")
    assert items["order"].value_counts().to_dict() == {"eng-hau": 24, "hau-eng": 24}
    encoders = {lang: open_encoder(study.root / FOLDER / f"multi-mc/{lang}/1") for lang in ("eng", "hau")}
    sets = {lang: pd.read_csv(study.root / f"own/{lang}.sts.tsv", sep="\t") for lang in encoders}
    rho = []
    for first, last in (("eng", "hau"), ("hau", "eng")):
        one = encoders[first].encode(sets[first]["sentence1"].tolist())
        other = encoders[last].encode(sets[last]["sentence2"].tolist())
        cosine = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
        of_order = items[items["order"] == f"{first}-{last}"]
        np.testing.assert_allclose(of_order["cosine"], cosine, atol=1e-5)
        rho.append(spearmanr(sets[first]["score"], of_order["cosine"]).statistic)
    assert found["main_score"] == pytest.approx(np.mean(rho), abs=1e-6)


def test_adapters_are_off_in_tests_of_one_language_alone(study, scores):
    places = [
        study.root / SCORES / recipe / "hau/1/own-sts/hau.items.tsv" for recipe in ("multi-m", "multi", "multi-mc")
    ]
    without, off, on = (pd.read_csv(place, sep="\t")["cosine"] for place in places)
    assert (without == off).all() and (without != on).any() and scores["multi hau"]["adapters"] == "off"
    assert scores["multi eng-hau"]["metrics"] == scores["multi-mc eng-hau"]["metrics"]
    # Of Hausa with adapters, of Hausa without, which are multi-m's, and of English, whose encoder is multi-m's.
    assert len([*(study.root / "results/aligned/state/embeddings").iterdir()]) == 3


def test_a_partner_of_another_pivot_is_refused(study):
    files = [f"results/aligned/corpora/{lang}/own-sts" for lang in ("eng", "hau")]

    def scored(first: str, second: str):
        return study.program(
            "score", "--systems", f"{FOLDER}/{first}", "--seconds", f"{FOLDER}/{second}",
            "--tests", *(f"{file}.tsv" for file in files), "--records", *(f"{file}.json" for file in files),
            "--tasks", '{"own-sts": {"protocol": "sts"}}', "--language", "eng-hau", "--scores", "by-hand", "--output", "by-hand.json",
        )  # fmt: skip

    done = scored("multi-m/hau/1", "multi-mc/hau/1")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and "aligned to two pivots" in line and not (study.root / "by-hand.json").exists()
    assert scored("multi-m/eng/1", "multi-mc/hau/1").returncode == 0, "that is the pivot"


def test_a_pivot_of_another_recipe_is_the_encoder_of_its_language(study):
    score = f"{SCORES}/multi-mc-larger/eng/eng-hau.all.json"
    done = study.snakemake(score)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    ours, theirs, other = (
        study.root / FOLDER / recipe / "eng/1/model.safetensors"
        for recipe in ("multi-mc-larger", "multi-m-larger", "multi-m")
    )
    assert ours.samefile(theirs) and sha256(ours) != sha256(other)
    assert (study.root / FOLDER / "multi-mc-larger/hau/1/model.safetensors").samefile(
        study.root / FOLDER / "multi-m/hau/1/model.safetensors"
    )


def test_adapters_of_all_languages_learn_together(study):
    folder, score = study.root / FOLDER / "multi-mc-pairs", f"{SCORES}/multi-mc-pairs/hau/hau-swh.all.json"
    english = f"{FOLDER}/multi-mc-pairs/eng/1/seedbed.json"
    done = study.snakemake(score, english)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    made = read_json(folder / "joint/1/seedbed.json")
    assert {*made["files"]} == {"hau.safetensors", "swh.safetensors"} and {*made["encoders"]} == {"eng", "hau", "swh"}
    assert made["training"]["steps"] == 10 * 2 * (24 // 8)
    assert made["training"]["loss"][-1] < made["training"]["loss"][0]
    manifests = {lang: read_json(folder / f"{lang}/1/seedbed.json") for lang in ("eng", "hau", "swh")}
    assert len({one["training"]["pivot"] for one in manifests.values()}) == 1, "one space"
    for lang in manifests:
        own, parent = (study.root / FOLDER / recipe / lang / "1" for recipe in ("multi-mc-pairs", "multi-m"))
        assert (own / "model.safetensors").samefile(parent / "model.safetensors")
        assert (own / ADAPTERS).exists() == (lang != "eng")
    found = read_json(study.root / SCORES / "multi-mc-pairs/hau/1/own-sts/hau-swh.json")
    assert (found["encoder"]["language"], found["second"]["language"]) == ("hau", "swh")
    files = [f"results/aligned/corpora/{lang}/own-sts" for lang in ("hau", "swh")]
    alone = study.program(
        "score", "--systems", f"{FOLDER}/multi-mc/hau/1", "--seconds", f"{FOLDER}/multi-mc-pairs/swh/1",
        "--tests", *(f"{file}.tsv" for file in files), "--records", *(f"{file}.json" for file in files),
        "--tasks", '{"own-sts": {"protocol": "sts"}}', "--language", "hau-swh", "--scores", "other", "--output", "other.json",
    )  # fmt: skip
    assert alone.returncode == 1 and "aligned to two pivots" in alone.stderr


def planned(study: Project, changes: dict) -> set[str]:
    """The rules that run after an edit."""
    config = study.edit(changes, target="edited.yaml")
    done = study.snakemake(*targets("multi-mc"), "--dry-run", "--quiet", "rules", config=config)
    assert done.returncode == 0, done.stderr
    return {*re.findall(r"^(\w+) +\d+$", done.stdout, flags=re.M)} - {"total"}


def test_an_edit_of_adapters_makes_no_vectors_anew(study):
    assert planned(study, {}) == set()
    assert planned(study, {"recipes/multi-mc": {"training": {**SMALL["training"], "reduction": 4}}}) == {
        "train_encoder"
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({f"recipes/{name}": None for name in ("multi-m", "by-triplets", "multi-m-larger", "multi-mc-larger", "multi-mc-pairs")}, "recipes.multi-m.data.corpus: no corpus 'paraphrases'"),
        ({"recipes/multi-mc/data": {"corpus": "text"}}, "data.corpus has text; alignment reads text, pivot or"),
        ({"recipes/multi-mc/objective": {"alignment": {"pivot": {"recipe": "single"}}}}, "pivot: no recipe 'single'"),
        ({"recipes/multi-m/data/from_languages": "pivot"}, "recipes.multi-m.data.from_languages: alignment ... each"),
        ({"recipes/multi-mc/training/reduction": 0}, "recipes.multi-mc.training.reduction: Input should be greater"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(study, changes, message):
    assert tells(study.refusal(study.edit(changes, target="bad.yaml")), message)
