"""Pickled weights become safetensors: with the same numbers, and without ever running what a pickle may run."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers.sentence_transformer.modules import Dense, Normalize
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, XGLMConfig, XGLMForCausalLM

from seedbed import manifests
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.encoders.models import loading
from seedbed.generators.weights import pickles, to_safetensors
from seedbed.generators.weights.fetch import fetch, local_files
from seedbed.io import UserError, read_json, sha256
from seedbed.study.checks import sources
from tests import tiny
from tests.unit.test_security import Evil


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "downloads", tmp_path / "lock.json")


def test_a_static_encoder_is_refused_as_such(tmp_path: Path, store: Store) -> None:
    encoder = loading.load(tiny.backbone(tmp_path / "tiny"), pooling="static")
    encoder.save(str(tmp_path / "static"))
    with pytest.raises(UserError, match="static: a static encoder, which has no transformer, cannot be a backbone"):
        fetch(Source(file=str(tmp_path / "static")), store, tmp_path / "out")


def pickled(directory: Path, *, shards: int = 1, old: bool = False) -> Path:
    """The same model as it was published before there were safetensors, each module's weights in its own folder."""
    for file in directory.rglob("model.safetensors"):
        state = load_file(file)
        names = sorted(state)
        parts = {f"pytorch_model-{n + 1:05d}-of-{shards:05d}.bin": names[n::shards] for n in range(shards)}
        for name, part in parts.items() if shards > 1 else [("pytorch_model.bin", names)]:
            tensors = {key: state[key] for key in part}
            torch.save(tensors, file.with_name(name), _use_new_zipfile_serialization=not old)
        if shards > 1:
            index = {"metadata": {}, "weight_map": {key: name for name, part in parts.items() for key in part}}
            file.with_name("pytorch_model.bin.index.json").write_text(json.dumps(index))
        file.unlink()
    return directory


def logits(directory: Path, kind: Any = AutoModelForCausalLM) -> torch.Tensor:
    model = kind.from_pretrained(directory, trust_remote_code=False).eval()
    ids = torch.arange(3, 20)[None]
    extra = {"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}
    with torch.inference_mode():
        return model(input_ids=ids, **extra).logits


@pytest.mark.parametrize(("shards", "old"), [(1, False), (1, True), (3, False)])
def test_a_language_model_has_the_same_numbers(tmp_path: Path, store: Store, shards: int, old: bool) -> None:
    """In one file, in one of before torch 1.6, and in shards with their index."""
    model = tiny.generator(tmp_path / "model")
    before, weights = logits(model), load_file(model / "model.safetensors")
    digests = {
        path.name: sha256(path) for path in pickled(model, shards=shards, old=old).glob("pytorch_model*.bin")
    }  # fmt: skip
    source = Source(file=str(model), convert=True)
    assert {model / name for name in digests} <= {*local_files(source)}, "an edit of the pickle is noticed"
    fetch(source, store, tmp_path / "out")
    assert torch.equal(logits(tmp_path / "out"), before)
    found = load_file(tmp_path / "out" / "model.safetensors")
    assert {*found} == {*weights} and all(torch.equal(found[name], weights[name]) for name in weights)
    record = manifests.of(tmp_path / "out")
    assert record["converted"] == digests and len(digests) == shards
    assert not [path for path in (tmp_path / "out").rglob("*") if "pytorch_model" in path.name or path.is_dir()]
    assert len([*model.glob("pytorch_model*.bin")]) == shards, "somebody's own model is left as it is"


@pytest.mark.parametrize("kind", ["xglm", "mt5"])
def test_names_that_share_a_tensor_keep_it_each(tmp_path: Path, store: Store, kind: str) -> None:
    """XGLM's head is its word embeddings; mT5's encoder and decoder share theirs."""
    if kind == "xglm":
        model = tiny.generator(tmp_path / "model")
        config = XGLMConfig(vocab_size=420, d_model=32, ffn_dim=64, num_layers=2, attention_heads=2)
        torch.manual_seed(0)
        made = XGLMForCausalLM(config)
    else:
        model = tiny.encoder_decoder(tmp_path / "model")
        made = AutoModelForSeq2SeqLM.from_pretrained(model, trust_remote_code=False)
    made.save_pretrained(model)
    before = logits(model, type(made))
    (model / "model.safetensors").unlink()
    state = made.state_dict()
    assert len({tensor.data_ptr() for tensor in state.values()}) < len(state)
    torch.save(state, model / "pytorch_model.bin")
    fetch(Source(file=str(model), convert=True), store, tmp_path / "out")
    found = load_file(tmp_path / "out" / "model.safetensors")
    assert {*found} == {*state} and all(torch.equal(found[name], tensor) for name, tensor in state.items())
    assert torch.equal(logits(tmp_path / "out", type(made)), before)


@pytest.fixture(scope="module")
def labse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder of LaBSE's modules, whose dense layer has weights of its own."""
    folder = tmp_path_factory.mktemp("labse")
    encoder = loading.load(tiny.backbone(folder / "weights"), pooling="cls")
    encoder.extend([Dense(32, 32), Normalize()])
    encoder.save_pretrained(str(folder / "encoder"), create_model_card=False)
    return folder / "encoder"


def test_each_module_of_an_encoder_is_converted(labse: Path, tmp_path: Path, store: Store) -> None:
    before = loading.open_encoder(labse).encode(["a text"])
    model = pickled(Path(shutil.copytree(labse, tmp_path / "model")))
    fetch(Source(file=str(model), convert=True), store, tmp_path / "out")
    assert (loading.open_encoder(tmp_path / "out").encode(["a text"]) == before).all()
    record = manifests.of(tmp_path / "out")
    assert {*record["converted"]} == {"pytorch_model.bin", "2_Dense/pytorch_model.bin"}
    # A transformer that has safetensors, beside a layer that has none.
    shutil.copy(labse / "model.safetensors", model)
    fetch(Source(file=str(model), convert=True), store, tmp_path / "half")
    assert {*manifests.of(tmp_path / "half")["converted"]} == {"2_Dense/pytorch_model.bin"}
    assert (loading.open_encoder(tmp_path / "half").encode(["a text"]) == before).all()


def test_what_has_safetensors_is_left_as_it_is(tmp_path: Path, store: Store) -> None:
    model = tiny.generator(tmp_path / "model")
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(Evil(tmp_path / "run")))
    fetch(Source(file=str(model), convert=True), store, tmp_path / "out")
    assert "converted" not in manifests.of(tmp_path / "out")
    assert sha256(tmp_path / "out" / "model.safetensors") == sha256(model / "model.safetensors")
    assert not (tmp_path / "out" / "pytorch_model.bin").exists() and not (tmp_path / "run").exists()


