"""Checks of the choice of the best encoders (`best:`)."""

from itertools import product

from seedbed.evaluation.protocols import main_metric, which
from seedbed.settings import require_known
from seedbed.study.graph.best_encoder import BestEncoder
from seedbed.study.leakage import SEPARATE, share_rows
from seedbed.study.model import Study


def of_best(study: Study) -> None:
    """Check that the tasks that choose and report the best encoders exist, and that their test sets share no texts."""
    if not (best := study.best):
        return
    require_known("best.recipe", "recipe", best.recipe, study.recipes)
    named = [(key, task) for key in ("dev", "test") if (task := getattr(best, key))]
    named += [(key, task) for key in ("mean_with", "also") for task in getattr(best, key)]
    for key, task in named:
        _measures(study, key, task)
    each = [BestEncoder.get(study, code) for code in study.languages]
    if not any(one.recommended if best.recipe else one.candidates for one in each):
        key, what = ("recipe", f"encoder of {best.recipe}") if best.recipe else ("dev", "encoder")
        raise ValueError(
            f"best.{key}: no {what} to choose in any language; give a backbone that has weights, and a recipe that "
            "makes encoders of it, both without `on_request`, or leave `best` out"
        )
    if best.dev:
        shown = [(key, task) for key, task in named if key in ("test", "also")]
        _apart(study, shown, each)


def _measures(study: Study, key: str, task: str) -> None:
    """The task under a key of `best` says which encoder is the better, in some language of the study."""
    require_known(f"best.{key}", "task", [task], study.tasks)
    protocol = study.tasks[task].protocol
    if not study.declared[task].chooses:
        fit = ", ".join(which(lambda one: one.chooses))
        raise ValueError(
            f"best.{key}: {task} is of protocol {protocol}, which says of no encoder that it is the better; "
            f"take one of {fit}"
        )
    try:
        main_metric(protocol, study.tasks[task].k)
    except ValueError as error:
        raise ValueError(f"tasks.{task}.{error}; best.{key} needs one of these") from None
    if not study.tested_by(task):
        raise ValueError(
            f"best.{key}: {task} has no set in any language of the study; give `tasks.{task}.source`, take another "
            "task, or leave `best` out"
        )


def _apart(study: Study, shown: list[tuple[str, str]], each: list[BestEncoder]) -> None:
    """No task that reports the best encoders, (key of `best`, task), has texts of one that chooses them."""
    best = study.best
    for dev, (key, task) in product((best.dev, *best.mean_with), shown):
        if study.test_set(task) == study.test_set(dev):
            raise ValueError(f"best.{key}: {task} has the texts of {dev}, which chooses; take another task")
    for chosen in each:
        tests = filter(None, (chosen.reported_on, *chosen.shown_on))
        for task, dev in product(tests, chosen.chosen_on):
            if share_rows(study.test(dev, chosen.lang), study.test(task, chosen.lang)):
                raise ValueError(
                    f"best: in {chosen.lang}, {task} has rows of {dev}, which chooses; take another task, or {SEPARATE}"
                )
