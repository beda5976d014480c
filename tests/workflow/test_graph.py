"""The graph itself: what runs, what runs again, and what does not."""

import ast
import json
import os
import re
import shutil
import subprocess
import time

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import spearmanr

from tests.embedder import DIMENSIONS, Embedder, vector
from tests.humble import humble
from tests.refusals import tells
from tests.unit.test_house import ALL_RULES
from tests.workflow.conftest import alarming
from tests.workflow.test_status import status


def planned(done):
    """Rule -> number of jobs, from Snakemake's job table."""
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    text = done.stdout + done.stderr
    rows = re.findall(r"^(\w+) +(\d+)$", text, flags=re.M)
    return {rule: int(count) for rule, count in rows if rule not in ("total", "job")}


def nothing_to_do(done):
    return "Nothing to be done" in done.stdout + done.stderr


def touch(path):
    later = time.time() + 2  # than every result, whatever the clock of the file system resolves
    os.utime(path, (later, later))


def test_the_whole_small_study_runs(finished):
    table = pd.read_csv(finished.root / "results/own/tables/table1.csv")
    assert set(table["recipe"]) == {"base", "unsupervised", "crosslingual", "prompting", "composition", "xllora"}
    assert {"hau"} <= set(table["language"])
    for name in ("tables/table1.md", "figures/table1.svg", "report.zip"):
        assert (finished.root / "results/own" / name).stat().st_size > 500


def test_its_status_has_nothing_to_do(finished):
    page = status(finished, "study.yaml")
    assert " 0 running, 0 failed, 0 to do" in page and "\nfailed" not in page


def test_every_job_left_its_log_and_its_benchmark(finished):
    results = finished.root / "results/own"
    for kind in ("logs", "benchmarks"):
        assert {path.name for path in (results / kind).iterdir()} >= {
            "fetch_corpus",
            "synthesise",
            "train_encoder",
            "report",
        }
    kept = {path.relative_to(results / "state").parts[0] for path in (results / "state").rglob("*.*")}
    assert kept == {"embeddings"}, "state of finished jobs is removed, but for the embeddings that later scores share"


def test_no_log_of_a_sound_run_has_a_line_that_alarms(finished):
    """What libraries say without need is dropped in `scripts.cli`, each with its reason; no other line is spared."""
    assert alarming(finished.root / "results/own") == {}


def test_what_jobs_hand_on_and_what_lies_beside_tables_names_no_folder_of_results(finished):
    """So the files of two runs can be compared; the report is titled by its folder, and logs have the paths that jobs had."""
    results = finished.root / "results/own"
    folders = [str(folder).encode() for folder in (results.relative_to(finished.root), finished.root)]
    files = [path for path in results.rglob("*") if path.is_file() and path.name != "report.zip"]
    files = [path for path in files if path.relative_to(results).parts[0] != "logs"]
    assert len(files) > 100
    assert not [path for path in files if any(folder in path.read_bytes() for folder in folders)]


def test_a_second_run_does_nothing(finished):
    assert nothing_to_do(finished.snakemake())


def test_touching_every_file_runs_nothing(finished):
    for folder in ("scripts", "seedbed", "rules", "own"):
        for path in (finished.root / folder).rglob("*"):
            if path.is_file() and path.stat().st_size < 1_000_000:
                touch(path)
    assert nothing_to_do(finished.snakemake("--dry-run"))


def test_changed_code_can_be_kept_and_changed_settings_still_count(project):
    """Jobs that run meanwhile are recorded with the code that they ran, and the others with theirs."""
    config, target = (
        project.edit({"results": "results/kept"}, target="kept.yaml"),
        "results/kept/corpora/hau/anchors.tsv",
    )

    def plan(*asked, config=config):
        return planned(project.snakemake("--dry-run", target, *asked, config=config))

    keep = ("--config", "changed_code=keep")
    done = project.snakemake(target, config=config)
    assert done.returncode == 0, done.stderr[-3000:]
    file = project.root / "seedbed/io.py"
    text = file.read_text()
    try:
        file.write_text(text.replace("PART = 2**20", "PART = 2**19"))
        assert {"fetch_corpus", "sample_text", "select_anchors"} <= {*plan()}
        assert not plan(*keep), "finished jobs stand"
        fewer = project.edit({"results": "results/kept", "anchors/count": 20}, target="kept-fewer.yaml")
        assert {*plan(*keep, config=fewer)} == {"select_anchors"}
        done = project.snakemake(target, *keep, config=fewer)
        assert done.returncode == 0, done.stderr[-3000:]
        assert not plan(*keep, config=fewer)
        assert {"fetch_corpus", "sample_text"} <= {*plan(config=fewer)}, "they have the old code, and are known to"
    finally:
        file.write_text(text)
    assert {*plan(config=fewer)} == {"select_anchors"}, "it was made by the edited code"


