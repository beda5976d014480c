"""Debian's Chromium without a window, told what to do over two pipes: its DevTools protocol, and no package for it."""

from __future__ import annotations

import base64
import io
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
    "--force-color-profile=srgb", "--font-render-hinting=none", "--disable-background-networking", "--remote-debugging-pipe",
)  # fmt: skip
READS, WRITES = 3, 4
"""The file descriptors on which Chromium reads commands and writes answers."""


def program() -> str | None:
    """Where a Chromium is, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page of one Chromium.

    Raises:
        RuntimeError: Chromium ended, or says that it cannot do what it was asked.
    """

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()  # commands, answers; each (read, write)
        command = [program(), *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        shell = f'exec "$@" {READS}<&{ours[0]} {WRITES}>&{theirs[1]}'
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", shell, "chromium", *command], pass_fds=(ours[0], theirs[1]), **quiet
        )
        os.close(ours[0]), os.close(theirs[1])
        self._commands, self._answers = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")
        self._numbers, self._read, self._session = itertools.count(1), b"", ""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._commands.close(), self._answers.close()
        self._profile.cleanup()

    def open(self, file: Path, *, width: int, height: int = 800, dark: bool = False, scripts: bool = True) -> None:
        """Show a file as a screen of so many pixels does, in a light or a dark scheme, with or without scripts."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])
        self._ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self._ask("Page.navigate", url=file.absolute().as_uri())
        self._until("Page.loadEventFired")

    def said(self, expression: str) -> Any:
        """What an expression of JavaScript is in the page, as JSON has it."""
        found = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """A key of the keyboard, down and up."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            told = {"text": text} if text and kind == "keyDown" else {}
            self._ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **told)

    def write(self, text: str) -> None:
        """Type into what has the focus."""
        self._ask("Input.insertText", text=text)

    def screenshot(self, *, whole: bool = False) -> Image.Image:
        """The screen, or the whole page."""
        shot = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole))
        return Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self._ask("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        told = {"id": number, "method": method, "params": parameters}
        told |= {"sessionId": self._session} if self._session else {}
        self._commands.write(json.dumps(told).encode() + b"\0")
        self._commands.flush()
        while (answer := self._next()).get("id") != number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _until(self, event: str) -> None:
        while self._next().get("method") != event:
            pass

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            if not (more := os.read(self._answers.fileno(), 1 << 16)):
                raise RuntimeError("Chromium ended")
            self._read += more
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)


def blocks(image: Image.Image, side: int) -> Image.Image:
    """The mean colour of each block of so many pixels a side: a letter's edges weigh little."""
    return image.resize((image.width // side, image.height // side), Image.Resampling.BOX)
