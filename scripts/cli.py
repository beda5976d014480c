"""Shared by all programs: arguments as a `Job`, one-line errors for bad input, exit codes.

A program imports at its top only what its `Job` needs, and in its functions what they run: so a plan, which reads each
`Job`, does not import torch, and `--help` or a wrong argument takes less than a second.
"""

import contextlib
import errno
import gc
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self, TypeVar

from pydantic import Field, model_validator

from seedbed import devices, flags, launch, processes
from seedbed.checkpoints import MINUTES, Run, own_state
from seedbed.corpora.settings import TEXT, Source
from seedbed.encoders.settings import EndpointSettings, Prompts, Training
from seedbed.generators.settings import Generator, Lora, Style
from seedbed.io import UserError
from seedbed.manifests import MANIFEST
from seedbed.precision import Precision
from seedbed.settings import NoResult, Seed, Settings

if TYPE_CHECKING:
    from seedbed.classifiers.tuning import Fitting
    from seedbed.encoders.models.loading import Original
    from seedbed.encoders.prompts import Prefix

NEEDLESS = {
    # A table of weights that a file has besides, or lacks ("newly initialized"): `weights.require_whole` stops at those
    # that are needed.
    "transformers.modeling_utils": "LOAD REPORT",
    # Training writes the tokenizer's special tokens into a configuration that names none ("differ"): as it should.
    "transformers.trainer_utils": "were aligned accordingly",
    # Several processes of one training, see `seedbed.processes`: the trainer knows of one, as it should.
    "transformers.training_args": "torch.distributed process group is initialized",
}
"""Logger of a library -> words of what it says without need."""

Endpoints = Annotated[
    NoResult[list[EndpointSettings]], Field(description="encoder APIs that may be queried, with their current settings")
]
"""Encoder APIs that a program may query; see `seedbed.servers.named`."""
Rows = Annotated[int, Field(ge=0, description="number of texts that are used, see corpora.select.subset; 0: all")]
Embeddings = Annotated[NoResult[Path | None], Field(description="folder in which jobs share embeddings")]
State = Annotated[NoResult[Path], Field(description="folder of checkpoints and caches from which a killed job resumes")]


class Job(Settings):
    """The arguments of a program: the workflow hands them over as JSON, a person as flags, a test as Python."""

    def spans(self) -> bool:
        """Whether the program can use several GPUs, with a process for each."""
        return False


class Encoder(Job):
    """Arguments of a program that makes an encoder."""

    training: Training = Training()
    prefix: str | None = None
    """put before every text, in training and in use; left out, what the weights' own file says"""
    prompts: Prompts | None = None
    """prompts before queries, documents and other texts, instead of `prefix`"""
    chosen_prefix: Path | None = None
    """JSON of program choose, with the prefix that is used instead of `prefix`"""
    language: str = ""
    """code of the texts' language, if the prefix has {columns} of the registry"""
    languages: dict[str, str] = {}
    """column -> code of its language, for columns in another one than `language`"""
    own_prefixes: dict[str, str] = {}
    """language -> its prefix, where that is not the registry's"""
    seed: Seed
    about: dict[str, Any] = {}
    """facts for the card, see encoders.export.card.text"""

    @model_validator(mode="after")
    def _one_prefix(self) -> Self:
        if self.prompts and (self.prefix is not None or self.chosen_prefix):
            raise ValueError("prompts: a prefix is given too; leave one of the two out")
        return self

    def put_before(self) -> "Prefix | None":
        """The prompts put before texts; None: those in the weights' own file."""
        from seedbed.choices import read_choice
        from seedbed.encoders.prompts import by_language

        prefix = read_choice(self.chosen_prefix, "prefix", str | None) if self.chosen_prefix else self.prefix
        return self.prompts if prefix is None else by_language(prefix, self.own_prefixes)


class Derived(Encoder):
    """Arguments of a program that makes an encoder of another one and of texts."""

    weights: Path
    """folder of the encoder, or of the backbone"""
    texts: Path
    """TSV: id, text"""
    rows: Rows = 0

    def original(self) -> "Original":
        """The encoder or backbone, and how it is read."""
        from seedbed.encoders.models.loading import Original

        how = self.training
        return Original(self.weights, how.pooling, how.layers, self.put_before(), self.language)


class Resumable(Job):
    """Arguments of a training, which resumes after a kill."""

    output: Path
    """folder of the result"""
    state: NoResult[Path]
    """folder for the checkpoints of a killed job"""
    checkpoint_minutes: NoResult[float] = MINUTES
    """minutes between two checkpoints; 0: one after each step"""


class Adapter(Resumable):
    """Arguments of a program that trains an adapter."""

    base: Path
    """folder of the model that is adapted"""
    name: str
    """name of the model that is adapted"""
    language: str
    """English name of the language that is generated"""
    style: Style
    """style of prompts"""
    dtype: Precision = "auto"
    lora: Lora = Lora()