def test_the_command_line_sets_numbers_in_lists_and_groups(project):
    """Its jobs read the same command line."""
    given = ("--config", "results=results/given", "seeds=[1,2]", "anchors={count: 20}")
    plan = planned(project.snakemake("--dry-run", *given))
    alone = planned(project.snakemake("--dry-run", given[0], given[1]))
    assert plan["train_encoder"] == 2 * alone["train_encoder"] - 1, "the encoder before training has no seed"
    anchors = "results/given/corpora/hau/anchors.tsv"
    done = project.snakemake(anchors, *given)
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(pd.read_csv(project.root / anchors, sep="\t")) == 20


def test_touching_files_of_megabytes_runs_nothing(project):
    lines = [f"{n}\t{' '.join(f'kalma{n * 7 + place}' for place in range(12))}" for n in range(12_000)]
    (project.root / "own/large.tsv").write_text("\n".join(["id\ttext", *lines]) + "\n")
    changes = {"results": "results/large", "corpora/text": {"file": "own/large.tsv"}, "anchors/language_id": False}
    config, target = project.edit(changes, target="large.yaml"), "results/large/corpora/hau/anchors.tsv"
    done = project.snakemake(target, config=config)
    assert done.returncode == 0, done.stderr[-3000:]
    corpus = project.root / "results/large/corpora/hau/text.tsv"
    assert corpus.stat().st_size > 1_000_000, "Snakemake's own limit"
    touch(corpus)
    assert nothing_to_do(project.snakemake("--dry-run", target, config=config))
    plan = project.program("status", "--configfiles", config, "--targets", target).stdout
    assert ", 0 running, 0 failed, 0 to do" in plan, "who plans without a profile sees the same"
    corpus.write_text(corpus.read_text().replace("kalma0 ", "kalma1 "))
    assert planned(project.snakemake("--dry-run", target, config=config)), "an edit runs what reads it"


def test_a_study_in_another_place_with_times_of_the_future_runs_nothing(finished, tmp_path):
    """Its folder was moved, its results lie behind a link, and nobody may write there."""
    moved, results = tmp_path / "moved", tmp_path / "results"
    texts = [path for name in ("own", "seedbed/resources", "study.yaml") for path in files_of(finished.root / name)]
    texts += (finished.root / "results/own/corpora").rglob("*.tsv")
    times = {path: path.stat().st_mtime_ns for path in texts}
    for path in times:
        os.utime(path, (2**31, 2**31))
    (finished.root / "results").rename(results)
    (finished.root / "results").symlink_to(results)
    finished.root.rename(moved)
    folders = [path for path in (results, *results.rglob("*")) if path.is_dir()]
    for path in folders:
        path.chmod(0o555)
    try:
        done = subprocess.run(
            finished.command("--dry-run"), cwd=moved, capture_output=True, text=True, env=finished.environment,
            preexec_fn=humble,
        )  # fmt: skip
    finally:
        for path in folders:
            path.chmod(0o755)
        moved.rename(finished.root)
        (finished.root / "results").unlink()
        results.rename(finished.root / "results")
        for path, moment in times.items():
            os.utime(path, ns=(moment, moment))
    assert done.returncode == 0 and nothing_to_do(done), done.stdout + done.stderr


def files_of(place):
    return [path for path in (place, *place.rglob("*")) if path.is_file()]


EDITS = {
    "seedbed/triplets/audit.py": (b"def ", b"EDITED = 1\n\n\ndef ", {"audit_triplets"}),
    "seedbed/resources/tables/table1.yaml": (b'title: "', b'title: "Another ', {"tabulate"}),
    "own/hau.sts.tsv": (b"\n3\t", b"\n999\t", {"fetch_corpus"}),
    "own/backbone/tokenizer_config.json": (b"{", b"{ ", {"fetch_model"}),
}
"""File -> what is replaced in it, by what, and the rules that must run for that alone."""


