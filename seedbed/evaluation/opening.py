"""An encoder's directory becomes what scores need of it, be it one encoder or several that are fused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from sentence_transformers import SentenceTransformer

from seedbed import manifests
from seedbed.encoders.backbone import open_encoder
from seedbed.encoders.fusion import members_of
from seedbed.evaluation.embeddings import batched, folder_of, is_remote, shared
from seedbed.evaluation.fusion import search_by, side_by_side
from seedbed.evaluation.scores import Encode, Search


class Opened(NamedTuple):
    """What scores ask of an encoder."""

    encode: Encode
    """Several: their embeddings side by side."""
    width: int
    """Dimensions of an embedding."""
    search: Search | None
    """Several: by their fused distances; of one None, it is searched by the task's."""
    encoder: SentenceTransformer | None
    """None: there are several."""
    about: dict[str, Any]
    """How it was made."""


def opened(folder: Path, rows: int, state: Path | None = None) -> Opened:
    """Open an encoder, or those of a fusion, each with its own store of embeddings.

    Args:
        rows: texts that are encoded together at most.
        state: where the stores lie; None: nothing is kept.

    Raises:
        UserError: as `open_encoder`, `members_of` and `manifests.read`.
    """
    manifest = manifests.read(folder / manifests.MANIFEST)
    if members := members_of(folder, manifest):
        each = [opened(member.directory, rows, state) for member in members]
        widths = [one.width for one in each]
        search = search_by(widths, [member.weight for member in members])
        return Opened(side_by_side([one.encode for one in each]), sum(widths), search, None, manifest["about"])
    encoder = open_encoder(folder, servers=True)  # of a recipe of this study, not somebody else's
    encode = batched(encoder, rows)
    if state:
        encode = shared(encode, folder_of(state, manifest), remote=is_remote(encoder))
    return Opened(encode, int(encoder.get_embedding_dimension()), None, encoder, manifest["about"])
