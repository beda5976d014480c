"""A digest of the code that a program runs: the definitions that it can reach, its data, and versions of libraries.

A rule has this digest as a parameter, so that Snakemake re-runs a job if the code that it runs changes, or the version
of a library; a comment, a docstring, a checkout or code that the program never reaches re-runs nothing. Nothing is
imported to compute it.
"""

import importlib.metadata
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

from seedbed.io import fingerprint, sha256
from seedbed.names import MAIN
from seedbed.resources import ROOT
from seedbed.study.reachable import PACKAGES, Reached, reached

DISTRIBUTIONS = {
    "PIL": "pillow",
    "faiss": "faiss-cpu",
    "fasttext": "fasttext-wheel",
    "markdown_it": "markdown-it-py",
    "pytrec_eval": "pytrec-eval-terrier",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
    "yaml": "pyyaml",
}
"""Import name -> name in the package index, where that is another one."""
BUILDS = {"faiss-cpu": "faiss-gpu"}
"""Name in the package index -> that of the same library's build for GPUs: where it is installed, nothing re-runs."""
BENEATH = {
    *("accelerate", "numpy", "safetensors", "scikit-learn", "scipy", "sentence-transformers", "tokenizers", "torch"),
    "transformers",
}
"""Libraries that others compute with: they count where a program imports a library that is built on them."""
NO_RESULT = {"filelock", "huggingface_hub", "psutil", "pydantic", "pydantic_core", "threadpoolctl", "tqdm"}
"""Imports that move files, check settings, count memory, show progress: no other version of them changes a result."""


def value(
    program: str,
    data: Iterable[str] = (),
    modules: Iterable[str] = (),
    without: Iterable[str] = (),
    environment: str = MAIN,
) -> str:
    """The digest of a program's code as one line: a hash, then Python and the libraries with their versions.

    Args:
        program: a file such as `scripts/plot.py`.
        data: files that it reads; their names do not count.
        modules: files that it imports by a computed name, which its code does not show, or definitions (`FILE:NAME`).
        without: files that this job never runs, although its program could.
        environment: what this job runs in, one of envs/; of another than MAIN, versions are those of its lock.

    Files of code are named relative to the project's folder, wherever the study is run. The name of a study's custom
    file does not count, since such a file may be anywhere.
    """
    found = reached((program, *sorted(modules)), frozenset(without))
    digest = fingerprint([sorted(found.digests.values()), [sha256(file) for file in data]])
    locked = {} if environment == MAIN else _locked(environment)
    versions = [f"{name} {locked.get(name) or _version(name)}" for name in libraries(found)]
    return " ".join([digest[:16], f"python {sys.version_info.major}.{sys.version_info.minor}", *versions])


def libraries(found: Reached) -> list[str]:
    """Names in the package index of the libraries that the code imports, and of those of BENEATH that they require."""
    names, todo = set(), imported(found.external)
    while todo:
        if (name := todo.pop()) not in names:
            names.add(name)
            todo.extend(BENEATH.intersection(_requirements(name)))
    return sorted(names)


def imported(modules: Iterable[str]) -> list[str]:
    """The packages that modules import, without Python's standard library and those that change no result."""
    tops = {module.partition(".")[0] for module in modules} - {*PACKAGES, *sys.stdlib_module_names, *NO_RESULT}
    return sorted(_normal(DISTRIBUTIONS.get(top, top)) for top in tops)


@cache
def _requirements(name: str) -> tuple[str, ...]:
    """What a library says that it needs, those of its extras too: transformers trains with one of them."""
    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(_normal(re.match(r"[\w.-]+", line)[0]) for line in lines)


@cache
def _version(name: str) -> str:
    """Its version in the environment that plans, from which a library of another may be absent."""
    for build in filter(None, (name, BUILDS.get(name))):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(build)
    return "absent"


@cache
def _locked(environment: str) -> dict[str, str]:
    """Library -> its version in an environment that a lock makes."""
    lock = (ROOT / f"envs/{environment}.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", lock, flags=re.MULTILINE))


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")
