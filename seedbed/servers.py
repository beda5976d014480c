"""HTTP requests with JSON to model servers: retries while they are busy, one-line errors, and tokens that are never
printed.

Only servers that the study names may get requests, see `named`: a model's folder alone is not trusted.
"""

import contextlib
import json
import math
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from http.client import HTTPException, HTTPMessage, InvalidURL
from pathlib import Path
from typing import Any, TypeVar

from seedbed.io import UserError
from seedbed.settings import Settings

TRIES = 7
"""Number of tries; the last is after a minute of waiting in total."""
LONGEST = 300
"""Maximum seconds to wait, even if the server says to wait longer."""
TOLD = 400
"""Characters of a server's message in an error."""
LARGEST = 2**28
"""Maximum bytes of an answer: 2,000 embeddings of 4,096 numbers are 180 MB of JSON, and no request is larger."""
REFUSED = (400, 403, 413, 422)
"""Status codes for texts that are refused, for example as too long, and for wrong requests."""

T = TypeVar("T")
Given = TypeVar("Given", bound=Settings)
_NAMED: ContextVar[tuple[Settings, ...]] = ContextVar("named", default=())


@contextlib.contextmanager
def named(settings: Iterable[Settings]) -> Iterator[None]:
    """Context in which requests to the servers of these endpoints and generators are allowed: those of the study, or of
    a person who runs a program.
    """
    token = _NAMED.set(tuple(settings))
    try:
        yield
    finally:
        _NAMED.reset(token)


def today(described: Given, folder: Path) -> Given:
    """The current settings of an endpoint or generator that a folder describes, from `named`.

    Settings that change no result, such as the token's variable, may differ from those in the folder.

    Raises:
        UserError: it is on a server, and `named` has none with the same settings.
    """
    for one in _NAMED.get():
        if type(one) is type(described) and one.recorded() == described.recorded():
            return one
    kind = type(described).__name__.lower()
    if url := getattr(described, "url", "") or getattr(described, "endpoint", ""):
        raise UserError(
            f"{folder}: it asks a server, {url!r}, and nobody but this folder names that {kind}; "
            f"name it in the study, or give it by --{kind}s, if you trust it with texts and a token"
        )
    return described


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirection is an error: urllib would send the token along, to whatever host it names."""

    def redirect_request(self, *args: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_Stay)


class RefusedError(UserError):
    """A server refuses a request's content; it may accept another."""


def post(
    url: str,
    body: dict[str, Any],
    *,
    timeout: float,
    key: str = "",
    tries: int = TRIES,
    wait: float = 1.0,
    answered: Callable[[], float] = lambda: math.inf,
) -> Any:
    """Send a JSON body and return the server's JSON answer; after 429, 5xx or no answer it is sent again.

    Args:
        body: the JSON; its `model` appears in errors.
        timeout: seconds for one whole answer, from the first byte sent to the last received.
        key: name of the environment variable with the token; empty: none is sent.
        wait: seconds before the second try, doubled after each; more if the server's Retry-After says so.
        answered: when the server last answered any request, by `time.monotonic`. If that is more than `timeout` seconds
            ago, there are no further tries.

    Raises:
        RefusedError: the server refuses this body.
        UserError: the server refuses, stays busy, does not answer, or its answer is not JSON or too long.
    """
    token = os.environ.get(key, "").strip()
    if not (token.isascii() and token.isprintable()):
        raise UserError(f"{key}: no token, since an HTTP header cannot have its characters; expected one line of ASCII")
    headers = {"Content-Type": "application/json", "User-Agent": "seedbed"}  # some refuse urllib's own name
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    message = urllib.request.Request(url, json.dumps(body).encode(), headers)
    fault: type[UserError] = UserError
    begun, left = time.monotonic(), timeout
    for attempt in range(tries):
        pause, text = wait * 2**attempt, None
        try:
            error, text = _within(left, partial(_answer, message, left))
            if error is None:
                if len(text) > LARGEST:
                    reason = f"an answer of more than {LARGEST} bytes; lower batch_size, or ask whoever runs the server"
                    break
                found = json.loads(text)
                if not (said := found.get("error") if isinstance(found, dict) else None):
                    return found
                # OpenRouter answers so where the model fails after the server has taken the request.
                code = said.get("code") if isinstance(said, dict) else None
                reason = f"an error in its answer: {json.dumps(said, ensure_ascii=False)}"
            else:
                code, reason = error.code, _status_and_words(error, text.decode(errors="replace"), key, token)
                pause = max(pause, min(_retry_after(error.headers), LONGEST))
            if not isinstance(code, int) or (code not in (408, 429) and code < 500):
                fault = RefusedError if error is None or code in REFUSED else UserError
                break
        except (ValueError, RecursionError, InvalidURL) as failure:
            if text is None:
                reason = f"no valid URL ({failure})"
                break
            reason = f"no JSON, but: {text[: 10 * TOLD].decode(errors='replace')}"
        except (OSError, HTTPException) as failure:
            cause = getattr(failure, "reason", failure)
            reason = f"no answer: {cause!r}"
            if isinstance(cause, TimeoutError):
                reason = f"no answer in {timeout:g} s; raise `timeout` if its answers take longer"
        left = min(timeout, max(begun, answered()) + timeout - time.monotonic())
        if left <= 0 or attempt + 1 == tries:
            break
        time.sleep(pause)
        begun += pause  # a silent server is distinguished from one that says to wait
    # A server may send back what it was sent, and terminals obey control characters; cut when neither can be left.
    words = "".join(one if one.isprintable() else " " for one in reason).split()
    reason = " ".join(words).replace(token or "\0", "***")[:TOLD]
    raise fault(f"{url}: model {body['model']!r}: {reason}")


def _answer(message: urllib.request.Request, timeout: float) -> tuple[urllib.error.HTTPError | None, bytes]:
    """The body of an answer, at most LARGEST + 1 bytes; or an HTTP error and the start of its body."""
    try:
        with _OPENER.open(message, timeout=timeout) as answer:
            return None, answer.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        with contextlib.suppress(OSError, HTTPException):
            return error, error.read(10 * TOLD)
        return error, b""


def _within(seconds: float, call: Callable[[], T]) -> T:
    """What a call returns or raises, within `seconds` in all: a socket's own timeout is for each read.

    Raises:
        TimeoutError: the call has not ended by then; its thread is not stopped.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)


def _status_and_words(error: urllib.error.HTTPError, words: str, key: str, token: str) -> str:
    """The status of an error, and the server's words: not of a refused token, which they may hold in any spelling."""
    if error.code < 400 and (leads := error.headers.get("Location")):
        return f"{error.code} {error.reason}: it leads to {leads.partition('?')[0]}; give that address, if you trust it"
    if error.code not in (401, 403) or not key:
        return f"{error.code} {error.reason}: {words}"
    status = f"{error.code} {HTTPStatus(error.code).phrase}"
    return f"{status} (check the token in {key})" if token else f"{status} ({key} is not set): {words}"


def _retry_after(headers: HTTPMessage) -> float:
    """Seconds that the server wants to be left alone: Retry-After, a number or a date (RFC 9110, section 10.2.3)."""
    value = headers.get("Retry-After", "0")
    with contextlib.suppress(ValueError):
        return float(value)
    with contextlib.suppress(ValueError):
        return parsedate_to_datetime(value).timestamp() - time.time()
    return 0.0
