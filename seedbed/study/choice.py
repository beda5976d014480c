"""What must hold of the choice of the best encoders."""

from seedbed.evaluation.protocols import declared, which
from seedbed.settings import suggest
from seedbed.study.model import Study


def consistent(study: Study) -> None:
    """The tasks that choose and report are the study's, and have other texts.

    Raises:
        ValueError: the first fault.
    """
    if not (best := study.best):
        return
    for key, task in (("dev", best.dev), ("test", best.test)):
        if task and task not in study.tasks:
            raise ValueError(f"best.{key}: no task {task!r}; {suggest(task, sorted(study.tasks))}")
    if not declared(study.tasks[best.dev].protocol).chooses:
        fit = ", ".join(which(lambda protocol: protocol.chooses))
        raise ValueError(
            f"best.dev: {best.dev} is of protocol {study.tasks[best.dev].protocol}; one of {fit} can choose"
        )
    if best.test and study.test_set(best.test) == study.test_set(best.dev):
        raise ValueError(f"best.test: {best.test} has the texts of {best.dev}, which chooses; take another task")
    if best.test and not declared(study.tasks[best.test].protocol).of_encoders:
        raise ValueError(f"best.test: {best.test} scores no encoders; take another task")
