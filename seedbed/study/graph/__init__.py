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
    classifiers,
    composition,
    compute,
    corpora,
    encoder,
    encoders,
    evaluation,
    generators,
    kinds,
    mining,
    operations,
    prefix_choice,
    prefixes,
    tables,
    translations,
    triplets,
    tuned,
)
from seedbed.study.graph.product import PRODUCTS

__all__ = ["PRODUCTS", "adapted", "aligned", "chosen", "encoder"]

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
