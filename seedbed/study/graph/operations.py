"""What looks at a study from outside is made of."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seedbed.manifests import MANIFEST
from seedbed.operations.verify import Reference
from seedbed.resources import spec_file
from seedbed.study import paths
from seedbed.study.model import Study
from seedbed.study.paths import at


def reference(study: Study, configuration: Sequence[str]) -> str:
    """The file of a study's reference, by the name of the first file of its configuration."""
    return os.path.relpath(spec_file("reference", Path([*configuration, "config.yaml"][0]).stem))


def verified(study: Study, wildcards: Any, configuration: Sequence[str]) -> list[str]:
    """The tables that the reference has numbers of; raises as `Reference.load`."""
    return [at(study, paths.TABLE, table=name) for name in Reference.load(reference(study, configuration)).numbers]


def best(study: Study, wildcards: Any, configuration: Sequence[str]) -> list[str]:
    """The manifests of the best encoders that the reference names; raises as `Reference.load`."""
    return [f"{folder}/{MANIFEST}" for folder in Reference.load(reference(study, configuration)).best]
