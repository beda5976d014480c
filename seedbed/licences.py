"""Licences in the hub's terms: from what a source states to the metadata of a card."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from seedbed import yamls
from seedbed.io import UserError
from seedbed.resources import resource

UNSTATED = ("", "none stated", "not stated", "unknown")
"""Values of a source's licence that name none."""
NON_COMMERCIAL = ("-nc", "research only")
"""Parts, in small letters, of the names of licences that exclude commercial use."""
BACKBONE = "backbone"
"""Role of a record of `data` for a model whose weights an encoder contains in addition to its backbone's."""
MODELS = ("generator", "translator", "judge")
"""Roles of records of models whose outputs an encoder was trained on, so that their terms may apply to it."""
OTHER = "other"
"""The hub's identifier for licences that it does not know; a name and a link identify them."""


_NAME, _LINK = re.compile(r"[a-z0-9][a-z0-9._-]*"), re.compile(r"https?://\S+|LICENSE(\.\w+)?")
"""What the hub accepts as name and link of a licence that it does not know."""


class Licence(NamedTuple):
    """A licence in the hub's terms."""

    id: str
    """Identifier in the hub's list."""
    name: str = ""
    """With id `other`: its name, in small letters and hyphens."""
    link: str = ""
    """With id `other`: URL of its text."""

    @property
    def metadata(self) -> dict[str, str]:
        """The keys of a card's metadata."""
        named = {"license_name": self.name, "license_link": self.link} if self.id == OTHER else {}
        return {"license": self.id, **named}


@cache
def _resource() -> dict[str, Any]:
    return yamls.read(resource("licences.yaml"))


def identifiers() -> list[str]:
    """All identifiers of the hub, with `other`."""
    return [*_resource()["hub"], OTHER]


def found(stated: str) -> Licence | None:
    """The hub's licence for what a source states; None: it states none, or an unknown one."""
    key = stated.strip().casefold()
    terms = _resource()["terms"].get(key)
    if terms is None:
        return Licence(key) if key in _resource()["hub"] else None
    return _other(terms) if terms["id"] == OTHER else Licence(terms["id"])


def is_stated(licence: Any) -> bool:
    """Whether a source names a licence, known or not, and each of its sets does."""
    return isinstance(licence, str) and all(one.casefold() not in UNSTATED for one in _each(licence))


def _each(licence: str) -> list[str]:
    """The licences of a source's sets, which a record has in one text, see `Source.terms`."""
    return [one.strip() for one in licence.split(";")]


def reaching(stated: Iterable[str]) -> list[Licence]:
    """The terms of generators that apply to models trained on their outputs, without repetitions."""
    every = (_resource()["terms"].get(str(one).strip().casefold()) for one in stated)
    return [*dict.fromkeys(_other(terms) for terms in every if terms and terms.get("outputs"))]


def of_model(about: Mapping[str, Any]) -> Licence | None:
    """The licence of an encoder, from its manifest's facts; None: it cannot be determined, or several apply.

    It is the encoder's own `licence` if stated; else the terms of generators that apply to models trained on their
    outputs (from the records of `data`), or None if the terms of one are unknown; else the licence of the models whose
    weights it contains.
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
    """Records of models whose outputs an encoder was trained on and whose terms are not stated or not known."""
    models = (record for record in about.get("data") or [] if record.get("role") in MODELS)
    return [record for record in models if not found(record.get("licence") or "")]


def stated_in(about: Mapping[str, Any]) -> list[str]:
    """The licences that the records of `data` in a manifest's facts state; empty where they state none."""
    return [one for record in about.get("data") or [] for one in _each(record.get("licence") or "")]


def of_weights(about: Mapping[str, Any]) -> list[str]:
    """The stated licences of the models whose weights an encoder contains: its backbone, and the English side of two
    paths.
    """
    others = (record.get("licence") or "" for record in about.get("data") or [] if record.get("role") == BACKBONE)
    return [about.get("backbone_licence") or "", *others]


def chosen(id: str, name: str = "", link: str = "") -> Licence:
    """Make a licence from a user's choice.

    Args:
        id: identifier in the hub's list.
        name: with `other`, its name.
        link: with `other`, URL of its text.

    Raises:
        UserError: an unknown identifier; `other` without a valid name and link; or a name or link with another
            identifier.
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
