"""Joint alignment: the loss sentence by sentence, what moves, who takes which adapters, and a run that goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from benchmarks.models import random_weights
from seedbed.encoders import objectives
from seedbed.encoders.export.save import save
from seedbed.encoders.losses.contrastive import simcse
from seedbed.encoders.models import loading
from seedbed.encoders.models.digests import pivot_digest
from seedbed.encoders.models.parallel_adapters import ADAPTERS
from seedbed.encoders.prompts import set_prompts
from seedbed.encoders.settings import Prompts, Training
from seedbed.encoders.training import joint_adapters
from seedbed.encoders.training.joint_adapters import JointContrast, sample_rows
from seedbed.encoders.training.parameters import attach_joint_adapters
from seedbed.io import UserError, read_json, sha256
from tests import trainings
from tests.unit.encoders.models.test_memory import has

SETTINGS = Training(
    part="adapter", adapter="parallel", pooling="own", epochs=2, batch_size=4, learning_rate=1e-2, max_length=16,
    precision="float32", crosslingual=True,
)  # fmt: skip
CODES = ("eng", "hau", "kaz")
JOINT = objectives.load("joint")


@pytest.fixture(scope="module")
def folders(make_weights: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An encoder a language, each with weights of its own."""
    weights, found = make_weights("bert"), {}
    for number, code in enumerate(CODES):
        encoder = loading.load(weights, pooling="mean", prefix="query: ")
        torch.manual_seed(number)
        with torch.no_grad():
            for weight in encoder.parameters():
                weight.add_(torch.randn_like(weight) * 0.02)
        found[code] = tmp_path_factory.mktemp("joint") / code
        save(encoder, found[code], {}, {})
    return found


@pytest.fixture(scope="module")
def tables(sentences: list[str]) -> dict[str, pd.DataFrame]:
    """Rows with the same ids, of which Kazakh lacks one; every other has a negative."""
    found = {}
    for code in CODES:
        own = [f"{code} {text}" for text in sentences]
        negative = [text if row % 2 else "" for row, text in enumerate(own[::-1])]
        columns = {"anchor": own, "positive": own[1:] + own[:1], "negative": negative}
        found[code] = pd.DataFrame({"id": [str(row) for row in range(8)], **columns})
    return found | {"kaz": found["kaz"].iloc[1:]}


@pytest.fixture
def run(folders: dict[str, Path], tables: dict[str, pd.DataFrame], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def run(name: str, *, fixed: tuple[str, ...] = ("eng",), **settings: Any) -> dict[str, Any]:
        return trainings.train_joint_adapters(
            settings.pop("folders", folders), tables, SETTINGS.updated(settings), objective=JOINT, fixed=fixed,
            seed=3, output=tmp_path / name, state=tmp_path / "state", minutes=0,
        )  # fmt: skip

    return run


def test_each_sentence_is_drawn_in_its_language(tables: dict[str, pd.DataFrame]) -> None:
    rows, counts = sample_rows(tables, JOINT, SETTINGS, 1, times=3)
    assert (len(rows), counts["examples"], counts["missing"]) == (2 * 3 * 2 * 4, 8, {"kaz": 1})
    every = [rows[place] for place in range(len(rows))]
    for row in every:
        (first, anchor), (second, positive), (third, negative) = row
        assert first != second and anchor.startswith(first) and positive.startswith(second)
        assert negative.startswith(third) and bool(third) == bool(negative)
        place = tables[first].set_index("anchor").loc[anchor, "id"]
        assert tables[second].set_index("id").loc[place, "positive"] == positive
    assert {code for row in every for code, _ in row} == {*CODES, ""}
    assert rows.digest() == sample_rows(tables, JOINT, SETTINGS, 1, times=3)[0].digest()
    assert rows.digest() != sample_rows(tables, JOINT, SETTINGS, 2, times=3)[0].digest()


@pytest.mark.parametrize("negatives", [True, False])
def test_the_loss_is_that_of_each_sentence_by_its_own_encoder(
    folders: dict[str, Path], tables: dict[str, pd.DataFrame], negatives: bool
) -> None:
    encoders = {code: loading.open_encoder(folder) for code, folder in folders.items()}
    rows, _ = sample_rows(tables, JOINT, SETTINGS, 1, times=3)
    together = JointContrast(encoders, ["eng"], SETTINGS, [*rows.texts], 1)
    with torch.no_grad():
        for code in together.learning:
            for weight in encoders[code][0].adapters.parameters():
                weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel())) * 0.1)
    together.eval()
    batch = [row for row in (rows[place] for place in range(len(rows))) if negatives or not row[2][1]][:5]
    given = together(**together.read(batch))["loss"]

    def of(code: str, text: str) -> torch.Tensor:
        return encoders[code](encoders[code].preprocess([text], prompt="query: "))["sentence_embedding"][0]

    keep = torch.tensor([bool(row[2][1]) for row in batch])
    assert keep.any() == negatives
    columns = [torch.stack([of(*row[column]) for row in batch]) for column in (0, 1)]
    if negatives:
        columns.append(torch.stack([of(*row[2]) if row[2][1] else torch.ones_like(columns[0][0]) for row in batch]))
    expected = simcse(*columns, temperature=0.05, keep=keep if negatives else None)
    assert given.item() == pytest.approx(expected.item(), abs=1e-5)
    weights = [weight for weight in together.parameters() if weight.requires_grad]
    ours, plain = (torch.autograd.grad(value, weights, allow_unused=True) for value in (given, expected))
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(ours, plain, strict=True) if a is not None)
    assert (
        len(weights)
        == len({*map(id, weights)})
        == sum(len([*encoders[c][0].adapters.parameters()]) for c in together.learning)
    )


