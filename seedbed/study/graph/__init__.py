"""What the jobs of a study make: each class says what its job reads, is told and needs."""

from seedbed.study.graph import (
    adapted,
    adapter,
    aligned,
    best_encoder,
    chosen,
    classifier,
    corpus,
    encoder,
    figure,
    fusion,
    measurement,
    outside,
    report,
    score,
    table,
    translation,
    triplet,
)
from seedbed.study.graph.product import PRODUCTS

__all__ = [
    "PRODUCTS",
    "adapted",
    "adapter",
    "aligned",
    "best_encoder",
    "chosen",
    "classifier",
    "corpus",
    "encoder",
    "figure",
    "fusion",
    "measurement",
    "outside",
    "report",
    "score",
    "table",
    "translation",
    "triplet",
]
