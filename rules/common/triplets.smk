"""Shards, and what writes and audits them."""

import math


def shards_of(wildcards):
    """Enough shards for as many anchors as recipes ask for; a language with fewer gets smaller ones."""
    anchors = STUDY.anchors_for(wildcards.generator, wildcards.method)
    return math.ceil(anchors / STUDY.generators[wildcards.generator].shard_rows)


def output_language(wildcards):
    """XL-LoRA writes the pivot language, whatever the anchor's."""
    return STUDY.pivot if wildcards.method == "xllora" else wildcards.lang


def method_adapters(wildcards):
    """The adapters that write positives and negatives; prompting has none, and a scale of 0 leaves the task's own."""
    facts = (wildcards.generator, wildcards.method)
    if all(STUDY.published_adapter(*facts, polarity, wildcards.lang) for polarity in POLARITIES):
        return [published_model("generators", *facts, polarity, wildcards.lang) for polarity in POLARITIES]
    if wildcards.method == "xllora":
        return collect(
            "<results>/generators/{generator}/xllora/{polarity}/seedbed.json",
            generator=STUDY.maker(wildcards.generator, "xllora"),
            polarity=list(POLARITIES),
        )
    if wildcards.method == "prompting":
        return []
    if STUDY.generators[wildcards.generator].composition.scale:
        folder = "composition/{lang}/{polarity}"
        return task_adapters(wildcards.generator, "composition", folder, lang=wildcards.lang)
    return task_adapters(wildcards.generator)


def raw_triplets(wildcards):
    """What the audit reads: the published triplets, or those of our shards."""
    if STUDY.published_triplets(wildcards.generator, wildcards.method, wildcards.lang):
        return "<results>/corpora/{lang}/{generator}+{method}.tsv"
    return "<results>/triplets/{generator}/{method}/{lang}.raw.tsv"
