"""Checks of a card before anything is sent: what the hub requires, whose own check needs the network, and that it
reveals nothing of this machine.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from huggingface_hub import ModelCard, RepoCard
from huggingface_hub.errors import HFValidationError
from huggingface_hub.repocard_data import eval_results_to_model_index, model_index_to_eval_results
from huggingface_hub.utils import validate_repo_id

from seedbed import licences
from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.urls import URL, has_secret, is_near

_LANGUAGE = re.compile(r"[a-z]{2,3}|multilingual")
_KEYS = ("base_model", "library_name", "pipeline_tag", "tags")
_PATH = re.compile(
    r"(?<![\w.:/~-])(?:~|/(?:home|Users|root|mnt|media|tmp|scratch|srv|lustre|gpfs))/|\bfile:/|[A-Za-z]:\\"
)


def require_card(path: Path) -> RepoCard:
    """Read a card, and check that the hub accepts it and that it has a licence.

    Raises:
        UserError: no card; no metadata that huggingface_hub reads; no licence, or one that the hub does not know; a
            language without an ISO 639 code; a base that is no repository's name; eval results that do not survive.
    """
    if not path.is_file():
        raise UserError(f"{path}: no card; make it again")
    try:
        card = ModelCard.load(path)
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: metadata that the hub would not read ({' '.join(str(error).split())})") from None
    data = card.data.to_dict()
    _require_licence(path, data)
    for name in _all(data.get("language")):
        if not (isinstance(name, str) and _LANGUAGE.fullmatch(name)):
            raise UserError(
                f"{path}: language {name!r} is no code of ISO 639; the hub takes those of two or three letters"
            )
    for name in _all(data.get("base_model")):
        require_repository(name, f"{path}: base_model")
    for key in _KEYS:
        if not all(isinstance(one, str) and one for one in _all(data.get(key))):
            raise UserError(f"{path}: {key} is {data[key]!r}; the hub takes words")
    _require_results(path, data, card)
    return card


def require_public(card: Path, places: Iterable[Path]) -> None:
    """Refuse a card that reveals paths, servers or secrets of this machine, or that names one of its folders `places`.

    Raises:
        UserError: a path of this machine; a URL with a password or a token, or with a host that others cannot reach.
    """
    text = card.read_text(encoding="utf-8")
    named = [re.escape(str(place.absolute())) for place in places if len(place.absolute().parts) > 1]
    paths = re.compile("|".join(rf"(?<![\w.:/-]){name}\b" for name in named) or r"(?!)")
    found = [one[0] for pattern in (paths, _PATH) for one in pattern.finditer(text)]
    urls = [urlsplit(one[0]) for one in URL.finditer(text)]
    found += [f"{url.scheme}://{url.hostname}" for url in urls if "@" in url.netloc or is_near(url.hostname or "")]
    found += [f"{url.scheme}://{url.hostname}{url.path}?..." for url in urls if has_secret(url.geturl())]
    if found:
        raise UserError(
            f"{card.name}: {found[0]!r} in it is of this machine or secret, so nothing goes out; take it out of the "
            "study (names, licences, summaries), or of the card"
        )


def require_repository(name: str, where: str) -> str:
    """Check and return the name of a repository on the hub, owner/name; messages begin with `where`.

    Raises:
        UserError: the hub allows no such name.
    """
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise UserError(f"{where}: {' '.join(str(error).split())}") from None
    if name.count("/") != 1:
        raise UserError(f"{where}: {name!r} names no owner; give owner/name")
    return name


def language_of(code: str) -> str:
    """A language's code on the hub: two letters where there are any, else ISO 639-3, without a script.

    The hub's codes of several languages are not used, except `multilingual` for `mul`.
    """
    plain = code.partition("-")[0]
    return registry().get(plain, {}).get("iso1") or plain


def _require_licence(path: Path, data: dict[str, Any]) -> None:
    licence = data.get("license")
    if not licence:
        raise UserError(
            f"{path}: no licence; state it where the source of its weights is (`licence:`), or give --licence"
        )
    if licence not in licences.identifiers():
        raise UserError(f"{path}: the hub has no licence {licence!r}; see seedbed/resources/licences.yaml")
    if licence == licences.OTHER and not (data.get("license_name") and data.get("license_link")):
        raise UserError(f"{path}: licence other without license_name and license_link; give both")


def _require_results(path: Path, data: dict[str, Any], card: RepoCard) -> None:
    """Whether huggingface_hub reads the same results from what it wrote."""
    results = getattr(card.data, "eval_results", None)
    if "model-index" not in data and not results:
        return
    if not results:
        raise UserError(f"{path}: model-index holds no results that huggingface_hub reads")
    _, again = model_index_to_eval_results(eval_results_to_model_index(card.data.model_name, results))
    if again != results:
        raise UserError(f"{path}: model-index reads otherwise than it was written")


def _all(value: Any) -> list[Any]:
    """A value of metadata that may be one or several."""
    return value if isinstance(value, list) else [value] if value is not None else []
