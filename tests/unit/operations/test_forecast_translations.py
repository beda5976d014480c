"""The forecast of encoders that learn from translations, read them, or choose among them: arithmetic by hand."""

import json

import pytest

from seedbed.gpu_memory import guessed
from seedbed.operations.forecasting.work import Plan
from tests.unit.operations.test_forecast import COSTS, GENERATOR, job, model, table

XLMR, BERT = "FacebookAI/xlm-roberta-base", "BAAI/bge-large-en-v1.5"
BODY, ENGLISH = 86e6, 303e6
SPEED = 312e12 * 0.2
PAIR = {"backbone": "both", "recipe": "arca", "lang": "mul"}
SIDES = "--weights results/encoders/x/weights --refer english=results/encoders/e/weights"


def planned(*jobs):
    """A plan of jobs and of both encoders' weights."""
    return Plan([model("x", "encoders", XLMR), model("e", "encoders", BERT), *jobs], COSTS)


def arca(folder, training):
    """The job of a policy with two translators, in two languages of 40 and 30 texts."""
    sets = [
        {name: str(table(folder / f"{name}-{lang}.tsv", rows)) for name in "ab"}
        for lang, rows in (("hau", 40), ("swh", 30))
    ]
    objective = json.dumps({"anchoring": {"hidden": 64, "pool_size": 4}})
    told = f"{SIDES} --objective '{objective}' --translations '{json.dumps(sets)}' --judgements j.tsv"
    return job("train_encoder", f"{told} --training '{json.dumps(training)}'", wildcards=PAIR)


def test_frozen_sides_are_read_once_and_a_step_is_that_of_two_maps(tmp_path):
    one = arca(tmp_path, {"part": "head", "steps": 50, "batch_size": 8, "max_length": 16})
    plan, texts, candidates, seen = planned(one), 70, 140, 50 * 8
    assert plan.work(one).tokens == (texts + candidates) * 16
    maps = 64 * (guessed(BODY, BODY).width + guessed(ENGLISH, ENGLISH).width)
    flops = 2 * BODY * texts * 16 + 2 * ENGLISH * candidates * 16 + 6 * maps * 4 * seen
    assert plan.work(one).seconds == pytest.approx(flops / SPEED)


def test_a_side_that_learns_reads_the_texts_of_its_steps_forwards_and_back(tmp_path):
    one = arca(tmp_path, {"part": "all", "steps": 50, "batch_size": 8, "max_length": 16})
    plan, seen = planned(one), 50 * 8
    maps = 64 * (guessed(BODY, BODY).width + guessed(ENGLISH, ENGLISH).width)
    flops = 6 * BODY * seen * 16 + 2 * ENGLISH * 140 * 16 + 6 * maps * 4 * seen
    assert plan.work(one).seconds == pytest.approx(flops / SPEED)
    assert plan.work(one).tokens == (seen + 140) * 16


@pytest.mark.parametrize(
    ("fusion", "part", "own", "english"),
    [
        ("concat", "head", 2, 2), ("prefix", "head", 2, 4), ("concat", "adapter", 2, 4), ("concat", "all", 6, 6),
        ("english", "all", 0, 6),
    ],
)  # fmt: skip
def test_two_paths_read_both_sides_of_each_row(tmp_path, fusion, part, own, english):
    each = " ".join(f"{lang}={table(tmp_path / f'{lang}.tsv', rows)}" for lang, rows in (("hau", 40), ("swh", 30)))
    training = json.dumps({"part": part, "epochs": 3, "max_length": 16})
    told = f"{SIDES} --objective '{{\"correlation\": {{}}}}' --fusion {fusion} --english h.tsv s.tsv --each {each}"
    one = job("train_encoder", f"{told} --training '{training}'", wildcards=PAIR)
    plan, tokens = planned(one), 2 * 70 * 3 * 16
    assert plan.work(one).seconds == pytest.approx((own * BODY + english * ENGLISH) * tokens / SPEED)
    assert plan.work(one).disk == 4 * (335e6 + (278e6 if fusion != "english" else 0)) + 20e6


