"""Recipes that start from others' encoders, and learn from a person's own data by every objective."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seedbed.encoders.models.loading import open_encoder
from seedbed.io import read_json, sha256
from tests import tiny
from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project

RECIPES = {
    "base": {},
    "unsupervised": {"training": {"pooling": "last_two_average"}},
    "second": {"like": "xllora", "from": "unsupervised", "training": {"epochs": 2}},
    "third": {
        "from": "second",
        "data": {"corpus": "parallel"},
        "objective": {"distillation": {"teacher": {"backbone": "tiny-bert", "recipe": "base"}}},
        "summary": "Taught by the backbone.",
    },
    "matched": {"data": {"corpus": "own-pairs", "rows": 20}, "objective": "ranking"},
    "mixed": {"training": {"batch_size": 6}},
    "scored": {"data": {"corpus": "own-scores"}, "objective": {"graded": {"scale": 10}}},
    "queried": {"data": {"corpus": "own-queries"}, "objective": {"listwise": {"queue_size": 9}}},
    "own": {"like": "scored", "data": {"corpus": "own-triplets"}, "objective": "contrast"},
}
CHAIN = STUDY | {
    "results": "results/chain",
    "recipes": RECIPES,
    "generators": {
        "ready": STUDY["generators"]["tiny"] | {"backend": "published", "triplets": {"xllora": {"file": "own/nli.tsv"}}}
    },
    "corpora": STUDY["corpora"]
    | {
        "others": {
            "own-pairs": {
                "kind": "matched_pairs",
                "file": "own/{lang}.queries.tsv",
                "columns": {"sentence1": "query", "sentence2": "document"},
            },
            "mixed": {
                "kind": "matched_pairs",
                "sets": {
                    "answers": {
                        "file": "own/{lang}.queries.tsv",
                        "columns": {"sentence1": "query", "sentence2": "document"},
                    },
                    "adjacent": {
                        "file": "own/{lang}.scored.tsv",
                        "columns": {"sentence1": "sentence2"},
                        "following": {"columns": {"sentence2": "sentence1"}},
                    },
                },
            },
            "own-scores": {"kind": "pairs", "file": "own/{lang}.scored.tsv"},
            "own-queries": {"kind": "retrieval", "file": "own/{lang}.queries.tsv"},
            "own-triplets": {"kind": "triplets", "file": "own/nli.tsv"},
        }
    },
}
FOLDER = "results/chain/encoders/tiny-bert"


@pytest.fixture(scope="module")
def chain(tmp_path_factory) -> Project:
    """The study after its encoders are made."""
    project = copy_project(tmp_path_factory.mktemp("chain"), CHAIN)
    for lang in CHAIN["languages"]:  # of no test
        texts = [tiny.sentences(lang, 24, seed) for seed in (6, 7)]
        scored = pd.DataFrame({"id": range(24), "sentence1": texts[0], "sentence2": texts[1]})
        scored.assign(score=[place / 23 for place in range(24)]).to_csv(
            project.root / f"own/{lang}.scored.tsv", sep="\t", index=False
        )
        asked = pd.DataFrame({"id": range(24), "query": texts[0], "document": texts[1]})
        asked.to_csv(project.root / f"own/{lang}.queries.tsv", sep="\t", index=False)
    names = [name for name in RECIPES if name != "base"]
    done = project.snakemake(*(f"{FOLDER}/{name}/hau/1/seedbed.json" for name in names))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def made(chain: Project, recipe: str, lang: str = "hau", seed: int = 1) -> Path:
    return chain.root / FOLDER / recipe / lang / str(seed)


def test_a_chain_of_three_starts_each_from_the_one_before(chain):
    first, second, third = (open_encoder(made(chain, name)) for name in ("unsupervised", "second", "third"))
    kinds = [[type(module).__name__ for module in encoder] for encoder in (first, second, third)]
    assert kinds[0] == kinds[1] == kinds[2] and len(kinds[0]) == 3, "the pooling of the first is everyone's"
    texts = [f"yara suna zuwa {n}" for n in range(8)]
    plain = open_encoder(made(chain, "base", "mul", 0)).encode(texts)
    distances = [np.abs(encoder.encode(texts) - plain).mean() for encoder in (first, second, third)]
    assert len({*map(float, distances)}) == 3
    assert read_json(made(chain, "second") / "seedbed.json")["training"]["epochs"] == 2
    card = (made(chain, "third") / "README.md").read_text()
    assert "Taught by the backbone." in card and "| parallel |" in card


def test_another_start_is_another_encoder_and_an_edit_of_it_re_runs_what_comes_after(chain):
    files = [sha256(made(chain, name) / "model.safetensors") for name in ("unsupervised", "second", "third")]
    assert len({*files}) == 3
    target, config = f"{FOLDER}/third/hau/1/seedbed.json", "changed.yaml"
    chain.edit({"recipes/unsupervised/training/epochs": 2}, target=config)
    plan = chain.snakemake(target, "--dry-run", config=config).stdout
    assert [name in plan for name in ("by unsupervised", "by second", "by third", "by base")] == [True] * 3 + [False]
    chain.edit(
        {"recipes/third/objective": {"distillation": {"teacher": {"backbone": "tiny-bert", "recipe": "second"}}}},
        target=config,
    )
    plan = chain.snakemake(target, "--dry-run", config=config).stdout
    assert [name in plan for name in ("by unsupervised", "by second", "by third")] == [False, False, True]


@pytest.mark.parametrize(
    ("recipe", "examples"), [("matched", 20), ("scored", 24), ("queried", 24), ("own", 24), ("third", 24)]
)
def test_own_data_is_learnt_whole_or_as_many_rows_as_are_asked_for(chain, recipe, examples):
    manifest = read_json(made(chain, recipe) / "seedbed.json")
    assert manifest["training"]["examples"] == examples and manifest["training"]["steps"] == 3


def test_sets_of_one_training_take_turns(chain):
    training = read_json(made(chain, "mixed") / "seedbed.json")["training"]
    assert training["sets"] == {"adjacent": 23, "answers": 24} and training["steps"] == 7, "batches of six in 47 rows"


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ({"from": "fourth", **RECIPES["matched"]}, "recipes.mine.from: no recipe 'fourth'"),
        ({"from": "mine", **RECIPES["matched"]}, "recipes.mine.from: mine needs mine"),
        ({"from": "base"}, "recipes: mine: no preset ... `like` ... `data` and `objective`"),
        ({"like": "base", "from": "own"}, "recipes.mine: from: nothing is trained"),
        ({"data": {"corpus": "own-pairs"}}, "recipes.mine: ... one `objective` ... `data`"),
        ({"data": {"corpus": "nothing"}, "objective": "ranking"}, "recipes.mine.data.corpus: no corpus 'nothing'"),
        ({"data": {"corpus": "own-pairs", "written": "xllora"}, "objective": "ranking"}, "give one of corpus, written"),
        ({"data": {"written": "xlora"}, "objective": "contrast"}, "'xlora' ... 'xllora'"),
        ({"data": {"corpus": "own-pairs"}, "objective": "graded"}, "data.corpus ... graded reads sentence1"),
        ({"data": {"corpus": "own-pairs"}, "objective": "listwise"}, "data.corpus ... listwise reads query, document"),
        ({"data": {"corpus": "own-pairs"}, "objective": "rank"}, "objective: ... 'rank' ... 'ranking'"),
        ({"data": {"corpus": "parallel"}, "objective": {"distillation": {"teacher": {"backbone": "tiny-bert", "recipe": "none"}}}},
         "recipes.mine.objective.teacher: no recipe 'none'"),
        ({"data": {"pairs": "own-pairs"}, "objective": "ranking"}, "mine.data.pairs: ... `data: {corpus: ...}` ... `corpora.others` ... `kind`"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_one_line(chain, recipe, told):
    config = chain.edit({"recipes/mine": recipe}, target="wrong.yaml")
    assert tells(chain.refusal(config), told)
