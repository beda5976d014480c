"""The cost of adding a language: encoders of that language alone, or retraining the encoders of all languages."""

from collections import defaultdict

from seedbed.markdown import aligned
from seedbed.operations.forecasting.calibration import Records
from seedbed.operations.forecasting.forecast import hours_of, range_of, size_of
from seedbed.operations.forecasting.sizes import ENCODERS
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import Job

MODULAR, SINGLE = "its own", "all anew"
OWN = ("train_vocabulary", "adapt_backbone")
"""Rules whose results belong to one language and are start points of its encoders."""
MADE = tuple(rule for rule in ENCODERS if rule not in OWN)
"""The other rules that make encoders."""
HEAD = ["backbone", "encoders", "recipes", "jobs", "GPU-hours", "CPU-hours", "disk"]


def one_more(plan: Plan, records: Records) -> str:
    """A Markdown section of the forecast: what one more language costs; empty if the study has no such encoders.

    The jobs of one language are its vocabulary, its masked language modelling and all encoders that are trained from
    these, averaged over the languages that have them. Retraining means the encoders that are trained on the data of all
    languages. Finished jobs are included; other costs of a language (its text, its tests) are left out.
    """
    groups: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in plan.jobs:
        if kind := kind_of(plan, job):
            groups[job.wildcards["backbone"], kind].append(job)
    rows = [[*names, *_cells(plan, jobs, names[1], records)] for names, jobs in sorted(groups.items())]
    return "\n".join(["", "## One language more", "", aligned(HEAD, rows, left=3), ""]) if rows else ""


def kind_of(plan: Plan, job: Job) -> str:
    """MODULAR or SINGLE; empty: a job that one more language does not need."""
    if job.rule == "train_encoder" and job.arguments.each:
        return SINGLE
    if job.rule in OWN:
        return MODULAR
    if job.rule == "embed_pivot":  # of a language's own texts, by the pivot's encoder
        maker = plan.maker(job.arguments.encoder)
        return MODULAR if maker and maker.language != job.language and kind_of(plan, maker) == MODULAR else ""
    maker = plan.maker(job.of("weights") or "") if job.rule in MADE else None
    return MODULAR if maker and kind_of(plan, maker) == MODULAR else ""


def _cells(plan: Plan, jobs: list[Job], kind: str, records: Records) -> list[object]:
    """Recipes, their jobs and the costs of these."""
    total, count = hours_of(plan, jobs, records), len({job.language for job in jobs}) if kind == MODULAR else 1
    each = {name: total[name] / count for name in total if "hours" in name or name in ("jobs", "disk_mb")}
    recipes = sorted({job.wildcards["recipe"] for job in jobs if job.rule in MADE})
    hours = [range_of(each, device) for device in ("gpu_hours", "cpu_hours")]
    return [", ".join(recipes), f"{each['jobs']:.3g}", *hours, size_of(each["disk_mb"])]
