"""Back ends: batching changes nothing, adapters act and leave no trace, servers and vLLM get what they know."""

from __future__ import annotations

import inspect
import json
import sys
import threading
import time
import types
from collections import Counter
from dataclasses import dataclass, fields
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM
from transformers.generation import (
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from seedbed.generators.settings import Generator, Sampling
from seedbed.generators.writing.backends import Completion, Request, open_backend, stream
from seedbed.generators.writing.backends.hf import GenerationBatch, sample_tokens
from seedbed.generators.writing.prompts import encode, zero_shot
from seedbed.io import UserError
from tests import tiny
from tests.serving import Serving

NEW = 20


def settings(base, **changes):
    sampling = {"max_new_tokens": NEW, **changes.pop("sampling", {})}
    fixed = {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 4}
    return Generator.model_validate(fixed | {"sampling": sampling} | changes)


def adapter(base, directory, std):
    """A rank-2 adapter with random B; std 0: without effect."""
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_pretrained(base)
    peft = get_peft_model(model, LoraConfig(r=2, lora_alpha=4, target_modules="all-linear", task_type="CAUSAL_LM"))
    for name, weight in peft.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=std)
    peft.save_pretrained(directory)
    return directory


@pytest.fixture(scope="module")
def requests(tiny_generator):
    """Prompts of many lengths."""
    tokenizer = open_backend(settings(tiny_generator), tiny_generator).tokenizer
    texts = [" ".join(text.split()[: 1 + number % 6]) for number, text in enumerate(tiny.sentences("hau", 15))]
    return [
        Request(f"positive/{number}", encode(tokenizer, zero_shot(text, "positive", "Hausa", "plain"), "plain"))
        for number, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def adapted(tiny_generator, tmp_path_factory):
    return adapter(tiny_generator, tmp_path_factory.mktemp("adapters") / "good", std=0.2)


def written(base, requests, lora=None, **changes):
    backend = open_backend(settings(base, **changes), base)
    return {completion.id: completion for completion in backend.write(requests, lora)}


def one_by_one(base, requests, lora=None, **options):
    """What transformers' generate writes, without a batch."""
    backend = open_backend(settings(base), base)
    model = backend.model if lora is None else PeftModel.from_pretrained(backend.model, lora).merge_and_unload()
    stops = backend.stops.tolist()
    options = {"do_sample": False, "max_new_tokens": NEW, "eos_token_id": stops, "pad_token_id": 0, **options}
    found = {}
    for request in requests:
        new = model.generate(torch.tensor([request.prompt]), **options)[0, len(request.prompt) :]
        text = backend.tokenizer.decode(new, skip_special_tokens=True).rstrip("\ufffd")
        found[request.id] = Completion(request.id, text, finished=int(new[-1]) in stops)
    return found


@pytest.mark.parametrize("penalty", [1.0, 1.3])
@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_greedy_is_what_generate_writes_one_by_one(tiny_generator, requests, batch_size, penalty):
    sampling = {"temperature": 0, "repetition_penalty": penalty}
    found = written(tiny_generator, requests, batch_size=batch_size, sampling=sampling)
    expected = one_by_one(tiny_generator, requests, repetition_penalty=penalty)
    assert found == expected
    assert len({completion.finished for completion in expected.values()}) == 2, "both ways of ending are tested"


@pytest.mark.parametrize("sampling", [{}, {"top_k": 0, "repetition_penalty": 1.2}, {"top_k": 5, "top_p": 1.0}])
def test_order_padding_and_batch_size_change_nothing(tiny_generator, requests, sampling):
    expected = written(tiny_generator, requests, batch_size=1, sampling=sampling)
    assert len({completion.text for completion in expected.values()}) > 10
    for batch_size, part in [(3, requests), (64, requests), (4, requests[::-1]), (5, requests[3:9])]:
        found = written(tiny_generator, part, batch_size=batch_size, sampling=sampling)
        assert found == {request.id: expected[request.id] for request in part}


def test_rows_draw_from_streams_of_their_own(tiny_generator, requests):
    same = [Request(str(number), requests[0].prompt) for number in range(8)]
    texts = [completion.text for completion in written(tiny_generator, same).values()]
    assert len(set(texts)) > 5
    assert written(tiny_generator, same, sampling={"seed": 1}) != written(tiny_generator, same)
    assert stream(1, "23") != stream(12, "3") and 0 <= stream(1, "23") < 2**60


@pytest.mark.parametrize("penalty", [1.0, 1.5])
@pytest.mark.parametrize(("top_k", "top_p"), [(0, 1.0), (5, 1.0), (0, 0.8), (6, 0.7)])
def test_tokens_are_drawn_from_transformers_distribution(top_k, top_p, penalty):
    torch.manual_seed(0)
    logits, tokens, draws = torch.randn(1, 40) * 2, torch.tensor([[0, 3, 3, 7, 11]]), 20_000
    warpers = LogitsProcessorList([RepetitionPenaltyLogitsProcessor(penalty), TemperatureLogitsWarper(0.7)])
    warpers += [TopKLogitsWarper(top_k)] if top_k else []
    warpers += [TopPLogitsWarper(top_p)] if top_p < 1 else []
    expected = warpers(tokens, logits).softmax(-1)[0]
    uniforms = (torch.arange(draws, dtype=torch.float64) / draws)[:, None]
    rows = GenerationBatch([], tokens.expand(draws, -1), None, torch.zeros(draws, dtype=torch.long), uniforms, None)
    sampling = Sampling(temperature=0.7, top_k=top_k, top_p=top_p, repetition_penalty=penalty)
    drawn = sample_tokens(logits.expand(draws, -1), rows, sampling)
    assert torch.allclose(drawn.bincount(minlength=40) / draws, expected, atol=2 / draws)


def test_an_adapter_acts_and_leaves_no_trace(tiny_generator, requests, adapted):
    backend = open_backend(settings(tiny_generator, sampling={"temperature": 0}), tiny_generator, [adapted])
    before = {name: weight.clone() for name, weight in backend.model.state_dict().items()}
    runs = [{c.id: c for c in backend.write(requests, lora)} for lora in (None, adapted, None, adapted)]
    assert runs[0] == runs[2] != runs[1] == runs[3]
    assert runs[1] == one_by_one(tiny_generator, requests, adapted)
    after = backend.model.state_dict()
    assert before.keys() == after.keys() and all(torch.equal(weight, after[name]) for name, weight in before.items())


def test_an_adapter_is_taken_out_when_nobody_reads_on(tiny_generator, requests, adapted):
    backend = open_backend(settings(tiny_generator), tiny_generator)
    reading = backend.write(requests, adapted)
    next(reading)
    reading.close()
    assert not any("lora" in name for name, _ in backend.model.named_modules())


def test_an_adapter_without_effect_is_refused(tiny_generator, requests, tmp_path):
    with pytest.raises(UserError, match="idle: the adapter has no effect"):
        written(tiny_generator, requests, adapter(tiny_generator, tmp_path / "idle", std=0.0))


def test_an_adapter_with_other_names_is_refused(tiny_generator, requests, adapted, tmp_path):
    renamed = adapter(tiny_generator, tmp_path / "renamed", std=0.2)
    weights = load_file(renamed / "adapter_model.safetensors")
    other = {name.replace(".model.layers", ".language_model.layers"): weight for name, weight in weights.items()}
    save_file(other, renamed / "adapter_model.safetensors")
    with pytest.raises(UserError, match=r"renamed:.*missing adapter"):
        written(tiny_generator, requests, renamed)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backend": "vllm"}, "vllm is not installed"),
        ({"quantization": "nf4"}, "quantization: nf4 needs (an NVIDIA GPU|the package bitsandbytes)"),
        ({"backend": "openai"}, "set `endpoint`"),
        ({"backend": "openai", "endpoint": "http://localhost:1"}, "and `served_model`"),
    ],
)
def test_a_back_end_that_is_not_there(tiny_generator, changes, message):
    with pytest.raises(UserError, match=message):
        open_backend(settings(tiny_generator, **changes), tiny_generator)


