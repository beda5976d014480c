"""What a line of Python that opens an encoder must say besides its folder."""

from pathlib import Path
from typing import NamedTuple


class Use(NamedTuple):
    """How an encoder is used, as text that stands in Python."""

    options: str = ""
    """What opens it besides its folder."""
    packages: str = ""
    """What must be installed besides sentence-transformers."""
    texts: str = '["a sentence", "another one"]'
    """What it reads."""


PAIRS = '[("a sentence", "its English"), ("another one", "its English")]'
"""What an encoder of two texts reads."""


def of(directory: Path) -> Use:
    """How the encoder in a folder is used: some bring code of their own, a graph, or a side for English."""
    trusted = ", trust_remote_code=True" if any(directory.glob("*.py")) else ""
    packages = " onnxruntime" if any(directory.glob("*.onnx")) else ""
    return Use(trusted, packages, PAIRS) if (directory / "english").is_dir() else Use(trusted, packages)
