"""A language model is loaded once for its variants and languages, and nothing is asked twice, whatever happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts import score
from seedbed import manifests
from seedbed.classifiers import in_context
from seedbed.classifiers.manifest import describe
from seedbed.encoders.models import loading
from seedbed.evaluation.systems import in_context as system
from seedbed.generators.writing import likelihood
from seedbed.io import write_json, write_table
from tests import tiny
from tests.programs import call

TASK = {"protocol": "icl", "distance": "euclidean", "instruction": "Say how it is."}
CODES, VARIANTS, ROWS = ("eng", "hau", "ind"), {"zero-shot": 0, "one-shot": 1}, 11
LABELS = ("bad", "fair", "good")
LIKE = {"eng": "eng", "hau": "hau", "ind": "swh", "swh": "swh"}
"""Language -> the language of its texts."""


class Counted:
    """How often what is loaded is loaded, and how many prompts are read."""

    models = encoders = prompts = 0
    left: int | None = None
    """Batches before a kill; None: nobody kills."""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted, opens, encoder, batch = Counted(), in_context.open_backend, system.opened, likelihood._of_batch

    def open_backend(*args: Any, **options: Any) -> Any:
        counted.models += 1
        return opens(*args, **options)

    def opened(*args: Any, **options: Any) -> Any:
        counted.encoders += 1
        return encoder(*args, **options)

    def of_batch(model: Any, prompts: Any, answers: Any) -> Any:
        if counted.left == 0:
            raise KeyboardInterrupt
        counted.left = counted.left and counted.left - 1
        counted.prompts += len(prompts)
        return batch(model, prompts, answers)

    monkeypatch.setattr(in_context, "open_backend", open_backend)
    monkeypatch.setattr(system, "opened", opened)
    monkeypatch.setattr(likelihood, "_of_batch", of_batch)
    return counted


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two variants of a tiny model, the encoder that finds examples, and the sets of four languages."""
    root = tmp_path_factory.mktemp("study")
    base = tiny.generator(root / "base")
    manifests.write(base, {"kind": "weights"})
    encoder = root / "encoders/tiny/published/mul/0"
    loading.load(tiny.backbone(root / "backbone"), pooling="mean").save(str(encoder))
    manifests.write(encoder, {"about": {"backbone": "tiny"}})
    generator = {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 4}
    for variant, shots in VARIANTS.items():
        settings = {"kind": "in-context", "generator": generator, "answering": {}, "examples": {"count": shots}}
        parts = {"base": base} | ({"retriever": encoder} if shots else {})
        describe(root / f"classifiers/c/{variant}/mul/0", {"name": "c", "variant": variant}, settings, parts)
    write_json({"origin": [{"kind": "file", "name": "x"}]}, root / "record.json")
    for seed, code in enumerate((*CODES, "swh")):
        for part, rows in (("train", 18), ("test", ROWS)):
            texts = tiny.sentences(LIKE[code], rows, 2 * seed + (part == "train"))
            own = {"id": map(str, range(rows)), "text": texts, "label": [LABELS[n % 3] for n in range(rows)]}
            write_table(pd.DataFrame(own), root / f"{code}.{part}.tsv")
    return root


def scored(study: Path, out: Path, codes: tuple[str, ...] = CODES, variants: Any = tuple(VARIANTS)) -> dict[str, bytes]:
    """Run the program; the scores by their places."""
    call(score, [
        "--systems", *(str(study / f"classifiers/c/{variant}/mul/0") for variant in variants),
        "--language", *codes, "--language-name", *codes, "--tasks", *[json.dumps({"icl": TASK})] * len(codes),
        "--tests", *(str(study / f"{code}.test.tsv") for code in codes),
        "--records", *[str(study / "record.json")] * len(codes),
        "--trains", *(f"{code}/icl={study / f'{code}.train.tsv'}" for code in codes),
        "--state", str(out / "state"), "--scores", *(str(out / variant) for variant in variants),
        "--output", str(out / "list.json"),
    ])  # fmt: skip
    return {
        str(path.relative_to(out)): path.read_bytes() for variant in VARIANTS for path in (out / variant).rglob("*.*")
    }


def alone(study: Path, root: Path) -> dict[str, bytes]:
    """The scores of jobs of one variant and language each, which share nothing."""
    found: dict[str, bytes] = {}
    for variant in VARIANTS:
        for code in (*CODES, "swh"):
            found |= scored(study, root / f"{variant}-{code}", (code,), (variant,))
    return found


@pytest.fixture(scope="module")
def wanted(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, bytes]]:
    yield alone(study, tmp_path_factory.mktemp("alone"))


def test_two_variants_and_three_languages_load_the_model_once(
    study: Path, wanted: dict[str, bytes], counted: Counted, tmp_path: Path
) -> None:
    found = scored(study, tmp_path)
    assert (counted.models, counted.encoders, counted.prompts) == (1, 1, 2 * 3 * ROWS)
    assert found == {place: text for place, text in wanted.items() if "swh" not in place} and len(found) == 2 * 3 * 2
    probabilities = pd.read_csv(tmp_path / "one-shot/icl/hau.items.tsv", sep="\t")["probability"]
    assert len(probabilities) == ROWS and probabilities.between(1 / 3, 1).all()


def test_a_fourth_language_asks_for_its_prompts_alone_and_an_edit_for_what_it_touches(
    study: Path, wanted: dict[str, bytes], counted: Counted, tmp_path: Path
) -> None:
    scored(study, tmp_path)
    before = counted.prompts
    assert scored(study, tmp_path, (*CODES, "swh")) == wanted
    assert (counted.models, counted.prompts - before) == (2, 2 * ROWS)
    assert scored(study, tmp_path, (*CODES, "swh")) == wanted
    assert counted.models == 2, "nothing is loaded where all is answered"
    table = pd.read_csv(study / "hau.test.tsv", sep="\t", dtype=str)
    try:
        write_table(table.assign(text=["Kai!", *table["text"][1:]]), study / "hau.test.tsv")
        scored(study, tmp_path, (*CODES, "swh"))
    finally:
        write_table(table, study / "hau.test.tsv")
    assert (counted.models, counted.prompts - before) == (3, 2 * ROWS + 2)


@pytest.mark.parametrize("left", [1, 5, 13])
def test_a_killed_job_goes_on_with_the_same_bytes(
    study: Path, wanted: dict[str, bytes], counted: Counted, tmp_path: Path, left: int
) -> None:
    counted.left = left
    with pytest.raises(KeyboardInterrupt):
        scored(study, tmp_path)
    killed, counted.left = counted.prompts, None
    found = scored(study, tmp_path)
    assert counted.prompts == 2 * 3 * ROWS and counted.prompts - killed < 2 * 3 * ROWS
    assert found == {place: text for place, text in wanted.items() if "swh" not in place}


def test_without_a_state_nothing_is_kept(study: Path, wanted: dict[str, bytes], tmp_path: Path) -> None:
    words = [f"--systems={study / 'classifiers/c/zero-shot/mul/0'}", "--language", "hau", "--scores", str(tmp_path)]
    words += ["--tasks", json.dumps({"icl": TASK}), "--tests", str(study / "hau.test.tsv")]
    words += ["--records", str(study / "record.json"), "--trains", f"hau/icl={study / 'hau.train.tsv'}"]
    call(score, [*words, "--output", str(tmp_path / "list.json")])
    assert (tmp_path / "icl/hau.json").read_bytes() == wanted["zero-shot/icl/hau.json"]
    assert not (tmp_path / "state").exists()
