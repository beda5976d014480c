"""Training of an encoder by an objective, with sentence-transformers' trainer."""

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.base.sampler import DefaultBatchSampler
from torch import nn
from torch.utils.data import SequentialSampler
from transformers import TrainerCallback, TrainerState

from seedbed import processes
from seedbed.checkpoints import Run
from seedbed.encoders import objectives
from seedbed.encoders.export.save import save
from seedbed.encoders.models import memory
from seedbed.encoders.models.two_paths import TwoPaths, sides_of
from seedbed.encoders.objectives import LANGUAGE, Objective
from seedbed.encoders.pooling import learnt_weights
from seedbed.encoders.prompts import Prefix, prompted, prompts_of, require_pooled
from seedbed.encoders.settings import Training
from seedbed.encoders.training import batches, parameters
from seedbed.encoders.training.chunks import in_chunks
from seedbed.encoders.training.distinct import DistinctBatches
from seedbed.encoders.training.shares import Shares, average
from seedbed.encoders.training.start import Start
from seedbed.io import UserError, fingerprint, sha256
from seedbed.manifests import versions
from seedbed.precision import precision
from seedbed.trainers import TrainedWeightsMixin, encoder_arguments, fit, loss_curve, mixed


def train(
    start: Start,
    table: pd.DataFrame | Mapping[str, pd.DataFrame] | None,
    training: Training,
    *,
    objective: Objective | None,
    seed: int,
    run: Run,
) -> dict[str, Any]:
    """Train an encoder by an objective and save it, in float32, as a sentence-transformers directory.

    AdamW without warm-up, linear decay unless `training` says otherwise, gradients clipped at norm 1: the defaults of
    Hugging Face's trainer, which paper 000 (appendix A.2.1) uses through SimCSE's code. Training truncates texts to
    `max_length` tokens; the saved encoder takes the backbone's maximum.

    Args:
        start: the encoder before training.
        table: the training data, with the columns that the objective takes; or language -> table, see
            `batches.lay_out`. None without an objective.
        training: the training settings.
        objective: what training minimises; None: the encoder is saved without training, as it is with fewer rows than
            the objective needs if `training.allow_untrained`.
        seed: seed of the order of rows and of dropout. On a CPU, one seed and one number of threads give the same
            bytes.
        run: where it writes, and how it resumes.

    Returns:
        `steps`, `examples` (rows trained on), `loss` (at most 20 means over equal stretches of steps), `final_loss`
        (the last of them, None without training), facts of the objective and of the batches, and learnt layer weights
        if there are any.

    Raises:
        UserError: weights that cannot be loaded; fewer rows or a smaller batch than the objective needs; a loss that is
            not finite; without an objective, a pooling whose weights need training; without a GPU, weights far beyond
            the memory.
    """
    training = training.updated({"precision": precision(training.precision)})
    if objective and training.allow_untrained and isinstance(table, pd.DataFrame) and len(table) < objective.least:
        print(f"warning: {_too_few(objective, len(table))}; the encoder stays untrained", file=sys.stderr)
        objective = None
    encoder = start.open(training, objective, seed)
    result, loss = {"examples": 0} | loss_curve(TrainerState()), None
    if objective:
        encoder, loss, checkpoints, facts = _train(encoder, start, table, training, objective, seed, run)
        result |= facts
    elif "adapters" in start.folders:
        result |= parameters.attach_joint_adapters(encoder, start.weights, start.folders["adapters"])
    english_path = start.english_path
    facts = _settings(training, objective) | result | ({"fusion": english_path.fusion} if english_path else {})
    starts = {"source": start.weights, **start.folders} if english_path else {}
    write_files = getattr(loss, "write_files", None)
    about = {**run.about, "seed": seed}
    if processes.is_main():
        save(encoder, run.output, about, facts, start.weights, starts=starts, write_files=write_files, tell=run.tell)
        if objective:
            shutil.rmtree(checkpoints, ignore_errors=True)
    return result


