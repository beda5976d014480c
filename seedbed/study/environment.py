"""The environment of jobs of this process: programs, the library, specs, and the tracker of trainings."""

import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

from seedbed import tracking
from seedbed.io import UserError
from seedbed.resources import FOLDER, ROOT, resource, specs
from seedbed.study.model import Study
from seedbed.study.reachable import PACKAGES
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.published import Published
from seedbed.tables.specs import TableSpec


def require_own_packages() -> None:
    """Check that jobs will find this project's packages.

    Raises:
        UserError: the folder has a package of the name of one of them.
    """
    for package in PACKAGES:
        if Path(package, "__init__.py").is_file() and not ROOT.samefile("."):
            here = Path(package).resolve()
            raise UserError(f"{here}: jobs would take this package for Seedbed's; run in another folder")


def require_own_specs() -> None:
    """Read every custom spec of a table or figure of the study, and the numbers of papers that they name.

    Raises:
        UserError: the first that is wrong.
    """
    for file in _own("tables"):
        Published(TableSpec.load(file).paper, resource("paper"))
    for file in _own("figures"):
        FigureSpec.load(file)


def _own(kind: str) -> list[Path]:
    """The files of the study's own specs of a kind."""
    return [file for _, file in sorted(specs(kind).items()) if not file.is_relative_to(FOLDER)]


def prepare(study: Study, environment: MutableMapping[str, str]) -> None:
    """Set the environment of jobs: this environment's `python` is the first on PATH, before conda's.

    The project's folder is importable in jobs and here, where a plan reads the arguments of programs. The folder in
    which a study runs is not: a `numpy.py` there is no library.
    """
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    others = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    environment |= {
        "PATH": _first(str(Path(sys.executable).parent), *os.get_exec_path()),
        "PYTHONPATH": _first(str(ROOT), *others),
        "PYTHONSAFEPATH": "1",
        tracking.ASKED: study.report_to,
    }


def _first(folder: str, *others: str) -> str:
    """A search path that begins with a folder."""
    return os.pathsep.join(dict.fromkeys([folder, *others]))
