"""From a configuration to a study that is checked as a whole."""

import re
import textwrap
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from seedbed import tracking
from seedbed.io import UserError
from seedbed.settings import explain
from seedbed.study.checks import CHECKS
from seedbed.study.model import Study
from seedbed.yamls import laid_over, typed

CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f]")
LONGEST = 1000
"""Characters of an error at most: a name in it may be a page long."""


def load(config: Mapping[str, Any], *, where: str = "config") -> Study:
    """Check a configuration as Snakemake merged it.

    Raises:
        UserError: the first fault.
    """
    try:
        _require_printable(config, where)
        study = Study.model_validate(dict(config))
        for check in CHECKS:
            check(study)
        tracking.require(study.report_to)
    except ValidationError as error:
        fault = explain(error, Study, where=where)
    except UserError as error:
        fault = str(error)
    except ValueError as error:  # of two settings or more, at no single place
        fault = f"{where}: {error}"
    else:
        return study
    raise UserError(textwrap.shorten(fault, LONGEST, placeholder=" ..."))


def load_with(config: Mapping[str, Any], given: Mapping[str, Any]) -> Study:
    """Check a configuration as Snakemake merged it with that of a command line.

    Snakemake leaves numbers in lists and groups of `--config` as texts. They count as numbers where texts are refused.

    Raises:
        UserError: the first fault.
    """
    try:
        return load(config)
    except UserError:
        numbers = laid_over(dict(config), typed(given))
        if numbers == config:
            raise
    return load(numbers)


def _require_printable(value: Any, where: str) -> None:
    """Require that texts have no control characters other than line breaks and tabs.

    Raises:
        UserError: a control character, in a key or a value.
    """
    if isinstance(value, str) and (found := CONTROL.search(value)):
        raise UserError(f"{where}: control character {found[0]!r}; remove it")
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        _require_printable(key, where)
        _require_printable(one, f"{where}.{key}")
