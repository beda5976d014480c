"""Encoders and fusions of several: vectors, or neighbours by fused distances; for a language pair one encoder each."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from seedbed import manifests
from seedbed.encoders.models.digests import pivot_digest, vectors_digest
from seedbed.encoders.models.inference import Opened, opened
from seedbed.encoders.translations.files import ChosenEnglish
from seedbed.evaluation.mteb_check import check_by_mteb
from seedbed.evaluation.protocols import declared, load
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import remembering
from seedbed.evaluation.systems import Opening
from seedbed.io import UserError
from seedbed.names import languages_of

LIBRARIES = ("torch", "transformers", "sentence-transformers", "scipy", "mteb")


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Open the encoder and encode all texts of the sets at once; for a language pair, open both encoders.

    Raises:
        UserError: it cannot be opened; the encoders of a pair were not aligned to one pivot or to each other; a test
            set has texts in two languages, is not a pair's, and the encoder's prompt depends on the language; or a
            protocol edits texts, and the encoder needs their translations.
    """
    if opening.second:
        return _of_two(folder, opening.second, opening)
    found = _opened(folder, opening, opening.language)
    if found.per_language:
        opening.require_one_language()
    if found.english:
        _require_given_texts(opening)
    encode = remembering(found.encode, opening.texts)
    check = partial(check_by_mteb, found.encoder, encode)
    about = {"encoder": found.about | _facts(manifest)} | _adapters(opening)
    choices = partial(_chosen_for, opening.choices) if opening.choices else None
    own = {"search": found.search, "layers": found.layers, "paths": found.paths}
    return System(encode, choices=choices, check=check, about=about, **own)


def _chosen_for(choices: Mapping[str, ChosenEnglish], texts: Sequence[str]) -> list[ChosenEnglish]:
    if lacking := [text for text in texts if text not in choices]:
        raise UserError(f"score: nothing was chosen for {lacking[0][:60]!r}; give the choices of all texts")
    return [choices[text] for text in texts]


def _opened(folder: Path, opening: Opening, language: str) -> Opened:
    options = {"adapters": opening.adapters, "language": language, "english": _english(opening)}
    return opened(folder, opening.rows, opening.state, **options)


def _english(opening: Opening) -> dict[str, str]:
    """Text -> its English; that of a text which a protocol puts together is the English of its parts."""
    found = dict(opening.english)
    for each in opening.sets if found else ():
        composed = getattr(load(each.task.protocol), "composed", lambda test: {})
        for text, parts in composed(each.test).items():
            if all(part in found for part in parts):
                found.setdefault(text, " ".join(found[part] for part in parts))
    return found


def _require_given_texts(opening: Opening) -> None:
    """Refuse protocols that edit texts: the edited texts have no English translations."""
    for each in opening.sets:
        if declared(each.task.protocol).edits:
            raise UserError(
                f"score: protocol {each.task.protocol} of {each.name} edits texts, and the English of what it makes is "
                "nowhere; score an encoder that reads a text alone"
            )


def _adapters(opening: Opening) -> dict[str, str]:
    return {} if opening.adapters else {"adapters": "off"}


def _facts(manifest: dict[str, Any]) -> dict[str, Any]:
    """Facts of an encoder for score files: the digest of its vectors, and the number of training rows if known."""
    rows = manifests.trained_rows(manifest)
    return {"digest": vectors_digest(manifest)} | ({} if rows is None else {"rows": rows})


def _of_two(folder: Path, second: Path, opening: Opening) -> System:
    """The encoders of two languages, maybe one for both; what scores say of them has their digests."""
    _require_one_space(folder, second)
    one, two = languages_of(opening.language)
    first = _opened(folder, opening, one)
    other = first if folder == second and not first.per_language else _opened(second, opening, two)
    sides = {"encoder": (first, folder), "second": (other, second)}
    about = {name: side.about | _facts(manifests.of(path)) for name, (side, path) in sides.items()}
    return System(first.encode, other.encode, about=about | _adapters(opening))


def _require_one_space(folder: Path, second: Path) -> None:
    """Refuse encoders of a pair that are aligned to different pivots; an encoder not aligned is its own pivot."""
    if folder == second:
        return
    every = [manifests.of(each) for each in (folder, second)]
    pivots = [pivot_digest(one) or vectors_digest(one) for one in every]
    if any(map(pivot_digest, every)) and pivots[0] != pivots[1]:
        found = " and ".join(f"{each} by {pivot[:12]}" for each, pivot in zip((folder, second), pivots, strict=True))
        raise UserError(f"score: aligned to two pivots, {found}; align the encoders of both languages to one")
