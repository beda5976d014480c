"""A policy, two paths and the English path alone on tiny models: whose choices are read, and what bad studies are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from seedbed.encoders.models.loading import load, open_encoder
from seedbed.encoders.translations.files import read_english
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.io import read_json, read_table
from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project

ROOT = Path("results/lira")
ARCA = {"training": {"steps": 6, "batch_size": 4, "precision": "float32"}, "objective": {"anchoring": {"hidden": 16}}}
READ = {"translators": ["human", "noisy"]}
LIRA = STUDY | {
    "results": str(ROOT),
    "languages": {"hau": {}, "swh": {}},
    "generators": {},
    "translators": {
        "human": {"given": {"file": "own/{lang}.human.tsv"}},
        "noisy": {"given": {"file": "own/{lang}.noisy.tsv"}},
    },
    "corpora": STUDY["corpora"] | {"others": {"graded": {"kind": "pairs", "file": "own/{lang}.graded.tsv"}}},
    "backbones": {
        "tiny-bert": {"source": {"file": "own/backbone", "licence": "MIT"}, "prefix": "query: "},
        "tiny-english": {"source": {"file": "own/english", "licence": "MIT"}},
        "both": {"pair": {"multilingual": "tiny-bert", "english": "tiny-english"}},
    },
    "recipes": {
        "base": {},
        "arca": ARCA | {"english": {**READ}, "data": {"candidates": "graded"}},
        "lira": {"english": {**READ}, "training": {"epochs": 1, "precision": "float32"}},
        "beside": {"from": "arca", "english": READ | {"fusion": "none", "choose": "critic", "similarity": "tiny-bert"}},
        "translated": {"english": READ | {"choose": "oracle"}},
    },
    "tasks": {
        "own-sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}},
        "own-bitext": {"protocol": "bitext", "source": {"file": "own/{lang}-eng.tsv"}},
        "own-deviation": {"protocol": "deviation", "set_of": "own-bitext"},
        "own-shares": {
            "protocol": "shares",
            "source": {"file": "own/{lang}.sts.tsv", "columns": {"text": "sentence1"}},
        },
        "own-retrieval": {
            "protocol": "retrieval",
            "source": {"file": "own/{lang}.sts.tsv", "columns": {"query": "sentence1", "document": "sentence2"}},
        },
        # English, whose training set this is, is no language of the study.
        "own-knn": {
            "protocol": "knn",
            "train_language": "eng",
            "source": {"file": "own/{lang}.labelled.tsv"},
            "train": {"file": "own/{lang}.labelled.tsv"},
        },
        "own-stability": {"protocol": "stability", "set_of": "own-shares"},
    },
    "classifiers": {},
    "tables": ["lira_bound", "whose"],
    "figures": ["whose"],
}
NAMES = ("human", "noisy")
WHOSE = {
    "title": "Whose English", "caption": "Of tiny models.", "baseline": "beside", "recipes": {"beside": "critic", "translated": "oracle"},
    "columns": [
        *({"label": name, "protocol": "shares", "metric": f"share of {name}"} for name in NAMES),
        {"label": "uniform", "protocol": "shares", "metric": "uniform"},
    ],
}  # fmt: skip
DRAWN = {
    "kind": "shares", "table": "whose", "title": "Whose English", "panels": {"Own": {name: name for name in NAMES}},
    "uniform": {"Own": "uniform"}, "palette": ["#0072B2", "#D55E00"],
}  # fmt: skip
MAP = {
    "kind": "map", "title": "Pairs", "palette": ["#0072B2", "#D55E00"], "recipes": {"beside": "critic"},
    "languages": ["hau"], "map": {"task": "own-bitext", "pairs": 8, "perplexity": 5},
}  # fmt: skip
TARGETS = [
    str(ROOT / "scores/both/lira/hau/hau.all.json"),
    str(ROOT / "scores/both/beside/mul/hau.all.json"),
    str(ROOT / "scores/both/translated/mul/hau.all.json"),
    str(ROOT / "scores/both/arca/mul/hau.all.json"),
    str(ROOT / "tables/lira_bound.csv"),
    str(ROOT / "figures/whose.svg"),
    str(ROOT / "figures/pairs.svg"),
]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The study after its encoders are scored."""
    from tests import tiny

    project = copy_project(tmp_path_factory.mktemp("lira"), LIRA)
    own = project.root / "own"
    for kind, name, spec in (("tables", "whose", WHOSE), ("figures", "whose", DRAWN), ("figures", "pairs", MAP)):
        place = project.root / "resources" / kind
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    tiny.backbone(own / "english")
    for lang, seed in (("hau", 1), ("swh", 1), ("eng", 5)):
        rows = {"id": range(24), "text": tiny.sentences(lang, 24, seed), "label": ["joy", "fear"] * 12}
        pd.DataFrame(rows).to_csv(own / f"{lang}.labelled.tsv", sep="\t", index=False)
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
    choices = study.root / ROOT / "encoders/both/beside/choices/mul/0/hau/own-sts.tsv"
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