def test_an_edit_of_any_age_runs_what_it_must_and_reverting_it_nothing(finished):
    """As `mv`, `tar` or `rsync -a` leave it: older than every output. Which program an edit concerns: test_code.py."""
    before = {finished.root / file: (finished.root / file).read_bytes() for file in EDITS}
    try:
        for path, (old, new, _) in zip(before, EDITS.values(), strict=True):
            assert old in before[path]
            path.write_bytes(before[path].replace(old, new, 1))
            os.utime(path, (0, 0))
        jobs = planned(finished.snakemake("--dry-run"))
    finally:
        for path, content in before.items():
            path.write_bytes(content)
    assert set().union(*(rules for *_, rules in EDITS.values())) <= set(jobs)
    assert (jobs["fetch_corpus"], jobs["fetch_model"], jobs["tabulate"]) == (1, 1, 1)
    assert not {"train_task_adapter", "train_language_adapter", "compose_adapters"} & set(jobs)
    assert nothing_to_do(finished.snakemake("--dry-run"))


@pytest.mark.parametrize(
    ("file", "edit", "said"),
    [
        (
            "encoders/tiny-bert/xllora/hau/1/model.safetensors",
            "other",
            "not what ... put it back, or delete",
        ),
        ("encoders/tiny-bert/weights/model.safetensors", "gone", "gone ... put it back, or delete"),
        ("scores/tiny-bert/base/mul/0/own-sts/hau.json", "gone", "hau.all.json to have it made again"),
    ],
)
def test_results_that_were_changed_by_hand_are_told_before_anything_builds_on_them(finished, file, edit, said):
    path = finished.root / "results/own" / file
    before = path.read_bytes()
    path.unlink()
    if edit == "other":
        path.write_bytes(before[:-1] + b"?")
        os.utime(path, (0, 0))
    try:
        done = finished.snakemake("--dry-run")
    finally:
        path.write_bytes(before)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and file in line and tells(line, said), done.stderr
    assert nothing_to_do(finished.snakemake("--dry-run"))


@pytest.mark.parametrize(
    ("change", "runs", "spares"),
    [
        ({"training/learning_rate": 1.0e-4}, {"train_encoder"}, {"synthesise", "fetch_model"}),
        ({"statistics/resamples": 200}, {"tabulate"}, {"score"}),
        ({"audit/length_ratio": 999}, {"audit_triplets"}, {"synthesise"}),
        ({"generators/tiny/composition": {"scale": 0.5}}, {"compose_adapters", "synthesise"}, {"train_task_adapter"}),
        ({"seeds": [1, 2]}, {"train_encoder", "score"}, {"audit_triplets"}),
        ({"checkpoint_minutes": 1}, {"report"}, {*ALL_RULES} - {"report"}),
    ],
)  # fmt: skip
def test_a_setting_runs_what_depends_on_it(finished, change, runs, spares):
    changed = finished.edit(change, target="changed.yaml")
    jobs = planned(finished.snakemake("--dry-run", config=changed))
    assert runs <= set(jobs)
    assert not spares & set(jobs)


def test_a_local_corpus_that_changes_is_fetched_again(finished):
    path = finished.root / "own/hau.tsv"
    before = path.read_text()
    try:
        path.write_text(before + "60\tYara suna karatu a gida yau\n")
        jobs = planned(finished.snakemake("--dry-run"))
    finally:
        path.write_text(before)
    assert jobs["fetch_corpus"] == 1
    assert nothing_to_do(finished.snakemake("--dry-run"))


def test_adding_a_language_runs_only_its_jobs_and_the_tables(finished):
    results = finished.root / "results/own"
    plan = results / "tables/table1.plan.json"
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*.json") if path != plan}
    more = finished.edit({"languages": {"hau": {}, "swh": {}}}, target="more.yaml")
    done = finished.snakemake(config=more)
    assert done.returncode == 0, done.stderr[-4000:]
    after = {path: path.stat().st_mtime_ns for path in results.rglob("*.json")}
    assert not [path for path in before if after[path] != before[path]]
    started = re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, flags=re.M)
    shared = {"Plan table1", "Make table1", "Draw table1", "Write the report"}
    assert len(started) > 20 and all("swh" in job or job in shared for job in started)
    assert set(pd.read_csv(results / "tables/table1.csv")["language"]) >= {"hau", "swh"}


