"""Training of one adapter of a language model, with the output head only where a token is learnt.

A generator's head is large (262k words for Gemma 3, more weights than the 270M model's body) and most tokens of an
example are prompt, which carries no loss. So the body runs on whole sequences, the head on completions alone.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import random
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict, prepare_model_for_kbit_training
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.utils.data import DataLoader, Sampler
from transformers import BitsAndBytesConfig, PreTrainedModel, Trainer, TrainingArguments

from seedbed import manifests
from seedbed.generators.backends import refuse_encoder_decoder
from seedbed.generators.examples import Example
from seedbed.generators.models import open_language_model
from seedbed.generators.settings import Lora
from seedbed.io import UserError, atomic_directory, fingerprint, read_json, write_json
from seedbed.precision import precision
from seedbed.trainers import epoch_losses, fit, require_finite, resumable

IGNORED = -100
"""Label of a position that is not learnt, as in transformers."""
CHUNK = 128
"""Positions whose logits exist at once: 134 MB in float32 for 262k words."""
WINDOW = 50
"""Micro batches that are sorted by length together: padding shrinks, and the order stays random."""


def train(
    base: Path,
    examples: Sequence[Example],
    lora: Lora,
    *,
    name: str,
    output: Path,
    state: Path,
    minutes: float,
    dtype: str,
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Train an adapter and write it as a peft directory with a manifest, `seedbed.json`.

    Follows the public code of paper 000 (appendix A.5.2): QLoRA with a constant rate, loss on completions. The loss of
    an optimiser step is the mean over all its completion tokens, however they fall into micro batches. Adapters with
    one `lora.seed` start from the same A (B is zero), which composing them factor by factor needs.

    Args:
        base: directory of the language model.
        name: the generator's name, written where peft would put the machine's path.
        output: replaced as a whole when the training has ended well.
        state: directory for checkpoints; a killed training goes on from the last one, and a finished one removes
            them.
        minutes: as of `trainers.fit`.
        dtype: of the base, "bfloat16", "float32" or "auto"; the adapter is trained and saved in float32.
        about: what else to note in the manifest, such as polarity and language.

    Returns:
        The manifest: settings, counts, mean loss of each epoch (nats per completion token), versions, sha256 of files.

    Raises:
        UserError: no example within `lora.max_length` (longer ones are dropped and counted, never cut); batch sizes
            that do not divide; a loss that is not finite; nf4 without CUDA or bitsandbytes; an adapter without effect;
            or a model whose logits are not its head's output.
    """
    dtype = precision(dtype)
    kept = _within(examples, lora.max_length)
    arguments = training_arguments(lora, dtype)
    model = _adapt(_load(base, lora, dtype), lora)
    _check_head(model, min(kept, key=len))

    checkpoints = state / key_of(base, lora, dtype, kept)
    trainer = CompletionTrainer(model, arguments(output_dir=str(checkpoints)), kept)
    fit(trainer, minutes)
    decoder, shortest = model.get_base_model().get_decoder(), _alone(model, min(kept, key=len))
    require_effect(difference(model, decoder, {"input_ids": shortest["input_ids"]}), output)

    manifest = dict(about or {}) | {
        "generator": name,
        "dtype": dtype,
        "lora": lora.model_dump(),
        "examples": {"given": len(examples), "used": len(kept), "too_long": len(examples) - len(kept)},
        "tokens": {part: sum(len(getattr(one, part)) for one in kept) for part in ("prompt", "completion")},
    }
    return finish(trainer, manifest, partial(save, model, name), output)


def finish(trainer: Trainer, manifest: dict[str, Any], write: Callable[[Path], None], output: Path) -> dict[str, Any]:
    """Write what was trained and its manifest, with counts, losses, versions and digests; remove the checkpoints."""
    manifest |= {
        "steps": trainer.state.global_step,
        "losses": epoch_losses(trainer.state),
        "versions": _versions(),
    }
    with atomic_directory(output) as directory:
        write(directory)
        manifest = manifests.write(directory, manifest)
    shutil.rmtree(trainer.args.output_dir, ignore_errors=True)
    return manifest


def key_of(base: Path, lora: Lora, dtype: str, examples: Sequence[Example | Mapping[str, Any]]) -> str:
    """Name of the checkpoints: a hash of all that the adapter depends on."""
    plain = [dict(one) if isinstance(one, Mapping) else [one.prompt, one.completion] for one in examples]
    return fingerprint([manifests.digest_of(base), lora.model_dump(), dtype, _versions(), plain])


def require_effect(difference: float, adapter: Path) -> None:
    """Stop at an adapter that leaves the base's outputs as they are.

    Raises:
        UserError: `difference`, the largest between base and adapter, is not above 0.
    """
    if not difference > 0:
        raise UserError(
            f"{adapter}: base and adapter give the same outputs; train longer, or with a higher learning_rate"
        )


