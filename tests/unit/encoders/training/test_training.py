"""Training on a tiny model: the same bytes twice, resumption, errors, and what is written."""

from __future__ import annotations

import json
import os
import pickle
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer

from scripts import train_encoder
from seedbed.checkpoints import last_complete
from seedbed.encoders import objectives
from seedbed.encoders.losses import contrastive
from seedbed.encoders.models import loading
from seedbed.encoders.settings import LEARNT, Training
from seedbed.encoders.training import train
from seedbed.io import UserError, read_json, sha256, write_table
from tests import trainings
from tests.programs import call, signalled

SETTINGS = Training(epochs=2, batch_size=3, learning_rate=1e-3, max_length=16, precision="float32")
"""Eight rows: three batches (3, 3, 2) an epoch, six steps."""


@pytest.fixture
def run(weights: Path, triplets: pd.DataFrame, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Train into `tmp_path / name`, with changes to the defaults; a checkpoint after each step."""

    def run(name: str, texts: pd.DataFrame | None = triplets, **changes: Any) -> dict[str, Any]:
        arguments = {"objective": objectives.load("contrast"), "prefix": "query: ", "seed": 1} | changes
        settings = SETTINGS.updated(arguments.pop("settings", {}))
        start = arguments.pop("weights", weights)
        places = {"output": tmp_path / name, "state": tmp_path / "state"}
        return trainings.train(start, texts, settings, **{"minutes": 0} | arguments | places)

    return run


def test_the_same_seed_gives_the_same_bytes(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    assert run("one") == run("two")
    assert sha256(tmp_path / "one") == sha256(tmp_path / "two")
    run("other", seed=2)
    # Not the folder: its card names the seed.
    one, other = (sha256(tmp_path / name / "model.safetensors") for name in ("one", "other"))
    assert one != other


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    """The anchors' token ids of every step that is run."""
    seen: list[torch.Tensor] = []
    compute_loss = train._Trainer.compute_loss

    def spy(trainer: Any, model: Any, inputs: dict[str, Any], **kwargs: Any) -> torch.Tensor:
        seen.append(inputs["anchor_input_ids"])
        return compute_loss(trainer, model, inputs, **kwargs)

    monkeypatch.setattr(train._Trainer, "compute_loss", spy)
    return seen


def test_the_loss_is_given_anchors_positives_and_negatives_in_this_order(
    run: Callable[..., dict[str, Any]], weights: Path, triplets: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[tuple[str, ...]] = []
    tokenizer = loading.load(weights, pooling="mean").tokenizer
    forward = contrastive.SimCSELoss.forward

    def read(ids: Any) -> list[str]:
        return tokenizer.batch_decode(ids, skip_special_tokens=True)

    def spy(loss: Any, features: Any, labels: Any = None) -> torch.Tensor:
        rows.extend(zip(*(read(column["input_ids"]) for column in features), strict=True))
        return forward(loss, features, labels)

    monkeypatch.setattr(contrastive.SimCSELoss, "forward", spy)
    run("order", prefix="", settings={"epochs": 1, "max_length": 64})
    columns = [read(tokenizer(triplets[name].tolist())["input_ids"]) for name in ("anchor", "positive", "negative")]
    assert sorted(rows) == sorted(zip(*columns, strict=True))


def test_the_trainer_is_told_the_settings_and_linear_decay(tmp_path: Path) -> None:
    settings = Training(epochs=2, batch_size=6, learning_rate=0.25, weight_decay=0.5)
    told = train._arguments(objectives.load("contrast"), settings, 12, {}, 1, tmp_path)
    assert (told.num_train_epochs, told.per_device_train_batch_size) == (2, 6)
    assert (told.learning_rate, told.weight_decay, told.lr_scheduler_type, told.warmup_steps) == (
        0.25,
        0.5,
        "linear",
        0,
    )
    assert (told.max_grad_norm, told.gradient_accumulation_steps) == (1, 1)


def test_neighbouring_seeds_share_no_batches(run: Callable[..., dict[str, Any]], batches: list[torch.Tensor]) -> None:
    """The trainer's own rule would make the second epoch of one the first of the other."""
    run("one", seed=1)
    run("two", seed=2)
    second_of_one, first_of_two = ([batch.tolist() for batch in part] for part in (batches[3:6], batches[6:9]))
    assert second_of_one != first_of_two


def test_texts_are_truncated_in_training(run: Callable[..., dict[str, Any]], batches: list[torch.Tensor]) -> None:
    run("short", settings={"max_length": 5}, prefix="")
    assert {batch.shape[1] for batch in batches} == {5}


@pytest.mark.parametrize("prompt", ["query: " * 8, {"hau": "query: " * 8}], ids=["for all", "by language"])
def test_a_prompt_that_leaves_nothing_of_a_text_is_refused(
    run: Callable[..., dict[str, Any]], tmp_path: Path, prompt: Any
) -> None:
    with pytest.raises(UserError, match=r"^training.max_length: the prompt 'query: .* takes all of 16 tokens"):
        run("encoder", prefix=prompt, languages={"": "hau"})
    assert not (tmp_path / "encoder").exists()


def test_result_and_loss_curve(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    result = run("long", settings={"epochs": 10})
    assert (result["steps"], result["examples"], len(result["loss"])) == (30, 8, 20)
    assert result["final_loss"] == result["loss"][-1] < result["loss"][0]
    assert not list((tmp_path / "state").iterdir()), "checkpoints are left behind"


@pytest.fixture
def with_head(make_weights: Callable[..., Path]) -> Path:
    return make_weights("bert", head=True)


@pytest.mark.parametrize(
    ("stop", "changes"),
    [
        (2, {}),
        (3, {}),
        (4, {}),
        (4, {"pooling": "last_two_average"}),
        (4, {"pooling": "cls_mlp"}),
        (4, {"pooling": "cls_mlp_train"}),
        (4, {"mlm_weight": 0.1}),
    ],
)
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    run: Callable[..., dict[str, Any]],
    batches: list[torch.Tensor],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    with_head: Path,
    stop: int,
    changes: dict[str, Any],
) -> None:
    """Killed within the first epoch, between the two and within the second, with a half-written checkpoint besides."""
    start = {"settings": changes, "weights": with_head}
    unbroken = run("unbroken", **start, minutes=60)

    def save_and_die(trainer: Any, *args: Any) -> None:
        save(trainer, *args)
        if trainer.state.global_step == stop:
            (Path(trainer.args.output_dir) / f"checkpoint-{stop + 1}").mkdir()
            raise KeyboardInterrupt

    save = train._Trainer._save_checkpoint
    with monkeypatch.context() as patch:
        patch.setattr(train._Trainer, "_save_checkpoint", save_and_die)
        with pytest.raises(KeyboardInterrupt):
            run("resumed", **start)
    assert not (tmp_path / "resumed").exists()

    del batches[:]
    assert run("resumed", **start) == unbroken
    assert len(batches) == 6 - stop, "it began anew"
    assert sha256(tmp_path / "resumed") == sha256(tmp_path / "unbroken")


def kill(*args: Any, **kwargs: Any) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_leaves_no_half_file_and_the_same_command_goes_on(
    weights: Path, triplets: pd.DataFrame, tmp_path: Path
) -> None:
    write_table(triplets.rename_axis("id").reset_index(), tmp_path / "texts.tsv")
    settings = SETTINGS.dump()

    def words(name: str) -> list[str]:
        return [
            "--weights", str(weights), "--objective", '{"contrast": {}}', "--texts", str(tmp_path / "texts.tsv"), "--seed", "1",
            "--training", settings, "--state", str(tmp_path / "state" / name), "--output", str(tmp_path / "out" / name),
            "--checkpoint-minutes", "0",
        ]  # fmt: skip

    saved = "seedbed.encoders.training.train:_Trainer._save_checkpoint"
    assert signalled(signal.SIGINT, "train_encoder", words("stopped"), after=saved) in (1, -signal.SIGINT)
    assert not (tmp_path / "out").exists() or not [*(tmp_path / "out").iterdir()]
    (left,) = (tmp_path / "state" / "stopped").iterdir()
    assert read_json(left / "job.json")["output"] == str(tmp_path / "out" / "stopped" / "seedbed.json")
    assert last_complete(*(folder for folder in left.iterdir() if folder.is_dir())), "nothing to go on from"

    for name in ("stopped", "whole"):
        call(train_encoder, words(name))
    assert sha256(tmp_path / "out" / "stopped") == sha256(tmp_path / "out" / "whole")
    assert not [*(tmp_path / "state" / "stopped").iterdir()]


def test_other_settings_do_not_resume(
    run: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(train, "save", kill)
        with pytest.raises(KeyboardInterrupt):
            run("killed")
    (left,) = (tmp_path / "state").iterdir()
    run("other", settings={"temperature": 0.1})
    assert list((tmp_path / "state").iterdir()) == [left]


@pytest.mark.parametrize("file", ["optimizer.pt", "scheduler.pt", "rng_state.pth"])
def test_a_pickle_planted_in_a_checkpoint_is_not_run(
    run: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """The Trainer's own files are pickles of tensors and numbers, which it reads with weights_only."""
    save = train._Trainer._save_checkpoint

    def save_and_die(*args: Any, **kwargs: Any) -> None:
        save(*args, **kwargs)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train._Trainer, "_save_checkpoint", save_and_die)
        with pytest.raises(KeyboardInterrupt):
            run("killed")
    (planted,) = (tmp_path / "state").rglob(file)
    torch.save(Evil(tmp_path / "run"), planted)
    with pytest.raises(pickle.UnpicklingError):
        run("killed")
    assert not (tmp_path / "run").exists()


class Evil:
    """A pickle that makes a directory when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_loss_that_is_not_finite_stops_at_once(
    run: Callable[..., dict[str, Any]], weights: Path, tmp_path: Path
) -> None:
    model = loading.load(weights, pooling="mean")
    model[0].auto_model.get_input_embeddings().weight.data.fill_(torch.nan)
    model.save_pretrained(str(tmp_path / "broken"))
    with pytest.raises(UserError, match=r"loss is nan.*step 1 of 6.*learning_rate"):
        run("nothing", weights=tmp_path / "broken")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [(1, {}, "contrast: 1 rows"), (None, {}, "contrast: 0 rows"), (8, {"batch_size": 1}, "batch_size")],
)
def test_nothing_to_contrast(
    run: Callable[..., dict[str, Any]], triplets: pd.DataFrame, rows: int | None, settings: Any, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        run("nothing", None if rows is None else triplets[:rows], settings=settings)


@pytest.mark.parametrize("batches", ["mixed", "sets", {"few": 1}])
def test_so_many_steps_take_the_place_of_epochs(
    run: Callable[..., dict[str, Any]], triplets: pd.DataFrame, batches: Any
) -> None:
    """Eight rows begin again after an epoch."""
    ids = [f"{'few' if row < 3 else 'many'}:{row}" for row in range(len(triplets))]
    result = run("encoder", triplets.assign(id=ids), settings={"steps": 9, "epochs": 1, "batches": batches})
    assert (result["steps"], len(result["loss"])) == (9, 9)


@pytest.mark.parametrize(("rows", "steps"), [(8, 3), (7, 2), (6, 2), (2, 1)])
def test_a_lone_last_row_is_left_out(
    run: Callable[..., dict[str, Any]], triplets: pd.DataFrame, rows: int, steps: int
) -> None:
    assert run("encoder", triplets[:rows], settings={"epochs": 1})["steps"] == steps


def test_prefix_is_trained_as_if_it_stood_in_the_texts(
    run: Callable[..., dict[str, Any]], triplets: pd.DataFrame, tmp_path: Path
) -> None:
    run("prefixed")
    run("written", "query: " + triplets, prefix="")
    run("plain", prefix="")
    prefixed, written, plain = (
        sha256(tmp_path / name / "model.safetensors") for name in ("prefixed", "written", "plain")
    )
    assert prefixed == written != plain


def test_base_is_saved_untrained(run: Callable[..., dict[str, Any]], weights: Path, tmp_path: Path) -> None:
    assert run("base", None, objective=None) == {"steps": 0, "examples": 0, "loss": [], "final_loss": None}
    before, after = load_file(weights / "model.safetensors"), load_file(tmp_path / "base" / "model.safetensors")
    assert all(torch.equal(after[name], before[name]) for name in after)


def test_an_encoder_with_too_few_rows_stays_untrained_if_it_may(
    run: Callable[..., dict[str, Any]], triplets: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("base", None, objective=None)
    for rows in (0, 1):
        result = run("few", triplets[:rows], settings={"allow_untrained": True})
        assert (result["steps"], result["examples"]) == (0, 0)
        assert f"warning: contrast: {rows} rows to train on; at least 2" in capsys.readouterr().err
        assert sha256(tmp_path / "few/model.safetensors") == sha256(tmp_path / "base/model.safetensors")
        assert read_json(tmp_path / "few/seedbed.json")["training"]["examples"] == 0
    assert run("two", triplets[:2], settings={"allow_untrained": True})["examples"] == 2


@pytest.mark.parametrize("frozen", [True, False])
def test_word_embeddings_are_frozen_on_demand(
    run: Callable[..., dict[str, Any]], weights: Path, tmp_path: Path, frozen: bool
) -> None:
    run("frozen", settings={"freeze_word_embeddings": frozen})
    before, after = load_file(weights / "model.safetensors"), load_file(tmp_path / "frozen" / "model.safetensors")
    unchanged = {name for name in after if torch.equal(after[name], before[name])}
    assert ("embeddings.word_embeddings.weight" in unchanged) is frozen
    assert len(unchanged) <= 1


def test_unsupervised_pairs_differ_by_dropout_alone(
    run: Callable[..., dict[str, Any]], sentences: list[str], tmp_path: Path
) -> None:
    result = run("unsupervised", pd.DataFrame({"text": sentences}), settings={"batch_size": 8})
    assert result["steps"] == 2
    assert 0 < result["loss"][0] < np.log(8)


@pytest.mark.parametrize("options", [{}, {"mlm_weight": 0.1}, {"pooling": "cls_mlp"}])
def test_bfloat16_trains_and_saves_float32(
    run: Callable[..., dict[str, Any]], with_head: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    run("half", settings={"precision": "bfloat16"} | options, weights=with_head)
    assert {tensor.dtype for tensor in load_file(tmp_path / "half" / "model.safetensors").values()} == {torch.float32}


def test_saved_encoder_reads_its_backbones_length_and_keeps_the_prefix(
    run: Callable[..., dict[str, Any]], weights: Path, tmp_path: Path
) -> None:
    run("encoder")
    encoder = SentenceTransformer(str(tmp_path / "encoder"))
    assert encoder.max_seq_length == loading.load(weights, pooling="mean").max_seq_length
    assert encoder.prompts["query"] == encoder.prompts["document"] == "query: "
    assert json.loads((tmp_path / "encoder" / "tokenizer.json").read_text())["truncation"] is None
    assert (tmp_path / "encoder" / "model.safetensors").stat().st_mode & 0o777 == 0o644


def test_a_failed_run_leaves_the_old_output(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    run("encoder", None, objective=None)
    digest = sha256(tmp_path / "encoder")
    with pytest.raises(KeyboardInterrupt):
        run("encoder", None, objective=None, tell=kill)
    assert sha256(tmp_path / "encoder") == digest
    assert [path.name for path in tmp_path.iterdir()] == ["encoder"]


def test_masked_language_modelling_without_a_weight_changes_nothing(
    run: Callable[..., dict[str, Any]], with_head: Path, tmp_path: Path
) -> None:
    results = [run("plain", weights=with_head), run("zero", settings={"mlm_probability": 0.5}, weights=with_head)]
    assert results[0] == results[1]
    assert sha256(tmp_path / "plain" / "model.safetensors") == sha256(tmp_path / "zero" / "model.safetensors")


def test_masked_language_modelling_trains_the_same_bytes_twice_and_leaves_no_head(
    run: Callable[..., dict[str, Any]], with_head: Path, tmp_path: Path
) -> None:
    for name, weight in (("plain", 0.0), ("one", 0.1), ("two", 0.1)):
        run(name, settings={"mlm_weight": weight}, weights=with_head)
    plain, one, two = (tmp_path / name / "model.safetensors" for name in ("plain", "one", "two"))
    assert sha256(one) == sha256(two) != sha256(plain)
    assert set(load_file(one)) == set(load_file(plain))
    names = [{str(path.relative_to(file.parent)) for path in file.parent.rglob("*")} for file in (one, plain)]
    assert names[0] == names[1]


def test_masked_language_modelling_needs_a_head(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no head for masked language modelling"):
        run("headless", settings={"mlm_weight": 0.1})
    assert not (tmp_path / "headless").exists()


@pytest.mark.parametrize("frozen", [True, False])
def test_word_embeddings_are_frozen_under_their_other_name_too(
    run: Callable[..., dict[str, Any]], with_head: Path, tmp_path: Path, frozen: bool
) -> None:
    run("frozen", settings={"mlm_weight": 0.1, "freeze_word_embeddings": frozen}, weights=with_head)
    name = "embeddings.word_embeddings.weight"
    before = load_file(with_head / "model.safetensors")[f"bert.{name}"]
    assert torch.equal(load_file(tmp_path / "frozen" / "model.safetensors")[name], before) is frozen


def test_gradients_of_encoder_and_head_are_clipped_together(
    run: Callable[..., dict[str, Any]], with_head: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    norms = []

    def measure(trainer: Any, model: Any) -> torch.Tensor:
        gradients = [p.grad.flatten() for p in trainer.loss.parameters() if p.grad is not None]
        before, given = torch.cat(gradients).norm().item(), clip(trainer, model)
        norms.append((before, given.item(), torch.cat([g.flatten() for g in gradients]).norm().item()))
        return given

    clip = train._Trainer._clip_grad_norm
    monkeypatch.setattr(train._Trainer, "_clip_grad_norm", measure)
    run("clipped", settings={"mlm_weight": 10.0}, weights=with_head)
    assert len(norms) == 6
    for before, given, after in norms:
        assert given == pytest.approx(before, rel=1e-4)
        assert after == pytest.approx(min(before, 1), rel=1e-4)


def test_dense_layer_is_trained_from_the_seed_and_saved(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("two", 1), ("other", 2)):
        run(name, settings={"pooling": "cls_mlp"}, seed=seed)
    assert sha256(tmp_path / "one") == sha256(tmp_path / "two")
    one, other = (loading.open_encoder(tmp_path / name)[2].linear.weight for name in ("one", "other"))
    assert not torch.equal(one, other)
    fresh = loading.load(tmp_path / "one", pooling="cls_mlp", seed=1)[2].linear.weight
    assert 0 < (one - fresh).abs().max() < 0.1, "not trained, or not from these weights"


def test_dense_layer_of_training_alone_is_not_saved(
    run: Callable[..., dict[str, Any]], sentences: list[str], tmp_path: Path
) -> None:
    for pooling in ("cls_mlp", "cls_mlp_train"):
        run(pooling, settings={"pooling": pooling})
    both, one = (tmp_path / name for name in ("cls_mlp", "cls_mlp_train"))
    assert sha256(both / "model.safetensors") == sha256(one / "model.safetensors")
    assert {path.name for path in both.iterdir()} - {path.name for path in one.iterdir()} == {"2_Dense"}
    encoder = loading.open_encoder(one)
    assert len(encoder) == 2
    expected = loading.load(one, pooling="cls", prefix="query: ").encode(sentences)
    np.testing.assert_array_equal(encoder.encode(sentences), expected)


def test_a_base_encoder_has_no_random_layer(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="pooling cls_mlp would be"):
        run("base", None, objective=None, settings={"pooling": "cls_mlp"})
    run("base", None, objective=None, settings={"pooling": "cls_mlp_train"})
    assert len(loading.open_encoder(tmp_path / "base")) == 2


def test_unsupervised_training_without_dropout_is_told_and_dropout_can_be_given(
    run: Callable[..., dict[str, Any]], make_weights: Callable[..., Path], tmp_path: Path, caplog
) -> None:
    """mmBERT's config has none: an anchor and its positive are the same vector."""
    texts = pd.DataFrame({"text": [f"Yara suna wasa {n}" for n in range(6)]})
    still = {"weights": make_weights("modernbert")}
    assert run("still", texts, **still)["dropout"] == 0
    assert "has no dropout" in caplog.text and "training.dropout" in caplog.text
    caplog.clear()
    assert run("noisy", texts, **still, settings={"dropout": 0.1})["dropout"] == 0.1
    assert run("bert", texts)["dropout"] == 0.1 and "has no" not in caplog.text
    states = [load_file(tmp_path / name / "model.safetensors") for name in ("still", "noisy")]
    assert any(not torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert "dropout" not in run("supervised", weights=still["weights"])


def test_a_given_dropout_reaches_every_layer(make_weights: Callable[..., Path]) -> None:
    encoder = loading.load(make_weights("modernbert"), pooling="mean", dropout=0.1)
    assert set(loading.dropouts(encoder[0].auto_model.config).values()) == {0.1}
    encoder.train()
    words = encoder.tokenize(["Yara suna wasa a filin makaranta."] * 2)
    one, two = encoder(words)["sentence_embedding"]
    assert not torch.allclose(one, two, atol=1e-4)


class TestProgram:
    @pytest.fixture
    def output(self, weights: Path, triplets: pd.DataFrame, tmp_path: Path) -> Path:
        write_table(triplets.rename_axis("id").reset_index(), tmp_path / "texts.tsv")
        about = {
            "language": "hau",
            "backbone": "tiny",
            "base_model": "someone/tiny",
            "backbone_licence": "mit",
            "recipe": "xllora",
            "method": "xllora",
            "data": [
                {"name": "anchors", "origin": [{"kind": "file", "name": "a corpus | a year"}], "licence": "cc-by-4.0"}
            ],
        }
        call(train_encoder, [
            "--weights", str(weights), "--objective", '{"contrast": {}}', "--texts", str(tmp_path / "texts.tsv"),
            "--training", SETTINGS.dump(), "--seed", "7", "--about", json.dumps(about),
            "--state", str(tmp_path / "state"), "--output", str(tmp_path / "out" / "7"), "--rows", "7",
        ])  # fmt: skip
        return tmp_path / "out" / "7"

    def test_manifest_names_every_file(self, output: Path) -> None:
        manifest = read_json(output / "seedbed.json")
        there = {str(path.relative_to(output)) for path in output.rglob("*") if path.is_file()}
        assert set(manifest) == {"about", "training", "versions", "files"}
        assert set(manifest["files"]) == there - {"seedbed.json"}
        assert all(sha256(output / name) == digest for name, digest in manifest["files"].items())
        assert manifest["about"]["method"] == "xllora" and manifest["about"]["seed"] == 7
        assert manifest["training"]["steps"] == 4 and manifest["training"]["examples"] == 7
        assert manifest["training"]["batch_size"] == 3
        assert manifest["training"]["objective"] == {"contrast": {"cutoff": 0.0}}
        assert set(manifest["versions"]) == {"torch", "transformers", "sentence-transformers", "tokenizers"}

    def test_card(self, output: Path, sentences: list[str]) -> None:
        card = (output / "README.md").read_text()
        front_matter = yaml.safe_load(card.split("---")[1])
        assert front_matter["language"] == "hau"
        assert front_matter["license"] == "mit"
        assert front_matter["base_model"] == "someone/tiny"
        assert front_matter["library_name"] == "sentence-transformers"
        assert {"seedbed", "xllora"} <= set(front_matter["tags"])
        assert "# tiny xllora hau" in card
        assert "| seed | 7 |" in card and "| prompt before a text | none |" in card
        assert "| objective | contrast cutoff 0 |" in card and "| temperature |" in card
        assert r"| anchors | file a corpus \| a year | cc-by-4.0 |" in card
        assert not any(sentence in card for sentence in sentences)

    def test_nothing_tells_where_or_when_it_was_made(self, output: Path, weights: Path) -> None:
        for path in output.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                assert str(output.parent).encode() not in content, path
                assert str(weights).encode() not in content, path

    def test_no_other_file_is_left(self, output: Path) -> None:
        assert [path.name for path in output.parent.iterdir()] == ["7"]

    def test_a_base_encoder_claims_no_training(self, weights: Path, tmp_path: Path) -> None:
        call(train_encoder, [
            "--weights", str(weights), "--training", '{"pooling": "mean"}', "--seed", "0", "--about", '{"summary": "As it is; not trained."}',
            "--state", str(tmp_path / "state"), "--output", str(tmp_path / "base"),
        ])  # fmt: skip
        card = (tmp_path / "base" / "README.md").read_text()
        assert "not trained" in card and "learning_rate" not in card
        SentenceTransformer(str(tmp_path / "base"))

    @pytest.mark.parametrize("about", ["[]", "{"])
    def test_about_is_a_json_object(self, about: str) -> None:
        with pytest.raises(UserError, match="^--about: "):
            call(train_encoder, ["--about", about])


@pytest.mark.parametrize("part", ["adapter", "head"])
def test_a_part_is_trained_and_the_rest_stays(
    run: Callable[..., dict[str, Any]], weights: Path, tmp_path: Path, part: str
) -> None:
    run("part", settings={"part": part, "pooling": "cls_mlp", "rank": 2, "epochs": 4, "learning_rate": 1e-2})
    before, after = load_file(weights / "model.safetensors"), load_file(tmp_path / "part" / "model.safetensors")
    changed = {name for name in after if not torch.equal(after[name], before[name])}
    linear = {name for name in after if name.endswith("weight") and ".layer." in name and "Norm" not in name}
    assert changed == (linear if part == "adapter" else set())
    for name in changed:
        assert np.linalg.matrix_rank((after[name] - before[name]).numpy(), tol=1e-6) == 2
    fresh = loading.load(weights, pooling="cls_mlp", seed=1)[-1].linear.weight
    assert not torch.equal(SentenceTransformer(str(tmp_path / "part"), local_files_only=True)[-1].linear.weight, fresh)


@pytest.mark.parametrize("part", ["adapter", "head"])
def test_a_part_goes_on_where_it_was_killed(
    run: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    settings = {"part": part, "pooling": "cls_mlp", "rank": 2}
    unbroken = run("unbroken", settings=settings)
    save = train._Trainer._save_checkpoint

    def save_and_die(trainer: Any, *args: Any) -> None:
        save(trainer, *args)
        if trainer.state.global_step == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train._Trainer, "_save_checkpoint", save_and_die)
        with pytest.raises(KeyboardInterrupt):
            run("resumed", settings=settings)
    assert run("resumed", settings=settings) == unbroken
    assert sha256(tmp_path / "resumed") == sha256(tmp_path / "unbroken")


def test_a_head_that_is_not_there_is_told(run: Callable[..., dict[str, Any]]) -> None:
    with pytest.raises(UserError, match=r"training.part: head.*mean.*take cls_mlp"):
        run("none", settings={"part": "head", "pooling": "mean"})


@pytest.mark.parametrize("pooling", LEARNT)
def test_adapters_alone_train_no_pooling(run: Callable[..., dict[str, Any]], pooling: str) -> None:
    with pytest.raises(UserError, match=rf"^pooling {pooling} has new weights.*part all$"):
        run("none", settings={"part": "adapter", "adapter": "parallel", "pooling": pooling, "layers": 2})


def test_what_masks_no_words_is_refused_their_weight(run: Callable[..., dict[str, Any]]) -> None:
    with pytest.raises(UserError, match=r"^training.mlm_weight: ranking.*train by contrast$"):
        run("none", objective=objectives.load("ranking"), settings={"mlm_weight": 0.1})


@pytest.mark.parametrize(
    ("given", "unused"),
    [
        ({}, {"layers", "mlm_probability", "adapter", "rank", "reduction", "scaling"}),
        ({"steps": 4}, {"epochs", "layers", "mlm_probability", "adapter", "rank", "reduction", "scaling"}),
        (
            {"part": "adapter", "pooling": "last_average", "mlm_weight": 0.1},
            {"reduction", "scaling", "freeze_word_embeddings"},
        ),
        (
            {"part": "adapter", "adapter": "parallel"},
            {"layers", "mlm_probability", "rank", "freeze_word_embeddings"},
        ),
    ],
)
def test_a_card_lists_no_setting_that_another_one_switches_off(given, unused):
    assert {*Training.model_fields} - {*Training(**given).applied()} == unused


@pytest.mark.parametrize(("name", "tempered"), [("contrast", True), ("alignment", True), ("ranking", False)])
def test_a_card_lists_a_temperature_if_the_loss_has_it(name, tempered):
    found = train._settings(Training(), objectives.load(name))
    assert [*found["objective"]] == [name] and ("temperature" in found) == tempered
