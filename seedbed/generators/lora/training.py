"""Training of one adapter of a language model."""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict, prepare_model_for_kbit_training
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import PreTrainedModel, Trainer, TrainingArguments

from seedbed import manifests
from seedbed.checkpoints import Run
from seedbed.generators.lora import adapter_card
from seedbed.generators.lora.data import Example
from seedbed.generators.lora.loss import IGNORED, ByLength, collate, completion_loss
from seedbed.generators.settings import Lora
from seedbed.generators.weights.folder import refuse_encoder_decoder
from seedbed.generators.weights.models import in_four_bits, open_language_model
from seedbed.io import UserError, atomic_directory, fingerprint, read_json, write_json
from seedbed.precision import precision
from seedbed.trainers import TARGETS, epoch_losses, fit, resumable


def train(
    base: Path,
    examples: Sequence[Example],
    lora: Lora,
    *,
    name: str,
    dtype: str,
    run: Run,
) -> dict[str, Any]:
    """Train a LoRA adapter of a language model, and write it as a peft directory with a manifest, `seedbed.json`.

    Follows the public code of paper 000 (appendix A.5.2): QLoRA with a constant learning rate and the loss on
    completions. The loss of an optimiser step is the mean over all its completion tokens, for any size of micro
    batches. Adapters with equal `lora.seed` have equal initial A (B is zero), which composing them factor by factor
    needs.

    Args:
        base: folder of the language model.
        examples: the training examples.
        lora: training settings.
        name: the generator's name, which adapter_config.json gives as the base if the base is not on the hub.
        dtype: precision of the base, "bfloat16", "float32" or "auto"; the adapter is trained and saved in float32.
        run: where it writes, and how it resumes; `adapter_card.write` writes its card.

    Returns:
        The manifest: settings, counts, mean loss of each epoch (nats per completion token), versions, sha256 of files.

    Raises:
        UserError: no example within `lora.max_length` (longer ones are dropped and counted, never truncated); batch
            sizes that do not divide; a loss that is not finite; nf4 without CUDA or bitsandbytes; an adapter without
            effect; or a model whose logits are not its head's output.
    """
    dtype = precision(dtype)
    kept = _within(examples, lora.max_length)
    arguments = training_arguments(lora, dtype)
    model, shortest = _adapt(_load(base, lora, dtype), lora), min(kept, key=len)
    _check_head(model, shortest)

    checkpoints = run.state / key_of(base, lora, dtype, kept)
    trainer = CompletionTrainer(model, arguments(output_dir=str(checkpoints)), kept)
    fit(trainer, run.minutes)
    ids = _alone(model, shortest)["input_ids"]
    require_effect(model, model.get_base_model().get_decoder(), ids, run.output)

    of = adapter_card.base_of(base, name)
    manifest = {
        **run.about,
        "base": of,
        "generator": name,
        "dtype": dtype,
        "lora": lora.model_dump(),
        "examples": {"given": len(examples), "used": len(kept), "too_long": len(examples) - len(kept)},
        "tokens": {part: sum(len(getattr(one, part)) for one in kept) for part in ("prompt", "completion")},
    }
    return finish(trainer, manifest, partial(save, model, of), run)


def finish(trainer: Trainer, manifest: dict[str, Any], write: Callable[[Path], None], run: Run) -> dict[str, Any]:
    """Write a trained adapter and its manifest, with counts, losses and versions, and remove the checkpoints.

    `manifest` are the facts so far; `write` saves the adapter into a folder.

    Returns:
        The manifest.
    """
    manifest |= {"steps": trainer.state.global_step, "losses": epoch_losses(trainer.state), "versions": _versions()}
    with atomic_directory(run.output) as directory:
        write(directory)
        manifest = manifests.write(directory, manifest, run.tell)
    shutil.rmtree(trainer.args.output_dir, ignore_errors=True)
    return manifest


def key_of(base: Path, lora: Lora, dtype: str, examples: Sequence[Example | Mapping[str, Any]]) -> str:
    """Name of the checkpoints: a hash of base, settings, precision, versions and examples."""
    plain = [dict(one) if isinstance(one, Mapping) else [one.prompt, one.completion] for one in examples]
    return fingerprint([manifests.digest_of(base), lora.model_dump(), dtype, _versions(), plain])