def completion_loss(model: PeftModel, batch: Mapping[str, Tensor]) -> Tensor:
    """Summed cross-entropy of the completion tokens, in nats: transformers' own loss without the logits it ignores.

    Args:
        batch: `input_ids`, `attention_mask` and `labels`, each (B, T), as `collate` makes them.

    Returns:
        A float32 scalar that can be differentiated with respect to the body, not to the head.
    """
    base = model.get_base_model()
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    hidden = base.get_decoder()(**inputs, use_cache=False).last_hidden_state[:, :-1]
    targets = batch["labels"][:, 1:].to(hidden.device)
    learnt = targets != IGNORED
    return _HeadLoss.apply(hidden[learnt], targets[learnt], partial(logits_of, base))


def collate(examples: Sequence[Example]) -> dict[str, Tensor]:
    """A batch padded on the right to its longest example; (B, T) each."""
    width = max(map(len, examples))

    def padded(rows: Iterable[list[int]], filler: int) -> Tensor:
        return torch.stack([pad(torch.tensor(row), (0, width - len(row)), value=filler) for row in rows])

    return {
        "input_ids": padded((one.prompt + one.completion for one in examples), 0),
        "attention_mask": padded(([1] * len(one) for one in examples), 0),
        "labels": padded(([IGNORED] * len(one.prompt) + one.completion for one in examples), IGNORED),
    }


