"""Licences as the hub of Hugging Face takes them: what a source states becomes the metadata of a card."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from seedbed import yamls
from seedbed.io import UserError
from seedbed.resources import resource

UNSTATED = ("", "none stated", "not stated", "unknown")
"""What a source says that names no licence."""
BACKBONE = "backbone"
"""The role of a record of `data` that is no data, but a model whose weights an encoder has beside its backbone's."""
MODELS = ("generator", "translator", "judge")
"""The roles of records of models whose outputs an encoder learnt from, so that their terms may bind it."""
OTHER = "other"
"""The hub's identifier of a licence that it has none for: a name and a link say which it is."""


_NAME, _LINK = re.compile(r"[a-z0-9][a-z0-9._-]*"), re.compile(r"https?://\S+|LICENSE(\.\w+)?")
"""What the hub takes as the name and the link of a licence that it has none for."""


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


def reaching(stated: Iterable[str]) -> list[Licence]:
    """The terms that bind a model that learnt from these, each once: those of generators whose outputs they cover."""
    every = (_resource()["terms"].get(str(one).strip().casefold()) for one in stated)
    return [*dict.fromkeys(_other(terms) for terms in every if terms and terms.get("outputs"))]


def of_model(about: Mapping[str, Any]) -> Licence | None:
    """The licence of an encoder, by what its manifest says of it; None: it follows from nothing that is stated, or not
    one but several bind it.

    That is the one that it names itself (`licence`); else the terms of a generator, where they reach what learnt from
    its outputs (records of `data`), and none where nobody knows what they ask; else that of the models whose weights it
    has.
    """
    if is_stated(about.get("licence")):
        return found(about["licence"])
    if unknown(about):
        return None
    if terms := reaching(stated_in(about)):
        return terms[0] if len(terms) == 1 else None
    every = [found(one) for one in of_weights(about)]
    strict = [one for one in dict.fromkeys(every) if one and one.id not in _resource()["permissive"]]
    return None if None in every or len(strict) > 1 else [*strict, every[0]][0]


def unknown(about: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Records of the models whose outputs an encoder learnt from, under terms that are not stated or not understood."""
    models = (record for record in about.get("data") or [] if record.get("role") in MODELS)
    return [record for record in models if not found(record.get("licence") or "")]


def stated_in(about: Mapping[str, Any]) -> list[str]:
    """What the records of `data` of an encoder's manifest state; empty words where they state nothing."""
    return [record.get("licence") or "" for record in about.get("data") or []]


def of_weights(about: Mapping[str, Any]) -> list[str]:
    """What is stated of the models whose weights an encoder has: its backbone, and of two paths the other side."""
    others = (record.get("licence") or "" for record in about.get("data") or [] if record.get("role") == BACKBONE)
    return [about.get("backbone_licence") or "", *others]


def chosen(id: str, name: str = "", link: str = "") -> Licence:
    """A licence that a person names.

    Raises:
        UserError: the hub has no such identifier; `other` without a name or without a link, or with what is none; a
            name or a link of a licence that the hub knows.
    """
    if id != OTHER and (name or link):
        raise UserError("licence: a name and a link go with the identifier `other`; give it, or leave them out")
    if id not in identifiers():
        hint = f"; it is called {known.id} there" if (known := found(id)) else ", with `other` give a name and a link"
        raise UserError(f"licence: the hub has no {id!r}{hint}")
    if id == OTHER and not (name and link):
        raise UserError("licence: other says nothing by itself; give a name and a link too")
    if id == OTHER and not (_NAME.fullmatch(name) and _LINK.fullmatch(link)):
        raise UserError(
            f"licence: {name!r} at {link!r}; expected a name of small letters, digits and hyphens, and a link that "
            "begins with https:// or is LICENSE"
        )
    return Licence(id, name, link)


def _other(terms: Mapping[str, Any]) -> Licence:
    return Licence(OTHER, terms["name"], terms["link"])