def _settings(training: Training, objective: Objective | None) -> dict[str, Any]:
    """The objective with its settings, and those of the training that count with it, as JSON."""
    settings = training.applied()
    if not objective:
        return settings
    if not objective.uses_temperature:
        del settings["temperature"]
    return {"objective": {objectives.name_of(objective): objective.model_dump(mode="json")}} | settings


def _train(
    encoder: SentenceTransformer,
    start: Start,
    table: pd.DataFrame | Mapping[str, pd.DataFrame] | None,
    training: Training,
    objective: Objective,
    seed: int,
    run: Run,
) -> tuple[SentenceTransformer, nn.Module, Path, dict[str, Any]]:
    """Train an encoder; arguments as in `train`.

    Returns:
        The trained encoder, its loss, the folder of checkpoints, and facts for the manifest.
    """
    several = table is not None and not isinstance(table, pd.DataFrame)
    if fault := objective.misfit(training, several=several, two_texts=isinstance(encoder[0], TwoPaths)):
        raise UserError(f"training.{fault}")
    if table is None:
        raise _too_few(objective, 0)
    table, laid_out, once = _in_order(table, objective, training, seed, start.prefix)
    spoken = isinstance(start.prefix, Mapping)  # else the encoder puts the same before texts of all languages
    if spoken and objective.mixed:
        reason = "a column has texts of two languages, and the prompt depends on the language"
        raise UserError(f"{objectives.name_of(objective)}: {reason}; take a prompt that is the same for all")
    if spoken:
        require_pooled(encoder, start.prefix.values())
    table = table.assign(**{LANGUAGE + name: code for name, code in start.languages.items() if name})
    read = prompted(table, _texts(objective), start.prefix, start.languages) if spoken else table
    columns = _columns(objective, read, training)
    prompts = dict.fromkeys(columns, "") if spoken else _prompts(encoder, objective, [*columns])
    path, folders = start.english_path, {**start.folders, "weights": start.weights}
    key = [prompts, path.fusion, path.english] if path else prompts
    checkpoints = run.state / key_of(objective, read, training, key, seed, folders)
    encoder = objective.prepare(encoder, folders, seed)
    result = {"examples": len(table)} | laid_out | objective.remarks(encoder, columns, folders)
    arguments = _arguments(objective, once, len(table), prompts, seed, checkpoints)
    with parameters.trainable(encoder, training, seed), _truncated(encoder, training.max_length):
        _require_room(encoder, start.prefix.values() if spoken else prompts.values())
        at_once = _texts_at_once(encoder, columns, training, objective, max(prompts.values(), key=len))
        torch.manual_seed(mixed(seed))  # for what the loss samples
        loss = objective.loss(encoder, table, training, folders)
        least = objective.least if training.distinct else 0
        trainer = _Trainer(columns, model=encoder, args=arguments, loss=loss, shuffled=not laid_out, distinct=least)
        with in_chunks(encoder, at_once), trainer.shares.encoded_by(encoder), _checkpointed(encoder, training):
            fit(trainer, run.minutes)
        findings = loss.findings() if hasattr(loss, "findings") else {}
    facts = result | loss_curve(trainer.state) | trainer.rows_read() | learnt_weights(encoder) | findings
    if at_once and not training.mini_batch:
        facts["texts encoded at once"] = at_once
    if processes.count() > 1:
        facts["processes"] = processes.count()
    return encoder, loss, checkpoints, facts


def _require_room(encoder: SentenceTransformer, prompts: Iterable[str]) -> None:
    """Raise a UserError if a prompt is so long that nothing is read of the text after it."""
    *sources, last = sides_of(encoder)
    own = [(side, side.prompts.get(side.default_prompt_name) or "") for side in sources]
    for side, prompt in [*own, *((last, prompt) for prompt in {*prompts})]:
        if (taken := len(side.tokenizer(prompt)["input_ids"])) >= side.max_seq_length:
            raise UserError(
                f"training.max_length: the prompt {prompt[:40]!r} takes all of {side.max_seq_length} tokens, with "
                f"special ones {taken}; give more, or a shorter prompt"
            )


