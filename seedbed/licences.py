"""Licences as the hub of Hugging Face takes them: what a source states becomes the metadata of a card."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from seedbed import yamls
from seedbed.io import UserError
from seedbed.resources import resource

UNSTATED = ("", "none stated", "not stated", "unknown")
"""What a source says that names no licence."""
OTHER = "other"
"""The hub's identifier of a licence that it has none for: a name and a link say which it is."""


class Licence(NamedTuple):
    """A licence in the words of the hub."""

    id: str
    """Identifier in the hub's list."""
    name: str = ""
    """With `other`: what it is called, in small letters and hyphens."""
    link: str = ""
    """With `other`: where it can be read."""

    @property
    def metadata(self) -> dict[str, str]:
        """The keys of a card's metadata."""
        named = {"license_name": self.name, "license_link": self.link} if self.id == OTHER else {}
        return {"license": self.id, **named}


@cache
def _resource() -> dict[str, Any]:
    return yamls.read(resource("licences.yaml"))


def identifiers() -> list[str]:
    """All identifiers that the hub takes, `other` among them."""
    return [*_resource()["hub"], OTHER]


def found(stated: str) -> Licence | None:
    """The hub's licence of what a source states; None: it states none, or one that neither the hub nor we know."""
    key = stated.strip().casefold()
    terms = _resource()["terms"].get(key)
    if terms is None:
        return Licence(key) if key in _resource()["hub"] else None
    return _other(terms) if terms["id"] == OTHER else Licence(terms["id"])


def is_stated(licence: Any) -> bool:
    """Whether a source names a licence at all, known to the hub or not."""
    return isinstance(licence, str) and licence.strip().casefold() not in UNSTATED


def reaching(stated: Iterable[str]) -> Licence | None:
    """The terms that bind a model that learnt from these: those of a generator whose outputs they cover, the first."""
    every = (_resource()["terms"].get(str(one).strip().casefold()) for one in stated)
    return next((_other(terms) for terms in every if terms and terms.get("outputs")), None)


def of_model(about: Mapping[str, Any]) -> Licence | None:
    """The licence of an encoder, by what its manifest says of it; None: it follows from nothing that is stated.

    That is the one that it names itself (`licence`); else the terms of a generator, where they reach what learnt from
    its outputs (records of `data`); else the backbone's.
    """
    if is_stated(about.get("licence")):
        return found(about["licence"])
    records = about.get("data") or []
    return reaching(record.get("licence") or "" for record in records) or found(about.get("backbone_licence") or "")


def chosen(id: str, name: str = "", link: str = "") -> Licence:
    """A licence that a person names.

    Raises:
        UserError: the hub has no such identifier; `other` without a name or without a link.
    """
    if id not in identifiers():
        hint = f"; it is called {known.id} there" if (known := found(id)) else ", with `other` give a name and a link"
        raise UserError(f"licence: the hub has no {id!r}{hint}")
    if id == OTHER and not (name and link):
        raise UserError("licence: other says nothing by itself; give a name and a link too")
    return Licence(id, name, link)


def _other(terms: Mapping[str, Any]) -> Licence:
    return Licence(OTHER, terms["name"], terms["link"])
