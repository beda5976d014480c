"""Sets of triplets as data sets of the hub: one file for a language, a data card, and the audit."""

import shutil
from pathlib import Path
from typing import Any

from huggingface_hub import DatasetCardData

from seedbed import licences, origins
from seedbed.generators.settings import WRITING
from seedbed.io import UserError, is_own, read_json, read_table, write_json
from seedbed.languages import registry
from seedbed.licences import Licence
from seedbed.markdown import table
from seedbed.publish.checks import language_of
from seedbed.publish.options import Options

TEMPLATE = """---
{front_matter}
---

# {name}

{rows} triplets: anchors in {language}, and to each in {written} {positive} (`positive`) and {negative} (`negative`). A
model wrote positives and negatives; nobody has read all of them. Made with Seedbed.

```python
from datasets import load_dataset
triplets = load_dataset("{place}", "{config}", split="train")
```

## Columns

{columns}

## Sources

{sources}

## Audit

{audit}

## Limits

It is synthetic text: a share of the rows is wrong in ways that the audit does not see, and it has the biases of the
model that wrote it. It was made to train sentence encoders. Do not test on it. Terms of the anchors' source and of the
generator apply.
"""
COLUMNS = {"id": "of the anchor in its corpus"}
"""Descriptions of the columns that all triplets have; further columns say how a row was generated."""
SENTENCES = {
    "anchor": "a sentence of the corpus",
    "positive": "a text that follows from it or means the same",
    "negative": "one that contradicts it",
}
WORDS = {
    "questions": {
        "anchor": "a passage of the corpus",
        "positive": "a question that it answers",
        "negative": "one about the same subject that it does not answer",
    },
    "none": {
        "anchor": "a translation of a row's anchor",
        "positive": "a translation of its positive",
        "negative": "a translation of its negative",
    },
}
"""Descriptions of anchor, positive and negative for each prompt; for other prompts they are `SENTENCES`."""


def write(what: Path, options: Options, repository: Path, output: Path) -> None:
    """Write a data set repository for one file of audited triplets.

    Args:
        what: the file, <results>/triplets/{generator}/{method}/{lang}.tsv.
        repository: the folder, which is empty, of the repository's files.
        output: not used; the functions that write encoders and adapters put files there that are not uploaded.

    Raises:
        UserError: it is no such file, is a link out of the folder, or has no rows; its sources state no licence, and
            none is given; it was generated in a pivot language that the study does not have.
    """
    for file in (what, what.with_suffix(".audit.json")):
        if not is_own(file, what.parent):
            raise UserError(f"{file}: leads out of its folder; copy what it leads to in its place")
    audit, path = read_json(what.with_suffix(".audit.json")), what.absolute()
    rows = read_table(what, ["id", "anchor", "positive", "negative"])
    generator, method, code = path.parts[-3], path.parts[-2], path.stem
    if method not in WRITING:
        raise UserError(f"{what}: {method!r} is no way to write triplets ({', '.join(WRITING)}); publish a study's own")
    results, meaning = path.parents[3], WORDS.get(WRITING[method].prompt, SENTENCES)
    codes = [*dict.fromkeys([code, _written(what, method, results, options)])]
    anchors, writer = _anchors(results, generator, method, code), audit.pop("generator", {})
    known = {"anchors": read_json(anchors) if anchors and anchors.is_file() else {}, generator: writer}
    licence = options.licence or _licence(what, known)
    name = f"{generator} {method} {code}"
    front_matter = DatasetCardData(
        language=[language_of(one) for one in codes],
        **licence.metadata,
        annotations_creators=["machine-generated"],
        language_creators=["found", "machine-generated"],
        multilinguality="multilingual" if len(codes) > 1 else "monolingual",
        size_categories=_size(len(rows)),
        task_categories=["sentence-similarity"],
        pretty_name=name,
        tags=["synthetic", "triplets", "sentence-transformers", "seedbed"],
        configs=[{"config_name": code, "data_files": [{"split": "train", "path": f"data/{code}.tsv"}]}],
    ).to_yaml()
    dropped, said = audit.get("dropped", {}), COLUMNS | meaning
    text = TEMPLATE.format(
        front_matter=front_matter,
        name=name,
        rows=len(rows),
        language=_name(code),
        written=_name(codes[-1]),
        positive=meaning["positive"],
        negative=meaning["negative"],
        place=options.name,
        config=code,
        columns=table(("Column", "Meaning"), [(one, said.get(one, "how it was written")) for one in rows.columns]),
        sources=_sources(known),
        audit=table(
            ("Rows", "Count"),
            [("written", audit.get("read", "")), ("kept", audit.get("kept", "")), *dropped.items()],
        ),
    )
    (repository / "data").mkdir()
    shutil.copyfile(what, repository / "data" / what.name)
    # Without the generator, whose record may have a path of this machine; the card says what is public of it.
    write_json(audit, repository / "data" / what.with_suffix(".audit.json").name)
    (repository / "README.md").write_text(text, encoding="utf-8")


def _anchors(results: Path, generator: str, method: str, code: str) -> Path | None:
    """The record of the corpus that the anchors are from; None: no file says which corpus was translated."""
    if (given := results / "corpora" / code / f"{generator}+{method}.json").is_file():
        return given  # of triplets that a study started from
    return results / "corpora" / code / "text.json" if WRITING[method].prompt != "none" else None


def _written(what: Path, method: str, results: Path, options: Options) -> str:
    """The language of positives and negatives: the anchors', or the pivot, which no file of triplets names."""
    if WRITING[method].output == "own":
        return what.stem
    if not (results / "corpora" / options.pivot).is_dir():
        raise UserError(
            f"{what}: {method} writes the pivot, and the study has no text of {options.pivot}; give --pivot"
        )
    return options.pivot


def _sources(known: dict[str, dict[str, Any]]) -> str:
    said = ((one, origins.public(about.get("origin", [])), about.get("licence")) for one, about in known.items())
    rows = [(one, origins.in_words(public) or "not known", licence or "not stated") for one, public, licence in said]
    return table(("Source", "Origin", "Licence"), rows)


def _name(code: str) -> str:
    return registry().get(code, {}).get("name", code)


def _licence(what: Path, known: dict[str, dict[str, Any]]) -> Licence:
    """The licence of the generator's terms, where they cover its outputs; else that of the anchors' source."""
    if unstated := [name for name, about in known.items() if not licences.is_stated(about.get("licence"))]:
        raise UserError(
            f"{what}: no licence of {' and '.join(unstated)}; state it in the configuration, or give --licence"
        )
    every = {name: licences.found(about["licence"]) for name, about in known.items()}
    if strange := [name for name, licence in every.items() if not licence]:
        stated = " and ".join(f"{known[name]['licence']!r} of {name}" for name in strange)
        raise UserError(
            f"{what}: nobody here knows the licence {stated}; give --licence, or other with a name and a link"
        )
    return next(iter(licences.reaching(about["licence"] for about in known.values())), None) or every["anchors"]


def _size(rows: int) -> str:
    """The hub's class of a number of rows."""
    bounds = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")]
    return next((name for bound, name in bounds if rows < bound), "1M<n<10M")
