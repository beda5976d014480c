"""URLs without secrets: tokens and signatures in queries, and hosts that are not public."""

import ipaddress
import re
from urllib.parse import urlsplit

_SECRET = re.compile(
    r".*(?:token|signature|password|passwd|secret|credentials?|accesskeyid)|(?:.*[-_.])?(?:api)?(?:key|sig|auth|pwd)",
    re.IGNORECASE,
)
"""Full name of such a query parameter: also X-Amz-Signature, AWSAccessKeyId, api_key, apikey."""
_PAIR = re.compile(r"(?P<name>[^=&;?#]+)=(?P<value>[^&;#]*)")
HIDDEN = "***"
URL = re.compile(r"\b(?:https?|ftp)://[^\s)>\]}|\"'`]+", re.IGNORECASE)
"""A URL in a text."""
_NEAR = (".local", ".localdomain", ".internal", ".intranet", ".lan", ".home", ".corp", ".private")


def require_host(url: str) -> None:
    """Check that a URL has a valid host and port; file URLs need none.

    Raises:
        ValueError: it has not.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host and parts.scheme != "file":
        raise ValueError("there is no host in it")
    try:
        host.encode("idna")
    except UnicodeError:
        raise ValueError(f"no host is called {host!r}: a part between dots has 1 to 63 characters") from None
    try:
        parts.port  # noqa: B018  the property parses the port
    except ValueError:
        raise ValueError("a port is a number from 0 to 65535") from None


def has_secret(url: str) -> bool:
    """Whether a parameter in a URL's query or fragment has the name of a secret, and a value."""
    parts = urlsplit(url)
    pairs = _PAIR.finditer(f"{parts.query}&{parts.fragment}")
    return any(one["value"] not in ("", HIDDEN) and _SECRET.fullmatch(one["name"]) for one in pairs)


def without_secrets(url: str) -> str:
    """A URL for messages, records and the lock file: HIDDEN replaces each secret."""
    place, mark, query = url.partition("?")
    if not mark:
        place, mark, query = url.partition("#")
    hidden = _PAIR.sub(lambda one: f"{one['name']}={HIDDEN}" if _SECRET.fullmatch(one["name"]) else one[0], query)
    return f"{place}{mark}{hidden}"


def in_text(text: str) -> str:
    """A text with all its URLs `without_secrets`."""
    return URL.sub(lambda one: without_secrets(one[0]), text)


def is_near(host: str) -> bool:
    """Whether a host is this machine or in a local network, judged by its name or address; True for an empty name."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host.rstrip(".") or host.rstrip(".").lower().endswith(_NEAR)
