"""Joint training of the parallel adapters of several languages' encoders, on rows in different languages."""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import TrainingArguments

from seedbed import manifests
from seedbed.checkpoints import Run
from seedbed.encoders.losses.contrastive import simcse
from seedbed.encoders.losses.crosslingual import gather
from seedbed.encoders.models import loading, memory, parallel_adapters
from seedbed.encoders.models.digests import vectors_digest
from seedbed.encoders.objectives import LANGUAGE, Objective
from seedbed.encoders.prompts import prompts_of, require_pooled
from seedbed.encoders.settings import Training
from seedbed.encoders.training import batches
from seedbed.io import UserError, atomic_directory, fingerprint
from seedbed.precision import precision
from seedbed.trainers import WeightsTrainer, encoder_arguments, fit, loss_curve, mixed


def train_joint_adapters(
    folders: Mapping[str, Path],
    tables: Mapping[str, pd.DataFrame],
    training: Training,
    *,
    objective: Objective,
    fixed: Sequence[str] = (),
    seed: int,
    run: Run,
) -> dict[str, Any]:
    """Train the parallel adapters of several languages' encoders jointly, and save each as LANGUAGE.safetensors.

    An epoch has as many steps as aligning each language separately with a pivot would have in total: the steps that the
    ids fill, times the number of languages that get adapters. Source: paper 004, table 6; docs/papers/modular.md.

    Args:
        folders: language -> its encoder, without adapters; it is not changed, and reads texts with its own prompts.
        tables: language -> its rows with `id`, equal for translations, and the columns that the objective takes.
        training: reduction and scaling of the adapters, and training settings.
        objective: selects the text columns.
        fixed: languages whose encoders get no adapters; they run without dropout.
        seed: seed of adapters, batches and dropout.
        run: where it writes, and how it resumes; it has no card.

    Returns:
        The manifest: `encoders`, language -> digest of its encoder; `training`, settings and losses.

    Raises:
        UserError: a batch setting that has no effect here; an encoder that cannot be loaded or take adapters; two
            languages with one encoder; encoders of different widths; rows that fill no batch; a loss that is not
            finite; or, without a GPU, a batch far beyond the memory.
    """
    if fault := objective.misfit(training):
        raise UserError(f"training.{fault}")
    training = training.updated({"precision": precision(training.precision), "crosslingual": True})
    known = {code: vectors_digest(manifests.of(folder)) for code, folder in folders.items()}
    rows, counts = sample_rows(tables, objective, training, seed, times=len(folders) - len(fixed))
    together = JointContrast(_opened(folders, known), fixed, training, [*rows.texts], seed)
    together.require_fit(tables, rows)
    settings = training.model_dump(mode="json")
    checkpoints = run.state / fingerprint(
        [rows.digest(), settings, [*fixed], together.prompts, seed, known, manifests.versions()]
    )
    torch.manual_seed(mixed(seed))
    arguments = encoder_arguments(
        TrainingArguments,
        training,
        training.precision,
        seed,
        checkpoints,
        num_train_epochs=1,  # all epochs are laid out
        adam_epsilon=training.epsilon,
        lr_scheduler_type=training.schedule,
        remove_unused_columns=False,
        train_sampling_strategy="sequential",
    )
    trainer = WeightsTrainer(model=together, args=arguments, train_dataset=rows, data_collator=together.read)
    fit(trainer, run.minutes)
    with atomic_directory(run.output) as directory:
        for code in together.learning:
            parallel_adapters.write(together.encoder(code)[0].adapters, directory / f"{code}.safetensors")
        facts = {"encoders": known, "training": settings | counts | loss_curve(trainer.state)}
        manifest = manifests.write(directory, {"about": run.about, **facts, "versions": manifests.versions()})
    shutil.rmtree(checkpoints, ignore_errors=True)
    return manifest


def _opened(folders: Mapping[str, Path], known: Mapping[str, str]) -> dict[str, SentenceTransformer]:
    """The encoders by language, each with its own prompts, checked to be different and of one width."""
    owners: dict[str, str] = {}
    for code, digest in known.items():
        if (other := owners.setdefault(digest, code)) != code:
            raise UserError(f"joint: {other} and {code} have the same encoder; give each language its own")
    encoders = {code: loading.load(folder, pooling="own") for code, folder in folders.items()}
    widths = {code: encoder.get_embedding_dimension() for code, encoder in encoders.items()}
    if len({*widths.values()}) > 1:
        found = ", ".join(f"{width} in {code}" for code, width in widths.items())
        raise UserError(f"joint: vectors of different widths, {found}; take encoders of one width")
    return encoders


class JointRows(Dataset):
    """The rows of a joint training, in the order of training.

    Args:
        languages: column -> the language of each row's sentence; empty if a row has no negative.
        texts: column -> the sentences; empty if a row has no negative.
    """

    def __init__(self, languages: Mapping[str, Sequence[str]], texts: Mapping[str, Sequence[str]]) -> None:
        self.languages, self.texts = languages, texts

    def __len__(self) -> int:
        return len(next(iter(self.texts.values())))

    def __getitem__(self, row: int) -> list[tuple[str, str]]:
        """Language and text of each sentence of a row."""
        return [(self.languages[name][row], texts[row]) for name, texts in self.texts.items()]

    def digest(self) -> str:
        """A SHA-256 digest of all rows in order."""
        digest = hashlib.sha256()
        for row in range(len(self)):
            digest.update(repr(self[row]).encode())
        return digest.hexdigest()