class CompletionTrainer(Trainer):
    """A Trainer with `completion_loss` and batches of similar lengths."""

    def __init__(self, model: PeftModel, args: TrainingArguments, examples: Sequence[Example]) -> None:
        super().__init__(model, args, collate, examples)
        self.model_accepts_loss_kwargs = True  # so that the targets of a whole optimiser step are counted

    def get_train_dataloader(self) -> DataLoader:
        size = self.args.per_device_train_batch_size
        order = ByLength([len(one) for one in self.train_dataset], size, self.args.seed)
        return self.accelerator.prepare(DataLoader(self.train_dataset, size, sampler=order, collate_fn=collate))

    def compute_loss(
        self, model: PeftModel, inputs: dict[str, Tensor], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Tensor:
        self.targets = num_items_in_batch
        with self.accelerator.autocast():
            return completion_loss(model, inputs) / num_items_in_batch

    def log(self, logs: dict[str, float], *args: Any) -> None:
        super().log(logs, *args)
        if "loss" in logs:
            self.state.log_history[-1][TARGETS] = int(self.targets)  # not in `logs`: a tracker would plot it


def _within(examples: Sequence[Example], limit: int) -> list[Example]:
    if not examples:
        raise UserError("lora: no training examples; at least one is needed")
    if kept := [one for one in examples if len(one) <= limit]:
        return kept
    raise UserError(
        f"lora: all {len(examples)} examples are longer than max_length ({limit} tokens; "
        f"the shortest has {min(map(len, examples))}); raise max_length"
    )


def training_arguments(lora: Lora, dtype: str) -> Callable[..., TrainingArguments]:
    """The Trainer's arguments but for the directory of its checkpoints; a UserError if batch sizes do not divide."""
    micro = min(lora.micro_batch_size, lora.batch_size)
    if lora.batch_size % micro:
        raise UserError(f"lora.batch_size: {lora.batch_size} is not a multiple of micro_batch_size ({micro})")
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
        activation_checkpointing=torch.cuda.is_available(),  # memory is short there; a CPU would only lose time
        activation_checkpointing_kwargs={"use_reentrant": False},
        **resumable(),
    )


def _load(base: Path, lora: Lora, dtype: str) -> PreTrainedModel:
    refuse_encoder_decoder(base)
    cuda = torch.cuda.is_available()
    options: dict[str, Any] = {"dtype": getattr(torch, dtype)} | ({"device_map": "auto"} if cuda else {})
    if lora.quantization == "none":
        return open_language_model(base, **options)
    model = open_language_model(base, **options | in_four_bits("lora.quantization", options["dtype"]))
    return prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)  # the Trainer turns it on


def _adapt(model: PreTrainedModel, lora: Lora) -> PeftModel:
    decoder = next(name for name, module in model.named_modules() if module is model.get_decoder())
    return adapt(model, decoder, lora, task_type="CAUSAL_LM")


def adapt(model: PreTrainedModel, body: str, lora: Lora, *, spared: Sequence[str] = (), **options: Any) -> PeftModel:
    """Add an adapter with initial weights to linear layers of the module `body` of a model, but for the modules
    `spared` in it; `options` are further ones of peft's LoraConfig.
    """
    # "all-linear" would include the vision tower of a multimodal model, and a pattern perhaps the head.
    excluded = "|".join([rf"(?!{re.escape(body)}\.).*", *map(re.escape, spared)])
    options |= {"r": lora.rank, "lora_alpha": lora.alpha, "lora_dropout": lora.dropout, "target_modules": lora.targets}
    config = LoraConfig(bias="none", exclude_modules=excluded, **options)
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
def require_effect(model: PeftModel, body: nn.Module, ids: Tensor, adapter: Path) -> None:
    """Check that a trained adapter changes what the model's body makes of token ids (n, tokens).

    Raises:
        UserError: it changes nothing, or a state is not a number; `adapter`, its folder, is named.
    """
    adapted = body(input_ids=ids).last_hidden_state
    with model.disable_adapter():
        plain = body(input_ids=ids).last_hidden_state
    if not (adapted - plain).abs().max() > 0:
        raise UserError(
            f"{adapter}: base and adapter give the same outputs; train longer, or with a higher learning_rate"
        )


def _alone(model: PeftModel, example: Example) -> dict[str, Tensor]:
    """A batch of one on the model's device, and the model without dropout; the Trainer turns that on."""
    model.eval()
    return {name: value.to(model.device) for name, value in collate([example]).items()}


def save(model: PeftModel, base: Mapping[str, str], directory: Path) -> None:
    """Write peft's two files into a folder with the same bytes on every machine: no path of the base, sets in sorted
    order. `base` is as `adapter_card.base_of` has it.
    """
    state = get_peft_model_state_dict(model, save_embedding_layers=False)
    state = {key: value.detach().float().cpu().contiguous() for key, value in sorted(state.items())}
    save_file(state, directory / "adapter_model.safetensors", metadata={"format": "pt"})
    model.peft_config["default"].save_pretrained(str(directory))
    config = read_json(directory / "adapter_config.json")
    if isinstance(targets := config["target_modules"], list):
        targets.sort()
    place = {"base_model_name_or_path": base["id"] or base["name"], "revision": base["revision"] or None}
    write_json(config | place | {"inference_mode": True}, directory / "adapter_config.json")


def _versions() -> dict[str, str]:
    return manifests.versions_of("peft", "torch", "transformers")
