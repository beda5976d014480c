"""Tiny models, and the engines, each of which takes most of a minute to start: one in this process, and a server."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, GenerationConfig

from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend, open_backend
from seedbed.weights import open_tokenizer
from tests import tiny
from tests.vllm.models import LIMIT, NEW, TEMPLATE, WIDE, settings

RANKS = {"narrow": 4, "wide": 24}
"""Adapter -> its rank; vLLM has room for 8 and 32."""


@pytest.fixture(scope="session", autouse=True)
def surroundings() -> None:
    """What a CPU engine is told outside of a study."""
    os.environ["VLLM_CPU_NUM_OF_RESERVED_CPU"] = "0"
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
    os.environ["VLLM_LOGGING_LEVEL"] = "WARNING"


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny generator that often ends a sentence and its line by one token; a turn ends, too, as in Gemma's settings."""
    folder = tmp_path_factory.mktemp("models")
    base = tiny.ending(tiny.generator(folder / "plain", **WIDE), folder / "base")
    settings = GenerationConfig.from_pretrained(base)
    settings.eos_token_id = open_tokenizer(base).convert_tokens_to_ids(["<eos>", "<end_of_turn>"])
    settings.save_pretrained(base)
    return base


@pytest.fixture(scope="session")
def adapters(base: Path) -> dict[str, Path]:
    """By name: two of different ranks, and one whose B is 0, so that it does nothing."""
    found = {}
    for name, rank in {**RANKS, "idle": 4}.items():
        torch.manual_seed(rank)
        model = AutoModelForCausalLM.from_pretrained(base)
        config = LoraConfig(r=rank, lora_alpha=rank, target_modules="all-linear", task_type="CAUSAL_LM")
        adapted = get_peft_model(model, config)
        for parameter, weight in adapted.named_parameters():
            if "lora_B" in parameter and name != "idle":
                torch.nn.init.normal_(weight, std=0.1)
        found[name] = base.with_name(name)
        adapted.save_pretrained(found[name])
    return found


@pytest.fixture(scope="session")
def local(base: Path) -> Backend:
    """The back end transformers."""
    return open_backend(settings(base), base)


@pytest.fixture(scope="session")
def engine(base: Path, adapters: dict[str, Path]) -> Iterator[Backend]:
    """The back end vllm, with room for all adapters; it writes the likeliest tokens, and starts when it first does."""
    backend = open_backend(settings(base, backend="vllm"), base, [*adapters.values()])
    yield backend
    backend.llm = None
    gc.collect()


@dataclass
class Server:
    """vLLM's server."""

    url: str
    log: Path

    def generator(self, base: Path, **changes: object) -> Generator:
        """What asks it."""
        return settings(base, backend="openai", endpoint=self.url, served_model="base", **changes)


@pytest.fixture(scope="session")
def server(base: Path, adapters: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serves the base, and the adapters under the names that the back end asks for."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "template.jinja").write_text(TEMPLATE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = [f"{str(adapters[name]).strip('/').replace('/', '-')}={adapters[name]}" for name in (*RANKS, "idle")]
    # Not `vllm serve`: it asks for the version of a distribution called vllm.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--model", str(base), "--served-model-name", "base", "--dtype", "float32"]
    command += ["--max-model-len", str(LIMIT + NEW), "--gpu-memory-utilization", "0.1"]
    command += ["--enable-lora", "--max-lora-rank", "32", "--max-loras", "3", "--lora-modules", *served]
    command += ["--chat-template", str(folder / "template.jinja")]
    log = folder / "log"
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
    try:
        _wait(f"http://127.0.0.1:{port}/health", process, log)
        yield Server(f"http://127.0.0.1:{port}/v1", log)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def _wait(url: str, process: subprocess.Popen, log: Path, seconds: float = 900) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(1)
    pytest.fail(f"the server did not start:\n{log.read_text()[-4000:]}")
