from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from peft import PeftModel
from safetensors.torch import load_file
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    GraniteConfig,
    GraniteForCausalLM,
    TrainingArguments,
)

from seedbed.checkpoints import last_complete
from seedbed.generators.lora import loss
from seedbed.generators.lora import training as subject
from seedbed.generators.lora.data import Example
from seedbed.generators.lora.loss import ByLength, collate, completion_loss
from seedbed.generators.lora.training import CompletionTrainer
from seedbed.generators.settings import Lora
from seedbed.io import UserError, sha256
from tests import trainings

LORA = Lora(rank=2, alpha=4, dropout=0.1, epochs=2, batch_size=4, micro_batch_size=2, learning_rate=0.01)
EXAMPLES = [
    Example([2, *range(10, 10 + prompt)], [*range(60, 60 + completion), 1])
    for prompt, completion in [(3, 2), (9, 5), (1, 8), (6, 1), (4, 4), (12, 3), (2, 2)]
]


def adapted(base: Path, lora: Lora = LORA, **config: object) -> PeftModel:
    """A model whose adapter already does something, so that A has a gradient too."""
    model = subject._adapt(AutoModelForCausalLM.from_pretrained(base, **config), lora)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return model


def gradients(model: PeftModel, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    loss.backward()
    return {name: value.grad.clone() for name, value in model.named_parameters() if value.requires_grad}


def assert_close(found: dict[str, torch.Tensor], wanted: dict[str, torch.Tensor]) -> None:
    assert found.keys() == wanted.keys()
    for name in wanted:
        torch.testing.assert_close(found[name], wanted[name], rtol=1e-4, atol=1e-6)


def run(base: Path, directory: Path, lora: Lora = LORA, examples: list[Example] = EXAMPLES, **options: object) -> dict:
    """With a checkpoint after each step."""
    places = {"output": directory / "adapter", "state": directory / "state"}
    return trainings.train_lora(
        base, examples, lora, **{"name": "tiny", "minutes": 0, "dtype": "float32"} | places | options
    )


@pytest.mark.parametrize("cap", [None, 0.1])
@pytest.mark.parametrize("chunk", [1000, 4])
def test_loss_and_gradients_are_those_of_transformers(
    tiny_generator: Path, monkeypatch: pytest.MonkeyPatch, cap: float | None, chunk: int
) -> None:
    monkeypatch.setattr(loss, "CHUNK", chunk)
    model = adapted(tiny_generator, final_logit_softcapping=cap).eval()
    batch = collate(EXAMPLES)
    wanted = model(**batch).loss
    found = completion_loss(model, batch) / sum(len(one.completion) for one in EXAMPLES)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=0)
    assert_close(gradients(model, found), gradients(model, wanted))