def test_a_fresh_run_gives_the_same_bytes(finished):
    again = finished.edit({"results": "results/again"}, target="again.yaml")
    done = finished.snakemake(config=again)
    assert done.returncode == 0, done.stderr[-4000:]
    first = finished.edit({}, target="study.yaml")
    finished.snakemake(config=first)
    for name in ("tables/table1.csv", "tables/table1.md", "figures/table1.svg", "figures/table1.png"):
        one, two = (finished.root / f"results/{run}" / name for run in ("own", "again"))
        assert one.read_bytes() == two.read_bytes(), name


def test_a_killed_job_leaves_no_output_and_the_next_run_goes_on(finished):
    victim = finished.root / "results/own/encoders/tiny-bert/xllora/hau"
    shutil.rmtree(victim)
    loss = finished.root / "seedbed/encoders/losses/contrastive.py"
    before = loss.read_bytes()
    try:
        loss.write_bytes(before + b"\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
        target = "results/own/encoders/tiny-bert/xllora/hau/1/seedbed.json"
        assert finished.snakemake(target, "--allowed-rules", "train_encoder").returncode != 0
        assert not (finished.root / target).exists()
    finally:
        loss.write_bytes(before)
    done = finished.snakemake("--rerun-incomplete")
    assert done.returncode == 0 and (finished.root / target).exists()


PAPER = {
    # 7 languages + English text; English NLI; 8 instruction sets; 14 + 14 for XL-LoRA; 6 SemRel sets and ko-ko, 7 of FLORES;
    # that no anchor be in them: 6 development sets, 4 of MIRACL, 3 of IndicQA, 7 of Belebele
    "fetch_corpus": (7 + 1) + 1 + (7 + 1) + 14 + 14 + 7 + 7 + 6 + 4 + 3 + 7,
    "sample_text": 7 + 1,
    "select_anchors": 7,
    "fetch_model": 1 + 2,
    "train_task_adapter": 2,
    "train_language_adapter": 7 + 1,
    "compose_adapters": 7 * 2,
    "build_xllora_examples": 1,
    "train_xllora_adapter": 2,
    # 275,000 anchors in shards of 50,000, three methods
    "synthesise": 6 * 7 * 3,
    "join_triplets": 7 * 3,
    "audit_triplets": 7 * 3,
    # two backbones: one base, 4 seeds of the crosslingual one, and 4 recipes x 7 languages x 4 seeds
    "train_encoder": 2 * (1 + 4 + 4 * 7 * 4),
    # two backbones, all seeds and all test sets of a language together: 6 recipes
    "score": 2 * 7 * 6,
    "plan_table": 1,
    "tabulate": 1,
}


def test_the_papers_scale_is_planned_as_computed_by_hand(project):
    done = project.snakemake("results/tables/table1.csv", "--dry-run", "--quiet", "rules", config="config.yaml")
    assert planned(done) == PAPER


TABLE_7 = {
    # XNLI's training pairs and Aya in two languages, XNLI's test set in Hindi
    "fetch_corpus": 2 + 2 + 1,
    "fetch_model": 2,
    # two task adapters each; of the encoder two languages, those of the generator being its own
    "train_classifier": 2 * 2 + 2,
    "train_language_adapter": 2,
    "compose_adapters": 2,
    "describe_classifier": 2 * 4,
    "score": 2 * 4,
    "plan_table": 1,
    "tabulate": 1,
}


def test_a_table_of_classifiers_is_planned_as_computed_by_hand(project):
    done = project.snakemake("-n", "-p", "results/tables/bootstrapping_table7.csv", config="config.yaml")
    assert planned(done) == TABLE_7
    text = done.stdout + done.stderr
    xlm, gemma = "results/classifiers/xlm-r-nli", "results/classifiers/gemma-3-1b-nli"
    languages = "results/generators/gemma-3-1b/language"
    assert f'"task": "{gemma}/task/eng", "target": "{languages}/hin", "source": "{languages}/eng"' in text
    assert f'"task": "{xlm}/task/eng", "target": "{xlm}/language/hin", "source": "{xlm}/language/eng"' in text
    assert f'"adapter": "{xlm}/composition/hin/eng", "head": "{xlm}/task/eng"' in text
    assert f'"adapter": "{gemma}/task/hin"' in text


def test_the_slurm_profile_plans_it_too(project):
    done = project.snakemake("-n", "--profile", "profiles/slurm", "results/tables/table1.csv", config="config.yaml")
    assert planned(done) == PAPER


def test_figure_5_of_paper_000_needs_triplets_and_no_encoder(project):
    targets = ("results/tables/bootstrapping_figure5.csv", "results/figures/bootstrapping_figure5.svg")
    jobs = planned(project.snakemake(*targets, "--dry-run", "--quiet", "rules", config="config.yaml"))
    corpora = jobs.pop("fetch_corpus")
    # Prompting and composition in seven languages; in English prompting and the task adapter's own, whose adapters are there.
    assert jobs == {
        "fetch_model": 1, "sample_text": 8, "select_anchors": 8, "train_task_adapter": 2, "train_language_adapter": 8, "compose_adapters": 14,
        "synthesise": 6 * 16, "join_triplets": 16, "audit_triplets": 16, "plan_table": 1, "tabulate": 1, "plot": 1,
    }  # fmt: skip
    assert 0 < corpora < PAPER["fetch_corpus"]


def test_a_language_is_one_entry_in_both_configurations(project):
    study = project.edit({"languages/swh": {}}, source="config/demo.yaml", target="demo-swh.yaml")
    jobs = planned(project.snakemake("results/demo/tables/table1.csv", "--dry-run", "--quiet", "rules", config=study))
    plain = planned(
        project.snakemake("results/demo/tables/table1.csv", "--dry-run", "--quiet", "rules", config="config/demo.yaml")
    )
    # text, pairs and two test sets; 2 composed adapters; 3 methods; 5 encoders; they are scored, and the base and the crosslingual one
    more = {"fetch_corpus": 4, "sample_text": 1, "select_anchors": 1, "train_language_adapter": 1, "compose_adapters": 2, "synthesise": 3,
            "join_triplets": 3, "audit_triplets": 3, "train_encoder": 5, "score": 7}  # fmt: skip
    assert {rule: jobs[rule] - plain[rule] for rule in jobs if jobs[rule] != plain[rule]} == more


def test_swahili_is_one_entry_at_the_papers_scale_too(project):
    study = project.edit({"languages/swh": {}}, source="config.yaml", target="paper-swh.yaml")
    jobs = planned(project.snakemake("results/tables/table1.csv", "--dry-run", "--quiet", "rules", config=study))
    # its text, its instructions and FLORES; the rest as any other language, with one test set
    assert jobs["fetch_corpus"] - PAPER["fetch_corpus"] == 3
    assert jobs["score"] - PAPER["score"] == 2 * 6
    assert jobs["synthesise"] - PAPER["synthesise"] == 6 * 3


@pytest.mark.parametrize(
    ("backend", "gpus"),
    [
        ({}, 1),
        ({"backend": "vllm", "tensor_parallel": 2}, 2),
        ({"backend": "transformers", "tensor_parallel": 2}, 1),
        ({"backend": "openai", "endpoint": "http://localhost:1", "served_model": "base"}, 0),
    ],
)
def test_jobs_that_write_ask_for_the_gpus_that_their_generator_uses(project, backend, gpus):
    changes = {"results": "results/gpus"} | {f"generators/tiny/{key}": value for key, value in backend.items()}
    study = project.edit(changes, target="gpus.yaml")
    plan = f"planned([Path({study!r})], {{}}, {{}}, ['results/gpus/triplets/tiny/xllora/hau.raw.tsv'])"
    code = "from pathlib import Path; from seedbed.operations.jobs import planned; print({job.rule: job.asks('gpu') for job in %s})"
    asked = ast.literal_eval(project.snippet(code % plan).splitlines()[-1])
    assert {asked["synthesise"], asked["build_xllora_examples"]} == {gpus} and asked["train_xllora_adapter"] == 1


GENERATOR = "generators/gemma-3-27b"


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        # one adapter for both polarities: one to train, one to compose for each of seven languages
        ({f"{GENERATOR}/task_adapters": "one"}, {"train_task_adapter": -1, "compose_adapters": -7}),
        # the task adapter alone: 7 languages and the pivot learn nothing, from 8 sets of instructions
        ({f"{GENERATOR}/composition": {"scale": 0}},
         {"train_language_adapter": -8, "compose_adapters": -14, "fetch_corpus": -8}),
        ({f"{GENERATOR}/language_data": "annotated"}, {}),
        # the corpora of all eight are there already
        ({f"{GENERATOR}/language_data": "passages"}, {"fetch_corpus": -8}),
        # 14 languages of machine translations in the place of 14 of human translations and 14 of parallel text
        ({f"{GENERATOR}/xllora/parts": ["machine"]}, {"fetch_corpus": -14}),
        ({f"{GENERATOR}/xllora/parts": ["human", "machine"]}, {}),
        # without text to write for and without composition no task adapter is of use
        ({f"{GENERATOR}/xllora/parts": ["human", "machine"], "recipes": dict.fromkeys(["base", "unsupervised", "crosslingual", "prompting", "xllora"])},
         {"train_task_adapter": -2, "train_language_adapter": -8, "compose_adapters": -14, "fetch_corpus": -8,
          "synthesise": -42, "join_triplets": -7, "audit_triplets": -7, "train_encoder": -56, "score": -14}),
    ],
)  # fmt: skip
def test_what_an_ablation_of_the_generator_adds_and_removes(project, change, difference):
    study = project.edit(change, source="config.yaml", target="ablation.yaml")
    done = project.snakemake("results/tables/table1.csv", "--dry-run", "--quiet", "rules", config=study)
    jobs = planned(done)
    found = {rule: jobs.get(rule, 0) - PAPER[rule] for rule in PAPER}
    assert {rule: count for rule, count in found.items() if count} == difference


