"""Origins: where texts, data sets and models come from, as JSON in records, manifests and cards.

An origin is a list of places: one, or one for each set of a source. The places' fields decide what may be published; no
text is parsed.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePath, PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from seedbed.io import UserError
from seedbed.urls import is_near

Origin = Sequence[dict[str, str]]
"""Places as JSON."""


class Place(BaseModel):
    """One place."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["hub", "file", "archive", "package", "server"]
    name: str
    """The repository, the path, the URL without its secrets, the wheels, or a server's name of its model."""
    revision: str = ""
    """Commit or branch of a hub repository."""
    endpoint: str = ""
    """URL of the server."""
    set: str = ""
    """Which of several sets of a source."""

    def __str__(self) -> str:
        parts = (f"{self.set}: ", f"{self.kind} {self.name}", f" @ {self.revision}", f" at {self.endpoint}")
        there = (self.set, True, self.revision, self.endpoint)
        return "".join(part for part, said in zip(parts, there, strict=True) if said)


_PLACES = TypeAdapter(list[Place])


def one(**fields: str) -> list[dict[str, str]]:
    """An origin of one place."""
    return [Place(**fields).model_dump(exclude_defaults=True)]


def read(origin: Any) -> list[Place]:
    """Parse an origin.

    Raises:
        UserError: it is not a list of places.
    """
    try:
        return _PLACES.validate_python(origin)
    except ValidationError:
        raise UserError(f"origin: {origin!r} is no list of places, as a record has it; make the record again") from None


def in_words(origin: Any) -> str:
    """An origin in words, with paths of this machine.

    Raises:
        UserError: it is not a list of places.
    """
    return "; ".join(map(str, read(origin)))


def hubs(origin: Any) -> list[str]:
    """The hub repositories among the places of an origin.

    Raises:
        UserError: it is not a list of places.
    """
    return [place.name for place in read(origin) if place.kind == "hub"]


def joined(several: Iterable[Origin]) -> list[dict[str, str]]:
    """The places of several origins, without repetitions."""
    return once(place for origin in several for place in origin)


def once(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records without repetitions, in their order."""
    found: list[dict[str, Any]] = []
    for record in records:
        if record not in found:
            found.append(record)
    return found


def public(origin: Any) -> list[dict[str, str]]:
    """An origin for publication: local files by name only, URLs without queries, servers without addresses.

    Raises:
        UserError: it is not a list of places.
    """
    return [_public(place).model_dump(exclude_defaults=True) for place in read(origin)]


def hub(origin: Any) -> Place | None:
    """The hub repository that an origin consists of; None: it has several places or another type.

    Raises:
        UserError: it is not a list of places.
    """
    places = read(origin)
    return places[0] if [place.kind for place in places] == ["hub"] and not places[0].set else None


def _public(place: Place) -> Place:
    if place.kind == "archive":
        return place.model_copy(update={"name": _public_url(place.name)})
    is_path = place.kind == "file" or place.name.startswith(("/", "~", "."))
    return place.model_copy(update={"endpoint": "", "name": PurePath(place.name).name if is_path else place.name})


def _public_url(text: str) -> str:
    url = urlsplit(text)
    if is_near(url.hostname or ""):
        return PurePosixPath(unquote(url.path)).name
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"