@pytest.mark.parametrize("backend", ["transformers", "vllm", "openai", "published"])
def test_what_is_recorded_of_a_generator_can_be_read_again(backend: str) -> None:
    """An address changes no result where the weights are known, and is not recorded."""
    given = {"source": {"file": "x"}, "backend": backend, "endpoint": "https://host/v1", "served_model": "m"}
    generator = Generator.model_validate(given)
    assert Generator.load(generator.recorded()).endpoint == ""
    assert Generator.model_validate(generator.decisive().model_dump()).backend == backend


@pytest.mark.parametrize("backend", ["vllm", "openai"])
def test_quantization_is_of_the_back_end_that_loads_weights(tiny_generator, backend):
    with pytest.raises(ValueError, match=f"quantization: .*{backend}; leave it out, or take transformers"):
        settings(tiny_generator, backend=backend, quantization="nf4")


# --- vLLM: its classes with their parameters, and a model that says what it was asked ---


@dataclass
class SamplingParams:
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    repetition_penalty: float = 1.0
    max_tokens: int | None = 16
    stop_token_ids: list[int] | None = None
    """No seed: with one vLLM samples without its fused kernel."""


@dataclass
class LoRARequest:
    lora_name: str
    lora_int_id: int
    lora_path: str = ""
    base_model_name: str | None = None
    load_inplace: bool = False


