"""An encoder as a classifier: it learns, its adapters compose, and its head is the task's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from scripts import train_classifier
from seedbed.checkpoints import Run
from seedbed.classifiers.adapters import HEAD, label_scores, train_language, train_task
from seedbed.classifiers.settings import InContext
from seedbed.corpora.shape.labels import LABELS
from seedbed.generators.composition import CONFIG, WEIGHTS, compose_directories
from seedbed.generators.settings import Answering, Composition, Lora
from seedbed.io import UserError, read_json, write_table
from tests import tiny
from tests.programs import call

LORA = Lora(rank=4, alpha=8, dropout=0, epochs=12, batch_size=16, micro_batch_size=16, learning_rate=0.005, examples=96)
PAIRS = tiny.pairs("eng", 96)
TEST = tiny.pairs("eng", 60, seed=1)


def options(folder: Path, name: str, minutes: float = 60) -> dict:
    about = {"kind": "labels", "language": "English"}
    return {"name": "tiny", "dtype": "float32", "run": Run(folder / name, folder / "state", minutes, about)}


def accuracy(scores: np.ndarray) -> float:
    return float((scores.argmax(1) == [LABELS.index(pair["label"]) for pair in TEST]).mean())


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone with adapters of the task and of two languages."""
    folder = tmp_path_factory.mktemp("adapters")
    tiny.backbone(folder / "base")
    train_task(folder / "base", PAIRS, LORA, **options(folder, "task"))
    for lang in ("eng", "swh"):
        texts = tiny.sentences(lang, 64)
        train_language(folder / "base", texts, LORA.updated({"epochs": 2}), **options(folder, lang))
    return folder


def scores(folder: Path, adapter: str | None, head: str | None = "task", **changes: object) -> np.ndarray:
    found = {"adapter": adapter and folder / adapter, "head": head and folder / head}
    return label_scores(folder / "base", TEST, **{**found, "seed": LORA.seed, **changes})


def test_the_task_adapter_learns_and_needs_both_its_parts(adapters: Path) -> None:
    learnt = accuracy(scores(adapters, "task"))
    assert accuracy(scores(adapters, None, None)) < 0.5 and learnt > 0.65  # the commonest label has 0.4
    assert learnt > accuracy(scores(adapters, None)) and learnt > accuracy(scores(adapters, "task", None))


def test_micro_batches_give_the_losses_of_the_whole_batch(adapters: Path, tmp_path: Path) -> None:
    short = LORA.updated({"epochs": 2})
    texts = tiny.sentences("eng", 64)
    for train, rows in ((train_task, PAIRS), (train_language, texts)):
        whole, parts = (
            train(adapters / "base", rows, short.updated({"micro_batch_size": size}), **options(tmp_path, str(size)))
            for size in (16, 4)
        )
        assert parts["losses"] == pytest.approx(whole["losses"], rel=0.02), "but for dropout and masks"


def by_program(folder: Path, base: Path, kind: str, rows: list[dict], lora: Lora, style: str = "head") -> dict:
    """What the program notes of an adapter, which it has trained in a folder on these rows."""
    write_table(pd.DataFrame([{"id": str(number)} | row for number, row in enumerate(rows)]), folder / "rows.tsv")
    call(train_classifier, [
        "--base", base, "--name", "tiny", "--kind", kind, "--style", style, "--language", "English", "--dtype", "float32",
        "--examples", folder / "rows.tsv", "--lora", lora.dump(), "--state", folder / "state", "--output", folder / "task",
    ])  # fmt: skip
    return read_json(folder / "task" / "seedbed.json")


def test_the_program_trains_an_adapter_of_the_task(adapters: Path, tmp_path: Path) -> None:
    made = by_program(tmp_path, adapters / "base", "pairs", PAIRS, LORA)
    assert [made[key] for key in ("kind", "language", "data")] == ["labels", "English", "pairs"]
    found = {"adapter": tmp_path / "task", "head": tmp_path / "task", "seed": LORA.seed}
    assert accuracy(label_scores(adapters / "base", TEST, **found)) > 0.65


