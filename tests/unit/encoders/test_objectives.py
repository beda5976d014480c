"""Objectives: what each teaches, that a killed training goes on from all of its state, and what is told of bad input."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import CoSENTLoss, MSELoss, MultipleNegativesRankingLoss
from torch import Tensor, nn

from seedbed.encoders import objectives
from seedbed.encoders.losses.contrastive import SimCSELoss
from seedbed.encoders.models import loading
from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import Training
from seedbed.encoders.training import train
from seedbed.io import UserError, sha256
from seedbed.resources import ROOT
from seedbed.trainers import STATE
from tests import trainings

SETTINGS = Training(epochs=2, batch_size=3, learning_rate=1e-3, max_length=16, precision="float32", pooling="mean")
"""Eight rows: three batches (3, 3, 2) an epoch, six steps."""
TEACHER = {"teacher": {"backbone": "b", "recipe": "r"}}


SMALL = {"queue_size": 7, "projection": [8, 4], "momentum": 0.5}
"""A queue of three pairs and a half: it is full in the second epoch."""


@pytest.fixture
def teacher(weights: Path, tmp_path: Path) -> Path:
    """An untrained encoder of other weights."""
    trainings.train(
        weights, None, SETTINGS.updated({"pooling": "cls"}), objective=None, prefix="", seed=0,
        output=tmp_path / "teacher", state=tmp_path / "state", minutes=60,
    )  # fmt: skip
    return tmp_path / "teacher"


@pytest.fixture
def rows(sentences: list[str]) -> pd.DataFrame:
    """Eight rows with the columns of every objective."""
    turned = sentences[1:] + sentences[:1]
    pairs = {"sentence1": sentences, "sentence2": turned, "score": [str(n % 3) for n in range(8)]}
    return pd.DataFrame(
        {"id": list("abcdefgh"), "anchor": sentences, "positive": turned, "text": turned}
        | pairs
        | {"query": turned, "document": sentences}
    ).assign(negative=sentences[::-1], pivot=sentences, neighbour_1=turned[::-1], neighbour_2=turned[4:] + turned[:4])


@pytest.fixture
def run(weights: Path, rows: pd.DataFrame, teacher: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Train into `tmp_path / name` by an objective; a checkpoint after each step."""

    def run(
        name: str, objective: Objective, table: pd.DataFrame = rows, minutes: float = 0, **changes: Any
    ) -> dict[str, Any]:
        options = {"prefix": "query: ", "seed": 1, "minutes": minutes, "folders": {"teacher": teacher}}
        places = {"output": tmp_path / name, "state": tmp_path / "state"}
        settings = SETTINGS.updated(changes)
        return trainings.train(weights, table, settings, objective=objective, **options, **places)

    return run


class Queue(Objective):
    """Contrast with the vectors of earlier batches too, behind a head: weights, a buffer, and a hook."""

    shapes = (("text",),)

    def loss(self, encoder: SentenceTransformer, *args: Any) -> nn.Module:
        torch.manual_seed(0)
        return WithQueue(encoder)


class WithQueue(nn.Module):
    def __init__(self, encoder: SentenceTransformer) -> None:
        super().__init__()
        self.model = encoder
        self.head = nn.Linear(32, 32)
        self.register_buffer("queue", torch.randn(9, 32))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.last: Tensor | None = None

    def forward(self, features: Any, rows: Tensor) -> Tensor:
        (texts,) = features
        self.last = self.head(self.model(texts)["sentence_embedding"])
        return (self.last @ self.queue.T).logsumexp(1).mean() + rows.float().mean() * self.last.norm()

    def after_step(self) -> None:
        self.steps += 1
        self.queue.copy_(torch.cat([self.last.detach(), self.queue])[:9])


@pytest.mark.parametrize(
    "objective",
    [
        objectives.load("ranking"),
        objectives.load("contrast", {"cutoff": 0.3}),
        objectives.load("graded"),
        objectives.load("distillation", TEACHER),
        objectives.load("correlation", {"queue_size": 7, "warm_up": 5}),
        objectives.load("listwise", {"queue_size": 7, "negatives": 4, "k": 2}),
        Queue(),
        *(
            objectives.load("neighbours", SMALL | more)
            for more in ({"neighbours": 2}, {"neighbours": 1, "queue": "all"})
        ),
    ],
    ids=objectives.name_of,
)
def test_a_killed_training_goes_on_as_if_nothing_had_happened(
    run: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, objective: Objective
) -> None:
    killed(lambda name: run(name, objective), tmp_path, monkeypatch)