def _texts_at_once(
    encoder: SentenceTransformer,
    columns: dict[str, list[str]],
    training: Training,
    objective: Objective,
    prefix: str,
) -> int:
    """As `memory.texts_at_once`, where batches can be encoded in parts: else one is encoded whole, or refused."""
    whole = "reads two texts" if isinstance(encoder[0], TwoPaths) else objective.whole_batch_reason(training)
    if not whole:
        return memory.texts_at_once(encoder, columns, training, prefix)
    if processes.count() > 1:
        raise UserError(f"{processes.count()} processes: this training {whole}, of whole batches; give it one GPU")
    memory.require_fit(encoder, columns, training, prefix)
    return 0


@contextlib.contextmanager
def _checkpointed(encoder: SentenceTransformer, training: Training) -> Iterator[None]:
    """Compute activations within blocks again in the backward pass, if the settings say so."""
    bodies = [side[0].auto_model for side in sides_of(encoder)] if training.gradient_checkpointing else []
    for body in bodies:
        body.gradient_checkpointing_enable({"use_reentrant": False})
    try:
        yield
    finally:
        for body in bodies:
            body.gradient_checkpointing_disable()


def _in_order(
    table: pd.DataFrame | Mapping[str, pd.DataFrame],
    objective: Objective,
    training: Training,
    seed: int,
    prefix: Prefix | None,
) -> tuple[pd.DataFrame, dict[str, Any], Training]:
    """The rows as `batches.lay_out` gives them, its counts, and settings of a single pass; or the rows as they are."""
    tables = {"own": table} if isinstance(table, pd.DataFrame) else table
    if tables is not table and training.batches == "mixed" and not training.crosslingual:
        return table, {}, training
    by_language = prefix if tables is table and isinstance(prefix, Mapping) else ""
    laid_out = batches.lay_out(tables, _texts(objective), training, seed, by_language)
    return *laid_out, training.updated({"epochs": 1})


def _prompts(encoder: SentenceTransformer, objective: Objective, columns: list[str]) -> dict[str, str]:
    """Column -> the prompt before its texts."""
    read_as = objective.read_as(columns)
    prompts = prompts_of(encoder, [*read_as.values()])
    return {name: prompts[other] for name, other in read_as.items()}


def _texts(objective: Objective) -> list[str]:
    """The possible names of the text columns that an objective reads."""
    return list(dict.fromkeys(chain.from_iterable(objective.shapes)))


def key_of(
    objective: Objective, table: pd.DataFrame, training: Training, prefix: Any, seed: int, folders: Mapping[str, Path]
) -> str:
    """The name of the folder of checkpoints: a hash of everything that the trained weights depend on."""
    read = {*_texts(objective), *objective.values, *objective.optional} & {*table.columns}
    data = {name: table[name].tolist() for name in read}
    digests = {name: sha256(folder) for name, folder in folders.items()}
    settings = [type(objective).__name__, objective.model_dump(mode="json"), training.model_dump(mode="json")]
    return fingerprint([data, settings, prefix, seed, digests, versions()])


def _columns(objective: Objective, table: pd.DataFrame, training: Training) -> dict[str, list[str]]:
    """The texts by column, in the order in which the loss expects them; enough of them for a batch."""
    name, least = objectives.name_of(objective), objective.least
    if len(table) < least:
        raise _too_few(objective, len(table))
    if training.batch_size < least:
        raise UserError(f"training.batch_size: {training.batch_size} rows are too few for {name}; give {least} or more")
    columns = objective.columns(table)
    if all(len({*texts}) == 1 for texts in columns.values()):
        raise UserError(f"{name}: all {len(table)} rows have the same texts; give rows with different ones")
    return columns


def _too_few(objective: Objective, rows: int) -> UserError:
    return UserError(f"{objectives.name_of(objective)}: {rows} rows to train on; at least {objective.least} are needed")


