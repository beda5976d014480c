"""What one language more costs: whose jobs count, for how many languages, and where there is nothing to say."""

from __future__ import annotations

import re

from seedbed.operations.forecasting.calibration import Records
from seedbed.operations.forecasting.costs import CostSpec
from seedbed.operations.forecasting.languages import MODULAR, SINGLE, kind_of, one_more
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import Job
from tests.programs import told

COSTS = CostSpec.load("seedbed/resources/forecast.yaml")
NOTHING = Records([], 0, 0)


def job(rule: str, folder: str, options: str = "", **wildcards: str) -> Job:
    """A job on one GPU for each backbone."""
    return Job(
        rule,
        {"backbone": "b"} | wildcards,
        told(rule, options),
        (f"e/{folder}/seedbed.json",),
        resources={"gpu": 1},
        threads=2,
    )


def encoder(recipe: str, lang: str, options: str) -> Job:
    words = f"{options} --objective '{{\"ranking\": {{}}}}'"
    return job("train_encoder", f"{recipe}/{lang}/1", words, recipe=recipe, lang=lang)


LANGUAGES = ("eng", "kaz", "uzn")
OWN = [
    each
    for lang in LANGUAGES
    for each in (
        job("train_vocabulary", f"vocabulary/{lang}", "--texts none", lang=lang),
        job(
            "adapt_backbone",
            f"adapted/{lang}",
            f"--weights e/vocabulary/{lang} --masked '{{\"steps\": 100}}'",
            lang=lang,
        ),
        encoder("multi-m", lang, f"--weights e/adapted/{lang} --texts none"),
        encoder("multi-mc", lang, f"--weights e/multi-m/{lang}/1 --texts none"),
    )
]
PAIRS = job(
    "embed_pivot",
    "pivot/parallel/kaz",
    "--encoder e/multi-m/eng/1 --texts none --columns pivot",
    recipe="multi-m",
    lang="kaz",
)
ROWS = job(
    "embed_pivot",
    "pivot/rows/eng",
    "--encoder e/multi-m/eng/1 --texts none --columns anchor",
    recipe="multi-m",
    lang="eng",
)
ALL = [
    encoder("single-m", "mul", "--weights e/weights --each kaz=none uzn=none"),
    encoder("single-mc", "mul", "--weights e/single-m/mul/1 --each kaz=none uzn=none"),
]
OTHER = [encoder("unsupervised", "kaz", "--weights e/weights --texts none"), job("score", "scores/kaz", lang="kaz")]


def test_a_language_has_its_own_jobs_and_an_encoder_of_all_languages_is_made_anew() -> None:
    plan = Plan([*OWN, PAIRS, ROWS, *ALL, *OTHER], COSTS)
    assert {kind_of(plan, one) for one in [*OWN, PAIRS]} == {MODULAR}
    assert {kind_of(plan, one) for one in ALL} == {SINGLE}
    assert {kind_of(plan, one) for one in [ROWS, *OTHER]} == {""}, "vectors of the pivot's rows serve all languages"


def test_the_cost_is_a_languages_own_in_the_mean_and_all_of_what_is_made_anew() -> None:
    plan = Plan([*OWN, *ALL, *OTHER], COSTS)
    lines = one_more(plan, NOTHING).splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| b ")]
    assert [row[:4] for row in rows] == [
        ["b", SINGLE, "single-m, single-mc", "2"],
        ["b", MODULAR, "multi-m, multi-mc", "4"],
    ]

    def hours(jobs: list[Job]) -> float:
        return sum(plan.start(one) + plan.work(one).seconds for one in jobs) / 3600

    for row, expected in zip(rows, (hours(ALL), hours(OWN[:4])), strict=True):
        assert float(re.match(r"[\d.]+", row[4])[0]) == round(expected, 2 if expected < 1 else 1)


def test_a_study_without_such_encoders_says_nothing() -> None:
    assert one_more(Plan(OTHER, COSTS), NOTHING) == ""