def test_accumulation_totals_over_the_tokens_of_the_whole_step(tiny_generator: Path, tmp_path: Path) -> None:
    model = adapted(tiny_generator, LORA.updated({"dropout": 0.0}))
    before = {name: value.detach().clone() for name, value in model.named_parameters() if value.requires_grad}
    wanted = gradients(model, model(**collate(EXAMPLES)).loss)
    arguments = TrainingArguments(
        output_dir=str(tmp_path),
        optim="sgd",
        learning_rate=1.0,
        max_grad_norm=0,
        max_steps=1,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=4,
        lr_scheduler_type="constant",
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    model.zero_grad()
    CompletionTrainer(model, arguments, EXAMPLES).train()
    assert_close({name: before[name] - model.get_parameter(name).detach() for name in before}, wanted)


def test_train_writes_an_adapter_that_peft_loads(tiny_generator: Path, tmp_path: Path) -> None:
    manifest = run(tiny_generator, tmp_path, about={"polarity": "positive"})
    adapter = tmp_path / "adapter"
    assert manifest == json.loads((adapter / "seedbed.json").read_text())
    assert manifest["files"] == {name: sha256(adapter / name) for name in manifest["files"]}
    assert manifest["examples"] == {"given": 7, "used": 7, "too_long": 0}
    assert manifest["polarity"] == "positive"
    assert manifest["steps"] == 4
    assert len(manifest["losses"]) == 2
    assert manifest["losses"][1] < manifest["losses"][0]
    text = (adapter / "seedbed.json").read_text() + (adapter / "adapter_config.json").read_text()
    assert str(tmp_path) not in text
    assert str(tiny_generator) not in text
    assert json.loads((adapter / "adapter_config.json").read_text())["base_model_name_or_path"] == "tiny"
    assert not any((tmp_path / "state").iterdir())

    base = AutoModelForCausalLM.from_pretrained(tiny_generator)
    ids = torch.tensor([EXAMPLES[0].prompt])
    plain = base(ids).logits
    model = PeftModel.from_pretrained(base, adapter)
    assert not torch.equal(model(ids).logits, plain)
    assert not any("lm_head" in name or "embed" in name for name in load_file(adapter / "adapter_model.safetensors"))


def test_losses_are_nats_per_completion_token(tiny_generator: Path, tmp_path: Path) -> None:
    """At a rate that moves nothing: steps of four examples and of three, with other numbers of tokens."""
    base = AutoModelForCausalLM.from_pretrained(tiny_generator)
    with torch.no_grad():
        tokens = [len(one.completion) for one in EXAMPLES]
        nats = [base(**collate([one])).loss.item() * count for one, count in zip(EXAMPLES, tokens, strict=True)]
    found = run(tiny_generator, tmp_path, LORA.updated({"learning_rate": 1e-6, "dropout": 0.0}))["losses"]
    assert found == pytest.approx([sum(nats) / sum(tokens)] * 2, rel=1e-4)


def test_same_bytes_twice(tiny_generator: Path, tmp_path: Path) -> None:
    for directory in ("a", "b"):
        run(tiny_generator, tmp_path / directory)
    assert sha256(tmp_path / "a" / "adapter") == sha256(tmp_path / "b" / "adapter")


def test_resume_equals_unbroken(tiny_generator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tiny_generator, tmp_path / "whole", minutes=60)
    steps: list[int] = []
    original = CompletionTrainer.compute_loss

    def killed(trainer: CompletionTrainer, *args: object, **options: object) -> torch.Tensor:
        steps.append(trainer.state.global_step)
        if len(steps) == 7:  # the last step, in the middle of the second epoch
            raise KeyboardInterrupt
        return original(trainer, *args, **options)

    monkeypatch.setattr(CompletionTrainer, "compute_loss", killed)
    with pytest.raises(KeyboardInterrupt):
        run(tiny_generator, tmp_path / "broken")
    assert not (tmp_path / "broken" / "adapter").exists()
    assert run(tiny_generator, tmp_path / "broken") == whole
    assert steps[7:] == [3, 3]
    assert sha256(tmp_path / "whole" / "adapter") == sha256(tmp_path / "broken" / "adapter")


def test_a_checkpoint_cut_short_is_not_used(tmp_path: Path) -> None:
    states = {
        "checkpoint-9": '{"epoch": 1}',
        "checkpoint-10": '{"epoch": 1}',
        "checkpoint-12": "",
        "checkpoint-13": '{"ep',
    }
    for name, state in states.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_text(state)
    (tmp_path / "checkpoint-11").mkdir()
    assert last_complete(tmp_path) == str(tmp_path / "checkpoint-10")
    assert last_complete(tmp_path / "none") is None


def test_initial_a_depends_on_the_seed_alone(tiny_generator: Path) -> None:
    def initial(seed: int) -> dict[str, torch.Tensor]:
        model = subject._adapt(AutoModelForCausalLM.from_pretrained(tiny_generator), LORA.updated({"seed": seed}))
        return {name: value.detach() for name, value in model.named_parameters() if "lora_A" in name}

    first = initial(1)
    torch.rand(17)
    second, other = initial(1), initial(2)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)