def test_the_program_trains_an_adapter_of_a_language(adapters: Path, tmp_path: Path) -> None:
    rows = [{"text": text} for text in tiny.sentences("eng", 64)]
    made = by_program(tmp_path, adapters / "base", "text", rows, LORA.updated({"epochs": 2}))
    assert [made[key] for key in ("kind", "language", "data")] == ["language", "English", "text"]
    assert made["examples"] == read_json(adapters / "eng" / "seedbed.json")["examples"]


def test_the_program_trains_a_language_model_that_answers_with_labels(tmp_path: Path) -> None:
    tiny.generator(tmp_path / "base")
    made = by_program(tmp_path, tmp_path / "base", "pairs", PAIRS[:8], LORA.updated({"epochs": 1}), "plain")
    assert made["examples"] == {"given": 8, "used": 8, "too_long": 0}


def test_scores_are_those_of_the_saved_weights_put_together_by_hand(adapters: Path) -> None:
    """The update (alpha / r) B A added to each weight of a plain transformer, pooled and classified by matrix products."""
    from transformers import AutoTokenizer

    factors, head = load_file(adapters / "task" / WEIGHTS), load_file(adapters / "task" / HEAD)
    model = AutoModel.from_pretrained(adapters / "base", add_pooling_layer=False).eval()
    for name in (name for name in factors if "lora_A" in name):
        update = 2 * factors[name.replace("lora_A", "lora_B")] @ factors[name]
        module = name.removeprefix("base_model.model.bert.").removesuffix(".lora_A.weight")
        model.get_submodule(module).weight.data += update
    tokenizer = AutoTokenizer.from_pretrained(adapters / "base")
    wanted = []
    for pair in TEST[:5]:
        with torch.no_grad():
            first = model(**tokenizer(pair["premise"], pair["hypothesis"], return_tensors="pt")).last_hidden_state[0, 0]
        pooled = torch.tanh(head["bert.pooler.dense.weight"] @ first + head["bert.pooler.dense.bias"])
        wanted.append((head["classifier.weight"] @ pooled + head["classifier.bias"]).numpy())
    np.testing.assert_allclose(scores(adapters, "task")[:5], wanted, atol=1e-4)


def test_an_adapter_holds_factors_alone_in_the_modules_that_all_adapters_have(adapters: Path) -> None:
    states = [load_file(adapters / name / WEIGHTS) for name in ("task", "eng", "swh")]
    assert states[0].keys() == states[1].keys() == states[2].keys()
    assert all(".lora_" in name and "pooler" not in name and ".encoder." in name for name in states[0])
    config = read_json(adapters / "task" / CONFIG)
    assert config["modules_to_save"] is None and config == read_json(adapters / "eng" / CONFIG) | {
        "exclude_modules": config["exclude_modules"]
    }
    assert config["target_modules"] == sorted(config["target_modules"]), "a file that hangs on no order of hashes"
    assert not (adapters / "eng" / HEAD).exists()


@pytest.mark.parametrize("space", ["product", "factors"])
def test_composed_with_scale_0_it_is_the_task_adapter(adapters: Path, space: str) -> None:
    parts = (adapters / "task", adapters / "swh", adapters / "eng")
    for scale in (0.0, 1.0):
        compose_directories(*parts, Composition(scale=scale, space=space), adapters / f"{space}{scale}", None)
    task = scores(adapters, "task")
    np.testing.assert_allclose(scores(adapters, f"{space}0.0"), task, atol=1e-4)
    assert np.abs(scores(adapters, f"{space}1.0") - task).max() > 0.01


def test_a_fresh_head_hangs_on_its_seed_and_batches_change_nothing(adapters: Path) -> None:
    fresh = scores(adapters, None, None)
    np.testing.assert_array_equal(fresh, scores(adapters, None, None))
    assert np.abs(fresh - scores(adapters, None, None, seed=1)).max() > 1e-3
    few = label_scores(adapters / "base", TEST[:5], head=None, adapter=None, seed=LORA.seed)
    np.testing.assert_allclose(fresh[:5], few, atol=1e-5)


