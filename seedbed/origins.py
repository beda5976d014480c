"""Where texts, data sets and models come from, as records, manifests and cards hold it.

An origin is a list of places, as JSON: one, or one for each set of a source of several. What may be said of a place is
decided by its fields; no text is read back.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePath, PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from seedbed.io import UserError
from seedbed.urls import is_near

Origin = Sequence[dict[str, str]]
"""Places, as JSON has them."""


class Place(BaseModel):
    """One place."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["hub", "file", "archive", "package", "server"]
    name: str
    """The repository, the path, the URL without its secrets, the wheels, or what the server calls its model."""
    revision: str = ""
    """Commit or branch of a repository of the hub."""
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
    """The places of an origin; a UserError if it is none, as where somebody else wrote it."""
    try:
        return _PLACES.validate_python(origin)
    except ValidationError:
        raise UserError(f"origin: {origin!r} is no list of places, as a record has it; make the record again") from None


def told(origin: Any) -> str:
    """An origin in words, for people who work here; raises as `read`."""
    return "; ".join(map(str, read(origin)))


def hubs(origin: Any) -> list[str]:
    """The repositories of the hub among the places of an origin; raises as `read`."""
    return [place.name for place in read(origin) if place.kind == "hub"]


def joined(several: Iterable[Origin]) -> list[dict[str, str]]:
    """The places of several origins, each once."""
    return once(place for origin in several for place in origin)


def once(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records, or places, each once, in their order."""
    found: list[dict[str, Any]] = []
    for record in records:
        if record not in found:
            found.append(record)
    return found


def public(origin: Any) -> list[dict[str, str]]:
    """What others may know: of files here their names alone, of URLs no query, of servers no address.

    Raises as `read`.
    """
    return [_public(place).model_dump(exclude_defaults=True) for place in read(origin)]


def hub(origin: Any) -> Place | None:
    """The one repository of the hub that an origin is; None: several places, or elsewhere. Raises as `read`."""
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