class Tuning(Resumable):
    """Arguments of a program that fine-tunes an encoder and saves its answers."""

    base: Path
    """folder of the encoder"""
    train: Path
    """TSV of the training set"""
    tests: dict[str, Path]
    """LANGUAGE/NAME -> TSV of a test set"""
    prefix: str | None = None
    """put before every text, or question; left out, what the encoder's own file says"""
    dtype: Precision = "auto"
    seed: Seed
    about: dict[str, Any] = {}
    """facts for score files"""


class Asking(Job):
    """Arguments of a program in which a language model translates or judges each text of a set once."""

    texts: Path
    """TSV of a corpus or test set"""
    columns: dict[str, str]
    """column -> language of its texts"""
    languages: dict[str, dict[str, str]]
    """code -> its `name`, and what a model calls it, its `code`"""
    pivot: str
    """code of the language that is translated into"""
    name: str
    """name of the translator or the judge"""
    generator: Generator | None = None
    """the language model; left out, no model is prompted"""
    base: Path | None = None
    """folder of the language model; left out, it is on a server"""
    state: State
    record: Path
    output: Path


class Fetching(Job):
    """Arguments of a program that fetches: what, and where downloads and their revisions are stored."""

    source: Source
    downloads: NoResult[Path] = Path("downloads")
    lock: Path = Path("assets.lock.json")


class Planning(Job):
    """Arguments of a program that plans a study again."""

    configfiles: list[Path] = []
    """the study's YAML files, as Snakemake gets them"""
    config: dict[str, Any] = {}
    """changes to the study's settings, as by Snakemake's `--config`"""


J = TypeVar("J", bound=Job)


def read(job: type[J], words: list[str]) -> J:
    """A job from the words after a program's name: `-` and JSON on standard input, JSON, or flags.

    Processes of one training have one standard input, which the main one reads.

    Raises:
        UserError: they are not this job.
    """
    if words == ["-"]:
        return job.load(processes.by_main(sys.stdin.read))
    return job.load(words[0]) if words and words[0].startswith("{") else flags.read(job, words)


def run(job: type[J], main: Callable[[J], None]) -> None:
    """Run a program; bad input, a full disk and whatever the system refuses end it with one line and exit code 1.

    A job that spans several GPUs is run in a process for each. Where a launcher started them, such as `accelerate
    launch`, this is one of them.
    """
    gc.set_threshold(100_000, 50)  # imports leave no garbage, and looking for it is a fifth of them
    _spare_the_log()
    try:
        if processes.launched(os.environ):
            processes.join(os.environ)
        told = read(job, sys.argv[1:])
        if processes.count() == 1:
            devices.claim(os.environ)  # before anything is imported that looks for GPUs
            program = f"scripts.{Path(sys.argv[0]).stem}"
            if told.spans() and (code := launch.run_on_each_gpu(program, told.dump(), os.environ)) is not None:
                sys.exit(code)
        elif not told.spans():
            raise UserError(f"{processes.count()} processes: this job is done by one; start it without a launcher")
        main(told)
        processes.leave()
    except UserError as error:
        _end(f"error: {error}")
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS)
        reason = error.strerror.lower() if error.strerror else " ".join(str(error).split()) or type(error).__name__
        _end(f"error: {error.filename or 'output'}: {reason}{'; nothing was written' if full else ''}")
    finally:
        gc.freeze()  # what was imported stays: to look through it at the end takes seconds


def _end(reason: str) -> NoReturn:
    """End with exit code 1 and a line; where processes end together, one of them says it."""
    sys.exit(reason if processes.first_to_fail() else 1)


def _spare_the_log() -> None:
    """Drop messages of libraries that every normal run logs, or that a reader would mistake for errors."""
    for library, words in NEEDLESS.items():
        logging.getLogger(library).addFilter(lambda record, words=words: words not in str(record.msg))
    # peft asks for it by the name that transformers 5 has replaced.
    warnings.filterwarnings("ignore", message="`is_gradient_checkpointing` is deprecated", category=FutureWarning)


@contextlib.contextmanager
def resumable(job: Resumable) -> Iterator[Run]:
    """Context with a training's output folder, the folder of checkpoints from which it resumes, and their interval."""
    with own_state(job.state, job.output / MANIFEST, job) as state:
        yield Run(job.output, state, job.checkpoint_minutes)


@contextlib.contextmanager
def tuning(job: Tuning, read_as: str = TEXT) -> Iterator["Fitting"]:
    """Context with how a job fine-tunes its encoder.

    Args:
        read_as: what its texts are read as, which selects one of the encoder's own prompts for them.
    """
    from seedbed.classifiers.tuning import Fitting
    from seedbed.encoders.prompts import plain_prompt

    with resumable(job) as training:  # answers are written to its output when all are there
        prefix = plain_prompt(job.prefix, job.base, read_as)
        yield Fitting(prefix, job.seed, job.dtype, training.state, training.minutes)