def test_each_ablation_reads_its_own_files(project):
    folder = "results/generators/gemma-3-27b"

    def reads(output, **changes):
        changes = {f"{GENERATOR}/{key}": value for key, value in changes.items()}
        study = project.edit(changes, source="config.yaml", target="ablation.yaml")
        done = project.snakemake("--dry-run", "--printshellcmds", output, config=study)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
        return re.sub(r'[{}",]', "", done.stdout + done.stderr)

    shard = "results/triplets/gemma-3-27b/composition/hau.shards/0.tsv"
    one = reads(shard, task_adapters="one")
    composed = f"{folder}/composition/hau/both"
    assert f"adapters: positive: {composed} negative: {composed}" in one
    assert "polarity: both" in one
    task = f"{folder}/task"
    alone = reads(shard, composition={"scale": 0})
    assert f"adapters: positive: {task}/positive negative: {task}/negative" in alone
    annotated = reads(shard, language_data="annotated")
    assert "texts: results/corpora/hau/annotated.tsv kind: annotated" in annotated
    assert "CohereLabs/aya_dataset" in annotated and "top_up" not in annotated
    assert "texts: results/corpora/hau/text.tsv kind: passages" in reads(shard, language_data="passages")
    parts = {"languages": ["fra"], "parts": ["human", "machine"]}
    built = reads(f"{folder}/xllora/positive.tsv", xllora=parts)
    corpora = "results/corpora/fra"
    assert (
        "parallel: " not in built
        and f"nli: fra: {corpora}/nli_translations.tsv machine: fra: {corpora}/nli_machine.tsv" in built
    )


