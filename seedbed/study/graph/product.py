"""A product: the files that one job of a study makes.

A rule, its program and its product belong together: the product says which files the job reads, which arguments its
program gets, which code it runs, and how much memory its models need. This package does not depend on Snakemake, so
that a test can use a product directly.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from seedbed.names import MAIN
from seedbed.study.generator import StudyGenerator
from seedbed.study.model import Part, Study
from seedbed.study.paths import at
from seedbed.study.sizes import Load, Sizes

Files = str | list[str] | Mapping[str, str] | Mapping[str, list[str]]
"""A file, several, or several by a key."""
T = TypeVar("T")


class Code(NamedTuple):
    """Files that a product depends on in addition to its program and everything that the program imports."""

    data: tuple[Any, ...] = ()
    """Files that the program reads. Such a file may be an input too, of which Snakemake sees only edits that are newer
    than the output."""
    modules: tuple[str, ...] = ()
    """Files that the program imports by a computed name."""
    without: tuple[str, ...] = ()
    """Files that this job never runs, though its program could."""


@dataclass(frozen=True)
class Product(Part):
    """The files that one job makes. Its fields are the wildcards of its rule."""

    rule: ClassVar[str] = ""
    """The rule that makes it, and the program."""
    place: ClassVar[str] = ""
    """Path of the product, with wildcards; of several files, the first."""
    lists: ClassVar[bool] = False
    """Whether it is a list of files with their digests, as a manifest is one of its folder's."""

    def __init_subclass__(cls, rule: str = "", place: str = "") -> None:
        """Register the rule that makes products of this class, and their path."""
        super().__init_subclass__()
        cls.place = place or cls.place
        if rule:
            cls.rule = rule
            PRODUCTS[rule] = cls

    @classmethod
    @cache
    def wildcards(cls) -> tuple[str, ...]:
        """The wildcards of its rule, which are its fields but the study."""
        return tuple(one.name for one in fields(cls)[1:])

    @classmethod
    def of(cls, study: Study, wildcards: Any) -> Self:
        """The product of a job, by its wildcards."""
        named = ((name, getattr(wildcards, name)) for name in cls.wildcards())
        return cls.get(study, *(int(value) if name == "seed" else value for name, value in named))

    def at(self, path: str, **others: Any) -> str:
        """A path with its wildcards filled in by this product's fields, or by `others` where they are given."""
        return at(self.study, path, **({name: getattr(self, name) for name in self.wildcards()} | others))

    @property
    def path(self) -> str:
        """Path of the product."""
        return self.at(self.place)

    @property
    def writer(self) -> str:
        """The generator that its job runs; empty: none."""
        return ""

    @property
    def environment(self) -> str:
        """Which of the files in envs/ has what its program runs in."""
        return StudyGenerator.get(self.study, self.writer).environment if self.writer else MAIN

    def inputs(self) -> dict[str, Files]:
        """The files that its job reads, by the names of its program's arguments."""
        return {}

    def settings(self) -> dict[str, Any]:
        """The other arguments of its program; those that are named as a wildcard, an output or one of `jobs.OF_STUDY`
        need not be given.
        """
        return {}

    def code(self) -> Code:
        """The files that it depends on in addition to its program."""
        return Code()

    def local_files(self) -> list[Path] | None:
        """Files of a person that its job reads directly; None: no job of its rule reads any."""
        return None

    def load(self, sizes: Sizes) -> Load:
        """The models that its job loads, for its memory."""
        return Load()


PRODUCTS: dict[str, type[Product]] = {}
"""Rule -> the class of what it makes."""


def first_of_each(products: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """The first product with each value of a key, in their order."""
    first: dict[Hashable, T] = {}
    for one in products:
        first.setdefault(key(one), one)
    return [*first.values()]