def expanded(path: Path) -> None:
    """A tensor of a terabyte that takes four bytes of the file."""
    torch.save({"a": torch.zeros(1).expand(2**38)}, path)


def many_names(path: Path) -> None:
    shared = torch.zeros(1000)
    torch.save({str(number): shared for number in range(1000)}, path)


def cut_short(path: Path) -> None:
    torch.save({"a": torch.zeros(1000)}, path)
    path.write_bytes(path.read_bytes()[:-50])


FAULTS: dict[str, tuple[Callable[[Path, Path], Any], str]] = {
    "evil": (lambda path, run: path.write_bytes(pickle.dumps(Evil(run))), "more than tensors: Unsupported operand"),
    "evil, protocol 2": (lambda path, run: path.write_bytes(pickle.dumps(Evil(run), 2)), "GLOBAL (io|__builtin__).open"),
    "evil in an archive": (lambda path, run: torch.save({"a": Evil(run)}, path), "more than tensors: .* GLOBAL io.open"),
    "evil of old": (lambda path, run: torch.save(Evil(run), path, _use_new_zipfile_serialization=False), "GLOBAL io.open"),
    "a module": (lambda path, _: torch.save(torch.nn.Linear(2, 2), path), r"GLOBAL torch\.nn\.modules\.linear\.Linear"),
    "an array": (lambda path, _: torch.save({"a": torch.zeros(2).numpy()}, path), "more than tensors: .* GLOBAL numpy"),
    "a program": (lambda path, _: torch.jit.script(torch.nn.Linear(2, 2)).save(str(path)), "TorchScript archives"),
    "a list": (lambda path, _: torch.save([torch.zeros(2)], path), "a list instead of tensors by name"),
    "nested": (lambda path, _: torch.save({"model": {"a": torch.zeros(2)}}, path), "'model' is no plain tensor but dict"),
    "sparse": (lambda path, _: torch.save({"a": torch.eye(3).to_sparse()}, path), "'a' is no plain tensor"),
    "nowhere": (lambda path, _: torch.save({"a": torch.zeros(2, device="meta")}, path), "'a' is no plain tensor"),
    "negated": (lambda path, _: torch.save({"a": torch.zeros(2, dtype=torch.cfloat).conj().imag}, path), "'a' is no plain"),
    "expanded": (lambda path, _: expanded(path), "'a' has 1099511627776 bytes, the files"),
    "many names": (lambda path, _: many_names(path), "4000000 bytes of tensors in files of"),
    "empty": (lambda path, _: path.write_bytes(b""), "damaged, or not as torch.save writes it"),
    "a page": (lambda path, _: path.write_text("<html>not found</html>"), "more than tensors|damaged"),
    "cut short": (lambda path, _: cut_short(path), "damaged, or not as torch.save writes it: "),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_more_than_tensors_is_told_in_a_line(tmp_path: Path, fault: str) -> None:
    make, message = FAULTS[fault]
    make(file := tmp_path / "pytorch_model.bin", tmp_path / "run")
    with pytest.raises(Exception) as caught:
        to_safetensors.tensors([file], file.stat().st_size)
    said = to_safetensors.reason(caught.value)
    assert re.search(message, said) and "\n" not in said
    assert "weights_only" not in said.replace("weights_only=True", ""), "no advice to read it otherwise"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("fault", ["evil", "evil in an archive"])
def test_what_is_more_than_tensors_leaves_nothing(tmp_path: Path, store: Store, fault: str) -> None:
    model = tiny.generator(tmp_path / "model")
    (model / "model.safetensors").unlink()
    make, message = FAULTS[fault]
    make(model / "pytorch_model.bin", tmp_path / "run")
    with pytest.raises(UserError, match=message) as caught:
        fetch(Source(file=str(model), convert=True), store, tmp_path / "out" / "weights")
    said = str(caught.value)
    assert said.startswith(f"file {model}: pytorch_model.bin: cannot be converted") and "\n" not in said
    assert not (tmp_path / "run").exists() and not [*(tmp_path / "out").iterdir()]


def test_its_process_has_no_token_and_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_not_a_real_token")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    file = tmp_path / "pytorch_model.bin"
    file.write_bytes(b"")
    program = tmp_path / "program.py"
    monkeypatch.setattr(pickles, "PROGRAM", program)
    program.write_text("import os, sys\nsys.exit(' '.join([*os.environ, *sys.path, os.getcwd()]))")
    said = pickles._run(tmp_path, [file])
    assert "HF_TOKEN" not in said and str(tmp_path) not in said.split()[:-1]
    monkeypatch.setattr(pickles, "START", 0.2)
    program.write_text("import time\ntime.sleep(60)")
    assert pickles._run(tmp_path, [file]) == "not done after 0 s"
    monkeypatch.setattr(pickles, "START", 60)
    program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert pickles._run(tmp_path, [file]) == "its process ended with code -9"


def test_memory_is_bounded(tmp_path: Path) -> None:
    """A record of an archive that is compressed may grow more than the file."""
    file = tmp_path / "pytorch_model.bin"
    file.write_bytes(b"")
    program = tmp_path / "program.py"
    body = to_safetensors.__file__
    program.write_text(
        f"import importlib.util, sys\nspec = importlib.util.spec_from_file_location('m', {body!r})\n"
        "m = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(m)\n"
        "m.tensors = lambda files, size: bytearray(size + m.SPARE)\nm.main(sys.argv[1:])"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pickles, "PROGRAM", program)
        assert pickles._run(tmp_path, [file]) == "it takes too much memory"


def test_large_weights_are_written_in_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(to_safetensors, "SHARD", 1000)
    state = {name: torch.full((100,), float(number)) for number, name in enumerate("abcde")} | {"f": torch.zeros(400)}
    state["g"] = state["a"]
    to_safetensors.write(state, tmp_path)
    index = read_json(tmp_path / "model.safetensors.index.json")["weight_map"]
    assert {*index} == {*state} and len({*index.values()}) == 4
    for name, file in index.items():
        assert torch.equal(load_file(tmp_path / file)[name], state[name])


def test_pickles_of_the_hub_come_only_where_there_are_no_safetensors(
    labse: Path, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    model = pickled(Path(shutil.copytree(labse, tmp_path / "model")))
    asked: list[list[str]] = []

    def download(repository: str, *, local_dir: Path, allow_patterns: list[str], **_: Any) -> None:
        asked.append(allow_patterns)
        for file in huggingface_hub.utils.filter_repo_objects(
            [str(path.relative_to(model)) for path in model.rglob("*") if path.is_file()], allow_patterns=allow_patterns
        ):
            (local_dir / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(model / file, local_dir / file)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    source = Source(hub="some/one", revision="0" * 40)
    with pytest.raises(UserError, match=r"safetensors.*`convert: true`"):
        fetch(source, store, tmp_path / "out")
    assert not any("pytorch_model" in pattern for patterns in asked for pattern in patterns)
    assert not store.lock.exists(), "what is refused is not locked: the same repository may be converted next"
    shutil.copy(labse / "model.safetensors", model)
    fetch(source.updated({"convert": True}), store, tmp_path / "out")
    assert {"2_Dense/pytorch_model*.bin"} <= {*asked[-1]} and "pytorch_model*.bin" not in asked[-1]
    assert {*manifests.of(tmp_path / "out")["converted"]} == {"2_Dense/pytorch_model.bin"}


def test_only_models_are_converted() -> None:
    with pytest.raises(ValueError, match=r"convert:.*hub repository"):
        Source(package={"a==1": ""}, convert=True)
    with pytest.raises(ValueError, match=r"convert:.*hub repository"):
        Source(archive="https://host/a.zip", convert=True)
    with pytest.raises(UserError, match=r"text corpus of hau: convert.*weights"):
        sources._check_file(Source(hub="some/texts", convert=True), "the text corpus of hau")
    with pytest.raises(UserError, match=r"text corpus of hau: layers.*weights.*leave it out"):
        sources._check_file(Source(file="README.md", layers=4), "the text corpus of hau")
