"""What is published: encoders with their numbers, adapters, triplets; what the hub would refuse is refused here."""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from huggingface_hub import DatasetCard, ModelCard, constants
from huggingface_hub.repocard import metadata_load
from huggingface_hub.repocard_data import eval_results_to_model_index
from scipy.stats import spearmanr

from scripts import publish, score
from seedbed import licences, manifests, origins, yamls
from seedbed.corpora.settings import Source
from seedbed.encoders.compression.onnx_int8 import quantized
from seedbed.encoders.compression.settings import Static
from seedbed.encoders.export import card
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.evaluation import protocols
from seedbed.io import UserError, read_json, write_json, write_table
from seedbed.publish import leaderboard, results
from seedbed.publish.checks import require_card
from seedbed.study.graph import records as records_of
from seedbed.tables.best import link_encoder
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, plan
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import measure_blocks, tabulate
from tests import tiny, warm
from tests.programs import call
from tests.refusals import pattern

ROOT = Path(__file__).parents[3]
SEMREL = origins.one(kind="hub", name="SemRel/SemRel2024", revision="ab" * 20)
ABOUT = {
    "backbone": "tiny", "recipe": "xllora", "method": "xllora", "language": "hau", "seed": 1, "backbone_licence": "MIT",
    "base_model": "someone/tiny", "summary": "Trained on triplets.",
    "data": [
        {"name": "text", "origin": [{"kind": "file", "name": "/home/somebody/hausa.txt"}], "licence": "CC-BY-NC-4.0"},
        {"name": "nli", "origin": [{"kind": "hub", "name": "someone/nli", "revision": "main"}], "licence": "MIT"},
    ],
}  # fmt: skip
GEMMA = {
    "name": "gemma",
    "origin": [{"kind": "hub", "name": "google/gemma-3-1b-it"}],
    "licence": "Gemma terms of use",
    "role": "generator",
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Results with one encoder of Hausa, scored on 40 pairs by the program that scores."""
    root = tmp_path_factory.mktemp("study")
    weights, results = tiny.backbone(root / "weights"), root / "results"
    folder = results / "encoders/tiny/xllora/hau/1"
    encoder = loading.load(weights, pooling="mean", prefix="query: ")
    save(encoder, folder, ABOUT, {"steps": 3, "epochs": 1, "learning_rate": 5e-5, "pooling": "mean"})
    scored(folder, results / "scores/tiny/xllora/hau", root)
    return results


def scored(folder: Path, scores: Path, root: Path, name: str = "semrel", **task: object) -> None:
    texts = tiny.sentences("hau", 80)
    draw = np.random.default_rng(0).uniform(size=40).round(3)
    rows = {"id": map(str, range(40)), "sentence1": texts[:40], "sentence2": texts[40:], "score": map(str, draw)}
    write_table(pd.DataFrame(rows), root / "test.tsv")
    write_json({"origin": SEMREL, "licence": "CC-BY-4.0"}, root / "test.json")
    call(score, [
        "--systems", str(folder), "--tasks", json.dumps({name: {"protocol": "sts", "scale": [0, 1]} | task}),
        "--tests", str(root / "test.tsv"), "--records", str(root / "test.json"), "--language", "hau",
        "--scores", str(scores / folder.name), "--output", str(root / "list.json"),
    ])  # fmt: skip


def encoder_in(study: Path) -> Path:
    return study / "encoders/tiny/xllora/hau/1"


@pytest.fixture
def other(study, tmp_path):
    """A study of one's own to spoil."""
    shutil.copytree(study, tmp_path / "results")
    return tmp_path / "results"


def published(what: Path, output: Path, *options: str) -> Path:
    call(publish, [str(what), "--name", "someone/hausa", "--output", str(output), *options])
    return output / "repository"


def again(folder: Path, about: dict) -> None:
    """The encoder with another lineage: its vectors are the same."""
    known = read_json(folder / manifests.MANIFEST)
    manifests.write(folder, known | {"about": about}, card.write)


def test_the_hub_takes_the_card_and_its_numbers_are_the_scores(study, tmp_path):
    folder = published(encoder_in(study), tmp_path / "out")
    loaded = ModelCard.load(folder / "README.md")
    assert metadata_load(folder / "README.md") == loaded.data.to_dict() | metadata_load(folder / "README.md")
    assert loaded.data.license == "mit" and loaded.data.language == ["ha"] and loaded.data.base_model == "someone/tiny"
    assert loaded.data.datasets == ["someone/nli"] and loaded.data.library_name == "sentence-transformers"
    (result,) = loaded.data.eval_results
    items = pd.read_csv(study / "scores/tiny/xllora/hau/1/semrel/hau.items.tsv", sep="\t")
    rho = 100 * spearmanr(items["gold"], items["cosine"]).statistic
    assert result.metric_value == pytest.approx(rho, abs=0.006)
    assert result.dataset_type == "SemRel/SemRel2024" and result.dataset_revision == "ab" * 20
    low, high = result.metric_args["confidence_interval"]
    draws = [items.iloc[np.random.default_rng(seed).integers(40, size=40)] for seed in range(400)]
    bootstrap = [100 * spearmanr(draw["gold"], draw["cosine"]).statistic for draw in draws]
    assert (low, high) == pytest.approx(np.quantile(bootstrap, [0.025, 0.975]), abs=6) and low < rho < high
    assert f"95 % interval {low:.1f} to {high:.1f}" in result.metric_name
    assert f"| semrel | hau | Spearman | {rho:.1f} | {low:.1f} to {high:.1f} | 40 |" in loaded.text


def test_a_dry_run_prints_what_would_be_uploaded_and_writes_nothing(study, tmp_path, capsys, monkeypatch):
    folder = published(encoder_in(study), tmp_path / "out")
    files = {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    card = (folder / "README.md").read_text()
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    capsys.readouterr()
    call(publish, [str(encoder_in(study)), "--dry-run", "--name", "someone/hausa"])
    printed = capsys.readouterr().out
    head, *rest = printed.splitlines()
    assert head == f"model someone/hausa, {len(files)} files (bytes, name):"
    assert {line.split()[1]: int(line.split()[0].replace(",", "")) for line in rest[: len(files)]} == files
    assert printed.endswith(f"README.md:\n\n{card}\n") and sorted(tmp_path.rglob("*")) == before
    call(publish, [str(encoder_in(study)), "--dry-run", "--replace"])
    printed = capsys.readouterr().out
    assert printed.startswith("model owner/1, ")
    assert printed.endswith("\nAll other files of owner/1 on the hub would be deleted.\n")
    monkeypatch.chdir(encoder_in(study))
    call(publish, [".", "--dry-run"])
    assert capsys.readouterr().out.startswith("model owner/1, "), "in its folder"


@pytest.mark.parametrize("options", [[], ["--name", "someone/hausa"], ["--output", "out"], ["--dry-run", "--upload"]])
def test_what_is_laid_out_has_a_name_and_a_place(study, options):
    with pytest.raises(UserError, match="--dry-run"):
        call(publish, [str(encoder_in(study)), *options])


def test_two_lines_of_python_use_it_where_there_is_no_seedbed(study, tmp_path):
    """The card's own code, in a Python that has not this package."""
    folder = published(encoder_in(study), tmp_path / "out")
    (code,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), flags=re.S)
    assert 'SentenceTransformer("someone/hausa")' in code
    assert "tensor([[1.0" in warm.abroad(code.replace("someone/hausa", str(folder)), folder=tmp_path)


def test_nothing_of_this_machine_goes_out(study, tmp_path):
    folder = published(encoder_in(study), tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert b"/home/somebody" not in path.read_bytes() and str(study).encode() not in path.read_bytes(), path
    text = (folder / "README.md").read_text()
    assert "| text | file hausa.txt | CC-BY-NC-4.0 |" in text and "Not for commercial use are the data text" in text
    assert not (folder / manifests.MANIFEST).exists()


def test_the_same_is_published_twice(study, tmp_path):
    one, two = (published(encoder_in(study), tmp_path / name) for name in ("one", "two"))
    assert {path.name: path.read_bytes() for path in one.iterdir() if path.is_file()} == {
        path.name: path.read_bytes() for path in two.iterdir() if path.is_file()
    }
    manifests.read(encoder_in(study) / manifests.MANIFEST, digest=lambda path: pytest.fail(f"{path} was touched"))


def test_a_generators_terms_reach_the_encoder(other, tmp_path):
    again(encoder_in(other), ABOUT | {"data": [*ABOUT["data"], GEMMA]})
    data = ModelCard.load(published(encoder_in(other), tmp_path / "out") / "README.md").data
    assert (data.license, data.license_name) == ("other", "gemma-terms-of-use")
    assert data.license_link == "https://ai.google.dev/gemma/terms"
    assert data.datasets == ["someone/nli"]  # a generator is none
    data = ModelCard.load(published(encoder_in(other), tmp_path / "mine", "--licence", "gemma") / "README.md").data
    assert data.license == "gemma" and data.license_link is None


def of_hub(name: str, repository: str, licence: str, role: str) -> dict:
    """A record of a model."""
    return {"name": name, "origin": [{"kind": "hub", "name": repository}], "licence": licence, "role": role}


NLLB = of_hub("nllb", "facebook/nllb-200-3.3B", "CC-BY-NC-4.0", "translator")
LLAMA = of_hub("llama", "meta-llama/L", "Llama 3.3 Community License", "translator")
JUDGE = of_hub("qwen", "Qwen/Qwen2.5-72B-Instruct", "Qwen License", "judge")
ENGLISH = of_hub("gte", "thenlper/gte-large", "Apache-2.0", "backbone")


@pytest.mark.parametrize(
    ("records", "licence", "limit"),
    [
        ([NLLB], ("mit", None), "Not for commercial use are the data text, nllb, on which it was trained."),
        ([NLLB, LLAMA], ("other", "llama-3.3-community-license"), "(https://www.llama.com/llama3_3/license/) apply"),
        (
            [JUDGE],
            ("other", "qwen"),
            "judged its training data; the model's terms (https://huggingface.co/Qwen/Qwen2.5-72B",
        ),
        ([ENGLISH], ("mit", None), ""),
        ([ENGLISH | {"licence": "CC-BY-NC-4.0"}], ("cc-by-nc-4.0", None), ""),
    ],
)
def test_whoever_translated_or_judged_what_was_learnt_has_terms(other, tmp_path, records, licence, limit):
    again(encoder_in(other), ABOUT | {"data": [*ABOUT["data"], *records]})
    folder = published(encoder_in(other), tmp_path / "out")
    data, text = ModelCard.load(folder / "README.md").data, (folder / "README.md").read_text()
    assert (data.license, data.license_name) == licence and limit in text
    assert data.datasets == ["someone/nli"], "models are no data sets"
    both = ["someone/tiny", "thenlper/gte-large"] if records[0]["role"] == "backbone" else "someone/tiny"
    assert data.base_model == both
    assert all(f"| {one['name']} | {origins.in_words(one['origin'])} | {one['licence']} |" in text for one in records)


REFUSED = [
    (
        {"data": [LLAMA, GEMMA, JUDGE, GEMMA | {"role": "judge"}]},
        [],
        "terms of llama-3.3-community-license, gemma-terms-of-use, qwen",
    ),
    (
        {"backbone_licence": "CC-BY-NC-4.0", "data": [ENGLISH | {"licence": "gpl-3.0"}]},
        [],
        "CC-BY-NC-4.0 and gpl-3.0 ... one licence ... --licence",
    ),
    ({"data": [ENGLISH | {"licence": "My own"}]}, [], "no licence 'My own'; give --licence other"),
    (
        {"backbone_licence": ""},
        [],
        "no licence; state that of backbone tiny (`licence:` ... --licence",
    ),
    ({"backbone_licence": "none stated"}, [], "no licence; state that of backbone tiny"),
    ({"backbone_licence": "My own"}, [], "no licence 'My own'; give --licence other --licence-name"),
    *[
        (
            {"data": [NLLB, GEMMA | {"role": role, "licence": stated}]},
            [],
            f"{role} gemma states no licence; such terms may bind it, so give --licence",
        )
        for role, stated in (("generator", ""), ("translator", "none stated"), ("judge", "Unknown"))
    ],
    *[
        (
            {"data": [GEMMA | {"licence": stated}]},
            [],
            f"generator gemma states a licence that nobody here knows, {stated!r}; such terms may bind it, so",
        )
        for stated in (
            "Gemma license",
            "Gemma Terms",
            "Llama 3.1",
            "Qwen Research License",
            "OpenAI terms",
            "other",
        )
    ],
    (
        {"data": [GEMMA, JUDGE | {"licence": ""}, NLLB | {"licence": "Mine"}]},
        [],
        "judge qwen ... no licence ... translator nllb ... 'Mine'",
    ),
    ({}, ["--licence", "MIT"], "licence: ... no 'MIT' ... mit"),
    ({}, ["--licence", "other"], "licence: other ... name and a link"),
    ({}, ["--licence-name", "mine"], "licence: a name and a link ... `other`"),
    (
        {},
        ["--licence", "other", "--licence-name", "Mine", "--licence-link", "there"],
        "licence: 'Mine' at 'there'; expected",
    ),
    ({"base_model": "tiny"}, [], "base_model: 'tiny' names no owner"),
    ({"language": "hausa"}, [], "language 'hausa' ... ISO 639"),
]


@pytest.mark.parametrize(("changes", "options", "message"), REFUSED)
def test_what_the_hub_would_refuse_is_told_before(other, tmp_path, changes, options, message):
    again(encoder_in(other), ABOUT | changes)
    with pytest.raises(UserError, match=pattern(message)) as caught:
        published(encoder_in(other), tmp_path / "out", *options)
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()


def test_each_licence_of_a_corpus_of_several_sets_counts(other, tmp_path):
    origin = origins.one(kind="file", name="a.tsv")
    stated = {"sets": "MIT; none stated", "read": "CC0-1.0; Research only", "written": "MIT; Gemma terms of use"}
    records = [{"name": name, "origin": origin, "licence": one} for name, one in stated.items()]
    again(encoder_in(other), ABOUT | {"data": [*records, *records]})
    folder = published(encoder_in(other), tmp_path / "out")
    text = " ".join((folder / "README.md").read_text().split())
    assert "Not for commercial use are the data read, on" in text and "stated the licence of sets. A model" in text
    assert ModelCard.load(folder / "README.md").data.license_name == "gemma-terms-of-use"
    sets = {name: {"file": f"{name}.tsv", **licence} for name, licence in (("a", {"licence": "MIT"}), ("b", {}))}
    source = Source.model_validate({"sets": sets})
    assert records_of.data("pairs", source)["licence"] == "MIT; none stated"
    assert records_of.data("pairs", source.updated({"licence": "CC0-1.0"}))["licence"] == "CC0-1.0"


def test_a_person_names_the_licence_where_nobody_knows_a_generators_terms(other, tmp_path):
    again(encoder_in(other), ABOUT | {"data": [GEMMA | {"licence": ""}]})
    folder = published(encoder_in(other), tmp_path / "out", "--licence", "mit")
    assert ModelCard.load(folder / "README.md").data.license == "mit"
    assert "Nobody has stated the licence of gemma." in (folder / "README.md").read_text()


@pytest.mark.parametrize("file", [*(ROOT / "config").glob("*.yaml"), *(ROOT / "studies").glob("*.yaml")], ids=str)
def test_the_terms_of_the_generators_of_our_own_studies_are_known(file):
    generators = (yamls.read(file).get("generators") or {}).items()
    stated = {name: spec["source"].get("licence", "") for name, spec in generators if "source" in spec}
    assert [name for name, licence in stated.items() if not licences.found(licence)] == []


def test_the_numbers_of_another_encoder_are_refused(other, tmp_path):
    encoder = loading.load(other.parent / "weights", pooling="cls") if (other.parent / "weights").exists() else None
    encoder = encoder or loading.load(tiny.backbone(tmp_path / "weights"), pooling="cls", prefix="query: ")
    save(encoder, encoder_in(other), ABOUT, {"steps": 3, "pooling": "cls"})
    with pytest.raises(UserError, match=r"semrel/hau.json:.*another encoder; give"):
        published(encoder_in(other), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_numbers_that_do_not_follow_from_their_items_are_refused(other, tmp_path):
    file = other / "scores/tiny/xllora/hau/1/semrel/hau.json"
    known = read_json(file)
    known["metrics"]["cosine_spearman"] = known["main_score"] = 0.9
    write_json(known, file)
    with pytest.raises(UserError, match=r"cosine_spearman.*items give.*delete"):
        published(encoder_in(other), tmp_path / "out")


def test_an_encoder_that_nobody_measured_says_so(other, tmp_path):
    shutil.copytree(encoder_in(other), tmp_path / "alone")
    with pytest.raises(UserError, match=r"results of a study.*--scores"):
        published(tmp_path / "alone", tmp_path / "out")
    with pytest.raises(UserError, match=r"none: no scores.*--scores"):
        published(tmp_path / "alone", tmp_path / "out", "--scores", str(tmp_path / "none"))
    shutil.rmtree(other / "scores")
    folder = published(encoder_in(other), tmp_path / "out")
    assert "None: nobody has measured it." in (folder / "README.md").read_text()
    assert not ModelCard.load(folder / "README.md").data.eval_results and not (tmp_path / "out/mteb").exists()


def test_the_best_of_a_language_has_the_scores_of_the_encoder_that_it_is(other, tmp_path):
    facts = {"language": "swh", "name": "Swahili", "backbone": "tiny", "recipe": "xllora", "seed": 1, "base": "base"}
    link_encoder(encoder_in(other), other / "best/swh", facts | {"dev": {"tasks": ["dev"], "score": 0.5, "among": 2}})
    folder = published(other / "best/swh", tmp_path / "out")
    assert ModelCard.load(folder / "README.md").data.eval_results, "by the folder of Hausa, where it learnt"
    same = published(encoder_in(other), tmp_path / "its")
    its, text = ((one / "README.md").read_text() for one in (same, folder))
    assert text.replace("- sw\n", "").replace("| best_encoder_of | Swahili |\n", "") == its
    scored(encoder_in(other), other / "scores/tiny/xllora/hau", tmp_path, name="dev")
    filed(other / "scores/tiny/xllora/hau/1/dev")
    folder = published(other / "best/swh", tmp_path / "out")
    (result,) = ModelCard.load(folder / "README.md").data.eval_results
    assert result.dataset_name == "semrel (hau)", "what chose it is no test of it"
    assert "| dev (it was chosen by this) | hau | Spearman | " in (folder / "README.md").read_text()
    assert not (tmp_path / "out/mteb").exists(), "nor on mteb's leaderboard"
    shutil.rmtree(other / "scores/tiny/xllora")
    with pytest.raises(UserError, match=r"scores/tiny/xllora/hau/1:.*best/swh; give their folder"):
        published(other / "best/swh", tmp_path / "out")


def test_the_best_of_a_language_is_found_under_it_whatever_it_was_trained_on(other, tmp_path):
    for trained, languages in (("eng", ["ha", "en"]), ("hau", ["ha"]), ("mul", ["ha"])):
        again(encoder_in(other), ABOUT | {"language": trained})
        scores = ["--scores", str(other / "scores/tiny/xllora/hau/1")]
        link_encoder(encoder_in(other), other / f"best/{trained}", {"language": "hau", "name": "Hausa"})
        folder = published(other / f"best/{trained}", tmp_path / trained, *scores)
        assert ModelCard.load(folder / "README.md").data.language == languages
        assert "| best_encoder_of | Hausa |" in (folder / "README.md").read_text()


def test_the_intervals_of_a_best_encoder_are_those_of_its_study(other, tmp_path):
    facts = {"language": "hau", "name": "Hausa", "backbone": "tiny", "recipe": "xllora", "seed": 1}
    narrow = {"resamples": 100, "level": 0.8, "seed": 7}
    link_encoder(encoder_in(other), other / "best/hau", facts | {"statistics": narrow})
    link_encoder(encoder_in(other), other / "best/swh", facts)
    own, usual = (
        ModelCard.load(published(other / f"best/{code}", tmp_path / code) / "README.md").data.eval_results[0]
        for code in ("hau", "swh")
    )
    assert (own.metric_args["level"], usual.metric_args["level"]) == (0.8, 0.95) and "80 % interval" in own.metric_name
    (low, high), (lower, higher) = (one.metric_args["confidence_interval"] for one in (own, usual))
    assert lower < low < high < higher


def test_an_output_with_other_files_is_left_alone(other, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years")
    (tmp_path / "file").write_text("")
    folder = published(encoder_in(other), tmp_path / "out")
    with pytest.raises(UserError, match="out: lies in .*elsewhere"):
        published(encoder_in(other), encoder_in(other) / "out")
    places = (tmp_path, tmp_path / "mine", tmp_path / "file", encoder_in(other), folder)
    for place in places:
        with pytest.raises(UserError, match=r"other files.*lost"):
            published(encoder_in(other), place)
    shutil.copytree(encoder_in(other), folder, dirs_exist_ok=True)
    with pytest.raises(UserError, match="holds other files"):
        published(folder, tmp_path / "out", "--scores", str(other / "scores/tiny/xllora/hau/1"))
    assert (tmp_path / "mine/thesis.txt").is_file() and (encoder_in(other) / "modules.json").is_file()


def test_an_output_is_known_by_what_an_earlier_call_left_there_not_by_its_name(other, tmp_path):
    """A person's own `repository`, or a file that they put into ours, is not deleted; nor is an edit of weights."""
    mine = tmp_path / "work"
    (mine / "repository/.git").mkdir(parents=True)
    (mine / "repository/thesis.txt").write_text("years")
    out = published(encoder_in(other), tmp_path / "out").parent
    published(encoder_in(other), out)
    changes = {"repository/notes.txt": "mine", "repository/model.safetensors": "mine", "mteb/x.json": "{}"}
    for name, text in changes.items():
        kept = (out / name).read_bytes() if (out / name).is_file() else None
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(text)
        with pytest.raises(UserError, match="would be lost"):
            published(encoder_in(other), out)
        assert (out / name).read_text() == text
        (out / name).unlink() if kept is None else (out / name).write_bytes(kept)
    with pytest.raises(UserError, match="would be lost"):
        published(encoder_in(other), mine)
    assert (mine / "repository/thesis.txt").read_text() == "years"
    (tmp_path / "link").symlink_to(out)
    with pytest.raises(UserError, match=r"--output .*link.*folder itself"):
        published(encoder_in(other), tmp_path / "link")
    (tmp_path / "empty").mkdir()
    assert published(encoder_in(other), tmp_path / "empty").is_dir()


def test_an_edited_card_is_kept_and_never_lost(other, tmp_path):
    card = published(encoder_in(other), tmp_path / "out") / "README.md"
    edited = card.read_text() + "\nMy words.\n"
    card.write_text(edited)
    published(encoder_in(other), tmp_path / "out")
    published(encoder_in(other), tmp_path / "out")
    assert card.read_text() == edited
    with pytest.raises(UserError, match=r"README.md:.*edited"):
        published(encoder_in(other), tmp_path / "out", "--licence", "apache-2.0")
    assert card.read_text() == edited


PRIVATE = [
    ("file", {"name": "/home/somebody/clientX/a.txt", "set": "news"}, "news: file a.txt"),
    ("file", {"name": "/home/somebody/a b; own: hub x/y @ main.txt"}, "file y @ main.txt"),
    ("archive", {"name": "file:///home/somebody/d.zip"}, "archive d.zip"),
    ("archive", {"name": "https://me:SECRET@data.org/x.zip?token=SECRET"}, "archive https://data.org/x.zip"),
    ("archive", {"name": "https://data.org/x.zip?X-Amz-Signature=SECRET&a=b#c"}, "archive https://data.org/x.zip"),
    ("archive", {"name": "http://gpu07/x.zip"}, "archive x.zip"),
    ("archive", {"name": "http://10.0.0.7:8000/x.zip"}, "archive x.zip"),
    ("archive", {"name": "http://store.internal/x.zip"}, "archive x.zip"),
    ("server", {"name": "gemma", "endpoint": "http://gpu07.cluster:8000/v1"}, "server gemma"),
    ("server", {"name": "/clientX/gemma", "endpoint": "http://gpu07:8000/v1"}, "server gemma"),
    ("package", {"name": "a==1, b==2"}, "package a==1, b==2"),
    ("hub", {"name": "some/one", "revision": "main"}, "hub some/one @ main"),
]  # fmt: skip


def test_origins_go_out_without_places_hosts_and_queries(other, tmp_path):
    places = [origins.one(kind=kind, **fields) for kind, fields, _ in PRIVATE]
    records = [{"name": str(n), "origin": origin, "licence": "MIT"} for n, origin in enumerate(places)]
    several = {"name": "all", "origin": origins.joined(places), "licence": "MIT"}
    again(encoder_in(other), ABOUT | {"data": [*records, several]})
    text = (published(encoder_in(other), tmp_path / "out") / "README.md").read_text()
    assert all(f"| {n} | {shown} | MIT |" in text for n, (*_, shown) in enumerate(PRIVATE))
    assert f"| all | {'; '.join(shown for *_, shown in PRIVATE)} | MIT |" in text
    assert not re.search("SECRET|somebody|clientX|gpu07|10.0.0.7|internal", text)


@pytest.mark.parametrize("origin", ["file /home/somebody/x.txt", [{"kind": "file"}], [{"kind": "disk", "name": "x"}]])
def test_what_is_no_origin_is_refused(other, tmp_path, origin):
    """A manifest that somebody else wrote: nothing is guessed from its text."""
    folder = encoder_in(other)
    known = read_json(folder / manifests.MANIFEST)
    manifests.write(folder, known | {"about": ABOUT | {"data": [{"name": "own", "origin": origin, "licence": "MIT"}]}})
    with pytest.raises(UserError, match=r"origin: .*no list of places"):
        published(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "said",
    [
        "See /home/somebody/notes", "~/notes", "file:///x/y", r"C:\\notes", "https://me:word@host.org/x",
        "https://host.org/x?sig=abc", "http://gpu07:8000/v1", "http://192.168.1.4/x", str(ROOT / "results"),
    ],
)  # fmt: skip
def test_a_card_that_says_where_things_are_does_not_go_out(other, tmp_path, said):
    """Wherever it comes from: a summary, a name, an edit."""
    again(encoder_in(other), ABOUT | {"summary": f"Made of {said}."})
    with pytest.raises(UserError, match=r"README.md:.*secret.*nothing goes out"):
        published(encoder_in(other), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_from_outside_of_a_folder_is_published(other, tmp_path):
    """A folder that somebody else made names what is not in it, or digests that are none of its files'."""
    (tmp_path / "secret.json").write_text('{"token": "A-TOKEN"}')
    encoder, planted = encoder_in(other), tmp_path / "planted.txt"
    planted.write_text("x")
    shutil.rmtree(other / "scores")
    manifest = read_json(encoder / manifests.MANIFEST)

    def refused(files: dict[str, str]) -> str:
        write_json(manifest | {"files": files}, encoder / manifests.MANIFEST)
        with pytest.raises(UserError) as caught:
            published(encoder, tmp_path / "out")
        assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()
        return str(caught.value)

    files = manifest["files"]
    outside = os.path.relpath(planted, encoder)
    for name in (outside, str(planted), "../1/config.json"):
        assert "which is no file in this folder" in refused(files | {name: "0" * 64})
    zeros = {name: "0" * 64 for name in files if name.endswith("modules.json")}
    assert "not what its job wrote" in refused(files | zeros)
    (encoder / "extra.json").symlink_to(tmp_path / "secret.json")
    assert "leads out of its folder" in refused(files | {"extra.json": "0" * 64})


def test_a_base_that_the_study_has_from_elsewhere_is_named(other, tmp_path):
    again(encoder_in(other), ABOUT | {"base_model": ""})
    folder = published(encoder_in(other), tmp_path / "out", "--base", "someone/whole")
    assert ModelCard.load(folder / "README.md").data.base_model == "someone/whole"


def test_what_is_none_of_the_three_is_refused(tmp_path):
    (tmp_path / "model").mkdir()
    with pytest.raises(UserError, match=r"no encoder \(modules.json\), adapter"):
        published(tmp_path / "model", tmp_path / "out")
    with pytest.raises(UserError, match=r"--name: 'hausa'.*give owner/name"):
        call(publish, [str(tmp_path / "model"), "--name", "hausa", "--output", str(tmp_path / "out")])


def test_a_card_without_what_the_hub_wants_is_refused(tmp_path):
    file = tmp_path / "README.md"
    for text, message in [
        ("no metadata", "no licence"),
        ("---\nlicense: mit\nmodel-index: 3\n---\n", "model-index|metadata"),
        ("---\nlicense: other\n---\n", "without license_name"),
        ("---\nlicense: mit\ntags: [3]\n---\n", "tags is"),
    ]:
        file.write_text(text)
        with pytest.raises(UserError, match=message):
            require_card(file)


def filed(folder: Path) -> None:
    """mteb's own result beside a score."""
    result = {
        "dataset_revision": "ab" * 20, "task_name": "SemRel24STS", "mteb_version": "2.26.24", "evaluation_time": None,
        "scores": {"test": [{"main_score": 0.25, "cosine_spearman": 0.25, "hf_subset": "hau", "languages": ["hau-Latn"]}]},
    }  # fmt: skip
    write_json(result, folder / "hau.mteb.json")
    write_json(read_json(folder / "hau.json") | {"mteb": "hau.mteb.json"}, folder / "hau.json")


@pytest.fixture(scope="module")
def int8(study):
    """The study's encoder in integers of 8 bits, which takes seconds to make."""
    return quantized(loading.open_encoder(encoder_in(study)))


@pytest.mark.parametrize(("way", "frameworks"), [("condensed", "safetensors"), ("quantized", "ONNX")])
def test_what_mteb_is_told_of_small_copies(way, frameworks, study, int8, tmp_path):
    encoder = loading.open_encoder(encoder_in(study))
    weights = sum(one.numel() for one in encoder.parameters())
    small = Static(dimensions=8).compress(encoder, tiny.sentences("hau", 40), {}) if way == "condensed" else int8
    folder = tmp_path / "results/encoders/tiny/xllora/mul/0"
    save(small, folder, ABOUT | {"language": "mul"}, {})
    scored(folder, tmp_path / "results/scores/tiny/xllora/mul", tmp_path)
    filed(tmp_path / "results/scores/tiny/xllora/mul/0/semrel")
    repository = published(folder, tmp_path / "out", "--licence", "agpl-3.0")
    (meta,) = (read_json(path) for path in (tmp_path / "out/mteb").rglob("model_meta.json"))
    assert frameworks in meta["framework"] and meta["license"] is None, "mteb has no such licence"
    assert meta["n_parameters"] == (small[0].embedding.weight.numel() if way == "condensed" else weights)
    assert (meta["max_tokens"] is None) == (way == "condensed")
    assert ModelCard.load(repository / "README.md").data.language == ["multilingual"]


def test_mteb_loads_the_results_as_its_leaderboard_does(other, tmp_path):
    """Name and revision are the published ones; languages are mteb's subsets of one task."""
    from mteb.cache import ResultCache

    filed(other / "scores/tiny/xllora/hau/1/semrel")
    published(encoder_in(other), tmp_path / "out")
    loaded = ResultCache(tmp_path / "out/mteb").load_results(include_remote=False)
    (model,) = loaded.model_results
    assert model.model_name == "someone/hausa" and re.fullmatch("[0-9a-f]{40}", model.model_revision)
    (task,) = model.task_results
    assert task.get_score() == 0.25 and task.task_name == "SemRel24STS"
    assert model.model_meta.embed_dim == 32 and model.model_meta.license == "mit"
    assert model.model_meta.training_datasets == ["someone/nli", "text"]
    assert model.model_meta.adapted_from == "someone/tiny"


def test_mteb_knows_the_data_of_training_by_the_names_of_its_own_tasks():
    on_hub = of_hub("pairs", "mteb/SemRel24STS", "mit", "")
    data = [on_hub, GEMMA, {"name": "news", "origin": [{"kind": "file", "name": "news.txt"}]}]
    assert leaderboard.trained_on({"data": data}) == {"SemRel24STS", "news"}
    assert leaderboard.trained_on({}) == set()


def test_an_adapter_goes_out_with_the_base_that_peft_finds(tmp_path):
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_model.safetensors").write_bytes(b"weights")
    write_json(
        {"peft_type": "LORA", "base_model_name_or_path": "gemma", "revision": None}, adapter / "adapter_config.json"
    )
    base = {"name": "gemma", "id": "", "revision": "", "licence": "Gemma terms of use"}
    manifests.write(adapter, {"base": base, "kind": "task", "language": "Hausa", "lora": {"rank": 2}})
    with pytest.raises(UserError, match=r"base is 'gemma'.*give --base owner/name"):
        published(adapter, tmp_path / "out")
    with pytest.raises(UserError, match=r"--scores: encoders alone.*adapter.*leave it out"):
        published(adapter, tmp_path / "out", "--scores", str(tmp_path))
    folder = published(adapter, tmp_path / "out", "--base", "google/gemma-3-270m")
    assert read_json(folder / "adapter_config.json")["base_model_name_or_path"] == "google/gemma-3-270m"
    data = ModelCard.load(folder / "README.md").data
    assert data.base_model == "google/gemma-3-270m" and data.license == "gemma" and data.library_name == "peft"
    assert 'from_pretrained("someone/hausa")' in (folder / "README.md").read_text()


@pytest.fixture
def triplets(tmp_path):
    """One row that a generator wrote in one way, in a study that states its licences, or none."""

    def written(method: str, *, anchors: str = "CC-BY-4.0", generator: str = "MIT") -> Path:
        file = tmp_path / f"results/triplets/gemma/{method}/hau.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        row = ("1", "Yara suna gida.", "Children are home.", "No child is home.")
        write_table(pd.DataFrame([row], columns=["id", "anchor", "positive", "negative"]), file)
        writer = {
            "name": "gemma",
            "origin": origins.one(kind="file", name="/home/somebody/gemma"),
            "licence": generator,
        }
        counts = {"read": 3, "kept": 1, "dropped": {"positive: empty": 2}}
        write_json(counts | {"generator": writer}, file.with_suffix(".audit.json"))
        (tmp_path / "results/corpora/eng").mkdir(parents=True, exist_ok=True)
        record = {"origin": origins.one(kind="hub", name="someone/it"), "licence": anchors}
        write_json(record, tmp_path / "results/corpora/hau/text.json")
        return file

    return written


def test_triplets_go_out_with_a_data_card_that_datasets_reads(triplets, tmp_path):
    from datasets import load_dataset

    folder = published(triplets("prompting"), tmp_path / "out")
    data = DatasetCard.load(folder / "README.md").data
    assert data.license == "cc-by-4.0" and data.language == ["ha"] and data.size_categories == "n<1K"
    assert data.multilinguality == "monolingual"
    text = (folder / "README.md").read_text()
    assert "| positive: empty | 2 |" in text and "| negative | one that contradicts it |" in text
    assert "| gemma | file gemma | MIT |" in text
    assert read_json(folder / "data/hau.audit.json") == {"read": 3, "kept": 1, "dropped": {"positive: empty": 2}}
    (row,) = load_dataset(str(folder), "hau", split="train", cache_dir=str(tmp_path / "cache"))
    assert row["anchor"] == "Yara suna gida." and row["negative"] == "No child is home."


def test_triplets_of_which_nobody_knows_a_licence_are_refused(triplets, tmp_path):
    with pytest.raises(UserError, match=r"licence of anchors and gemma.*--licence"):
        published(triplets("prompting", anchors="", generator=""), tmp_path / "out")
    with pytest.raises(UserError, match="'Gemma license' of gemma; give --licence"):
        published(triplets("prompting", generator="Gemma license"), tmp_path / "out")


def test_the_card_of_triplets_of_two_languages_names_both(triplets, tmp_path):
    file = triplets("xllora")
    with pytest.raises(UserError, match=r"--base: .*hau.tsv.*leave it out"):
        published(file, tmp_path / "out", "--base", "someone/tiny")
    folder = published(file, tmp_path / "out")
    data = DatasetCard.load(folder / "README.md").data
    assert data.language == ["ha", "en"] and data.multilinguality == "multilingual"
    assert "anchors in Hausa, and to each in English a text that follows" in (folder / "README.md").read_text()
    with pytest.raises(UserError, match=r"xllora writes.*fra; give --pivot"):
        published(file, tmp_path / "french", "--pivot", "fra")
    (tmp_path / "results/corpora/fra").mkdir()
    folder = published(file, tmp_path / "french", "--pivot", "fra")
    assert DatasetCard.load(folder / "README.md").data.language == ["ha", "fr"]


@pytest.mark.parametrize(
    ("method", "anchor", "positive", "negative"),
    [
        ("composition", "a sentence of the corpus", "a text that follows from it or means the same", "one that contra"),
        (
            "query-generation",
            "a passage of the corpus",
            "a question that it answers",
            "one about the same subject that",
        ),
        ("translation", "a translation of a row's anchor", "a translation of its positive", "a translation of its neg"),
    ],
)
def test_the_card_of_triplets_says_what_they_are_by_how_they_were_written(
    triplets, tmp_path, method, anchor, positive, negative
):
    file, stated = triplets(method), []
    if method == "translation":  # no file says of which corpus
        stated = ["--licence", "mit"]
        with pytest.raises(UserError, match=r"no licence of anchors; .* or give --licence"):
            published(file, tmp_path / "out")
    text = (published(file, tmp_path / "out", *stated) / "README.md").read_text()
    for name, words in {"anchor": anchor, "positive": positive, "negative": negative}.items():
        assert f"| {name} | {words}" in text
    assert " ".join(text.split()).count(positive) == 2 and ("contradicts" in text) == (method == "composition")


def test_triplets_that_no_way_of_ours_wrote_are_refused(triplets, tmp_path):
    with pytest.raises(UserError, match="'mine' is no way"):
        published(triplets("mine"), tmp_path / "out")


def test_without_a_way_to_the_hub_nothing_is_sent(study, tmp_path):
    with pytest.raises(UserError, match=r"HF_HUB_OFFLINE.*nothing.*sent") as caught:
        published(encoder_in(study), tmp_path / "out", "--upload")
    assert "\n" not in str(caught.value) and (tmp_path / "out/repository/README.md").is_file()


class Hub(BaseHTTPRequestHandler):
    """What of the hub's API an upload asks: a repository, a check of the card, which files are large, the commit."""

    seen: dict[str, Any] = {}
    LARGE = 1_000_000

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path.partition("?")[0]
        assert self.headers["authorization"] == "Bearer hf_secret"
        if path == "/api/repos/create":
            self.seen["repository"] = json.loads(body)
            answer: dict[str, Any] = {"url": "https://huggingface.co/someone/hausa"}
        elif path == "/api/validate-yaml":
            self.seen["card"] = json.loads(body)["content"]
            answer = {"errors": [], "warnings": []}
        elif path.endswith("/preupload/main"):
            files = json.loads(body)["files"]
            answer = {"files": [{"path": one["path"], "uploadMode": "regular", "shouldIgnore": False} for one in files]}
        elif path.endswith("/commit/main"):
            _, *changes = [json.loads(line) for line in body.splitlines()]
            files = [one["value"] for one in changes if one["key"] == "file"]
            sent = {one["path"]: base64.b64decode(one["content"]) for one in files}
            deleted = [one["value"]["path"] for one in changes if one["key"] == "deletedFile"]
            self.seen["deleted"] = self.seen.get("deleted", []) + deleted
            self.seen["files"] = self.seen.get("files", {}) | sent
            self.seen["commits"] = [*self.seen.get("commits", []), [*sent]]
            answer = {
                "success": True,
                "commitOid": ("cd" if len(self.seen["commits"]) == 1 else "ef") * 20,
                "commitUrl": "https://huggingface.co/someone/hausa/commit/1",
            }
        else:
            self.send_error(404)
            return
        self._answer(answer)

    there: dict[str, Any] | None = None
    """What is in the repository; None: there is none before it is made."""

    def do_GET(self) -> None:
        if self.there is None and "repository" not in self.seen:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if "/tree/" in self.path:
            there = (self.there or {}).get("siblings", [])
            self._answer([{"type": "file", "path": one["rfilename"], "size": 1, "oid": "0" * 40} for one in there])
            return
        private = self.seen.get("repository", {}).get("visibility") == "private"
        known = {"id": "someone/hausa", "sha": "ab" * 20, "siblings": [], "private": private, "tags": []}
        self._answer(known | (self.there or {}))

    def _answer(self, answer: dict[str, Any] | list[dict[str, Any]]) -> None:
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch):
    """The hub's address, with a repository of these facts, or with none."""
    monkeypatch.setattr(Hub, "seen", {})
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield lambda there=None: monkeypatch.setattr(Hub, "there", there) or f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


ONLINE = {"HF_TOKEN": "hf_secret", "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}


@pytest.fixture
def sent(monkeypatch, capfd):
    """A function: uploads to a hub elsewhere, and gives what is printed, and the line by which it ends if it fails.

    In this process, where huggingface_hub has read its settings long ago.
    """

    def send(what: Path, output: Path, endpoint: str, *options: str) -> tuple[str, str]:
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setenv("HF_TOKEN", ONLINE["HF_TOKEN"])
        try:
            published(what, output, "--upload", *options)
        except UserError as error:
            return "".join(capfd.readouterr()), str(error)
        return "".join(capfd.readouterr()), ""

    return send


def test_an_upload_is_one_commit_of_what_was_laid_out(other, tmp_path, hub):
    folder = other / "scores/tiny/xllora/hau/1/semrel"
    result = {
        "dataset_revision": "ab" * 20,
        "task_name": "SemRel24STS",
        "mteb_version": "2.26.24",
        "evaluation_time": None,
    }
    subset = {"main_score": 0.25, "hf_subset": "hau", "languages": ["hau-Latn"]}
    write_json(result | {"scores": {"test": [subset]}}, folder / "hau.mteb.json")
    write_json(read_json(folder / "hau.json") | {"mteb": "hau.mteb.json"}, folder / "hau.json")
    published(encoder_in(other), tmp_path / "out")
    card = tmp_path / "out/repository/README.md"
    card.write_text(card.read_text() + "\nA sentence of mine.\n")
    command = [sys.executable, "-m", "scripts.publish", str(encoder_in(other)), "--name", "someone/hausa", "--upload"]
    command += ["--output", str(tmp_path / "out")]
    environment = os.environ | ONLINE | {"HF_ENDPOINT": hub()}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert f"someone/hausa: uploaded at {'cd' * 20}; nobody but its owners sees it" in done.stdout
    assert "A sentence of mine." in Hub.seen["card"], "what a person wrote between looking and sending is sent"
    laid_out = {
        str(path.relative_to(tmp_path / "out/repository")): path.read_bytes()
        for path in (tmp_path / "out/repository").rglob("*")
        if path.is_file()
    }
    assert Hub.seen["files"] == laid_out and "model.safetensors" in laid_out and len(Hub.seen["commits"]) == 1
    assert Hub.seen["repository"]["visibility"] == "private" and Hub.seen["card"] == laid_out["README.md"].decode()
    assert (tmp_path / "out/mteb/results/someone__hausa" / ("cd" * 20) / "SemRel24STS.json").is_file()
    published(encoder_in(other), tmp_path / "out")
    assert "A sentence of mine." in card.read_text()


def test_a_card_that_asks_to_run_code_says_which_and_at_which_commit(int8, tmp_path, hub, sent):
    """The graph's reader lies in the folder: whoever pastes the lines runs the code that was sent, whatever comes later."""
    what = tmp_path / "results/encoders/tiny/int8/hau/1"
    save(int8, what, ABOUT, {"steps": 0})
    again(what, ABOUT)
    assert "int8_transformer.py" in (what / "README.md").read_text(), "here too, where no commit is"
    for _ in range(2):  # what is sent is laid out again as it was
        said, error = sent(what, tmp_path / "out", hub())
        assert "uploaded at" in said and not error
        first, second = Hub.seen["commits"][-2:]
        assert "int8_transformer.py" in first and second == ["README.md"]
    (line,) = re.findall(r"encoder = SentenceTransformer\(.*", Hub.seen["files"]["README.md"].decode())
    assert f'"someone/hausa", trust_remote_code=True, revision="{"ef" * 20}"' in line
    assert "# It runs int8_transformer.py of" in Hub.seen["files"]["README.md"].decode()


OURS = {"siblings": [{"rfilename": "README.md"}], "tags": ["seedbed", "sentence-transformers"]}


@pytest.mark.parametrize(
    ("there", "options", "told"),
    [
        (None, ["--public"], "everybody sees it"),
        ({"private": True} | OURS, [], "nobody but its owners sees it"),
        ({"private": True, "siblings": [{"rfilename": ".gitattributes"}]}, [], "nobody but its owners sees it"),
        ({"private": False} | OURS, ["--public"], "everybody sees it"),
        ({"private": True} | OURS | {"tags": []}, ["--replace"], "nobody but its owners sees it"),
        ({"private": False} | OURS, [], "everybody can see that repository; give --public, or make it private"),
        ({"private": False} | OURS, ["--replace"], "everybody can see that repository"),
        ({"private": True} | OURS | {"tags": []}, ["--public"], "holds 'README.md' and no card of Seedbed's"),
        (
            {"private": True, "siblings": [{"rfilename": "model.safetensors"}]},
            [],
            "holds 'model.safetensors' and no card",
        ),
    ],
)
def test_what_a_repository_holds_and_who_sees_it_is_asked_before_anything_is_sent(
    study, tmp_path, hub, sent, there, options, told
):
    said, error = sent(encoder_in(study), tmp_path / "out", hub(there), *options)
    assert told in said + error and ("sees it" in told) is not bool(error) and "\n" not in error
    assert ("files" in Hub.seen) is not bool(error) and ("repository" in Hub.seen) is (there is None)


def test_what_the_repository_had_before_is_deleted_only_if_a_person_says_so(study, tmp_path, hub, sent):
    """Whoever loads the model would load a left-over adapter with it, or run a left-over module."""
    files = [".gitattributes", "README.md", "adapter_config.json", "model.safetensors", "old/code.py"]
    endpoint = hub(OURS | {"private": True, "siblings": [{"rfilename": name} for name in files]})
    _, error = sent(encoder_in(study), tmp_path / "out", endpoint)
    assert "holds 'adapter_config.json', which is not in this upload; give another --name, or --replace" in error
    assert "files" not in Hub.seen
    said, _ = sent(encoder_in(study), tmp_path / "out", endpoint, "--replace")
    assert Hub.seen["deleted"] == ["adapter_config.json", "old/code.py"] and len(Hub.seen["commits"]) == 1
    assert "Deleted there, because this upload does not have them: adapter_config.json, old/code.py" in said


def test_a_hub_that_does_not_answer_costs_one_line(study, tmp_path, sent):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said, error = sent(encoder_in(study), tmp_path / "out", f"http://127.0.0.1:{port}")
    assert error.startswith("someone/hausa: the hub did not take it") and "\n" not in error
    assert "hf_secret" not in said + error and "Traceback" not in said


def test_a_number_that_is_no_share_is_shown_as_what_it_is():
    data = {"origin": [], "licence": ""}
    rho, aligned = protocols.metric("sts", "spearman"), protocols.metric("geometry", "alignment")
    pairs = results.Result("pairs", "hau", "sts", rho, "Spearman", 58.46, (52.7, 63.6), 0.95, 603, data, {})
    shape = results.Result("geo", "hau", "geometry", aligned, "Alignment", 0.1734, (0.15, 0.2), 0.95, 603, data, {})
    text = results.section([pairs, shape])
    assert "Points of 100, but for alignment. Intervals hold 95 %" in text
    assert re.search(r"Spearman +\| +58.5 +\| +52.7 to 63.6", text)
    assert re.search(r"Alignment \(lower is better\) +\| +0.173 +\| +0.150 to 0.200", text)
    assert [one.metric_value for one in results.metadata([pairs, shape])] == [58.46, 0.1734]
    assert "| 0.0 " in results.section([pairs._replace(value=-0.04)]), "as tables print it, and not -0.0"


def test_tasks_of_one_data_set_have_numbers_of_their_own_in_a_card():
    data = {"origin": SEMREL, "licence": ""}
    dev = results.Result(
        "dev", "hau", "sts", protocols.metric("sts", "spearman"), "Spearman", 80.0, None, 0.95, 40, data, {}
    )
    tests = [dev, dev._replace(task="test", value=50.0), dev._replace(task="test", language="ind", value=40.0)]
    (filed,) = eval_results_to_model_index("hausa", results.metadata(tests))
    found = {one["dataset"]["name"]: [each["value"] for each in one["metrics"]] for one in filed["results"]}
    assert found == {"dev (hau)": [80.0], "test (hau)": [50.0], "test (ind)": [40.0]}


def test_a_card_has_the_last_layer_where_another_scores_as_well():
    """Of few pairs two layers, or a layer and one direction of another, are often equal."""
    accuracies = {0: (0.6, 0.6), 1: (0.5, 0.7), 2: (0.7, 0.5)}
    metrics = {f"layer_{layer}_forward": one for layer, (one, _) in accuracies.items()}
    metrics |= {f"layer_{layer}_backward": other for layer, (_, other) in accuracies.items()}
    metrics |= {f"layer_{layer}": 0.6 for layer in accuracies}
    score = {"protocol": "layers", "task": "tatoeba", "metrics": metrics, "main_score": 0.6}
    assert results._main(Path("hau.json"), score)[0] == "L2"


@pytest.mark.parametrize(("n", "right"), [(80, 23), (107, 13), (12, 5), (4, 3)])
def test_a_card_prints_what_tables_print(tmp_path, n, right):
    """23 of 80 are 28.75 per cent but for the last bit; a score file has six decimals."""
    scores, about = tmp_path / "scores", {"origin": [{"kind": "hub", "name": "here"}]}
    path = scores / "b/base/hau/0/own/hau.json"
    hits = (np.arange(n) < right).astype(int)
    items = pd.DataFrame({"id": [f"{place}" for place in range(n)], "forward": hits, "backward": hits})
    write_table(items, path.with_suffix(".items.tsv"))
    value = round(right / n, 6)
    score = {"task": "own", "language": "hau", "protocol": "bitext", "metrics": {"accuracy": value}, "n": n}
    score |= {"main_score": value, "items": "hau.items.tsv", "dataset": about}
    write_json(score, path)
    given = {"columns": [{"label": "Own", "protocol": "bitext", "metric": "accuracy"}], "recipes": {"base": "Base"}}
    spec = TableSpec.model_validate({"title": "T", "caption": "c"} | given)
    tasks = {"own": AvailableTask(protocol="bitext", languages=["hau"])}
    blocks = plan(
        spec, [AvailableRecipe(recipe="base", language="hau", seeds=[0])], {"b": AvailableModel()}, tasks, "base"
    )
    table = tabulate([*measure_blocks(blocks, scores, Statistics(), spec)], Statistics(), Published(None, tmp_path))
    row, shown = table.iloc[0], results._result(path, score, Statistics())
    assert results._shown(shown, shown.value) == f"{row['value']:.1f}"
    assert shown.interval == (None if n < 10 else (row["low"], row["high"]))


def test_a_card_leaves_out_what_was_fine_tuned_on_its_encoder(other, tmp_path):
    """Its scores are next to the encoder's own, see `Cell.path`."""
    score = {
        "task": "news",
        "protocol": "tuned",
        "language": "hau",
        "classifier": {"seed": 1},
        "items": "hau.items.tsv",
    }
    write_json(score | {"metrics": {"macro_f1": 0.5}}, other / "scores/tiny/xllora/hau/1/news/hau.json")
    folder = published(encoder_in(other), tmp_path / "out")
    assert [one.dataset_name for one in ModelCard.load(folder / "README.md").data.eval_results] == ["semrel (hau)"]


def test_the_greatest_share_is_the_main_score_of_its_translator():
    metrics = {"share_nllb": 0.25, "share_opus": 0.75, "uniform": 0.5}
    score = {"protocol": "shares", "task": "own", "metrics": metrics, "main_score": 0.75}
    name, metric = results._main(Path("hau.json"), score)
    assert (name, metric.key) == ("share of opus", "share_opus")
    table = pd.DataFrame({"translator": ["opus", "nllb", "opus", "opus"]})
    assert metric.by.statistic(metric.by.read(table, list(metric.items))) == 0.75
