"""What of a URL is not told: secrets in its query (`?token=`, a signature), hosts that nobody else reaches."""

import ipaddress
import re
from urllib.parse import urlsplit

_SECRET = re.compile(
    r".*(?:token|signature|password|passwd|secret|credentials?|accesskeyid)|(?:.*[-_.])?(?:api)?(?:key|sig|auth|pwd)",
    re.IGNORECASE,
)
"""The whole name of such a part: also X-Amz-Signature, AWSAccessKeyId, api_key, apikey."""
_PAIR = re.compile(r"(?P<name>[^=&;?#]+)=(?P<value>[^&;#]*)")
HIDDEN = "***"
URL = re.compile(r"\b(?:https?|ftp)://[^\s)>\]}|\"'`]+", re.IGNORECASE)
"""A URL in a text."""
_NEAR = (".local", ".localdomain", ".internal", ".intranet", ".lan", ".home", ".corp", ".private")


def require_host(url: str) -> None:
    """A ValueError, unless a URL has a host and a port that there can be; that of a file has none."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host and parts.scheme != "file":
        raise ValueError("there is no host in it")
    try:
        host.encode("idna")
    except UnicodeError:
        raise ValueError(f"no host is called {host!r}: a part between dots has 1 to 63 characters") from None
    try:
        parts.port  # noqa: B018  it is read when it is asked for
    except ValueError:
        raise ValueError("a port is a number from 0 to 65535") from None


def has_secret(url: str) -> bool:
    """Whether a part of a URL's query, or of what follows #, has the name of a secret, and a value."""
    parts = urlsplit(url)
    pairs = _PAIR.finditer(f"{parts.query}&{parts.fragment}")
    return any(one["value"] not in ("", HIDDEN) and _SECRET.fullmatch(one["name"]) for one in pairs)


def without_secrets(url: str) -> str:
    """A URL as messages, records and the lock file have it: HIDDEN stands for each secret; the same address."""
    place, mark, query = url.partition("?")
    if not mark:
        place, mark, query = url.partition("#")
    hidden = _PAIR.sub(lambda one: f"{one['name']}={HIDDEN}" if _SECRET.fullmatch(one["name"]) else one[0], query)
    return f"{place}{mark}{hidden}"


def in_text(text: str) -> str:
    """A text, each of whose URLs is `without_secrets`."""
    return URL.sub(lambda one: without_secrets(one[0]), text)


def is_near(host: str) -> bool:
    """Whether a host is this machine or one of its own network, as far as its name or address tells; empty: it is."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host.rstrip(".") or host.rstrip(".").lower().endswith(_NEAR)
