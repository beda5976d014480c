"""Whether a file of mined neighbours is of the backbone that learns from it."""

from __future__ import annotations

from pathlib import Path

from seedbed.encoders.settings import Mining
from seedbed.io import UserError, read_json, sha256


def audit_of(texts: Path) -> Path:
    """The audit that mining writes beside its neighbours."""
    return texts.with_suffix(".audit.json")


def require_mined(texts: Path, weights: Path, *, prefix: str, mining: Mining | None = None) -> None:
    """Refuse neighbours that another backbone, layer or prefix has found.

    A file of neighbours without an audit is somebody's own, and may have come about in any way.

    Args:
        texts: a table with mined neighbours.
        weights: the backbone as it was published.
        prefix: put before every text.
        mining: how the neighbours should have been mined, but for their number; None: in any way, and the file may be
            somebody's own.

    Raises:
        UserError: they were mined by something else; or an audit that is missing or broken.
    """
    audit = audit_of(texts)
    if mining is None and not audit.is_file():
        return
    made, again = read_json(audit), "mine them again, or give the file of this backbone"
    if not isinstance(made, dict) or not isinstance(made.get("mining"), dict):
        raise UserError(f"{audit}: not an audit of mine_neighbours, which writes it beside {texts.name}; {again}")
    if made.get("weights") != sha256(weights):
        raise UserError(f"{texts}: neighbours by other weights than {weights}; {again}")
    if made.get("prefix") != prefix:
        raise UserError(f"{texts}: neighbours with the prefix {made.get('prefix')!r}, not {prefix!r}; {again}")
    for name, value in (mining.model_dump(mode="json", exclude={"count"}) if mining else {}).items():
        if (found := made["mining"].get(name)) != value:
            raise UserError(f"{texts}: neighbours by mining.{name} {found!r}, not {value!r}; {again}")