def test_two_paths_read_as_many_rows_as_their_steps_take(tmp_path):
    texts, training = table(tmp_path / "hau.tsv", 400), json.dumps({"steps": 10, "batch_size": 8, "max_length": 16})
    told = f"{SIDES} --objective '{{\"correlation\": {{}}}}' --fusion concat --english h.tsv --texts {texts}"
    one = job("train_encoder", f"{told} --training '{training}'", wildcards=PAIR)
    assert planned(one).work(one).tokens == 2 * 2 * 10 * 8 * 16


@pytest.mark.parametrize(("fusion", "sides"), [("concat", BODY + ENGLISH), ("english", ENGLISH), ("", BODY)])
def test_a_score_reads_what_its_encoder_reads(tmp_path, fusion, sides):
    test = table(tmp_path / "test.tsv", 50)
    how = f"--fusion {fusion} --objective '{{\"contrast\": {{}}}}'" if fusion else ""
    made = job("train_encoder", f"{SIDES} {how}", ["both/1/seedbed.json"], PAIR)
    english = "--english 1=c.tsv" if fusion else ""
    one = job("score", f"--systems both/1 {english} --tests {test}", wildcards=PAIR | {"test_lang": "hau"})
    work = planned(made, one).work(one)
    assert work.seconds == pytest.approx(2 * sides * 2 * 50 * 25 / SPEED)


@pytest.mark.parametrize(("asked", "read"), [("--actor a/1", 40), ("--similarity x/base/1", 40 * 3), ("", 0)])
def test_a_choice_reads_texts_for_features_and_all_for_vectors(tmp_path, asked, read):
    files = " ".join(f"{name}={table(tmp_path / f'{name}.tsv', 40)}" for name in "ab")
    weights, place = "--weights results/encoders/x/weights", {"backbone": "x", "recipe": "base", "lang": "mul"}
    base = job("train_encoder", weights, ["x/base/1/seedbed.json"], place)
    side = job("train_encoder", SIDES, ["a/1/seedbed.json"], PAIR)
    one = job("choose_translations", f"--translations {files} {asked}", ["c.tsv"], PAIR | {"corpus": "own"})
    plan = planned(base, side, one)
    assert plan.work(one).seconds == pytest.approx(2 * BODY * read * 25 / SPEED)
    assert plan.rows("c.tsv") == 40 and plan.work(one).disk == 40 * COSTS.rules["choose_translations"].row_bytes


def test_texts_are_as_long_as_their_set_says(tmp_path):
    texts = table(tmp_path / "pairs.tsv", 40)
    asked = f"--texts {texts} --columns text=hau --pivot eng --base results/generators/g/weights --reads prompt"
    generator = GENERATOR.replace('"max_new_tokens": 10', '"max_new_tokens": 1000')
    sets = {corpus: job("translate", f"{asked} --generator '{generator}'", wildcards={"translator": "t", "corpus": corpus})
            for corpus in ("own", "sts22", "queries", "queries_train")}  # fmt: skip
    plan = Plan([model(), *sets.values()], COSTS)
    assert {name: plan.work(one).tokens / 40 - 60 for name, one in sets.items()} == {
        "own": 2 * 25, "sts22": 2 * 250, "queries": 2 * 100, "queries_train": 2 * 100,
    }  # fmt: skip


@pytest.mark.parametrize(("protocol", "drawn"), [("math", 200), ("multiple_choice", 0)])
def test_a_model_that_reasons_works_problems_out_and_only_reads_options(tmp_path, protocol, drawn):
    problems = table(tmp_path / "problems.tsv", 30)
    system = {"kind": "reasoning", "generator": json.loads(GENERATOR), "reasoning": {}, "variant": "source"}
    place = {"classifier": "c", "variant": "source", "lang": "mul"}
    made = f"--system '{json.dumps(system)}' --parts base=results/generators/g/weights"
    described = job("describe_classifier", made, ["c/0/seedbed.json"], place)
    tasks = json.dumps({"own": {"protocol": protocol}})
    one = job("score", f"--systems c/0 --tests {problems} --tasks '{tasks}'", wildcards={"backbone": "c"})
    plan = Plan([model(), described, one], COSTS)
    assert plan.work(one).tokens == 30 * (60 + 200 + drawn)
    assert plan.work(one).seconds == pytest.approx(2 * 27.4e9 * 30 * (60 + 200 + 2 * drawn) / (312e12 * 0.2))