def test_other_protocols_and_a_map_read_it_too(study: Project) -> None:
    scores = study.root / ROOT / "scores/both"
    chosen = study.root / ROOT / "encoders/both/beside/choices/mul/0"
    every = read_english([chosen / "hau/own-knn.tsv", chosen / "eng/own-knn_train.tsv", chosen / "hau/own-bitext.tsv"])
    encoder = open_encoder(study.root / ROOT / "encoders/both/beside/mul/1")
    encoder[0].english = every
    tables = [read_table(study.root / f"own/{lang}.labelled.tsv", ["id", "text", "label"]) for lang in ("hau", "eng")]
    assert all(every[text] == text for text in tables[1]["text"]), "a text in English is its own"
    expected = score(Task(protocol="knn"), tables[0], System(encoder.encode), train=tables[1])
    found = read_json(scores / "beside/mul/1/own-knn/hau.json")
    assert found["metrics"] == pytest.approx(expected.metrics, abs=1e-6)
    assert read_json(scores / "beside/mul/1/own-retrieval/hau.json")["n"] == 24
    points = read_table(study.root / ROOT / "maps/pairs/both/beside.tsv", ["id", "language"], unique=None)
    assert [*points["language"]] == ["hau", "eng"] * 8
    edited = {name: [*(scores / name).rglob("own-stability")] for name in ("beside", "arca")}
    assert edited["arca"] and not edited["beside"], "nobody puts edited copies into English"


def test_error_deviation_and_bound_stand_side_by_side(study: Project) -> None:
    folder = study.root / ROOT
    table = read_table(study.root / "own/hau-eng.tsv", ["text", "pivot"])
    chosen = read_table(folder / "encoders/both/beside/choices/mul/0/hau/own-bitext.tsv", ["text", "english"])
    english = dict(zip(chosen["text"], chosen["english"], strict=True))
    source = open_encoder(folder / "encoders/both/arca/mul/1").encode(table["text"].tolist(), normalize_embeddings=True)
    other = load(folder / "encoders/tiny-english/weights", pooling="own")
    h, ideal = (
        other.encode([*column], normalize_embeddings=True) for column in (table["text"].map(english), table["pivot"])
    )
    found = read_json(folder / "scores/both/beside/mul/1/own-deviation/hau.json")["metrics"]
    error, apart = (np.linalg.norm(h - side, axis=1) for side in (source, ideal))
    far = np.sqrt(np.linalg.norm(source - ideal, axis=1) ** 2 + apart**2)
    assert [found[name] for name in ("epsilon1", "deviation", "bound")] == pytest.approx(
        [error.max(), far.max(), error.max() + 2 * apart.max()], abs=1e-4
    )
    rows = pd.read_csv(folder / "tables/lira_bound.csv")
    rows = rows[(rows["recipe"] == "beside") & (rows["language"] == "hau")].set_index("column")
    assert {"ε1", "deviation", "bound", "least printed bound"} <= {*rows.index}
    assert rows.loc["ε1", "value"] == pytest.approx(100 * found["epsilon1"], abs=0.01)