def recipes_and_generators(project, target, **changes):
    """A table spec of its own, and a study with more recipes and generators."""
    spec = {"title": "T", "caption": "C", "baseline": "xllora"}
    spec["columns"] = [{"label": "STS", "protocol": "sts", "metric": "spearman"}]
    named = {name: name for name in changes["recipes"]}
    spec["recipes"] = {"xllora": "whole", **named}
    (project.root / "resources/tables/variants.yaml").write_text(yaml.safe_dump(spec))
    study = {"results": "results/variants"} | {f"recipes/{name}": recipe for name, recipe in changes["recipes"].items()}
    study |= {f"generators/{name}": generator for name, generator in changes.get("generators", {}).items()}
    return project.edit(study, target=target)


def test_a_variant_shares_what_its_change_does_not_touch(project):
    """Ranks train adapters anew; a lambda composes again; fewer rows write nothing anew."""
    study = recipes_and_generators(
        project,
        "variants.yaml",
        generators={
            "rank4": {"like": "tiny", "lora": {"rank": 4}},
            "half": {"like": "tiny", "composition": {"scale": 0.5}},
        },
        recipes={
            "few": {"on_request": True, "like": "xllora", "data": {"rows": 16}},
            "ranked": {"on_request": True, "like": "composition", "data": {"by": "rank4"}},
            "halved": {"on_request": True, "like": "composition", "data": {"by": "half"}},
            "whole-composition": {"on_request": True, "like": "composition"},
        },
    )
    jobs = planned(
        project.snakemake("results/variants/tables/variants.csv", "--dry-run", "--quiet", "rules", config=study)
    )
    assert jobs["train_encoder"] == 5 and jobs["tabulate"] == 1
    # rank 8 and rank 4: two task and two language adapters each; lambda 1/2 and 1 compose the same ones
    assert (jobs["train_task_adapter"], jobs["train_language_adapter"]) == (4, 4)
    assert jobs["compose_adapters"] == 6 and jobs["train_xllora_adapter"] == 2
    assert jobs["fetch_model"] == 2  # one generator, one backbone
    assert jobs["synthesise"] == 2 * 4  # xllora once, three compositions, two shards each


