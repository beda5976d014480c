"""What a card must not reveal of this machine: paths of files, servers, and secrets in URLs."""

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from seedbed.io import UserError
from seedbed.urls import URL, has_secret, is_near

_PATH = re.compile(
    r"(?<![\w.:/~-])(?:~|/(?:home|Users|root|mnt|media|tmp|scratch|srv|lustre|gpfs))/|\bfile:/|[A-Za-z]:\\"
)


def require_public(card: Path, places: Iterable[Path]) -> None:
    """Refuse a card that reveals paths, servers or secrets of this machine.

    Args:
        places: folders of this machine, which the card must not name.

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
