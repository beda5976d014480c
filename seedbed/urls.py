"""Secrets in the query of a URL (`?token=`, a signature): what tells them, and the URL without them."""

import re
from urllib.parse import urlsplit

_SECRET = re.compile(
    r".*(?:token|signature|password|passwd|secret|credentials?|accesskeyid)|(?:.*[-_.])?(?:api)?(?:key|sig|auth|pwd)",
    re.IGNORECASE,
)
"""The whole name of such a part: also X-Amz-Signature, AWSAccessKeyId, api_key, apikey."""
_PAIR = re.compile(r"(?P<name>[^=&;?#]+)=(?P<value>[^&;#]*)")
HIDDEN = "***"


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
