"""From a configuration to a study that is checked as a whole."""

import textwrap
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from seedbed import tracking
from seedbed.io import UserError
from seedbed.settings import explain
from seedbed.study import adapters, checks, choice, pairs, starts, supplies, translators
from seedbed.study.model import Study

LONGEST = 1000
"""Characters of an error at most: a name in it may be a page long."""


def load(config: Mapping[str, Any], *, where: str = "config") -> Study:
    """Check a configuration as Snakemake merged it.

    Raises:
        UserError: the first fault in one line.
    """
    try:
        study = Study.model_validate(dict(config))
        checks.consistent(study)
        starts.consistent(study)
        pairs.consistent(study)
        translators.consistent(study)
        adapters.consistent(study)
        choice.consistent(study)
        supplies.with_sources(study)
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
