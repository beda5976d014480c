"""A source, and a corpus, as one table: what programs take block by block."""

from __future__ import annotations

from typing import Any

import pandas as pd

from seedbed.blocks import concatenate
from seedbed.corpora.read import fetch as fetching
from seedbed.corpora.read import sources


def read(*args: Any, **options: Any) -> pd.DataFrame:
    """As `seedbed.corpora.read.sources.read`."""
    return concatenate(sources.read(*args, **options))


def fetch(*args: Any, **options: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    """As `seedbed.corpora.read.fetch.fetch`."""
    blocks, record = fetching.fetch(*args, **options)
    return concatenate(blocks), record