LADDER = {
    "scratch": {
        "train_task_adapter": 2,
        "train_xllora_adapter": 2,
        "synthesise": 2,
        "train_encoder": 1,
        "fetch_model": 2,
    },
    "adapters": {"synthesise": 2, "train_encoder": 1, "fetch_model": 2 + 2},
    "triplets": {"train_encoder": 1, "audit_triplets": 1, "fetch_model": 1},
    "encoders": {"train_encoder": 1, "fetch_model": 1},
}
"""Jobs of one XL-LoRA encoder at each rung."""


@pytest.mark.parametrize("rung", LADDER)
def test_the_ladder_takes_up_published_work_at_each_rung(project, rung):
    study = project.edit(
        {
            "results": f"results/rung-{rung}",
            "start": rung,
            "generators/tiny/adapters": {"xllora": dict.fromkeys(["positive", "negative"], {"file": "own/generator"})},
            "generators/tiny/triplets": {"xllora": {"file": "own/nli.tsv"}},
            "recipes/xllora": {"published": {"tiny-bert": {"file": "own/backbone"}}},
        },
        target=f"{rung}.yaml",
    )
    seed = 0 if rung == "encoders" else 1
    target = f"results/rung-{rung}/encoders/tiny-bert/xllora/hau/{seed}/seedbed.json"
    jobs = planned(project.snakemake(target, "--dry-run", "--quiet", "rules", config=study))
    rules = {
        "train_task_adapter",
        "train_xllora_adapter",
        "synthesise",
        "audit_triplets",
        "train_encoder",
        "fetch_model",
    }
    assert {rule: jobs.get(rule, 0) for rule in rules} == {
        "audit_triplets": int(rung in ("scratch", "adapters")),
        **dict.fromkeys(rules - {"audit_triplets"}, 0),
        **LADDER[rung],
    }


@pytest.mark.parametrize("rung", ["triplets", "encoders"])
def test_published_work_on_local_files_gives_the_same_table(finished, rung):
    """What a finished study made, taken up as published, scores as it did."""
    root = finished.root
    shutil.copytree(root / "results/own/encoders/tiny-bert/weights", root / "own/published", dirs_exist_ok=True)
    study = finished.edit(
        {
            "results": f"results/{rung}", "start": rung, "languages": {"hau": {}},
            # Not what the tiny generator wrote: its salad would not pass for a corpus.
            "generators/tiny/triplets": {"xllora": {"file": "own/nli.tsv"}},
            "recipes": {"base": {}, "crosslingual": {}, "xllora": {"published": {"tiny-bert": {"file": "own/published"}}}},
        },
        target=f"{rung}.yaml",
    )  # fmt: skip
    done = finished.snakemake(f"results/{rung}/tables/table1.csv", config=study)
    assert done.returncode == 0, done.stderr[-4000:]
    ours, theirs = (
        pd.read_csv(root / f"results/{run}/tables/table1.csv").set_index(["recipe", "column", "language"])["value"]
        for run in (rung, "own")
    )
    assert (ours["base"] == theirs["base"]).all() and (ours["crosslingual"] == theirs["crosslingual"]).all()
    if rung == "triplets":
        assert (ours["xllora"] == ours["crosslingual"]).all(), "the same triplets by another way"


def test_the_default_configuration_is_the_papers(project):
    root = project.root
    assert "languages" in (root / "config.yaml").read_text()
    assert (root / "rules/common.smk").read_text().count("configfile:") == 1