def test_shares_of_translators_are_those_of_the_choices(study: Project) -> None:
    folder = study.root / ROOT
    chosen = read_table(folder / "encoders/both/beside/choices/mul/0/hau/own-shares.tsv", ["translator"])["translator"]
    found = read_json(folder / "scores/both/beside/mul/1/own-shares/hau.json")
    assert found["metrics"]["share_human"] == pytest.approx((chosen == "human").mean(), abs=1e-6)
    assert found["metrics"]["uniform"] == 0.5 and found["n"] == len(chosen)
    assert not (folder / "scores/both/arca/mul/1/own-shares").exists(), "it reads no English"
    assert (folder / "figures/whose.png").is_file()


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
        ({"recipes/arca/english/translators": ["human"]}, "recipes.arca.english.translators: 1 ... two or more"),
        ({"recipes/arca/data": {"candidates": "parallel"}}, "recipes.arca.data: parallel of hau ... test set of own-bitext"),
        ({"recipes/lira/english/translators": ["human"]}, "recipes.lira.english.translators: 1 ... two or more"),
        ({"recipes/lira/english/similarity": "tiny-bert"}, "recipes.lira.english.similarity: tiny-bert ... policy of arca ... give the same"),
        ({"recipes/lira/english/translators": ["human", "nobody"]}, "recipes.lira.english.translators: no translator 'nobody'"),
        ({"recipes/lira/english/actor": "nobody"}, "recipes.lira.english.actor: no recipe 'nobody'"),
        ({"recipes/lira/english/choose": "judge"}, "recipes.lira.english.choose: judge, and nobody judged"),
        ({"recipes/translated/english/translators": ["noisy"]}, "recipes.translated.english.choose: oracle takes what translator `human` wrote"),
        ({"recipes/base/english": {"choose": "first"}}, "recipes.base: english.choose: ... no translation"),
        ({"recipes/lira/from": "base", "recipes/lira/english": READ | {"fusion": "prefix", "choose": "first"}}, "recipes.lira.english.fusion: prefix ... no anchored"),
        ({"backbones/both/pair/english": "tiny-bert"}, "backbones.both.pair: ... one backbone, tiny-bert"),
        ({"backbones/both/pair/multilingual": "tiny-bart"}, "backbones.both.pair.multilingual: no backbone with weights 'tiny-bart' ... 'tiny-bert'?"),
        ({"backbones/tiny-english/prefix": "q: "}, "backbones.both.pair.english: tiny-english has a prefix"),
        (
            {"backbones/far": {"endpoint": {"url": "https://h/v1", "model": "m", "dimensions": 8}},
             "backbones/both/pair/english": "far"},
            "backbones.both.pair.english: no backbone with weights 'far'",
        ),
        ({"recipes/base/only": {"backbones": ["both"]}}, "recipes.base.only.backbones: both is a pair"),
        ({"recipes/lira/only": {"backbones": ["tiny-bert"]}}, "recipes.lira.only.backbones: no pair 'tiny-bert'"),
        ({"recipes/translated/english/choose": "actor"}, "recipes.translated.english.choose: actor, and no recipe"),
        ({"recipes/beside/english/similarity": "both"}, "recipes.beside.english.similarity: no backbone with weights 'both'"),
    ],
)  # fmt: skip
def test_bad_studies_are_told(tmp_path: Path, change: dict, message: str) -> None:
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(LIRA))
    assert tells(Project(tmp_path).refusal(Project(tmp_path).edit(change, target="bad.yaml")), message)


def test_a_text_without_english_stops_a_score_in_one_line(study: Project) -> None:
    folder, own = ROOT / "encoders/both/beside/mul/1", study.root / "own"
    (own / "record.json").write_text('{"origin": [{"kind": "file", "name": "own"}]}')
    done = study.program(
        "score", "--systems", str(folder), "--tasks", '{"own-sts": {"protocol": "sts"}}', "--tests", "own/hau.sts.tsv",
        "--records", "own/record.json", "--language", "hau", "--scores", "results/none", "--output", "results/none.json",
    )  # fmt: skip
    assert done.returncode == 1
    assert "error: no English of " in done.stderr and "Traceback" not in done.stderr
    assert not (study.root / "results/none.json").exists()
