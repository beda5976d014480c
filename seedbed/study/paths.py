"""Paths of results: each path once, one segment per wildcard. `<results>` is the study's folder of results."""

from typing import Any

from seedbed.manifests import MANIFEST
from seedbed.names import SEED_PAIRS as PAIRS
from seedbed.names import training_set_of
from seedbed.study.model import Study

CORPUS = "<results>/corpora/{lang}/{corpus}.tsv"
TRAINING_SET = f"<results>/corpora/{{lang}}/{training_set_of('{task}')}.tsv"
RECORD = "<results>/corpora/{lang}/{corpus}.json"
SAMPLE = "<results>/corpora/{lang}/text.sample.tsv"
ANCHORS = "<results>/corpora/{lang}/{anchors}.tsv"
ANCHORS_AUDIT = "<results>/corpora/{lang}/{anchors}.audit.json"
SEED_PAIRS = f"<results>/corpora/{{lang}}/{PAIRS}.tsv"
SEED_PAIRS_AUDIT = f"<results>/corpora/{{lang}}/{PAIRS}.audit.json"

WEIGHTS = f"<results>/{{room}}/{{model}}/weights/{MANIFEST}"
TASK_ADAPTER = f"<results>/generators/{{generator}}/task/{{polarity}}/{MANIFEST}"
LANGUAGE_ADAPTER = f"<results>/generators/{{generator}}/language/{{lang}}/{MANIFEST}"
COMPOSED = f"<results>/{{room}}/{{model}}/composition/{{lang}}/{{polarity}}/{MANIFEST}"
XLLORA_EXAMPLES = "<results>/generators/{generator}/xllora/{polarity}.tsv"
XLLORA_ADAPTER = f"<results>/generators/{{generator}}/xllora/{{polarity}}/{MANIFEST}"
TRANSLATIONS = "<results>/generators/{translator}/translations/{lang}/{corpus}.tsv"
TRANSLATIONS_RECORD = "<results>/generators/{translator}/translations/{lang}/{corpus}.json"
JUDGEMENTS = "<results>/generators/{judge}/judgements/{lang}/{corpus}.tsv"
JUDGEMENTS_RECORD = "<results>/generators/{judge}/judgements/{lang}/{corpus}.json"

SHARD = "<results>/triplets/{generator}/{method}/{lang}.shards/{shard}.tsv"
SHARD_DIGEST = "<results>/triplets/{generator}/{method}/{lang}.shards/{shard}.json"
RAW_TRIPLETS = "<results>/triplets/{generator}/{method}/{lang}.raw.tsv"
TRIPLETS = "<results>/triplets/{generator}/{method}/{lang}.tsv"
REJECTED = "<results>/triplets/{generator}/{method}/{lang}.rejected.tsv"
AUDIT = "<results>/triplets/{generator}/{method}/{lang}.audit.json"

ENCODER = f"<results>/encoders/{{backbone}}/{{recipe}}/{{lang}}/{{seed}}/{MANIFEST}"
CHOICES = "<results>/encoders/{backbone}/{recipe}/choices/{lang}/{seed}/{test_lang}/{corpus}.tsv"
NEIGHBOURS = "<results>/encoders/{backbone}/neighbours/{mining}/{lang}.tsv"
NEIGHBOURS_AUDIT = "<results>/encoders/{backbone}/neighbours/{mining}/{lang}.audit.json"
JOINT = f"<results>/encoders/{{backbone}}/{{recipe}}/joint/{{seed}}/{MANIFEST}"
PIVOT = f"<results>/encoders/{{backbone}}/{{recipe}}/pivot/{{corpus}}/{{lang}}/{{seed}}/{MANIFEST}"
CLASSIFIER_ADAPTER = f"<results>/classifiers/{{classifier}}/{{part}}/{{lang}}/{MANIFEST}"
CLASSIFIER = f"<results>/classifiers/{{classifier}}/{{variant}}/{{lang}}/{{seed}}/{MANIFEST}"
FINE_TUNED = f"<results>/classifiers/{{classifier}}/fine-tuned/{{task}}/{{lang}}/{{seed}}/{MANIFEST}"
TUNED = f"<results>/classifiers/tuned/{{backbone}}/{{recipe}}/{{lang}}/{{task}}/{{train_lang}}/{{seed}}/{MANIFEST}"

CHOSEN = "<results>/chosen/{what}/{owner}/{lang}.json"
SCORES = "<results>/scores/{backbone}/{recipe}/{lang}/{test_lang}.{tasks}.json"
SCORED = "<results>/scores/{backbone}/{recipe}/{lang}/{seed}"
MAP = "<results>/maps/{figure}/{backbone}/{recipe}.tsv"
COMPUTE = "<results>/compute/miners_table4.md"
FLOPS = "<results>/compute/flops.tsv"
SECONDS = "<results>/compute/seconds.tsv"

BEST = f"<results>/best/{{lang}}/{MANIFEST}"
ANSWER = "<results>/answer.md"
PLAN = "<results>/tables/{table}.plan.json"
TABLE = "<results>/tables/{table}.csv"
COMPARED = "<results>/tables/{table}.compared.csv"
LAYOUT = "<results>/tables/{table}.md"
FIGURE = "<results>/figures/{figure}.{form}"
SVG, PNG = (FIGURE.replace("{form}", form) for form in ("svg", "png"))
REPORT = "<results>/report.zip"
FORECAST = "<results>/forecast.tsv"
FORECAST_PAGE = "<results>/forecast.md"
VERIFIED = "<results>/verify.tsv"


def at(study: Study, path: str, **wildcards: Any) -> str:
    """A path of the study with its wildcards filled in."""
    return path.replace("<results>", study.results).format(**wildcards)


def argument_of(file: str) -> str:
    """A file as an argument of a program: for a manifest, the folder that it describes."""
    folder, _, name = file.rpartition("/")
    return folder if name == MANIFEST else file