class CompletionTrainer(Trainer):
    """A Trainer with `completion_loss` and batches of similar lengths."""

    def __init__(self, model: PeftModel, args: TrainingArguments, examples: Sequence[Example]) -> None:
        super().__init__(model, args, collate, examples)
        self.model_accepts_loss_kwargs = True  # so that the targets of a whole optimiser step are counted

    def get_train_dataloader(self) -> DataLoader:
        size = self.args.per_device_train_batch_size
        order = ByLength([len(one) for one in self.train_dataset], size, self.args.seed)
        loader = DataLoader(self.train_dataset, size, sampler=order, collate_fn=collate)
        return self.accelerator.prepare(loader)

    def compute_loss(
        self,
        model: PeftModel,
        inputs: dict[str, Tensor],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Tensor:
        with self.accelerator.autocast():
            loss = completion_loss(model, inputs) / num_items_in_batch
        return require_finite(loss, self, "lora")


class ByLength(Sampler[int]):
    """An order in which each run of `size` indices has similar lengths, and the runs are shuffled, anew in each epoch.

    Unlike transformers' group_by_length it does not go from long to short, which would tie a step's place to length.
    """

    def __init__(self, lengths: Sequence[int], size: int, seed: int) -> None:
        self.lengths, self.size, self.seed, self.epoch = lengths, size, seed, 0

    def __len__(self) -> int:
        return len(self.lengths)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        draw = random.Random(f"{self.seed}/{self.epoch}")
        order = draw.sample(range(len(self.lengths)), len(self.lengths))
        whole = len(order) // self.size * self.size
        windows = [order[start:whole][: WINDOW * self.size] for start in range(0, whole, WINDOW * self.size)]
        ordered = [index for window in windows for index in sorted(window, key=self.lengths.__getitem__)]
        runs = [ordered[start : start + self.size] for start in range(0, whole, self.size)]
        draw.shuffle(runs)
        yield from (index for run in runs for index in run)
        yield from order[whole:]  # a short run must be the last, or it would shift all that follow


class _HeadLoss(torch.autograd.Function):
    """Summed cross-entropy behind a frozen head. The gradient is taken while a chunk's logits exist, then they go."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, targets: Tensor, logits: Callable[[Tensor], Tensor]) -> Tensor:
        total, slopes = torch.zeros((), device=hidden.device), []
        chunks = -(-len(targets) // CHUNK)
        for positions, wanted in zip(hidden.detach().chunk(chunks), targets.chunk(chunks), strict=True):
            with torch.enable_grad():
                scores = logits(positions.requires_grad_())
            log_probability = scores.detach().log_softmax(-1, dtype=torch.float32)
            place = (torch.arange(len(wanted), device=scores.device), wanted.to(scores.device))
            total -= log_probability[place].sum().to(total.device)
            slope = log_probability.exp_()
            slope[place] -= 1
            slopes += torch.autograd.grad(scores, positions, slope.to(scores.dtype))
        ctx.save_for_backward(torch.cat(slopes))
        return total

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        return slope * upstream, None, None


def logits_of(base: PreTrainedModel, hidden: Tensor) -> Tensor:
    """Logits (n, vocabulary) of last hidden states (n, width)."""
    scores = base.get_output_embeddings()(hidden)
    cap = getattr(base.config.get_text_config(), "final_logit_softcapping", None)
    return scores if cap is None else cap * torch.tanh(scores / cap)


def _within(examples: Sequence[Example], limit: int) -> list[Example]:
    kept = [one for one in examples if len(one) <= limit]
    if kept:
        return kept
    if not examples:
        raise UserError("lora: no training examples; at least one is needed")
    raise UserError(
        f"lora: all {len(examples)} examples are longer than max_length ({limit} tokens; "
        f"the shortest has {min(map(len, examples))}); raise max_length"
    )


def training_arguments(lora: Lora, dtype: str) -> Callable[..., TrainingArguments]:
    """The Trainer's arguments but for the directory of its checkpoints.

    Raises:
        UserError: batch sizes that do not divide.
    """
    micro = min(lora.micro_batch_size, lora.batch_size)
    if lora.batch_size % micro:
        raise UserError(f"lora.batch_size: {lora.batch_size} is not a multiple of micro_batch_size ({micro})")
    cuda = torch.cuda.is_available()
    return partial(
        TrainingArguments,
        num_train_epochs=lora.epochs,
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=lora.batch_size // micro,
        learning_rate=lora.learning_rate,
        lr_scheduler_type=lora.schedule,
        max_grad_norm=lora.max_grad_norm,
        seed=lora.seed,
        bf16=dtype == "bfloat16",  # the adapter computes in it too, and stays float32
        activation_checkpointing=cuda,  # memory is short there; on a CPU it would only cost time
        activation_checkpointing_kwargs={"use_reentrant": False},
        **resumable(),
    )


def _load(base: Path, lora: Lora, dtype: str) -> PreTrainedModel:
    refuse_encoder_decoder(base)
    options: dict[str, Any] = {"dtype": getattr(torch, dtype)}
    if torch.cuda.is_available():
        options["device_map"] = "auto"
    if lora.quantization == "none":
        return open_language_model(base, **options)
    _check_nf4()
    options["quantization_config"] = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=options["dtype"],
    )
    model = open_language_model(base, **options)
    return prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)  # the Trainer turns it on


def _check_nf4() -> None:
    if not torch.cuda.is_available():
        raise UserError("lora.quantization: nf4 needs an NVIDIA GPU, and none is visible; set it to none")
    if importlib.util.find_spec("bitsandbytes") is None:
        raise UserError("lora.quantization: nf4 needs the package bitsandbytes; install it, or set it to none")


def _adapt(model: PreTrainedModel, lora: Lora) -> PeftModel:
    decoder = next(name for name, module in model.named_modules() if module is model.get_decoder())
    return adapt(model, decoder, lora, task_type="CAUSAL_LM")


def adapt(model: PreTrainedModel, body: str, lora: Lora, *, spared: Sequence[str] = (), **options: Any) -> PeftModel:
    """The model with a fresh adapter in its body.

    Args:
        body: name of the module that holds all that may be adapted.
        spared: modules of the body that are not.
        options: of peft's LoraConfig.
    """
    # "all-linear" would reach a multimodal checkpoint's vision tower, and a pattern the head.
    excluded = "|".join([rf"(?!{re.escape(body)}\.).*", *map(re.escape, spared)])
    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        bias="none",
        target_modules=lora.targets,
        exclude_modules=excluded,
        **options,
    )
    torch.manual_seed(lora.seed)  # here and not earlier: A must depend on nothing else
    return get_peft_model(model, config)


@torch.no_grad()
def _check_head(model: PeftModel, example: Example) -> None:
    """Refuse a model that does more to its logits than `logits_of` knows, rather than train it on another loss."""
    batch = _alone(model, example)
    ours = completion_loss(model, batch).item() / (batch["labels"] != IGNORED).sum().item()
    theirs = model(**batch).loss.item()
    if abs(ours - theirs) > 0.01 * abs(theirs):  # room for bfloat16; a scale or a shift of logits is far off
        raise UserError(
            f"{model.config.model_type}: not supported, since its logits are not its head's output "
            f"(loss {ours:.4g}, its own {theirs:.4g}); use another model"
        )


@torch.no_grad()
def difference(model: PeftModel, body: nn.Module, inputs: Mapping[str, Tensor]) -> float:
    """How far the adapter moves the last hidden state of the model's body, at most."""
    adapted = body(**inputs).last_hidden_state
    with model.disable_adapter():
        plain = body(**inputs).last_hidden_state
    return (adapted - plain).abs().max().item()


def _alone(model: PeftModel, example: Example) -> dict[str, Tensor]:
    """A batch of one on the model's device, and the model without dropout; the Trainer turns that on."""
    model.eval()
    return {name: value.to(model.device) for name, value in collate([example]).items()}


def save(model: PeftModel, name: str, directory: Path) -> None:
    """Write peft's two files with the same bytes on every machine: no path of the base, sets in sorted order."""
    state = get_peft_model_state_dict(model, save_embedding_layers=False)
    state = {key: value.detach().float().cpu().contiguous() for key, value in sorted(state.items())}
    save_file(state, directory / "adapter_model.safetensors", metadata={"format": "pt"})
    model.peft_config["default"].save_pretrained(str(directory))
    config = read_json(directory / "adapter_config.json")
    targets = config["target_modules"]
    changes = {
        "base_model_name_or_path": name,
        "inference_mode": True,
        "target_modules": targets if isinstance(targets, str) else sorted(targets),
    }
    write_json(config | changes, directory / "adapter_config.json")


def _versions() -> dict[str, str]:
    return {package: importlib.metadata.version(package) for package in ("peft", "torch", "transformers")}
