"""Scores that others report: which a study may quote, and where they stand next to ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mteb.results import TaskResult

from seedbed import yamls
from seedbed.io import UserError
from seedbed.study import quoted
from seedbed.study.graph.best_encoder import BestEncoder
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.tables.quotes import of_mteb

DEMO = yamls.read("config/demo.yaml")
BGE = {"system": "BGE-M3", "task": "graded-sts", "values": {"hau": 56.5}, "source": "their paper, table 2"}
SCORES = {
    "test": [
        {"hf_subset": "hau", "languages": ["hau-Latn"], "main_score": 0.565, "cosine_spearman": 0.5654028},
        {"hf_subset": "ind", "languages": ["ind-Latn"], "main_score": 0.522, "cosine_spearman": 0.5223},
        {"hf_subset": "amh", "languages": ["amh-Ethi"], "main_score": 0.826, "cosine_spearman": 0.826},
    ]
}


def study_with(*entries: dict[str, Any], **changes: Any):
    return load(DEMO | {"quoted": [*entries]} | changes)


def filed(folder: Path, scores: dict[str, Any] = SCORES) -> Path:
    """A result as mteb's own class writes it."""
    result = TaskResult(
        dataset_revision="ef5c383d1b87eb8feccde3dfb7f95e42b1b050dd",
        task_name="SemRel24STS",
        mteb_version="1.12.75",
        scores=scores,
        evaluation_time=8.9,
        kg_co2_emissions=None,
    )
    path = folder / "results/BAAI__bge-m3/5617a9f61b028005a4858fdac845db406aefb181/SemRel24STS.json"
    path.parent.mkdir(parents=True)
    result.to_disk(path)
    return path


def test_what_others_report_stands_with_the_tests_that_it_is_of():
    study = study_with(BGE, BGE | {"task": "kolibri-bitext", "values": {"ind": 90.0, "hau": 70.0}})
    blocks = {(block.column.label, block.backbone): block.quoted for block in TablePlan.get(study, "table1").blocks}
    shown = {label: [(one.system, one.language, one.value) for one in found] for (label, _), found in blocks.items()}
    assert shown["STS"] == [("BGE-M3", "hau", 56.5)]
    assert sorted(shown["Bitext retrieval (kolibri-bitext)"]) == [("BGE-M3", "hau", 70.0), ("BGE-M3", "ind", 90.0)]
    for code, value in (("hau", 70.0), ("ind", 90.0)):
        best = BestEncoder.get(study, code)
        (block,) = best.blocks(best.reported_on)
        assert [one.value for one in block.quoted] == [value], "of this language and the task that is reported"


def test_a_file_that_mteb_writes_has_a_number_for_each_language_of_the_study(tmp_path):
    path = filed(tmp_path)
    study = study_with({"system": "BGE-M3", "task": "graded-sts", "results": str(path)})
    found = quoted.quotes(study)["graded-sts", "spearman"]
    assert [(one.language, one.value) for one in found] == [("hau", 56.5403), ("ind", 52.23)]
    assert "BAAI__bge-m3/5617a9f61b/SemRel24STS.json (mteb 1.12.75, data ef5c383d1b)" in found[0].source


