"""Modular encoders on tiny models: vocabulary, masked words, contrast; who shares what, and what a setting runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from transformers import AutoTokenizer

from seedbed.encoders.models.loading import open_encoder
from seedbed.io import read_json, sha256
from tests import tiny
from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project

SMALL = {"training": {"batch_size": 8, "precision": "float32"}}
MODULAR = STUDY | {
    "results": "results/modular",
    "languages": {"hau": {}, "swh": {}},
    "anchors": {"count": 50, "language_id": False},
    "corpora": STUDY["corpora"]
    | {"others": {"paraphrases": {"kind": "paraphrases", "file": "own/{lang}.paraphrases.tsv"}}},
    "backbones": {
        "tiny-bert": {"source": {"file": "own/backbone", "licence": "MIT"}, "prefix": "query: "},
        "sonar": {"source": {"file": "own/sonar"}, "prefix": "{flores}"},
    },
    "recipes": {
        "base": {},
        "vocabulary": {
            "objective": {
                "vocabulary": {"size": 70, "dimensions": 8, "epochs": 1, "min_count": 2, "bucket": 100, "threads": 1}
            }
        },
        "adapted": {"objective": {"masked": {"steps": 2, "batch_size": 4, "length": 16, "precision": "float32"}}},
        "multi-m": dict(SMALL),
        "swapped": {"like": "multi-m", "from": "vocabulary", "prefix": "q: "},
        "single-m": dict(SMALL),
        "single-mc": dict(SMALL),
        # Of what a language model writes, whose rows are of no sets.
        "written": {"like": "multi-m", "data": {"written": "prompting", "rows": 16}, "training": {"batches": "mixed"}},
    },
    "tasks": {"own-sts": STUDY["tasks"]["own-sts"]},
    "tables": [],
    "figures": [],
}
FOLDER = Path("results/modular/encoders/tiny-bert")
SCORES = "results/modular/scores/tiny-bert/{}/hau/hau.all.json"
SINGLE = [f"{FOLDER}/{name}/mul/1/seedbed.json" for name in ("single-m", "single-mc")]
SPOKEN = "results/modular/scores/sonar/single-m/mul/hau.all.json"
WRITTEN = f"{FOLDER}/written/hau/1/seedbed.json"
TARGETS = [SCORES.format("multi-m"), f"{FOLDER}/swapped/hau/1/seedbed.json", f"{FOLDER}/base/mul/0/seedbed.json"]


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Project:
    """The study after its encoders are scored."""
    project = copy_project(tmp_path_factory.mktemp("modular"), MODULAR)
    tiny.sonar(project.root / "own/sonar", ("eng_Latn", "hau_Latn", "swh_Latn"))
    texts = pd.DataFrame({"id": range(60), "text": tiny.sentences("fra", 60)})
    texts.to_csv(project.root / "own/fra.tsv", sep="\t", index=False)
    for lang in ("hau", "swh", "fra"):
        columns = {"anchor": 3, "positive": 4, "negative": 5}
        rows = {
            "id": [f"{row % 2}:{row}" for row in range(20)],
            **{name: tiny.sentences(lang, 20, seed) for name, seed in columns.items()},
        }
        pd.DataFrame(rows).to_csv(project.root / f"own/{lang}.paraphrases.tsv", sep="\t", index=False)
    done = project.snakemake(*TARGETS, *SINGLE, SPOKEN, WRITTEN)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def planned(study: Project, changes: dict, *targets: str) -> dict[str, int]:
    """As `Project.planned`, of the encoders that are made here or of others."""
    return study.planned(changes, *(targets or TARGETS))


def test_an_encoder_has_its_own_vocabulary_and_not_the_backbones_prefix(study):
    folders = {name: study.root / FOLDER / name for name in ("multi-m/hau/1", "swapped/hau/1", "base/mul/0")}
    sizes = [len(AutoTokenizer.from_pretrained(folder)) for folder in folders.values()]
    assert sizes[:2] == [70, 70] and sizes[2] > 200
    prompts = {
        name: read_json(folder / "config_sentence_transformers.json")["prompts"]["document"]
        for name, folder in folders.items()
    }
    assert prompts == {"multi-m/hau/1": "", "swapped/hau/1": "q: ", "base/mul/0": "query: "}
    weights = {sha256(folder / "model.safetensors") for folder in folders.values()}
    assert len(weights) == 3


def test_manifests_say_what_was_made_of_what(study):
    vocabulary, adapted = (
        read_json(study.root / FOLDER / name / "hau/1/seedbed.json") for name in ("vocabulary", "adapted")
    )
    rows = vocabulary["training"]["rows"]
    assert rows["copied"] + rows["focus"] + rows["random"] == 70 and rows["median_anchors"] <= rows["anchors"]
    assert adapted["training"]["steps"] == 2 and adapted["training"]["head"] == "own"
    assert (
        adapted["about"]["data"]
        == vocabulary["about"]["data"]
        == [{"name": "text", "origin": [{"kind": "file", "name": "own/hau.tsv"}], "licence": ""}]
    )
    card = (study.root / FOLDER / "multi-m/hau/1/README.md").read_text()
    assert "own/hau.tsv" in card and "own/hau.paraphrases.tsv" in card and "license: mit" in card.lower()


def test_a_seed_repeats_what_comes_after_adaptation_alone(study):
    assert planned(study, {}) == {}
    assert planned(study, {"seeds": [1, 2]}, SCORES.format("multi-m")) == {"train_encoder": 1, "score": 1}


def test_a_setting_runs_what_reads_it(study):
    mine = SCORES.format("multi-m")
    assert planned(study, {"recipes/adapted/objective/masked/steps": 3}, mine) == {
        "adapt_backbone": 1,
        "train_encoder": 1,
        "score": 1,
    }
    found = planned(study, {"recipes/vocabulary/objective/vocabulary/size": 60}, mine)
    assert found == {"train_vocabulary": 1, "adapt_backbone": 1, "train_encoder": 1, "score": 1}
    assert planned(study, {"recipes/multi-m/prefix": "x: "}, mine) == {"train_encoder": 1, "score": 1}


def test_another_language_runs_no_job_of_this_one(study):
    """By hand: text, anchors, paraphrases and a test; vocabulary, masked words; two encoders, and a score of one."""
    more = [target.replace("hau", "fra") for target in TARGETS[:2]]
    assert planned(study, {"languages/fra": {}}, *TARGETS, *more) == {
        "fetch_corpus": 3, "select_anchors": 1, "train_vocabulary": 1, "adapt_backbone": 1, "train_encoder": 2, "score": 1,
    }  # fmt: skip


def test_it_is_made_twice_to_the_same_bytes(study):
    folders = [FOLDER / name for name in ("vocabulary/hau/1", "adapted/hau/1", "multi-m/hau/1")]
    before = [sha256(study.root / folder) for folder in folders]
    targets = [str(folder / "seedbed.json") for folder in folders]
    done = study.snakemake("--force", *targets)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [sha256(study.root / folder) for folder in folders] == before


def test_an_encoder_of_all_languages_reads_the_token_of_each(study):
    folder = study.root / "results/modular/encoders/sonar/single-m/mul/1"
    encoder = open_encoder(folder)
    prompts = {code: encoder.prompts[code] for code in ("eng", "hau", "swh")}
    assert prompts == {"eng": "eng_Latn", "hau": "hau_Latn", "swh": "swh_Latn"}
    assert read_json(folder / "seedbed.json")["training"]["steps"] == 2
    text = tiny.sentences("hau", 1)
    ids = encoder.tokenizer(prompts["hau"] + text[0])["input_ids"]
    assert encoder.tokenizer.convert_ids_to_tokens(ids)[0] == "hau_Latn"
    items = pd.read_csv(study.root / "results/modular/scores/sonar/single-m/mul/1/own-sts/hau.items.tsv", sep="\t")
    test = pd.read_csv(study.root / "own/hau.sts.tsv", sep="\t")
    one, other = (encoder.encode(test[name].tolist(), prompt_name="hau") for name in ("sentence1", "sentence2"))
    cosines = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    np.testing.assert_allclose(items["cosine"], cosines, atol=1e-5)


def test_triplets_that_a_model_wrote_teach_an_encoder_of_one_language(study):
    made, own = (read_json(study.root / FOLDER / f"{name}/hau/1/seedbed.json") for name in ("written", "multi-m"))
    kept = read_json(study.root / "results/modular/triplets/tiny/prompting/hau.audit.json")["kept"]
    assert made["training"]["examples"] == kept and made["training"]["steps"] == kept // 8 > 0
    assert made["about"]["generator"] == "tiny" and made["files"] != own["files"]
    # Two adapters of each kind and their compositions; text of the pivot language and triplets that teach them.
    assert planned(study, {"recipes/written/data/written": "composition"}, WRITTEN) == {
        "fetch_corpus": 2, "train_task_adapter": 2, "train_language_adapter": 2, "compose_adapters": 2, "synthesise": 1,
        "join_triplets": 1, "audit_triplets": 1, "train_encoder": 1,
    }  # fmt: skip


def test_one_encoder_learns_from_all_languages(study):
    single, both = (read_json(study.root / path) for path in SINGLE)
    assert single["about"]["languages"] == ["hau", "swh"] and single["about"]["language"] == "mul"
    for record in (single["training"], both["training"]):
        assert (record["examples"], record["steps"], record["sets"]) == (20, 2, {"0": 10, "1": 10})
    assert both["training"]["crosslingual"] and not single["training"]["crosslingual"]
    cards = [(study.root / path).with_name("README.md").read_text() for path in SINGLE]
    assert all(f"own/{lang}.paraphrases.tsv" in card for card in cards for lang in ("hau", "swh"))


def test_another_language_leaves_modular_encoders_and_makes_the_single_one_anew(study):
    """By hand: its paraphrases, a training of each single encoder, and nothing of what was made of other languages."""
    config = study.edit({"languages/fra": {}}, target="more.yaml")
    changes = {"languages/fra": {}}
    assert planned(study, changes, *TARGETS) == {}
    assert planned(study, changes, *SINGLE) == {"fetch_corpus": 1, "train_encoder": 2}
    folders = {
        name: study.root / FOLDER / name for name in ("multi-m/hau", "swapped/hau", "adapted/hau", "single-m/mul")
    }
    before = {name: sha256(folder) for name, folder in folders.items()}
    done = study.snakemake(*TARGETS, SINGLE[0], config=config)
    assert done.returncode == 0, done.stderr[-3000:]
    after = {name: sha256(folder) for name, folder in folders.items()}
    assert {name for name in folders if after[name] != before[name]} == {"single-m/mul"}
    assert read_json(study.root / SINGLE[0])["about"]["languages"] == ["fra", "hau", "swh"]


def test_the_forecast_says_what_a_language_more_costs(study):
    done = study.snakemake(
        "forecast", config=study.edit({"forecast": {"targets": [*TARGETS, *SINGLE]}}, target="asked.yaml")
    )
    assert done.returncode == 0, done.stderr[-3000:]
    page = (study.root / "results/modular/forecast.md").read_text()
    kinds = re.findall(
        r"^\| tiny-bert +\| ([\w ]+?) +\| ([\w, -]+?) +\| +(\d+) ",
        page.partition("## One language more")[2],
        flags=re.M,
    )
    assert kinds == [("all anew", "single-m, single-mc", "2"), ("its own", "multi-m, swapped", "4")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages/swh": None}, "recipes.single-mc.training.crosslingual: hau is the only language"),
        ({"recipes/single-mc/only": {"languages": ["swh"]}}, "training.crosslingual: swh is the only language"),
        ({"recipes/multi-m/training": {"crosslingual": True}}, "recipes.multi-m.training.crosslingual: language own is one"),
        ({"recipes/single-mc/from": "multi-m"}, "recipes.single-mc.from: multi-m ... each language; name a recipe"),
        ({"recipes/single-m/from": "adapted"}, "recipes.single-m.from: adapted ... each language; name a recipe"),
        ({"recipes/single-m/from": "single-m"}, "recipes.single-m.from: single-m needs single-m"),
        ({"recipes/single-mc/data": {"corpus": "parallel"}, "recipes/single-mc/objective": {"distillation": {"teacher": {"backbone": "tiny-bert", "recipe": "base"}}}},
         "recipes.single-mc.data.corpus: ... no translations"),
        ({"recipes/single-m/data": {"corpus": "seed_pairs"}, "recipes/single-m/objective": {"distillation": {"teacher": {"backbone": "tiny-bert", "recipe": "base"}}}},
         "recipes.single-m.data.from_languages: all; seed pairs ... one language"),
        ({"languages/fra": {"tests": {"own-sts": {"file": "own/fra.sts.tsv"}}, "corpus": {"file": "own/none.tsv"}}}, "own/none.tsv"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(study, changes, message):
    assert tells(study.refusal(study.edit(changes, target="bad.yaml")), message)