def test_a_bar_shows_loss_rate_and_time_left(
    tiny_generator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (loss,) = run(tiny_generator, tmp_path, LORA.updated({"epochs": 1, "batch_size": 8}))["losses"]
    said = capsys.readouterr().err
    assert re.search(rf" 1/1 \[\d+:\d\d<\d+:\d\d, .*(it/s|s/it), loss={loss:.4f}\]", said), said
    assert "{'loss'" not in said, "the trainer's own lines stand between two bars"


def test_the_adapter_is_float32_on_a_bfloat16_base(tiny_generator: Path, tmp_path: Path) -> None:
    run(tiny_generator, tmp_path, dtype="bfloat16")
    weights = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    assert {value.dtype for value in weights.values()} == {torch.float32}


def test_long_examples_are_dropped_and_counted(tiny_generator: Path, tmp_path: Path) -> None:
    manifest = run(tiny_generator, tmp_path, LORA.updated({"max_length": 12}))
    assert manifest["examples"] == {"given": 7, "used": 5, "too_long": 2}
    with pytest.raises(UserError, match=r"1 examples.*max_length"):
        run(tiny_generator, tmp_path, LORA.updated({"max_length": 9}), [EXAMPLES[1]])
    with pytest.raises(UserError, match="no training examples"):
        run(tiny_generator, tmp_path, examples=[])


def test_a_loss_that_is_not_finite_stops(tiny_generator: Path, tmp_path: Path) -> None:
    base = AutoModelForCausalLM.from_pretrained(tiny_generator)
    torch.nn.init.constant_(base.model.norm.weight, torch.nan)
    base.save_pretrained(tmp_path / "base")
    with pytest.raises(UserError, match=r"loss is nan.*step 1 of.*learning_rate"):
        run(tmp_path / "base", tmp_path)
    assert not (tmp_path / "adapter").exists()


def test_bad_settings_say_what_is_wrong(tiny_generator: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"batch_size: 5.*micro_batch_size \(2\)"):
        run(tiny_generator, tmp_path, LORA.updated({"batch_size": 5}))
    with pytest.raises(UserError, match=r"no config\.json"):
        run(tmp_path, tmp_path)
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="nf4 needs an NVIDIA GPU"):
            run(tiny_generator, tmp_path, LORA.updated({"quantization": "nf4"}))


def test_an_adapter_without_effect_is_refused(tiny_generator: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"base and adapter.*same outputs"):
        run(tiny_generator, tmp_path, LORA.updated({"learning_rate": 1e-30}))


def test_a_model_that_scales_its_logits_is_refused(tmp_path: Path) -> None:
    config = GraniteConfig(
        vocab_size=300,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        logits_scaling=8.0,
        initializer_range=0.5,
    )
    GraniteForCausalLM(config).save_pretrained(tmp_path / "granite")
    with pytest.raises(UserError, match=r"granite: not supported.*head"):
        run(tmp_path / "granite", tmp_path)


def test_a_multimodal_checkpoint_is_adapted_in_its_language_model_alone(tiny_generator: Path, tmp_path: Path) -> None:
    vision = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 28,
        "patch_size": 14,
    }
    text = AutoConfig.from_pretrained(tiny_generator).to_dict()
    config = Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=4)
    Gemma3ForConditionalGeneration(config).save_pretrained(tmp_path / "base")
    run(tmp_path / "base", tmp_path)
    names = load_file(tmp_path / "adapter" / "adapter_model.safetensors").keys()
    assert len(names) == 2 * 7 * 2
    assert all(name.startswith("base_model.model.model.language_model.layers.") for name in names)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=80), st.integers(1, 7), st.integers(0, 3))
def test_by_length_is_an_order_that_only_the_seed_and_epoch_decide(lengths: list[int], size: int, epoch: int) -> None:
    order = ByLength(lengths, size, seed=1)
    order.set_epoch(epoch)
    assert sorted(order) == list(range(len(lengths)))
    assert list(order) == list(order)
    assert len(order) == len(lengths)


def test_the_trainer_is_told_the_settings(tmp_path: Path) -> None:
    settings = {"epochs": 2, "learning_rate": 0.25, "schedule": "cosine", "max_grad_norm": 0.75, "seed": 9}
    told = subject.training_arguments(Lora(batch_size=6, micro_batch_size=3, **settings), "float32")(str(tmp_path))
    assert [told.num_train_epochs, told.learning_rate, told.lr_scheduler_type, told.max_grad_norm, told.seed] == [
        *settings.values()
    ]
    assert (told.per_device_train_batch_size, told.gradient_accumulation_steps, told.warmup_steps) == (3, 2, 0)


def test_by_length_pads_little_and_changes_with_the_epoch() -> None:
    lengths = [index * 37 % 200 for index in range(400)]
    order = ByLength(lengths, 8, seed=1)
    first = list(order)
    runs = [first[start : start + 8] for start in range(0, 400, 8)]
    assert max(max(lengths[i] for i in run) - min(lengths[i] for i in run) for run in runs) <= 4
    totals = [sum(lengths[i] for i in run) for run in runs]
    assert totals != sorted(totals)
    assert totals != sorted(totals, reverse=True)
    order.set_epoch(1)
    assert list(order) != first
