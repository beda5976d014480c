"""A completion has one text, whatever runs the model: what ends it is in it, as training saw it."""

from __future__ import annotations

import json
import shutil
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Completion, Request, open_backend
from seedbed.generators.writing.backends.openai import ChatBackend
from seedbed.generators.writing.prompts import parse, zero_shot
from tests import tiny
from tests.serving import Serving

NEW = 20


@pytest.fixture(scope="module")
def base(tiny_generator: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny base, of whose last merges each spells the end of a sentence and its line."""
    return tiny.ending(tiny_generator, tmp_path_factory.mktemp("spelled") / "base")


@pytest.fixture(scope="module")
def chat(base: Path, tiny_chat_generator: Path) -> Path:
    """The same with a chat template, and a liking for what ends a turn."""
    directory = base.with_name("chat")
    shutil.copytree(base, directory)
    shutil.copy(tiny_chat_generator / "chat_template.jinja", directory)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(base), AutoTokenizer.from_pretrained(base)
    model.get_output_embeddings().weight.data[tokenizer.convert_tokens_to_ids("<end_of_turn>")] *= 8
    model.save_pretrained(directory)
    return directory


class Engine:
    """What vLLM and SGLang do: the likeliest tokens, and a text without the token that stopped it, unless asked; bytes
    that make no character yet are held back."""

    def __init__(self, base: Path) -> None:
        self.model, self.tokenizer = AutoModelForCausalLM.from_pretrained(base), AutoTokenizer.from_pretrained(base)

    def write(self, prompt: Sequence[int], stops: Sequence[int], *, with_stop: bool) -> tuple[list[int], str, str]:
        stops = [*stops, self.tokenizer.eos_token_id]
        options = {"do_sample": False, "max_new_tokens": NEW, "eos_token_id": stops, "pad_token_id": 0}
        new = self.model.generate(torch.tensor([prompt]), **options)[0, len(prompt) :].tolist()
        reason = "stop" if new[-1] in stops else "length"
        shown = new[:-1] if reason == "stop" and not with_stop else new
        return new, self.tokenizer.decode(shown, skip_special_tokens=True).rstrip("\ufffd"), reason


class Server(Serving):
    """`flag`: by which the server is told to leave in its text what ended it."""

    def __init__(self, base: Path, flag: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.engine, self.flag = Engine(base), flag


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body, engine = json.loads(self.rfile.read(int(self.headers["Content-Length"]))), self.server.engine
        if self.path == "/v1/completions":
            with_stop = body.get(self.server.flag, False)
            _, text, reason = engine.write(body["prompt"], body["stop_token_ids"], with_stop=with_stop)
            choice = {"text": text, "finish_reason": reason}
        else:
            options = {"add_generation_prompt": True, "return_dict": False}
            prompt = engine.tokenizer.apply_chat_template(body["messages"], **options)
            end = engine.tokenizer.convert_tokens_to_ids("<end_of_turn>")
            _, text, reason = engine.write(prompt, [end], with_stop=False)
            choice = {"message": {"content": text}, "finish_reason": reason}
        data = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def settings(base: Path, **changes: Any) -> Generator:
    sampling = {"max_new_tokens": NEW, "temperature": 0, "top_k": 0, "top_p": 1.0}
    fixed = {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 4}
    return Generator.model_validate(fixed | {"sampling": sampling} | changes)


def written(generator: Generator, base: Path | None) -> dict[str, Completion]:
    backend = open_backend(generator, base)
    texts = tiny.sentences("hau", 24)
    requests = [
        Request(str(number), backend.encode(zero_shot(text, "positive", "Hausa", generator.prompts)))
        for number, text in enumerate(texts)
    ]
    return {completion.id: completion for completion in backend.write(requests, None)}


@pytest.fixture
def vllm(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """vLLM's classes, as far as a back end uses them, around an engine."""

    class LLM:
        def __init__(self, **options: Any) -> None:
            self.engine = Engine(Path(options["model"]))

        def generate(self, prompts: list[dict], params: Mapping[str, Any], **_: Any) -> Iterator[Any]:
            for prompt in prompts:
                with_stop = params.get("include_stop_str_in_output", False)
                ids, text, reason = self.engine.write(
                    prompt["prompt_token_ids"], params["stop_token_ids"], with_stop=with_stop
                )
                output = types.SimpleNamespace(text=text, token_ids=ids, finish_reason=reason)
                yield types.SimpleNamespace(outputs=[output])

    contents: dict[str, dict[str, Callable]] = {
        "vllm": {"LLM": LLM, "SamplingParams": dict, "TokensPrompt": dict},
        "vllm.lora": {},
        "vllm.lora.request": {"LoRARequest": dict},
    }
    for name, members in contents.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture(scope="module")
def wanted(base: Path) -> dict[str, Completion]:
    found = written(settings(base), base)
    sentences = [parse(completion.text) for completion in found.values() if completion.text.endswith("\n")]
    assert sum(sentence.endswith((".", "?", "!")) for sentence in sentences) > 5, "ends of sentences are tested"
    return found


def test_a_character_that_is_cut_in_its_midst_is_no_text(base: Path) -> None:
    """Its bytes are tokens of their own; a server holds back what is no whole character."""
    backend = open_backend(settings(base), base)
    tokens = backend.tokenizer("sun ज ज")["input_ids"]
    assert backend.text(tokens) == "sun ज ज"
    assert {backend.text(tokens[:-cut]) for cut in (1, 2)} == {"sun ज "}


def test_vllm_writes_the_text_of_transformers(base: Path, wanted: dict[str, Completion], vllm: None) -> None:
    assert written(settings(base, backend="vllm"), base) == wanted


@pytest.mark.parametrize("flag", ["include_stop_str_in_output", "no_stop_trim"])  # of vLLM; of SGLang
def test_a_server_writes_the_text_of_transformers(base: Path, wanted: dict[str, Completion], flag: str) -> None:
    with Server(base, flag) as server:
        endpoint = f"http://127.0.0.1:{server.server_port}/v1"
        served = settings(base, backend="openai", endpoint=endpoint, served_model="base")
        assert written(served, base) == wanted


def test_a_server_of_messages_writes_the_text_of_transformers(chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of some texts there is no whole character: from such a server that is no answer, and would be a fault."""
    monkeypatch.setattr(ChatBackend, "keeps_cut", True)
    local = written(settings(chat, prompts="chat"), chat)
    assert len({completion.finished for completion in local.values()}) == 2, "both ways of ending are tested"
    with Server(chat, "") as server:
        fixed = {"backend": "openai-chat", "endpoint": f"http://127.0.0.1:{server.server_port}/v1", "served_model": "m"}
        served = Generator.model_validate(fixed | {"sampling": settings(chat).sampling.model_dump(), "batch_size": 4})
        found = written(served, None)
    some = [row for row, completion in local.items() if completion.text]
    assert len(some) > 10 and [found[row] for row in some] == [local[row] for row in some]
