"""A policy, two paths and the English path alone on tiny models: whose choices are read, and what bad studies are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from seedbed.encoders.backbone import open_encoder
from seedbed.io import read_json, read_table
from tests.workflow.conftest import STUDY, Project, copy_project

ROOT = Path("results/lira")
ARCA = {"training": {"steps": 6, "batch_size": 4, "precision": "float32"}, "objective": {"anchoring": {"hidden": 16}}}
SHARED = {"translators": ["human", "noisy"]}
LIRA = STUDY | {
    "results": str(ROOT),
    "languages": {"hau": {}, "swh": {}},
    "generators": {},
    "translators": {
        "human": {"given": {"file": "own/{lang}.human.tsv"}},
        "noisy": {"given": {"file": "own/{lang}.noisy.tsv"}},
    },
    "corpora": STUDY["corpora"] | {"others": {"graded": {"file": "own/{lang}.graded.tsv"}}},
    "backbones": {
        "tiny-bert": {"source": {"file": "own/backbone", "licence": "MIT"}, "prefix": "query: "},
        "tiny-english": {"source": {"file": "own/english", "licence": "MIT"}},
        "both": {"pair": {"multilingual": "tiny-bert", "english": "tiny-english"}},
    },
    "recipes": {
        "base": {},
        "arca": ARCA | SHARED,
        "lira": SHARED | {"training": {"epochs": 1, "precision": "float32"}},
        "beside": SHARED | {"from": "arca", "fusion": "none", "choose": "critic", "similarity": "tiny-bert"},
        "translated": SHARED | {"choose": "oracle"},
    },
    "tasks": {
        "own-sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}},
        "own-bitext": {"protocol": "bitext", "source": {"file": "own/{lang}-eng.tsv"}},
    },
    "classifiers": {},
    "tables": [],
    "figures": [],
}
TARGETS = [
    str(ROOT / "scores/both/lira/hau/hau.all.json"),
    str(ROOT / "scores/both/beside/mul/hau.all.json"),
    str(ROOT / "scores/both/translated/mul/hau.all.json"),
    str(ROOT / "scores/both/arca/mul/hau.all.json"),
]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The study after its encoders are scored."""
    from tests import tiny

    project = copy_project(tmp_path_factory.mktemp("lira"), LIRA)
    own = project.root / "own"
    tiny.backbone(own / "english")
    for lang in ("hau", "swh"):
        texts = [*tiny.sentences(lang, 24, 1), *tiny.sentences(lang, 24, 2)]
        learnt = {"id": range(24), "sentence1": tiny.sentences(lang, 24, 3), "sentence2": tiny.sentences(lang, 24, 4)}
        graded = pd.DataFrame(learnt).assign(score=[place / 23 for place in range(24)])
        graded.to_csv(own / f"{lang}.graded.tsv", sep="\t", index=False)
        texts += [*graded["sentence1"], *graded["sentence2"]]
        human = [text for seed in (1, 2, 3, 4) for text in tiny.sentences("eng", 24, seed)]
        noisy = [" ".join(text.split()[::-1]) for text in human]
        for name, english in (("human", human), ("noisy", noisy)):
            table = pd.DataFrame({"id": range(96), "text": texts, "english": english})
            table.to_csv(own / f"{lang}.{name}.tsv", sep="\t", index=False)
    done = project.snakemake(*TARGETS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def test_an_encoder_reads_what_was_chosen(study: Project) -> None:
    choices = study.root / ROOT / "encoders/both/beside/choices/mul/1/hau/own-sts.tsv"
    table = read_table(choices, ["id", "text", "english", "translator", "probability", "human:similarity"])
    human = read_table(study.root / "own/hau.human.tsv", ["text", "english"]).set_index("text")["english"]
    best = np.where(
        table["human:similarity"].astype(float) >= table["noisy:similarity"].astype(float), "human", "noisy"
    )
    assert table["translator"].tolist() == best.tolist()
    oracle = read_table(study.root / ROOT / "encoders/both/translated/choices/mul/0/hau/own-sts.tsv", ["english"])
    assert oracle["english"].tolist() == human[oracle["text"]].tolist()
    folder = study.root / ROOT / "encoders/both/beside/mul/1"
    items = read_table(study.root / ROOT / "scores/both/beside/mul/1/own-sts/hau.items.tsv", ["cosine"])
    english = dict(zip(table["text"], table["english"], strict=True))
    rows = read_table(study.root / "own/hau.sts.tsv", ["sentence1", "sentence2"])
    pairs = [[(text, english[text]) for text in rows[side]] for side in ("sentence1", "sentence2")]
    a, b = (open_encoder(folder).encode(side, normalize_embeddings=True) for side in pairs)
    np.testing.assert_allclose(items["cosine"].astype(float), (a * b).sum(axis=1), atol=1e-5)


def test_manifests_say_what_was_learnt(study: Project) -> None:
    folder = study.root / ROOT / "encoders/both"
    learnt = read_json(folder / "arca/mul/1/seedbed.json")["training"]
    assert {"policy_distance", "mean_reward", "epsilon1"} <= {*learnt}
    assert learnt["steps"] == 6 and learnt["translators"] == ["human", "noisy"]
    assert read_json(folder / "lira/hau/1/seedbed.json")["training"]["fusion"] == "concat"
    assert (folder / "arca/mul/1/actor.safetensors").is_file()


def test_what_was_made_is_not_made_again(study: Project) -> None:
    done = study.snakemake("--dry-run", *TARGETS)
    assert "Nothing to be done" in done.stdout + done.stderr, done.stdout[-2000:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recipes/arca/translators": ["human"]}, "recipes.arca.translators: 1; a policy chooses among two or more"),
        ({"recipes/lira/translators": ["human", "nobody"]}, "recipes.lira.translators: no translator 'nobody'"),
        ({"recipes/lira/choose": "judge"}, "recipes.lira.choose: judge, and nobody judged"),
        ({"recipes/translated/translators": ["noisy"]}, "oracle takes what translator `human` wrote"),
        ({"recipes/base/choose": "first"}, "recipes.base: choose: this recipe reads no translation"),
        ({"recipes/lira/fusion": "prefix", "recipes/lira/from": "base", "recipes/lira/choose": "first"}, "fusion: prefix, and it starts from no anchored"),
        ({"backbones/both/pair/english": "tiny-bert"}, "backbones.both.pair: a pair of one backbone, tiny-bert"),
        ({"backbones/tiny-english/prefix": "q: "}, "backbones.both.pair.english: tiny-english has a prefix"),
        (
            {"backbones/far": {"endpoint": {"url": "https://h/v1", "model": "m", "dimensions": 8}},
             "backbones/both/pair/english": "far"},
            "backbones.both.pair.english: far has no weights of its own",
        ),
        ({"recipes/base/backbones": ["both"]}, "recipes.base.backbones: both is a pair"),
        ({"recipes/lira/backbones": ["tiny-bert"]}, "recipes.lira.backbones: tiny-bert is no pair"),
        ({"recipes/translated/choose": "actor"}, "recipes.translated.choose: actor, and no recipe"),
        ({"recipes/beside/similarity": "both"}, "recipes.beside.similarity: no backbone with weights 'both'"),
    ],
)  # fmt: skip
def test_bad_studies_are_told(tmp_path: Path, change: dict, message: str) -> None:
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(LIRA))
    assert message in Project(tmp_path).refusal(Project(tmp_path).edit(change, target="bad.yaml"))


def test_a_text_without_english_stops_a_score_in_one_line(study: Project) -> None:
    folder, own = ROOT / "encoders/both/beside/mul/1", study.root / "own"
    (own / "record.json").write_text('{"origin": "own"}')
    done = study.program(
        "score", "--systems", str(folder), "--tasks", '{"own-sts": {"protocol": "sts"}}', "--tests", "own/hau.sts.tsv",
        "--records", "own/record.json", "--language", "hau", "--scores", "results/none", "--output", "results/none.json",
    )  # fmt: skip
    assert done.returncode == 1
    assert "error: no English of " in done.stderr and "Traceback" not in done.stderr
    assert not (study.root / "results/none.json").exists()