@dataclass
class LLM:
    model: str
    dtype: str
    seed: int
    tensor_parallel_size: int
    gpu_memory_utilization: float
    max_model_len: int
    enable_prefix_caching: bool
    trust_remote_code: bool = False
    load_format: str = "auto"
    enable_lora: bool = False
    max_lora_rank: int = 16
    max_loras: int = 1
    max_cpu_loras: int | None = None
    limit_mm_per_prompt: dict[str, int] | None = None

    loaded = ()
    deaf = False
    """An adapter is loaded and ignored."""

    def __post_init__(self):
        assert self.max_lora_rank in (1, 8, 16, 32, 64, 128, 256, 320, 512)
        LLM.loaded = (*LLM.loaded, self)
        self.calls = []

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True, lora_request=None, priority=None):
        assert lora_request is None or self.enable_lora
        self.calls.append((len(prompts), lora_request))
        heard = None if self.deaf else lora_request
        return [self._answer(prompt, sampling_params, heard) for prompt in prompts]

    def _answer(self, prompt, params, lora):
        assert len(prompt["prompt_token_ids"]) + params.max_tokens <= self.max_model_len
        last = prompt["prompt_token_ids"][-1]
        ids = [last, params.max_tokens, lora.lora_int_id if lora else 0]
        reason = "length" if last % 3 == 0 else "stop"
        output = types.SimpleNamespace(text="not used", token_ids=tuple(ids), finish_reason=reason)
        return types.SimpleNamespace(prompt_token_ids=prompt["prompt_token_ids"], outputs=[output])


def tokens_prompt(*, prompt_token_ids: list[int], prompt: str = "", cache_salt: str = "") -> dict[str, Any]:
    return {"prompt_token_ids": prompt_token_ids}


@pytest.fixture
def vllm(monkeypatch):
    contents = {
        "vllm": {"LLM": LLM, "SamplingParams": SamplingParams, "TokensPrompt": tokens_prompt},
        "vllm.lora": {},
        "vllm.lora.request": {"LoRARequest": LoRARequest},
    }
    for name, members in contents.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(LLM, "loaded", ())


def test_the_stand_ins_take_what_vllm_takes():
    """By the record of its signatures, see tests/vllm/signatures.py."""
    real = json.loads(Path("tests/vllm/signatures.json").read_text())["signatures"]
    taken = {"LLM": real["LLM.__init__"].keys() | real["EngineArgs"].keys()}
    taken |= {name: real[name].keys() for name in ("SamplingParams", "LoRARequest")}
    for stand_in in (LLM, SamplingParams, LoRARequest):
        assert {field.name for field in fields(stand_in)} <= taken[stand_in.__name__]
    parameters = [*inspect.signature(LLM.generate).parameters][1:]
    assert parameters == [name for name in real["LLM.generate"] if name in parameters]
    assert {*inspect.signature(tokens_prompt).parameters} <= real["TokensPrompt"].keys()


def test_vllm_writes_both_polarities_with_one_model(tiny_generator, requests, adapted, vllm, tmp_path, monkeypatch):
    wide = adapter(tiny_generator, tmp_path / "wide", std=0.2)
    (wide / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 24, "rank_pattern": {}}))
    monkeypatch.setattr("seedbed.generators.writing.backends.vllm.CHUNK", 6)
    generator = settings(tiny_generator, backend="vllm", dtype="bfloat16", gpu_memory=0.5)
    backend = open_backend(generator, tiny_generator, [adapted, wide])
    for number, lora in [(0, None), (1, adapted), (2, wide)]:
        found = {completion.id: completion for completion in backend.write(requests, lora)}
        assert len(found) == len(requests)
        for request in requests:
            text = backend.text([request.prompt[-1], NEW, number])
            assert found[request.id] == Completion(request.id, text, finished=request.prompt[-1] % 3 != 0)
    (model,) = LLM.loaded
    assert (model.max_lora_rank, model.max_cpu_loras, model.max_model_len) == (32, 2, 512 + NEW)
    assert (model.dtype, model.gpu_memory_utilization) == ("bfloat16", 0.5)
    assert [size for size, _ in model.calls] == [6, 6, 3, *2 * [8, 8, 6, 6, 3]]


def test_vllm_draws_a_shard_from_a_stream_of_its_own(tiny_generator, requests, vllm):
    def seed(asked, **changes):
        backend = open_backend(settings(tiny_generator, backend="vllm", **changes), tiny_generator)
        list(backend.write(asked, None))
        list(backend.write(requests, None))
        return LLM.loaded[-1].seed

    seeds = [seed(requests), seed(requests[1:]), seed(requests, sampling={"seed": 1})]
    assert len({*seeds}) == 3 and seed(requests) == seeds[0] and max(seeds) < 2**32
    assert len(LLM.loaded) == 4


