"""A server that is silent, drips, or lets others answer for it: how long it is waited for, by the clock."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from seedbed.io import UserError
from seedbed.servers import post

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"found": 1}'
SILENT = b""


def status(code: int) -> bytes:
    return f"HTTP/1.1 {code} Why\r\nContent-Length: 4\r\nRetry-After: 0\r\n\r\n".encode() + b"why!"


@contextlib.contextmanager
def serving(answers: Callable[[int], tuple[float, bytes]]) -> Iterator[tuple[str, list[float]]]:
    """A server that gives the n-th answer, each of its bytes after so many seconds; its URL, and when it was asked."""
    asked, over = [], threading.Event()

    def one(connection: socket.socket, number: int) -> None:
        pause, data = answers(number)
        with contextlib.suppress(OSError), connection:
            while (part := connection.recv(65536)) and not part.endswith(b"}"):
                pass  # to close with a part unread would reset the connection
            for byte in data if pause else ():
                if over.wait(pause):
                    return
                connection.sendall(bytes([byte]))
            connection.sendall(b"" if pause else data)
            if not data:
                over.wait()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)

        def listen() -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    connection, _ = listener.accept()
                    asked.append(time.monotonic())
                    threading.Thread(target=one, args=(connection, len(asked) - 1), daemon=True).start()

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", asked
        finally:
            over.set()
            thread.join()


def waited(url: str, **options: float | int | Callable[[], float]) -> tuple[float, str]:
    """Seconds until a fault is told, and its words."""
    begun = time.monotonic()
    with pytest.raises(UserError) as caught:
        post(url, {"model": "m"}, **{"wait": 0.001, **options})
    return time.monotonic() - begun, str(caught.value)


@pytest.mark.parametrize("answer", [ANSWER, b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + b" " * 10000])
def test_the_limit_is_for_a_whole_answer_and_not_for_a_byte(answer: bytes) -> None:
    with serving(lambda number: (0.1, answer)) as (url, _):
        seconds, told = waited(url, timeout=0.5, tries=1)
    assert 0.5 <= seconds < 2 and "no answer in 0.5 s; raise `timeout`" in told


def test_an_answer_that_comes_whole_in_time_may_come_in_pieces() -> None:
    with serving(lambda number: (0.001, ANSWER)) as (url, _):
        assert post(url, {"model": "m"}, timeout=5) == {"found": 1}


@pytest.mark.parametrize(
    "url", ["http://a..b/v1", "http://127.0.0.1:9/é/v1", f"http://{'a' * 70}.org/v1", "http://:x/v1"]
)
def test_a_url_that_cannot_be_asked_is_one_line_with_the_url(url: str) -> None:
    seconds, told = waited(url, timeout=5, wait=1)
    assert told.startswith(f"{url}: ") and "\n" not in told and seconds < 1


def reply(words: bytes, status: str = "200 OK", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{more}Content-Length: {len(words)}\r\n\r\n".encode() + words


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (reply(b"[" * 200_000), "no JSON, but: [[["),
        (reply(b"\x1f\x8b\x08\x1b[31mred\x07"), "no JSON, but: \ufffd [31mred"),
        (
            reply(b"", "308 Permanent Redirect", "Location: https://x.org/v1?key=abc\r\n"),
            "leads to https://x.org/v1; give",
        ),
    ],
)
def test_an_answer_that_is_none_is_one_line_of_words(answer: bytes, message: str) -> None:
    with serving(lambda number: (0, answer)) as (url, _):
        _, told = waited(url, timeout=5, tries=2)
    assert message in told and told.isprintable()


def never() -> float:
    return -float("inf")


def slow(seconds: float, code: int) -> Callable[[int], tuple[float, bytes]]:
    """As a proxy answers in the place of a server that hangs."""
    data = status(code)
    return lambda number: (seconds / len(data), data)


@pytest.mark.parametrize("answers", [lambda number: (0, SILENT), slow(0.3, 504), slow(0.2, 502)])
def test_a_server_that_answers_nobody_is_given_up_when_the_limit_is_over(answers: Callable) -> None:
    with serving(answers) as (url, asked):
        seconds, _ = waited(url, timeout=0.6, answered=never)
    assert 0.2 < seconds < 1.4 and len(asked) <= 4


def test_one_that_comes_to_hang_is_given_up_a_limit_after_its_last_answer() -> None:
    begun = time.monotonic()
    with serving(lambda number: (0, SILENT)) as (url, asked):
        seconds, _ = waited(url, timeout=0.6, answered=lambda: begun + 0.4)
    assert 0.9 < seconds < 1.6 and len(asked) == 2


def test_one_that_answers_others_is_asked_again() -> None:
    with serving(lambda number: (0, ANSWER if number == 2 else SILENT)) as (url, asked):
        assert post(url, {"model": "m"}, timeout=0.2, wait=0.001, answered=time.monotonic) == {"found": 1}
    assert len(asked) == 3


def test_a_busy_server_is_waited_for_longer_than_a_silent_one() -> None:
    with serving(lambda number: (0, ANSWER if number == 5 else status(503))) as (url, asked):
        assert post(url, {"model": "m"}, timeout=0.5, wait=0.03, answered=never) == {"found": 1}
    assert len(asked) == 6 and asked[-1] - asked[0] > 0.5