def test_the_subset_of_a_task_of_mteb_counts_whatever_mteb_calls_its_language(tmp_path):
    """As in BelebeleRetrieval, whose subsets of one language name it twice, and in MIRACL, where Swahili is `swa`."""
    subsets = {"hau_Latn-hau_Latn": ["hau-Latn", "hau-Latn"], "hau_Latn-eng_Latn": ["hau-Latn", "eng-Latn"]}
    subsets |= {"ind_Latn-ind_Latn": ["msa-Latn"]}
    scores = [{"hf_subset": name, "languages": codes, "ndcg_at_10": 1} for name, codes in subsets.items()]
    path = filed(tmp_path, {"test": [one | {"main_score": 1.0} for one in scores]})
    source = {"hub": "own/questions", "revision": "ab" * 20, "split": "test"}
    task, found = {"protocol": "retrieval", "source": source}, {}
    mteb = {"mteb": {"name": "SemRel24STS", "subset": "{flores}-{flores}"}}
    for name, settings in {"named": task | mteb, "other": task}.items():
        quote = {"system": "BGE-M3", "task": name, "results": str(path)}
        study = study_with(quote, tasks=DEMO["tasks"] | {name: settings})
        found[name] = [(one.language, one.value) for one in quoted.quotes(study)[name, "ndcg@10"]]
    assert found == {"named": [("hau", 100.0), ("ind", 100.0)], "other": [("hau", 100.0)]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"task": "graded"}, ["quoted.0.task", "'graded-sts'"]),
        ({"values": {"hsa": 56.5}}, ["quoted.0.values", "'hau'"]),
        ({"metric": "accuracy"}, ["quoted.0.metric", "spearman"]),
        ({"source": None}, ["quoted.0", "source"]),
        ({"source": "a | b"}, ["quoted.0.source", "|"]),
        ({"values": {}}, ["quoted.0", "values", "results"]),
        ({"values": {"hau": "high"}}, ["quoted.0.values.hau", "number"]),
        ({"results": "a.json"}, ["quoted.0", "either"]),
        ({"values": {}, "results": "nowhere.json"}, ["nowhere.json", "no such file"]),
        ({"values": {}, "results": "a.json", "task": "kolibri-bitext"}, ["quoted.0.results", "`values`"]),
    ],
)
def test_a_quote_of_something_else_is_refused(change, words):
    with pytest.raises(UserError) as caught:
        study_with(BGE | change)
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_quote_of_a_task_without_a_number_in_tables_says_where():
    sets = {name: {"file": f"own/{{lang}}.{name}.tsv"} for name in ("source", "train")}
    tasks = DEMO["tasks"] | {"labels": {"protocol": "knn", "k": [2], **sets}}
    with pytest.raises(UserError, match=r"tasks\.labels\.k: 2; .*quoted\.0"):
        study_with(BGE | {"task": "labels"}, tasks=tasks)


def test_a_system_has_one_number_of_a_test():
    with pytest.raises(UserError, match="quoted.1: BGE-M3 has two numbers in hau"):
        study_with(BGE, BGE | {"source": "elsewhere"})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"task": "STS22"}, ["SemRel24STS", "STS22"]),
        ({"split": "dev"}, ["'dev'", "test"]),
        ({"metric": "dot_spearman"}, ["dot_spearman", "hau"]),
        ({"languages": {"swh": "swh-Latn"}}, ["swh", "amh-Ethi, hau-Latn, ind-Latn"]),
    ],
)
def test_a_file_of_mteb_that_lacks_what_is_asked_is_refused(tmp_path, asked, words):
    known = {"task": "SemRel24STS", "split": "test", "metric": "cosine_spearman", "languages": {"hau": "hau-Latn"}}
    known |= {"subsets": {}}
    path = filed(tmp_path)
    assert of_mteb(path, **known) == {"hau": 0.565403}  # mteb files six digits
    with pytest.raises(UserError) as caught:
        of_mteb(path, **known | asked)
    assert all(word in str(caught.value) for word in [*words, path.name]), caught.value


def test_a_score_of_mteb_that_is_no_number_is_no_quote(tmp_path):
    path = filed(tmp_path)
    path.write_text(path.read_text().replace("0.565403", "NaN"))
    with pytest.raises(UserError, match=f"{path}: no number 'cosine_spearman' in hau; give it by `values`"):
        of_mteb(path, "", "test", "cosine_spearman", {"hau": "hau-Latn"}, {})


def test_two_subsets_of_a_language_are_not_taken_for_one(tmp_path):
    twice = {"test": [*SCORES["test"], SCORES["test"][0] | {"hf_subset": "hau-2"}]}
    with pytest.raises(UserError, match="hau, hau-2.*`values`"):
        of_mteb(filed(tmp_path, twice), "", "test", "cosine_spearman", {"hau": "hau-Latn"}, {})


def test_what_is_no_result_of_mteb_is_one_line(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"mteb_dataset_name": "STS17", "mteb_version": "0.0.2", "test": {"ko-ko": {"cos_sim": {}}}}')
    with pytest.raises(UserError, match=r"a\.json: written by mteb before 1\.11.*`values`"):
        of_mteb(path, "", "test", "cosine_spearman", {"hau": "hau-Latn"}, {})
    path.write_text('{"scores": []}')
    with pytest.raises(UserError, match=r"a\.json.*expected a result file of mteb"):
        of_mteb(path, "", "test", "cosine_spearman", {"hau": "hau-Latn"}, {})