def _arguments(
    objective: Objective, training: Training, rows: int, prompts: dict[str, str], seed: int, checkpoints: Path
) -> SentenceTransformerTrainingArguments:
    return encoder_arguments(
        SentenceTransformerTrainingArguments,
        training,
        training.precision,
        seed,
        checkpoints,
        num_train_epochs=training.epochs,
        max_steps=training.steps or -1,  # -1: as many as the epochs have
        adam_epsilon=training.epsilon,
        lr_scheduler_type=training.schedule,
        prompts=prompts,
        dataloader_drop_last=0 < rows % training.batch_size < objective.least,
        learning_rate_mapping=objective.rates(training),
    )


class _Trainer(TrainedWeightsMixin, SentenceTransformerTrainer):
    """A trainer that saves the loss's state in checkpoints, calls it at each step, and puts no sentences into cards.

    Args:
        columns: texts by column.
        shuffled: the order of rows is random; else it stays.
        distinct: minimum number of rows in batches without equal texts; 0: batches may have these.
        options: those of sentence-transformers' trainer.
    """

    def __init__(self, columns: dict[str, list[str]], *, shuffled: bool, distinct: int = 0, **options: Any) -> None:
        self.shuffled, self.distinct = shuffled, distinct
        self.sampler: DefaultBatchSampler | None = None
        rows = len(next(iter(columns.values())))
        # `label` is not tokenised: the loss gets it as it is.
        super().__init__(train_dataset=Dataset.from_dict({**columns, "label": range(rows)}), **options)
        self.shares = Shares(self.args.seed)
        if hasattr(self.loss, "after_step"):
            self.add_callback(_AfterStep(self.loss.after_step))

    def get_batch_sampler(self, dataset: Dataset, **options: Any) -> DefaultBatchSampler:
        """Batches at random, without equal texts if asked for, or of the rows in their order."""
        if not self.shuffled:
            self.sampler = DefaultBatchSampler(SequentialSampler(dataset), **options)
        elif self.distinct:
            if "negative" in dataset.column_names:  # else rows without one would count as equal
                pairs = zip(dataset["negative"], dataset["anchor"], strict=True)
                own = [negative or anchor for negative, anchor in pairs]
                dataset = dataset.remove_columns("negative").add_column("negative", own)
            self.sampler = DistinctBatches(dataset, least=self.distinct, **options)
        else:
            self.sampler = super().get_batch_sampler(dataset, **options)
        return self.sampler

    def rows_read(self) -> dict[str, int]:
        """`examples_read`, how many different rows were trained on, where some may be in no batch."""
        if not isinstance(self.sampler, DistinctBatches):
            return {}
        return {"examples_read": len(self.sampler.rows_read(self.state.global_step))}

    def training_step(self, *args: Any, **options: Any) -> torch.Tensor:
        """A step, of which each process encodes its share."""
        self.shares.begin(self.state.global_step)
        return super().training_step(*args, **options)

    def _clip_grad_norm(self, model: nn.Module) -> torch.Tensor:
        """One norm over everything that is trained: sentence-transformers trains a loss's weights, unclipped."""
        average(self.loss.parameters())
        return super()._clip_grad_norm(self.loss)

    def trained_weights(self) -> dict[str, torch.Tensor]:
        """The loss's weights and buffers and the encoder's, each once, without what of the encoder is not trained."""
        seen = {weight.data_ptr() for weight in self.model.parameters() if not weight.requires_grad}
        state = {}
        for name, tensor in self.loss.state_dict().items():
            if tensor.data_ptr() not in seen:
                state[name] = tensor
                seen.add(tensor.data_ptr())
        return state

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """None: sentence-transformers' own copies sentences and their statistics into the card."""


class _AfterStep(TrainerCallback):
    """Calls a loss's hook when the optimiser has made its step."""

    def __init__(self, hook: Callable[[], None]) -> None:
        self.hook = hook

    def on_optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        self.hook()


@contextlib.contextmanager
def _truncated(encoder: SentenceTransformer, length: int) -> Iterator[None]:
    """Read at most `length` tokens of a text inside the block."""
    limits = [(side, side.max_seq_length) for side in sides_of(encoder)]
    for side, limit in limits:
        side.max_seq_length = min(limit, length)
    try:
        yield
    finally:
        for side, limit in limits:
            side.max_seq_length = limit