@pytest.mark.parametrize("architecture", ["xlm-roberta", "modernbert"])
def test_other_architectures_compose_too(make_weights: Callable[..., Path], tmp_path: Path, architecture: str) -> None:
    base, short = make_weights(architecture, head=True), LORA.updated({"epochs": 1, "learning_rate": 0.001})
    train_task(base, PAIRS, short, **options(tmp_path, "task"))
    for lang in ("eng", "swh"):
        train_language(base, tiny.sentences(lang, 64), short, **options(tmp_path, lang))
    compose_directories(
        tmp_path / "task", tmp_path / "swh", tmp_path / "eng", Composition(), tmp_path / "composed", None
    )
    found = label_scores(base, TEST, head=tmp_path / "task", adapter=tmp_path / "composed", seed=1)
    assert found.shape == (len(TEST), len(LABELS)) and np.isfinite(found).all()


def test_long_pairs_are_dropped_in_training_and_cut_in_use(adapters: Path, tmp_path: Path) -> None:
    long = [{**PAIRS[0], "premise": "water " * 500}]
    short = LORA.updated({"max_length": 40, "epochs": 1})
    assert train_task(adapters / "base", PAIRS + long, short.updated({"examples": 200}), **options(tmp_path, "x"))[
        "examples"
    ] == {"given": 97, "used": 96, "too_long": 1}
    with pytest.raises(UserError, match=r"none of 1 pairs.*max_length"):
        train_task(adapters / "base", long, short, **options(tmp_path, "y"))
    assert np.isfinite(label_scores(adapters / "base", long, head=None, adapter=None, seed=1)).all()


def test_a_backbone_without_a_language_head_learns_no_language(
    make_weights: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="no head for masked language modelling"):
        train_language(make_weights("bert"), tiny.sentences("eng", 8), LORA, **options(tmp_path, "x"))


@pytest.mark.parametrize("after", [6, 8])
def test_a_killed_training_goes_on_with_its_head(
    adapters: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Killed between two epochs, and within the second."""
    from seedbed.classifiers import adapters as trained

    twice = LORA.updated({"epochs": 2})
    train_task(adapters / "base", PAIRS, twice, **options(tmp_path, "whole"))
    step = trained.Trainer.compute_loss

    def killed(self: object, *args: object, **kwargs: object) -> torch.Tensor:
        if self.state.global_step == after:
            raise KeyboardInterrupt
        return step(self, *args, **kwargs)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(trained.Trainer, "compute_loss", killed)
        train_task(adapters / "base", PAIRS, twice, **options(tmp_path, "resumed", minutes=0))
    train_task(adapters / "base", PAIRS, twice, **options(tmp_path, "resumed", minutes=0))
    for file in (WEIGHTS, HEAD):
        whole, resumed = (load_file(tmp_path / name / file) for name in ("whole", "resumed"))
        assert all(torch.allclose(whole[name], resumed[name], atol=1e-5) for name in whole)


@pytest.mark.parametrize(
    ("settings", "variants"),
    [
        ({}, {"one-shot": (1, 0, "a")}),
        ({"variants": {"far": {"percentile": 99}}}, {"one-shot": (1, 0, "a"), "far": (1, 99, "a")}),
        ({"shots": 5, "variants": {"other": {"retriever": {"backbone": "c", "recipe": "b"}}}}, {"few-shot": (5, 0, "a"), "other": (5, 0, "c")}),
        ({"shots": 5, "variants": {"three": {"shots": 3}}}, {"few-shot": (5, 0, "a"), "three": (3, 0, "a")}),
        ({"balance": True}, {"few-shot": (1, 0, "a")}),
    ],
)  # fmt: skip
def test_variants_in_context_are_named_by_what_is_shown(settings: dict, variants: dict) -> None:
    spec = InContext.model_validate({"retriever": {"backbone": "a", "recipe": "b"}, "answer": "generation"} | settings)
    shown = spec.every_variant()
    assert shown.pop("zero-shot") is None
    assert {name: (one.shots, one.percentile, one.retriever.backbone) for name, one in shown.items()} == variants
    assert spec.answering() == Answering(answer="generation")
