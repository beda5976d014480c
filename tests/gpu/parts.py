"""Each way in which the programs use a GPU, once, on tiny models. Numbers and texts come out, to be compared."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from seedbed.generators.lora.data import Example
from seedbed.generators.settings import Generator, Lora
from seedbed.generators.writing.backends import Request, open_backend
from seedbed.weights import open_tokenizer
from tests import tiny
from tests.trainings import train_lora

LORA = Lora(rank=8, alpha=16, dropout=0, epochs=4, batch_size=16, micro_batch_size=8, learning_rate=5e-3)
WIDE = {"hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4, "head_dim": 64}
"""Of the generator: kernels want heads of 64 numbers at least."""
Found = list[float] | list[str]


@dataclass(frozen=True)
class Part:
    """One way."""

    run: Callable[[Path], Found]
    """From the folder of models to what they give."""
    shown: str
    """What tests on a CPU have shown already, so that a GPU has to show the rest."""
    tolerance: float
    """Of numbers: the largest difference, relative to the CPU's largest. Of texts: the share that differs."""
    packages: tuple[str, ...] = ()
    """Without them it belongs to another environment."""
    gpu_alone: bool = False
    """On a CPU its numbers are another way's."""


def prepare(folder: Path) -> None:
    """Build the models that all parts start from: a generator with an adapter, and a backbone."""
    tiny.generator(folder / "generator", **WIDE)
    _train(folder, folder / "adapter")
    tiny.backbone(folder / "backbone")


def _train(folder: Path, output: Path, dtype: str = "float32", **changes: object) -> list[float]:
    """Losses of an adapter, epoch by epoch."""
    lora = LORA.updated(changes)
    tokenizer = open_tokenizer(folder / "generator")
    texts = [(tokenizer(one)["input_ids"], tokenizer(two)["input_ids"]) for one, two in _pairs(32)]
    examples = [Example(one, [*two, tokenizer.eos_token_id]) for one, two in texts]
    with tempfile.TemporaryDirectory() as state:
        places = {"output": output, "state": Path(state), "minutes": 60}
        return train_lora(folder / "generator", examples, lora, name="tiny", dtype=dtype, **places)["losses"]


def _pairs(count: int) -> list[tuple[str, str]]:
    return list(zip(tiny.sentences("hau", count), tiny.sentences("eng", count), strict=True))


def adapter(dtype: str, quantization: str = "none") -> Callable[[Path], Found]:
    """Training of an adapter."""

    def run(folder: Path) -> Found:
        with tempfile.TemporaryDirectory() as output:
            # On a CPU there is no nf4: it is compared with the training that it stands for.
            kind = quantization if torch.cuda.is_available() else "none"
            return _train(folder, Path(output, "adapter"), dtype, quantization=kind)

    return run


def writing(backend: str) -> Callable[[Path], Found]:
    """Greedy completions with an adapter and without."""

    def run(folder: Path) -> Found:
        here = backend if torch.cuda.is_available() else "transformers"
        settings = {"source": {"file": "x"}, "prompts": "plain", "backend": here, "dtype": "float32", "gpu_memory": 0.3}
        sampling = {"temperature": 0, "max_new_tokens": 12, "max_prompt_tokens": 64}
        generator = Generator.model_validate(settings | {"sampling": sampling})
        opened = open_backend(generator, folder / "generator", [folder / "adapter"])
        requests = [Request(str(place), opened.encode(one)) for place, (one, _) in enumerate(_pairs(32))]
        found = []
        for adapter in (folder / "adapter", None):
            done = {one.id: one.text for one in opened.write(requests, adapter)}
            found += [done[request.id] for request in requests]
        return found

    return run