def test_a_forecast_runs_before_anything_has_and_leaves_nothing_else(project):
    study = project.edit({"results": "results/forecast", "forecast": {"device": "cpu"}}, target="forecast.yaml")
    done = project.snakemake("forecast", config=study)
    assert done.returncode == 0, done.stderr[-3000:]
    results = project.root / "results/forecast"
    left = {str(path.relative_to(results)) for path in results.rglob("*") if path.is_file()}
    assert left == {
        *(".lock", "logs/events.jsonl", "logs/forecast/forecast.log", "benchmarks/forecast/forecast.jsonl"),
        *("forecast.tsv", "forecast.md"),
    }
    assert (results / "forecast.md").read_text() in done.stdout
    table = pd.read_csv(results / "forecast.tsv", sep="\t")
    jobs = planned(project.snakemake("--dry-run", config=study))
    assert table.groupby("rule")["jobs"].sum().to_dict() == {rule: n for rule, n in jobs.items() if rule != "all"}
    assert (table["gpu_hours"] == 0).all() and (table["cpu_hours"] > 0).all() and set(table["basis"]) == {"guessed"}


def test_a_forecast_is_made_anew_and_of_another_target_if_asked(project):
    study = project.edit({"results": "results/forecast", "forecast": {"device": "cpu"}}, target="forecast.yaml")
    target = "results/forecast/encoders/tiny-bert/unsupervised/hau/1/seedbed.json"
    for _ in range(2):
        done = project.snakemake("forecast", "--config", f"forecast={{targets: [{target}]}}", config=study)
        assert done.returncode == 0 and "train_encoder" in done.stdout and "score" not in done.stdout
    done = project.snakemake("forecast", "--config", "forecast={targets: [nowhere]}", config=study)
    log = (project.root / "results/forecast/logs/forecast/forecast.log").read_text()
    assert done.returncode != 0 and "error: forecast.targets: no plan for nowhere" in log and "Traceback" not in log


def test_an_endpoint_is_scored_like_any_encoder(project, monkeypatch):
    """Nothing is fetched or trained for it, each text is sent once, and patience in another measure sends none again."""
    monkeypatch.setitem(project.environment, "EMBEDDER_KEY", "sk-secret")
    with Embedder() as server:
        endpoint = {"url": server.url, "model": "big", "key": "EMBEDDER_KEY", "dimensions": DIMENSIONS}
        changes = {
            "results": "results/endpoint",
            "backbones": {"api": {"endpoint": endpoint, "prefix": "query: "}},
            "recipes": {"base": {}, "published": {}},
            "statistics/baseline": "base",
            "tasks": {"own-sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}}},
        }
        study = project.edit(changes, target="endpoint.yaml")
        scores = [f"results/endpoint/scores/api/{recipe}/mul" for recipe in ("base", "published")]
        targets = [f"{folder}/hau.all.json" for folder in scores]
        jobs = planned(project.snakemake("-n", *targets, config=study))
        assert jobs == {"fetch_corpus": 1, "train_encoder": 2, "score": 2}
        assert planned(project.snakemake("--cores", "1", *targets, config=study)) == jobs
        table = pd.read_csv(project.root / "own/hau.sts.tsv", sep="\t")
        one, other = (
            np.array([vector(f"query: {text}") for text in table[name]]) for name in ("sentence1", "sentence2")
        )
        cosines = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
        expected = spearmanr(cosines, table["score"]).statistic
        for folder in scores:
            score = json.loads((project.root / folder / "0/own-sts/hau.json").read_text())
            assert score["metrics"]["cosine_spearman"] == pytest.approx(expected)
            assert score["encoder"]["model"] == "big" and score["encoder"]["method"] == score["encoder"]["recipe"]
        assert len(server.texts) == len({*table["sentence1"], *table["sentence2"]}), "the second recipe asked nothing"
        assert set(server.tokens) == {"Bearer sk-secret"}
        slower = project.edit({"backbones/api/endpoint/timeout": 7}, source=study, target="slower.yaml")
        asked = len(server.bodies)
        assert nothing_to_do(project.snakemake(*targets, config=slower))
        assert planned(project.snakemake("--force", *targets, config=slower)) == {"score": 2}
        assert len(server.bodies) == asked
        forecast = project.snakemake("forecast", config=study)
        assert forecast.returncode == 0, forecast.stderr[-3000:]
    made = [path for path in (project.root / "results/endpoint").rglob("*") if path.is_file()]
    assert not [path for path in made if b"sk-secret" in path.read_bytes()]