def test_so_does_one_whose_queue_has_several_languages(
    run: Callable[..., dict[str, Any]], rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objective = objectives.load("listwise", {"queue_size": 7, "negatives": 4, "k": 2})
    tables = {"x": rows, "y": rows.assign(document=rows["document"].str.upper())}
    killed(lambda name: run(name, objective, tables, epochs=3), tmp_path, monkeypatch)


def killed(run: Callable[[str], dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold a training of six steps that is killed after the fourth against one that is not, byte for byte."""

    def save_and_die(trainer: Any, *args: Any) -> None:
        save(trainer, *args)
        steps.append(trainer.state.global_step)
        if steps.count(4) == 1 and steps[-1] == 4:
            raise KeyboardInterrupt

    steps: list[int] = []
    save = train._Trainer._save_checkpoint
    unbroken = run("unbroken")
    with monkeypatch.context() as patch:
        patch.setattr(train._Trainer, "_save_checkpoint", save_and_die)
        with pytest.raises(KeyboardInterrupt):
            run("resumed")
        assert run("resumed") == unbroken
    assert steps == [1, 2, 3, 4, 5], "it began anew"
    assert sha256(tmp_path / "resumed") == sha256(tmp_path / "unbroken")
    plain = {path.name for path in loading.directory_of(tmp_path / "unbroken").iterdir()}
    assert not plain & {STATE}, "an encoder keeps no state of its loss"


def test_the_hook_runs_after_each_step(run: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    monkeypatch.setattr(WithQueue, "after_step", lambda loss: counts.append(loss.last.shape))
    run("counted", Queue())
    assert len(counts) == 6


def vectors(texts: list[str], folder: Path) -> np.ndarray:
    return loading.open_encoder(folder).encode(texts)


def features(encoder: SentenceTransformer, table: pd.DataFrame, *columns: str) -> list[dict[str, Any]]:
    return [encoder.preprocess(table[name].tolist()) for name in columns]


@pytest.fixture
def encoder(weights: Path) -> SentenceTransformer:
    return loading.load(weights, pooling="mean").eval()


def test_ranking_is_the_loss_of_sentence_transformers(encoder: SentenceTransformer, rows: pd.DataFrame) -> None:
    for scale in (20.0, 3.0):
        ours = objectives.load("ranking", {"scale": scale}).loss(encoder, rows, SETTINGS, {})
        for columns in (("anchor", "positive"), ("anchor", "positive", "negative")):
            theirs = MultipleNegativesRankingLoss(encoder, scale=scale)(features(encoder, rows, *columns), None)
            torch.testing.assert_close(ours(features(encoder, rows, *columns), torch.arange(8)), theirs)


@pytest.mark.parametrize(
    "table", [["sentence1", "sentence2"], ["anchor", "positive"], ["anchor", "positive", "negative"]]
)
def test_ranking_reads_pairs_or_triplets(rows: pd.DataFrame, table: list[str]) -> None:
    assert [*objectives.load("ranking").columns(rows[table])] == table


def test_graded_gives_each_row_its_score(encoder: SentenceTransformer, rows: pd.DataFrame) -> None:
    columns, turned = ("sentence1", "sentence2"), torch.tensor([5, 0, 3, 6])
    ours = objectives.load("graded", {"scale": 5}).loss(encoder, rows, SETTINGS, {})
    scores = torch.tensor([2.0, 0.0, 0.0, 0.0])
    theirs = CoSENTLoss(encoder, scale=5)(features(encoder, rows.iloc[turned.tolist()], *columns), scores)
    torch.testing.assert_close(ours(features(encoder, rows.iloc[turned.tolist()], *columns), turned), theirs)


def test_graded_training_puts_pairs_in_the_order_of_their_scores(
    run: Callable[..., dict[str, Any]], rows: pd.DataFrame, tmp_path: Path
) -> None:
    run("graded", objectives.load("graded"), minutes=60, epochs=30, batch_size=8, max_length=64)
    one, two = (vectors(rows[name].tolist(), tmp_path / "graded") for name in ("sentence1", "sentence2"))
    cosines = (one * two).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(two, axis=1)
    scores = rows["score"].astype(int)
    assert cosines[scores == 2].min() > cosines[scores == 1].max()
    assert cosines[scores == 1].min() > cosines[scores == 0].max()


def test_distillation_is_the_loss_of_sentence_transformers(
    encoder: SentenceTransformer, rows: pd.DataFrame, teacher: Path
) -> None:
    turned = rows.iloc[[5, 0, 3]]
    ours = objectives.load("distillation", TEACHER).loss(encoder, rows, SETTINGS, {"teacher": teacher})
    targets = torch.from_numpy(vectors(turned["pivot"].tolist(), teacher))
    theirs = MSELoss(encoder)(features(encoder, turned, "pivot", "text"), targets)
    torch.testing.assert_close(ours(features(encoder, turned, "pivot", "text"), torch.tensor([5, 0, 3])), theirs)


def test_a_student_comes_near_its_teacher_in_both_languages(
    run: Callable[..., dict[str, Any]], rows: pd.DataFrame, teacher: Path, weights: Path, tmp_path: Path
) -> None:
    run("student", objectives.load("distillation", TEACHER), minutes=60, epochs=15)
    loading.load(weights, pooling="mean", prefix="query: ").save_pretrained(str(tmp_path / "before"))
    target = vectors(rows["pivot"].tolist(), teacher)
    for column in ("pivot", "text"):
        before, after = (
            ((vectors(rows[column].tolist(), tmp_path / name) - target) ** 2).mean() for name in ("before", "student")
        )
        assert after < before / 2, column


def test_contrast_takes_triplets_before_texts(rows: pd.DataFrame) -> None:
    contrast = objectives.load("contrast")
    assert [*contrast.columns(rows)] == ["anchor", "positive", "negative"]
    alone = contrast.columns(rows[["text"]])
    assert [*alone] == ["text", "same_text"] and alone["text"] == alone["same_text"] == rows["text"].tolist()


@pytest.mark.parametrize("name", ["contrast", "ranking", "alignment"])
def test_a_row_may_lack_a_negative(rows: pd.DataFrame, name: str) -> None:
    rows.loc[2, "negative"] = ""
    table = rows.drop(columns="text") if name == "alignment" else rows
    assert objectives.load(name).columns(table)["negative"][2] == ""


def test_where_each_row_needs_one_it_is_refused(rows: pd.DataFrame) -> None:
    rows.loc[2, "negative"] = ""
    with pytest.raises(UserError, match="^neighbours: rows without a negative; give each one, or take ranking$"):
        objectives.load("neighbours", {"neighbours": 2, "negatives": True}).columns(rows)


@pytest.mark.parametrize("setting", ["margin", "hinge_weight", "hinge_margin", "moments_weight", "variance"])
def test_no_part_of_a_listwise_loss_is_subtracted(setting: str) -> None:
    assert getattr(objectives.load("listwise", {setting: 0}), setting) == 0
    with pytest.raises(ValueError, match=f"{setting}.*greater than or equal to 0"):
        objectives.load("listwise", {setting: -0.1})


def test_no_fewer_neighbours_than_none() -> None:
    with pytest.raises(ValueError, match="neighbours.*greater than or equal to 0"):
        objectives.load("neighbours", {"neighbours": -1})


def test_the_folder_is_the_list() -> None:
    assert {"contrast", "distillation", "vocabulary"} < {*objectives.known()}
    for name in objectives.known():
        objective = objectives.load(name, TEACHER if name == "distillation" else {})
        assert objectives.name_of(objective) == name and (ROOT / objectives.module_of(name)).is_file()
        assert objectives.loaded(objectives.named(objective)) == objective
    assert objectives.load("distillation", TEACHER).references()["teacher"].recipe == "r"
    assert isinstance(objectives.load("contrast").loss(nn.Identity(), pd.DataFrame(), SETTINGS, {}), SimCSELoss)


def test_the_folder_is_read_once_for_the_thousands_of_recipes_that_a_plan_asks() -> None:
    assert objectives.known() is objectives.known()


def test_a_study_that_checks_objectives_waits_for_no_torch() -> None:
    words = "from seedbed.encoders import objectives as o; [o.load(n, {'teacher': {'backbone': 'b', 'recipe': 'r'}} if n[0] == 'd' else {}) for n in o.known()]"
    subprocess.run([sys.executable, "-c", f"{words}; import sys; assert 'torch' not in sys.modules"], check=True)


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("grade", {}, "objective: no 'grade'; did you mean 'graded'?"),
        ("graded", {"scales": 1}, "objective.graded.scales: unknown key; did you mean 'scale'?"),
        ("ranking", {"scale": 0}, "objective.ranking.scale: Input should be greater than 0"),
        ("distillation", {}, "objective.distillation.teacher: Field required"),
    ],
)
def test_a_wrong_objective_is_told_in_one_line(name: str, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as error:
        objectives.load(name, settings)
    assert str(error.value).startswith(told) and "\n" not in str(error.value)


@pytest.mark.parametrize("given", ["contrast", [], {"contrast": {}, "ranking": {}}])
def test_an_objective_of_a_job_is_one_name_with_settings(given: Any) -> None:
    with pytest.raises(UserError, match=r"^objective: .*not one name with its settings"):
        objectives.loaded(given)


def test_data_that_an_objective_cannot_read(run: Callable[..., dict[str, Any]], rows: pd.DataFrame) -> None:
    with pytest.raises(UserError, match=r"graded:.*sentence1, sentence2, score"):
        run("unscored", objectives.load("graded"), rows[["id", "sentence1", "sentence2"]])
    for wrong in ("high", "nan", "inf"):
        with pytest.raises(UserError, match=f"graded: score '{wrong}' of row c is no number"):
            run("words", objectives.load("graded"), rows.assign(score=["1", "2", *[wrong] * 6]))


def test_a_teacher_of_another_width_is_refused(encoder: SentenceTransformer, rows: pd.DataFrame, teacher: Path) -> None:
    encoder.append(loading.Dense(32, 16))
    with pytest.raises(UserError, match=r"distillation.teacher:.*32 dimensions.*16"):
        objectives.load("distillation", TEACHER).loss(encoder, rows, SETTINGS, {"teacher": teacher})


def test_a_checkpoint_has_what_is_trained_and_the_state_of_the_loss_each_once(
    run: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = []
    save = train._Trainer._save_checkpoint

    def look(trainer: Any, *args: Any) -> None:
        save(trainer, *args)
        saved.append({*load_file(Path(trainer.args.output_dir, f"checkpoint-{trainer.state.global_step}", STATE))})

    monkeypatch.setattr(train._Trainer, "_save_checkpoint", look)
    run("queue", Queue(), freeze_word_embeddings=True)
    assert {name for name in saved[0] if not name.startswith("model.")} == {
        "head.weight",
        "head.bias",
        "queue",
        "steps",
    }
    of_encoder = {name.partition("auto_model.")[2] or name for name in saved[0] if name.startswith("model.")}
    assert len(of_encoder) > 10 and not [name for name in of_encoder if "word_embeddings" in name]


@pytest.mark.parametrize("name", ["correlation", "listwise"])
def test_rows_of_a_queue_are_company_for_a_single_row_of_a_batch(name):
    assert [objectives.load(name, {"queue_size": size}).least for size in (5, 0)] == [1, 2]


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"mini_batch": 4}, "mini_batch: this training reads two texts, "),
        ({"part": "adapter", "adapter": "parallel"}, "adapter: an encoder of two texts takes no parallel ones; "),
        ({"part": "head"}, ""),
        ({"part": "adapter"}, ""),
    ],
)
def test_settings_that_an_encoder_of_two_texts_cannot_have_are_told(settings: dict[str, Any], fault: str) -> None:
    found = objectives.load("graded").misfit(Training(pooling="mean", **settings), two_texts=True)
    assert found.startswith(fault) and bool(found) == bool(fault)