def test_a_prompt_that_pooling_leaves_out_in_use_is_refused(folders: dict[str, Path]) -> None:
    encoders = {code: loading.open_encoder(folders[code]) for code in ("eng", "hau")}
    encoders["hau"][1].include_prompt = False
    with pytest.raises(UserError, match="^prefix: .*include_prompt: false.*empty prefix"):
        JointContrast(encoders, ["eng"], SETTINGS, ["anchor", "positive"], 1)
    set_prompts(encoders["hau"], "")
    assert JointContrast(encoders, ["eng"], SETTINGS, ["anchor", "positive"], 1).learning == ["hau"]


def test_each_encoder_reads_with_its_own_prompts(
    run: Callable[..., dict[str, Any]], folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = Prompts(query="ask: ", document="say: ")
    save(loading.load(folders["hau"], pooling="own", prefix=asked), tmp_path / "hau", {}, {})
    token = {"kaz": "kaz_Cyrl ", "hau": "hau_Latn "}
    save(loading.load(folders["kaz"], pooling="own", prefix=token, language="kaz"), tmp_path / "kaz", {}, {})
    begun: list[JointContrast] = []

    def begin(trainer: Any, minutes: float) -> None:
        begun.append(trainer.model)
        raise KeyboardInterrupt

    monkeypatch.setattr(joint_adapters, "fit", begin)
    with pytest.raises(KeyboardInterrupt):
        run("made", folders=folders | {code: tmp_path / code for code in ("hau", "kaz")})
    together = begun[0]
    found = together.read(
        [[("hau", "one"), ("kaz", "two"), ("hau", "three")], [("eng", "four"), ("kaz", "five"), ("", "")]]
    )
    texts = {
        "hau": ["ask: one", "say: three", "say: "],
        "kaz": ["kaz_Cyrl two", "kaz_Cyrl five"],
        "eng": ["query: four"],
    }
    for code, expected in texts.items():
        tokens = together.encoder(code).preprocess(expected)["input_ids"]
        assert torch.equal(found["features"][code]["input_ids"], tokens)


def test_a_batch_that_cannot_fit_is_refused_before_a_step(
    run: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, 0.1)
    with pytest.raises(UserError, match=r"^training\.batch_size: 4 rows"):
        run("made")
    assert not (tmp_path / "made").exists() and not (tmp_path / "state").exists()


def test_dropout_is_on_in_what_learns_alone(folders: dict[str, Path]) -> None:
    encoders = {code: loading.open_encoder(folder) for code, folder in folders.items()}
    together = JointContrast(encoders, ["eng"], SETTINGS, ["anchor", "positive"], 1).train()
    down = [encoders[code][0].adapters[0].down.weight for code in together.learning]
    assert not torch.equal(*down)
    assert [encoders[code].training for code in CODES] == [False, True, True]
    assert not any(weight.requires_grad for weight in encoders["eng"].parameters()) and together.learning == [
        "hau",
        "kaz",
    ]


def test_each_language_takes_its_adapters_and_all_are_of_one_space(
    run: Callable[..., dict[str, Any]], folders: dict[str, Path], tmp_path: Path
) -> None:
    before = {code: sha256(folder) for code, folder in folders.items()}
    manifest = run("made")
    assert {*manifest["files"]} == {"hau.safetensors", "kaz.safetensors"}
    assert (
        manifest["training"]["steps"] == 2 * 2 * 2
        and manifest["training"]["loss"][-1] < manifest["training"]["loss"][0]
    )
    spaces = set()
    for code, folder in folders.items():
        trainings.train(
            folder, None, SETTINGS, objective=None, folders={"adapters": tmp_path / "made"}, prefix="query: ", seed=3,
            output=tmp_path / code, state=tmp_path / "state", minutes=0,
        )  # fmt: skip
        assert (tmp_path / code / "model.safetensors").samefile(folder / "model.safetensors")
        own = tmp_path / code / ADAPTERS
        assert own.exists() == (code != "eng")
        if own.exists():
            assert sha256(own) == sha256(tmp_path / "made" / f"{code}.safetensors")
            encoder = loading.open_encoder(tmp_path / code)
            assert np.abs(encoder.encode(["Text."]) - encoder.encode(["Text."], aligned=False)).max() > 1e-3
        spaces.add(pivot_digest(read_json(tmp_path / code / "seedbed.json")))
    assert len(spaces) == 1 and "" not in spaces
    assert {code: sha256(folder) for code, folder in folders.items()} == before
    assert {*run("all", fixed=())["files"]} == {f"{code}.safetensors" for code in CODES}


def test_a_killed_run_goes_on_to_the_same_bytes(
    run: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run("whole")
    read, calls = JointContrast.forward, []

    def until_killed(self: JointContrast, **batch: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return read(self, **batch)

    monkeypatch.setattr(joint_adapters.JointContrast, "forward", until_killed)
    with pytest.raises(KeyboardInterrupt):
        run("again")
    assert not (tmp_path / "again").exists()
    run("again")
    assert len(calls) == 4 + 5 and sha256(tmp_path / "again") == sha256(tmp_path / "whole")


def test_what_does_not_fit_is_one_line(
    run: Callable[..., dict[str, Any]], folders: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"^training.mini_batch:.*whole.*leave it out$"):
        run("parts", mini_batch=2)
    for name, value in (("dropout", 0.2), ("dropout", 0.0), ("gradient_checkpointing", True), ("mlm_weight", 0.1)):
        with pytest.raises(UserError, match=rf"^training.{name}:.*leave it out$"):
            run("ignored", **{name: value})
    with pytest.raises(UserError, match=r"^joint: hau and kaz.*its own$"):
        run("double", folders=folders | {"kaz": folders["hau"]})
    narrow = random_weights(tmp_path / "weights", width=16, heads=2, vocabulary=50, blocks=2)
    save(loading.load(narrow, pooling="mean"), tmp_path / "narrow", {}, {})
    with pytest.raises(UserError, match=r"^joint:.*widths.*16 in kaz"):
        run("wide", folders=folders | {"kaz": tmp_path / "narrow"})
    assert not (tmp_path / "wide").exists()
    run("made")
    encoder, other = loading.open_encoder(folders["hau"]), tmp_path / "other"
    save(loading.load(folders["hau"], pooling="cls"), other, {}, {})
    with pytest.raises(UserError, match=r"adapters of other encoders.*trained again"):
        attach_joint_adapters(encoder, other, tmp_path / "made")