def encoder(precision: str) -> Callable[[Path], Found]:
    """Training of an encoder: the loss of its stretches, and embeddings of what it is then."""

    def run(folder: Path) -> Found:
        from seedbed.encoders import objectives
        from seedbed.encoders.settings import Training
        from tests.trainings import train

        texts = {
            name: tiny.sentences(lang, 48)
            for name, lang in zip(("anchor", "positive", "negative"), LANGUAGES, strict=True)
        }
        training = Training(epochs=2, batch_size=16, learning_rate=1e-3, precision=precision, dropout=0)
        with tempfile.TemporaryDirectory() as place:
            places = {"output": Path(place, "encoder"), "state": Path(place, "state"), "minutes": 60}
            options = {"objective": objectives.load("contrast"), "prefix": "", "seed": 1}
            result = train(folder / "backbone", pd.DataFrame(texts), training, **options, **places)
            return [*result["loss"], *embeddings(places["output"])]

    return run


LANGUAGES = ("hau", "eng", "swh")


def embeddings(encoder: Path) -> list[float]:
    """Of sentences, as scoring has them."""
    from seedbed.encoders.models.inference import opened

    return np.asarray(opened(encoder, 16).encode(tiny.sentences("hau", 16))).ravel().tolist()


def scoring(folder: Path) -> Found:
    """Embeddings of a backbone as it is."""
    from seedbed.encoders.models import loading
    from seedbed.encoders.models.inference import batched

    model = loading.load(folder / "backbone", pooling="first_last_average")
    return np.asarray(batched(model, 16)(tiny.sentences("hau", 64))).ravel().tolist()


def tuning(folder: Path) -> Found:
    """Losses of fine-tuning with a head."""
    from seedbed.classifiers.tuning import Fitting, train
    from seedbed.encoders.tuning_settings import FineTuning

    rows = pd.DataFrame(tiny.pairs("eng", 64)).rename(columns={"hypothesis": "text"})
    with tempfile.TemporaryDirectory() as state:
        how = Fitting("", 1, "float32", Path(state), 60)
        tuning = FineTuning(epochs=2, learning_rate=1e-3, held_out=0.25)
        return train(folder / "backbone", rows[["text", "label"]], tuning, how).report["losses"][:1]


def searching(folder: Path) -> Found:
    """Places and cosines of nearest rows, some of which are there twice, in a narrow cone."""
    from seedbed.vectors.neighbours import nearest

    rng = np.random.default_rng(0)
    corpus = np.tile(1 + 1e-4 * rng.standard_normal((1500, 64)), (2, 1)).astype(np.float32)
    scores, places = nearest(corpus[::7] + rng.normal(0, 1e-4, (429, 64)), corpus, 10, metric="cosine")
    return [*places.ravel().tolist(), *scores.ravel().tolist()]


TRAINING = ("sentence_transformers", "datasets")
PARTS = {
    "adapter, float32": Part(adapter("float32"), "the losses of a plain loop of transformers and peft", 0.01, TRAINING),
    "adapter, bfloat16": Part(adapter("bfloat16"), "the same, to its rounding", 0.05, TRAINING),
    "adapter, nf4": Part(
        adapter("bfloat16", "nf4"), "bitsandbytes' layers on a CPU, where it is installed", 0.2,
        (*TRAINING, "bitsandbytes"), gpu_alone=True,
    ),
    "writing, transformers": Part(writing("transformers"), "generate, one by one, token by token", 0.05, TRAINING),
    "writing, vllm": Part(
        writing("vllm"), "float32, with adapters: transformers, token by token (make test-vllm)", 0.15, ("vllm",),
        gpu_alone=True,
    ),
    "encoder, float32": Part(encoder("float32"), "the loss of sentence-transformers", 0.02, TRAINING),
    "encoder, bfloat16": Part(encoder("bfloat16"), "the same, to its rounding", 0.2, TRAINING),
    "fine-tuning": Part(tuning, "that labels are learnt", 0.2, TRAINING),
    "scoring": Part(scoring, "embeddings of sentence-transformers", 0.001, TRAINING),
    "searching": Part(searching, "brute force in float64", 0, ("faiss",)),
}  # fmt: skip
"""By name. Fine-tuning has dropout, whose random numbers are others on a GPU: its loss of one epoch tells little more
than that it runs."""


def here(part: Part, device: str) -> bool:
    """Whether a part can run in this environment, on this device."""
    return all(map(find_spec, part.packages)) and not (part.gpu_alone and device == "cpu")