def sample_rows(
    tables: Mapping[str, pd.DataFrame], objective: Objective, training: Training, seed: int, *, times: int
) -> tuple[JointRows, dict[str, Any]]:
    """Sample the rows of a joint training, with the language of each sentence; as `batches.lay_out`, with `times` times
    as many steps.

    Returns:
        The rows, and the counts of `batches.lay_out`.

    Raises:
        UserError: languages with different columns, or rows that fill no batch.
    """
    columns = {code: [*objective.columns(table)] for code, table in tables.items()}
    names = min(columns.values(), key=len)
    if wrong := [code for code, own in columns.items() if own[: len(names)] != names]:
        raise UserError(f"joint: columns {', '.join(columns[wrong[0]])} in {wrong[0]}, {', '.join(names)} in others")
    longer = training.updated({"epochs": training.epochs * times})
    table, counts = batches.lay_out(tables, names, longer, seed)
    # No language reads a negative that is not there.
    languages = {name: np.where(table[name] == "", "", table[LANGUAGE + name]).tolist() for name in names}
    return JointRows(languages, {name: table[name].tolist() for name in names}), counts


class JointContrast(nn.Module):
    """The contrastive loss of rows whose sentences are each encoded by the encoder of their language.

    Args:
        encoders: language -> encoder; all but the fixed ones get new adapters, and only these are trained.
        fixed: languages that get none; they run without dropout.
        training: reduction, scaling, max_length and temperature.
        columns: names of the columns of a row; an encoder's prompt depends on what it reads a text as.
        seed: seed of the adapters.

    Raises:
        UserError: an encoder cannot take adapters, or has a prompt that its pooling leaves out.
    """

    def __init__(
        self,
        encoders: Mapping[str, SentenceTransformer],
        fixed: Sequence[str],
        training: Training,
        columns: Sequence[str],
        seed: int,
    ) -> None:
        super().__init__()
        self.codes, self.training_settings = [*encoders], training
        self.prompts = {code: [*prompts_of(encoder, columns).values()] for code, encoder in encoders.items()}
        for code, encoder in encoders.items():
            require_pooled(encoder, self.prompts[code])
        self.learning = [code for code in encoders if code not in fixed]
        self.encoders = nn.ModuleList(encoders.values())
        seeds = torch.randint(2**62, (len(encoders),), generator=torch.Generator().manual_seed(seed)).tolist()
        for (code, encoder), own in zip(encoders.items(), seeds, strict=True):
            encoder.max_seq_length = min(encoder.max_seq_length, training.max_length)
            encoder.requires_grad_(False)
            if code in self.learning:
                parallel_adapters.add_adapters(
                    encoder, reduction=training.reduction, scaling=training.scaling, seed=own
                )

    def encoder(self, code: str) -> SentenceTransformer:
        """The encoder of a language."""
        return self.encoders[self.codes.index(code)]

    def train(self, mode: bool = True) -> Self:
        """Turn dropout on in encoders whose adapters are trained, and off in the others."""
        super().train(mode)
        for code in {*self.codes} - {*self.learning}:
            self.encoder(code).eval()
        return self

    def require_fit(self, tables: Mapping[str, pd.DataFrame], rows: JointRows) -> None:
        """Check that a batch fits the memory; UserError: it is far beyond it."""
        code = self.learning[0]
        columns = {name: tables[code][name].tolist() for name in rows.texts}
        memory.require_fit(self.encoder(code), columns, self.training_settings, max(self.prompts[code], key=len))

    def read(self, rows: Sequence[Sequence[tuple[str, str]]]) -> dict[str, Any]:
        """Collate rows into the keyword arguments of `forward`; a row is a list of (language, text) by column."""
        if not any(row[-1][1] for row in rows):  # no row has a negative
            rows = [row[:-1] for row in rows]
        owner = rows[0][0][0]  # encodes the empty text that replaces a missing negative
        texts: dict[str, list[str]] = {}
        places: dict[str, list[tuple[int, int]]] = {}
        for place, row in enumerate(rows):
            for column, (known, text) in enumerate(row):
                code = known or owner
                texts.setdefault(code, []).append(self.prompts[code][column] + text)
                places.setdefault(code, []).append((place, column))
        features = {}
        for code, found in texts.items():
            read = self.encoder(code).preprocess(found)
            features[code] = {name: value for name, value in read.items() if isinstance(value, Tensor)}
        keep = torch.tensor([bool(row[-1][1]) for row in rows])
        return {"features": features, "places": places, "keep": None if keep.all() else keep}

    def forward(
        self,
        features: Mapping[str, dict[str, Tensor]],
        places: Mapping[str, Sequence[tuple[int, int]]],
        keep: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """Compute the loss of one batch.

        Args:
            features: language -> its tokenised sentences.
            places: language -> row and column in the batch of each of its sentences.
            keep: booleans (batch,), which rows have a negative; None: all, or there is no such column.

        Returns:
            {"loss": a scalar}, as Hugging Face's trainer expects it.
        """
        vectors = []
        for code, tokens in features.items():
            with nullcontext() if code in self.learning else torch.no_grad():
                vectors.append(self.encoder(code)(dict(tokens))["sentence_embedding"].float())
        columns = gather(vectors, [*places.values()])
        return {"loss": simcse(*columns, temperature=self.training_settings.temperature, keep=keep)}