def test_vllm_without_adapters_has_no_place_for_them(tiny_generator, requests, vllm):
    backend = open_backend(settings(tiny_generator, backend="vllm"), tiny_generator)
    assert len(list(backend.write(requests, None))) == len(requests)
    assert not LLM.loaded[0].enable_lora and LLM.loaded[0].limit_mm_per_prompt is None


def test_vllm_that_ignores_an_adapter_is_refused(tiny_generator, requests, adapted, vllm, monkeypatch):
    monkeypatch.setattr(LLM, "deaf", True)
    backend = open_backend(settings(tiny_generator, backend="vllm"), tiny_generator, [adapted])
    with pytest.raises(UserError, match="good: the adapter has no effect"):
        list(backend.write(requests, adapted))


def test_vllm_leaves_the_eyes_of_gemma_shut(tiny_generator, vllm, tmp_path):
    from seedbed.generators.writing.backends.vllm import _text_only

    (tmp_path / "config.json").write_text('{"vision_config": {}}')
    assert _text_only(tmp_path) == {"limit_mm_per_prompt": {"image": 0}}


# --- A server ---


class Server(Serving):
    """Answers with what it was asked; `faults` are status codes that come first."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.bodies, self.keys = [], [], []
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self.deaf = False


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
            fault = server.faults.pop() if server.faults else None
        time.sleep(0.005)
        with server.lock:
            server.busy -= 1
            server.bodies.append(body)
            server.keys.append(self.headers["Authorization"])
        if fault == "hang up":
            return
        text = f"{'base' if server.deaf else body['model']} {body['prompt'][-1]} {body['seed']}"
        answer = {"choices": [{"text": text, "finish_reason": "stop" if body["seed"] % 2 else "length"}]}
        self.reply(fault or 200, {"error": {"message": "no such\nmodel"}} if fault else answer)

    def reply(self, status, answer):
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as server:
        yield server


@pytest.fixture
def client(tiny_generator, server):
    endpoint = f"http://127.0.0.1:{server.server_port}/v1/"
    generator = settings(tiny_generator, backend="openai", endpoint=endpoint, served_model="base")
    backend = open_backend(generator, tiny_generator)
    backend.wait = 0.001
    return backend


def test_a_server_gets_tokens_and_every_setting(client, server, requests, adapted, monkeypatch):
    monkeypatch.setenv("SEEDBED_API_KEY", "secret")
    found = {completion.id: completion for completion in client.write(requests, adapted)}
    name = str(adapted).strip("/").replace("/", "-")
    for request in requests:
        seed = stream(42, request.id)
        text = f"{name} {request.prompt[-1]} {seed}"
        assert found[request.id] == Completion(request.id, text, finished=seed % 2 == 1)
    assert set(server.keys) == {"Bearer secret"}
    assert Counter(body["model"] for body in server.bodies) == {name: len(requests) + 8, "base": 8}
    last = next(body for body in server.bodies if body["temperature"] > 0)
    assert last["prompt"] in [request.prompt for request in requests]
    assert (last["top_k"], last["top_p"], last["max_tokens"], last["repetition_penalty"]) == (64, 0.95, NEW, 1.0)
    assert last["stop_token_ids"] == client.stops


def test_requests_under_way_are_bounded(client, server, requests):
    assert len(list(client.write(requests * 2, None))) == 2 * len(requests)
    assert 1 < server.busiest <= 4
    assert set(server.keys) == {None}


def test_a_busy_server_is_asked_again(client, server, requests):
    server.faults = [429, 503, "hang up", 500, 429]
    assert len(list(client.write(requests, None))) == len(requests)
    assert len(server.bodies) == len(requests) + 5


def test_a_server_that_stays_broken_is_given_up(client, server, requests):
    server.faults = [503] * 999
    with pytest.raises(UserError, match="v1/completions: model 'base': 503 Service Unavailable"):
        list(client.write(requests, None))


def test_a_key_that_a_server_sends_back_is_not_told(client, server, requests, monkeypatch):
    monkeypatch.setenv("SEEDBED_API_KEY", "no such")  # of the server's words
    server.faults = [404] * 999
    with pytest.raises(UserError, match=r"404 Not Found") as caught:
        list(client.write(requests[:1], None))
    assert "no such" not in str(caught.value) and "***" in str(caught.value)


def test_a_refusal_is_not_repeated(client, server, requests):
    server.faults = [404] * 999
    with pytest.raises(UserError, match=r"404 Not Found: .*no such\\nmodel"):
        list(client.write(requests[:1], None))
    assert len(server.bodies) == 1


def test_a_server_that_ignores_an_adapter_is_refused(client, server, requests, adapted):
    server.deaf = True
    with pytest.raises(UserError, match="good: the adapter has no effect"):
        list(client.write(requests, adapted))
