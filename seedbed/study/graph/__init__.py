"""What each job needs: its inputs, settings and arguments, as functions of the study and of a job's wildcards.

A rule names such a function; `jobs.Bound` gives it the study. Nothing here knows Snakemake: a test asks it directly.
"""

from seedbed.study.graph import (
    adaptation,
    adapted,
    aligned,
    alignment,
    best,
    cards,
    choices,
    chosen,
    classifier,
    classifiers,
    composition,
    compute,
    corpora,
    encoder,
    encoders,
    evaluation,
    fusion,
    generators,
    kinds,
    measurement,
    mining,
    operations,
    prefix_choice,
    prefixes,
    score,
    tables,
    translations,
    triplets,
    tuned,
)
from seedbed.study.graph.product import PRODUCTS

__all__ = ["PRODUCTS", "adapted", "aligned", "chosen", "classifier", "encoder", "fusion", "measurement", "score"]

ROOMS = (
    corpora,
    generators,
    composition,
    translations,
    triplets,
    encoders,
    mining,
    prefixes,
    adaptation,
    alignment,
    cards,
    kinds,
    classifiers,
    tuned,
    evaluation,
    choices,
    compute,
    best,
    prefix_choice,
    tables,
    operations,
)
