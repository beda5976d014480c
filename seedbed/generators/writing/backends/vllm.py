"""Generation with vLLM, offline; tested with 0.32, whose LLM, SamplingParams and TokensPrompt are those of 0.33."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import (
    DRAWN,
    PROBE_SAMPLING,
    PROBES,
    Backend,
    Completion,
    Request,
    check_effect,
    stream,
)
from seedbed.io import UserError, fingerprint, read_json
from seedbed.precision import precision

RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""What vLLM takes as max_lora_rank (vllm.config.lora.MaxLoRARanks)."""

CHUNK = 4096
"""Requests in one call, which returns when the last is done: fewer would idle the GPU, a kill would lose more."""


class VllmBackend(Backend):
    """A `Backend` on this machine's GPUs. Outputs are not reproducible.

    The random numbers of a request depend on when the engine adds it to a step.

    All rows share the engine's random stream. A seed for each would keep vLLM from its fused sampler
    (`any_explicit_seed`), and would not make rows independent of the batch: in bfloat16 logits depend on it.
    """

    def __init__(self, generator: Generator, base: Path, adapters: Sequence[Path] = ()) -> None:
        try:
            from vllm import LLM
        except ImportError:
            raise UserError(
                "backend vllm: vllm is not installed; run `make env-vllm`, or set `backend: transformers`"
            ) from None

        super().__init__(generator, base)
        self.open = partial(
            LLM,
            model=str(base),
            trust_remote_code=False,
            load_format="safetensors",
            dtype=precision(generator.dtype),
            tensor_parallel_size=generator.tensor_parallel,
            gpu_memory_utilization=generator.gpu_memory,
            # Gemma's 128k positions would leave no memory for the batch.
            max_model_len=self.sampling.max_prompt_tokens + self.sampling.max_new_tokens,
            # Every prompt begins with the same instruction.
            enable_prefix_caching=True,
            **_lora_options(adapters),
            **_text_only(base),
        )
        self.llm: Any = None
        self.numbers = {adapter: number for number, adapter in enumerate(adapters, start=1)}

    def write(self, requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        """Complete the requests; see `Backend`. The first call's requests seed the engine, so that each shard has its
        own random stream.
        """
        self.engine(requests)
        if adapter is not None:
            adapted, base = (
                [
                    list(output.outputs[0].token_ids)
                    for output in self._generate(requests[:PROBES], which, **PROBE_SAMPLING)
                ]
                for which in (adapter, None)
            )
            check_effect(adapter, adapted != base)
        for start in range(0, len(requests), CHUNK):
            chunk = requests[start : start + CHUNK]
            for request, output in zip(chunk, self._generate(chunk, adapter), strict=True):
                completion = output.outputs[0]
                # Not its own text, which lacks the token that ended it.
                text = self.text(completion.token_ids)
                yield Completion(request.id, text, finished=completion.finish_reason == "stop")

    def engine(self, requests: Sequence[Request] = ()) -> Any:
        """The `vllm.LLM`. The first call starts it, seeded by a hash of its requests and of `sampling.seed`."""
        if self.llm is None:
            asked = fingerprint([[request.id, request.prompt] for request in requests])
            self.llm = self.open(seed=stream(self.sampling.seed, asked) % 2**32)  # NumPy takes no more
        return self.llm

    def _generate(self, requests: Sequence[Request], adapter: Path | None, **changes: Any) -> list[Any]:
        """vLLM's outputs, in the order of the requests."""
        from vllm import SamplingParams, TokensPrompt
        from vllm.lora.request import LoRARequest

        lora = adapter and LoRARequest(
            lora_name=str(adapter), lora_int_id=self.numbers[adapter], lora_path=str(adapter.resolve())
        )
        options = {"max_tokens": self.sampling.max_new_tokens, "stop_token_ids": self.stops}
        params = SamplingParams(**self.sampling.model_dump(include=DRAWN) | options | changes)
        prompts = [TokensPrompt(prompt_token_ids=request.prompt) for request in requests]
        return self.llm.generate(prompts, params, use_tqdm=False, lora_request=lora)


def _lora_options(adapters: Sequence[Path]) -> dict[str, Any]:
    """Places for adapters, if there are any: the kernels cost a third of the speed even when unused (vllm#11267)."""
    if not adapters:
        return {}
    configs = [read_json(adapter / "adapter_config.json") for adapter in adapters]
    wanted = max(rank for config in configs for rank in (config["r"], *config.get("rank_pattern", {}).values()))
    if wanted > RANKS[-1]:
        raise UserError(f"{adapters[0]}: rank {wanted}; vLLM takes at most {RANKS[-1]}; use `backend: transformers`")
    rank = next(rank for rank in RANKS if rank >= wanted)
    return {"enable_lora": True, "max_lora_rank": rank, "max_loras": 1, "max_cpu_loras": len(adapters)}


def _text_only(base: Path) -> dict[str, Any]:
    """Leave the vision tower of larger Gemma 3 models out of the memory."""
    return {"limit_mm_per_prompt": {"image": 0}} if "vision_config" in read_json(base / "config.json") else {}
