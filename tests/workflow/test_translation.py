"""Translated paraphrases on tiny models: written once a language, learnt beside the pivot's own, named on every card."""

from __future__ import annotations

import pandas as pd
import pytest

from seedbed.io import read_json, read_table
from seedbed.manifests import read as read_manifest
from tests.refusals import tells
from tests.workflow.conftest import STUDY, Project, copy_project

FEW = {"training": {"batch_size": 8, "precision": "float32", "epochs": 1, "pooling": "mean"}}
WRITTEN = {"corpus": "paraphrases", "by": "nllb"}
TRANSLATED = STUDY | {
    "results": "results/translated",
    "languages": {"hau": {}, "swh": {}, "eng": {}},
    "corpora": STUDY["corpora"]
    | {
        "others": {
            "paraphrases": {
                "kind": "paraphrases",
                "sets": {
                    "nli": {"file": "own/nli.tsv", "licence": "MIT"},
                    "pairs": {"file": "own/pairs.tsv", "licence": "CC0-1.0"},
                }
            }
        }
    },
    "generators": {
        "nllb": {
            "source": {"file": "own/translator", "licence": "CC-BY-NC-4.0"},
            "prompts": "plain",
            "dtype": "float32",
            "sampling": {"temperature": 0, "max_new_tokens": 8},
            "shard_rows": 20,
        }
    },
    # A random model repeats itself, in no language.
    "audit": {
        "language_id": False, "finished": False, "script_share": 0, "other_script": False, "length_ratio": 100,
        "max_repetition": 1, "max_lost": 1, "min_rows": 4,
    },
    "anchors": {"count": 40, "language_id": False},
    "recipes": {
        "learnt": {"data": WRITTEN, "objective": "ranking", **FEW},
        "aligned": {
            "from": "learnt", "data": WRITTEN, "objective": "alignment",
            "training": {"part": "adapter", "adapter": "parallel", "batch_size": 8, "precision": "float32"},
        },
    },
    "tasks": {"own-sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}, "languages": ["hau"]}},
    "tables": [],
    "figures": [],
}  # fmt: skip
ROOT = "results/translated"
TARGETS = [
    f"{ROOT}/encoders/tiny-bert/{recipe}/{lang}/1/seedbed.json"
    for recipe in ("learnt", "aligned")
    for lang in ("hau", "eng")
]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The study after its encoders are made."""
    from tests import tiny

    project = copy_project(tmp_path_factory.mktemp("translated"), TRANSLATED)
    tiny.translator(project.root / "own/translator")
    pairs = {"anchor": tiny.sentences("eng", 20, 6), "positive": tiny.sentences("eng", 20, 7)}
    pd.DataFrame(pairs).to_csv(project.root / "own/pairs.tsv", sep="\t", index=False)
    done = project.snakemake(*TARGETS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def planned(study: Project, changes: dict, *targets: str) -> dict[str, int]:
    """As `Project.planned`, of the encoders that are made here or of others."""
    return study.planned(changes, *(targets or TARGETS))


def test_rows_have_the_ids_of_what_was_translated(study: Project) -> None:
    folder = study.root / ROOT
    english = read_table(folder / "corpora/eng/paraphrases.tsv", ["anchor", "positive", "negative"])
    raw, kept = (read_table(folder / f"triplets/nllb/translation/hau{kind}.tsv", ["anchor"]) for kind in (".raw", ""))
    assert list(raw["id"]) == list(english["id"]) and set(kept["id"]) <= set(english["id"])
    assert {row.partition(":")[0] for row in kept["id"]} == {"nli", "pairs"}
    lone = english["negative"] == ""
    assert lone.sum() == 20 and (raw["negative"][lone] == "").all()
    report = read_json(folder / "triplets/nllb/translation/hau.audit.json")
    assert report["read"] == 44 and report["kept"] == len(kept) == 44 - sum(report["dropped"].values())
    record = read_json(folder / "corpora/eng/paraphrases.json")
    assert (record["counts"]["nli: kept"], record["counts"]["pairs: kept"]) == (24, 20)


def test_the_pivot_learns_the_corpus_itself_and_is_what_others_are_aligned_with(study: Project) -> None:
    learnt = {
        lang: read_manifest(study.root / ROOT / f"encoders/tiny-bert/learnt/{lang}/1/seedbed.json")["training"]
        for lang in ("hau", "eng")
    }
    kept = read_json(study.root / ROOT / "triplets/nllb/translation/hau.audit.json")["kept"]
    assert learnt["eng"]["examples"] == 44 and learnt["hau"]["examples"] == kept
    assert not (study.root / ROOT / "triplets/nllb/translation/eng.tsv").exists()
    aligned = read_manifest(study.root / ROOT / "encoders/tiny-bert/aligned/hau/1/seedbed.json")["training"]
    vectors = read_json(study.root / ROOT / "encoders/tiny-bert/learnt/pivot/paraphrases/eng/1/seedbed.json")
    assert aligned["pivot"] == vectors["encoder"] and aligned["examples"] == kept


def test_every_card_below_names_the_translators_licence(study: Project) -> None:
    cards = {
        name: (study.root / ROOT / f"encoders/tiny-bert/{name}/1/README.md").read_text()
        for name in ("learnt/hau", "aligned/hau", "learnt/eng")
    }
    for name in ("learnt/hau", "aligned/hau"):
        assert cards[name].count("CC-BY-NC-4.0") == 1 and "MIT; CC0-1.0" in cards[name]
    assert "CC-BY-NC-4.0" not in cards["learnt/eng"] and "MIT; CC0-1.0" in cards["learnt/eng"]


def test_another_language_translates_its_own_rows_alone(study: Project) -> None:
    assert planned(study, {}) == {}
    assert planned(study, {}, TARGETS[0].replace("hau", "swh")) == {
        "fetch_corpus": 1, "sample_text": 1, "synthesise": 2, "join_triplets": 1, "audit_triplets": 1, "train_encoder": 1,
    }  # fmt: skip


def test_an_edit_of_the_audit_writes_nothing_anew(study: Project) -> None:
    assert planned(study, {"audit/min_rows": 5}, TARGETS[0]) == {"audit_triplets": 1, "train_encoder": 1}
    assert "synthesise" in planned(study, {"generators/nllb/sampling/max_new_tokens": 9}, TARGETS[0])


OF_MORE = {
    "corpora/others/more": {"kind": "paraphrases", "file": "own/nli.tsv"},
    "recipes/aligned/data": {"corpus": "more", "by": "nllb"},
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages/arq": {"corpus": {"file": "own/hau.tsv"}}}, "languages.arq: nllb ... NLLB ... set"),
        ({"recipes/learnt/data": {"corpus": "nli", "by": "nllb"}}, "recipes.learnt.data.by: ... paraphrases, and nli is of triplets"),
        ({"recipes/learnt/data": {"written": "translation"}}, "written: no way 'translation'"),
        ({"generators": {}}, "recipes.learnt: method translation needs a generator"),
        (OF_MORE, "nllb translates more and paraphrases ... generator one corpus ... written out"),
        (OF_MORE | {"generators/other": {"like": "nllb"}, "recipes/aligned/data/by": "other"}, "nllb translates ... written out"),
        ({"languages/hau": {"corpora": {"none": {"file": "own/nli.tsv"}}}}, "languages.hau.corpora: no corpus under `corpora.others` 'none'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(study: Project, changes: dict, message: str) -> None:
    assert tells(study.refusal(study.edit(changes, target="bad.yaml")), message)


def test_the_remedy_of_a_generator_that_would_translate_two_corpora(study: Project) -> None:
    other = {"generators/other": TRANSLATED["generators"]["nllb"], "recipes/aligned/data/by": "other"}
    assert "synthesise" in planned(study, OF_MORE | other, TARGETS[2])
