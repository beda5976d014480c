"""A model that somebody else made: what its configuration may not name, and that nothing runs, leaks or is asked."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from safetensors.torch import save_file
from sentence_transformers.sentence_transformer.modules import Dense, Normalize
from sentence_transformers.util import import_from_string

from scripts import fuse_encoders, map_texts, score, train_encoder
from seedbed import model_files
from seedbed.classifiers import manifest
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.encoders.compression.onnx_int8 import quantized
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading, onnx_int8, parallel_adapters, two_paths
from seedbed.encoders.settings import EndpointSettings
from seedbed.generators.settings import Generator
from seedbed.generators.weights.fetch import fetch
from seedbed.generators.writing.backends import open_backend
from seedbed.io import UserError
from tests import tiny
from tests.embedder import DIMENSIONS, Embedder
from tests.programs import call


class Evil:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder as people publish them: mean, a dense layer, unit length."""
    folder = tmp_path_factory.mktemp("published")
    encoder = loading.load(tiny.backbone(folder / "weights"), pooling="mean")
    encoder.extend([Dense(32, 8), Normalize()])
    encoder.save_pretrained(str(folder / "encoder"), create_model_card=False)
    return folder / "encoder"


@pytest.fixture
def model(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "model"))


@pytest.fixture
def fetching(tmp_path: Path) -> Callable[[Path], None]:
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    return lambda folder: fetch(Source(file=str(folder)), store, tmp_path / "out" / "weights")


def published_encoder(folder: Path) -> None:
    """What the recipe `published` does with it, and a score with what came of it."""
    made = folder.parent / "made"
    call(train_encoder, [
        "--weights", str(folder), "--training", '{"pooling": "own"}', "--seed", "0",
        "--state", str(folder.parent / "state"), "--output", str(made),
    ])  # fmt: skip
    loading.open_encoder(made).encode(["a text"])


def edit(path: Path, **changes: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(known | changes))


def add_module(model: Path, kind: str, path: str) -> None:
    modules = json.loads((model / "modules.json").read_text())
    modules.append({"idx": len(modules), "name": str(len(modules)), "path": path, "type": kind})
    (model / "modules.json").write_text(json.dumps(modules))


def refusals(model: Path, fetching: Callable[[Path], None]) -> list[str]:
    """What each way of opening a model says: it stops before it does anything."""
    said = []
    for opening in (
        fetching,
        lambda folder: loading.load(folder, pooling="own"),
        loading.open_encoder,
        published_encoder,
    ):
        with pytest.raises(UserError) as caught:
            opening(model)
        said.append(str(caught.value))
        assert "\n" not in said[-1]
    assert not {path.name for path in model.parent.iterdir()} & {"made", "weights"}
    assert not (model.parent / "out" / "weights").exists()
    return said


def test_a_published_encoder_is_taken(model: Path, fetching: Callable[[Path], None], tmp_path: Path) -> None:
    fetching(model)
    published_encoder(tmp_path / "out" / "weights")


ROUTERS = [
    "sentence_transformers.base.modules.router.Router",
    "sentence_transformers.models.Router",
    "sentence_transformers.models.Asym",
]


@pytest.mark.parametrize("router", ROUTERS)
def test_a_router_brings_no_unpickler(
    model: Path, fetching: Callable[[Path], None], tmp_path: Path, router: str
) -> None:
    """It imports whatever its own file names, calls `load` of it, and hands it a path."""
    (model / "9_Router").mkdir()
    (model / "9_Router" / "payload.txt").write_bytes(pickle.dumps(Evil(tmp_path / "run")))
    types = {"types": {"payload.txt": "sklearn.datasets._rcv1.joblib"}, "structure": {"a": ["payload.txt"]}}
    edit(model / "9_Router" / "router_config.json", parameters={}, **types)
    add_module(model, router, "9_Router")
    assert all("Router is foreign code" in said or "Asym is foreign code" in said for said in refusals(model, fetching))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("nested", [True, False])
def test_no_text_and_no_token_reaches_a_models_server(
    model: Path, fetching: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch, nested: bool
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_not_a_real_token")
    with Embedder() as server:
        endpoint = EndpointSettings(url=server.url, model="m", dimensions=DIMENSIONS, key="HF_TOKEN")
        inner = model / ("9_Router/r" if nested else "9_Endpoint")
        inner.mkdir(parents=True)
        loading.remote(endpoint)[0].save(str(inner))
        name = "seedbed.encoders.endpoint.Endpoint"
        if nested:
            structure = {"types": {"r": name}, "structure": {"a": ["r"]}, "parameters": {}}
            edit(model / "9_Router" / "router_config.json", **structure)
        add_module(model, ROUTERS[0] if nested else name, inner.relative_to(model).parts[0])
        assert all("is foreign code" in said for said in refusals(model, fetching))
        # An encoder that is nothing but a server, as somebody else's directory.
        (model / "modules.json").write_text("[]")
        add_module(model, name, str(inner.relative_to(model)))
        assert all("Endpoint is foreign code" in said for said in refusals(model, fetching))
        assert not server.bodies and not server.tokens


def asking(folder: Path, server: Embedder, **changes: Any) -> EndpointSettings:
    """An encoder's folder that says: ask this server, with the token of this variable."""
    given = {"url": server.url, "model": "m", "dimensions": DIMENSIONS, "key": "HF_TOKEN"}
    endpoint = EndpointSettings.model_validate(given | changes)
    save(loading.remote(endpoint), folder, {}, {})
    return endpoint


def scored(folder: Path, *options: str) -> None:
    """What `scripts.score` makes of a folder."""
    rows = "id\tsentence1\tsentence2\tscore\n" + "".join(f"{one}\ta {one}\tb {one}\t{one}\n" for one in range(4))
    (folder.parent / "test.tsv").write_text(rows)
    (folder.parent / "test.json").write_text('{"origin": [{"kind": "file", "name": "x"}], "licence": ""}')
    task = {"protocol": "sts", "source": {"file": "x"}, "scale": [0, 3]}
    call(score, [
        "--systems", str(folder), "--language", "hau", "--tasks", json.dumps({"t": task}), *options,
        "--tests", str(folder.parent / "test.tsv"), "--records", str(folder.parent / "test.json"),
        "--scores", str(folder.parent / "scores"), "--output", str(folder.parent / "list.json"),
    ])  # fmt: skip


def test_a_folder_that_is_scored_asks_no_server_of_its_own_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Be it the encoder itself, one that it fuses, or a model that answers; nor does any other program ask it."""
    monkeypatch.setenv("HF_TOKEN", "hf_not_a_real_token")
    monkeypatch.setenv("OUR_KEY", "ours")
    with Embedder() as server:
        evil, fused, talks = tmp_path / "evil", tmp_path / "fused", tmp_path / "talks"
        endpoint = asking(evil, server)
        call(fuse_encoders, ["--members", f"a={evil}", f"b={evil}", "--weights", "[[1, 1]]", "--output", str(fused)])
        chat = Generator(backend="openai-chat", endpoint=server.url, served_model="m", key="HF_TOKEN")
        answering = {"answer": "generation"}
        system = {"kind": "in-context", "generator": json.loads(chat.dump()), "answering": answering}
        manifest.describe(talks, {}, system | {"examples": {"count": 0}}, {})
        elsewhere = endpoint.updated({"url": "https://host/v1"})

        chosen = [
            *("--members", f"a={evil}", f"b={evil}", "--weights", "[[1, 1], [2, 1]]", "--dev", "t"),
            *("--task", '{"protocol": "sts"}', "--output", str(tmp_path / "again")),
        ]
        mapped = [
            *("--encoder", str(evil), "--texts", f"hau={tmp_path}/labelled.tsv", "--map", '{"task": "t", "texts": 2}'),
            *("--pivot", "eng", "--backbone", "a", "--recipe", "b", "--batch-size", "2", "--output", f"{tmp_path}/m"),
        ]
        (tmp_path / "labelled.tsv").write_text("id\ttext\tlabel\n1\ta\tx\n2\tb\ty\n")
        attacks = [
            *(lambda folder=folder: scored(folder) for folder in (evil, fused, talks)),
            lambda: scored(evil, "--endpoints", elsewhere.dump(), "--generators", chat.dump()),
            lambda: scored(talks, "--generators", chat.updated({"served_model": "n"}).dump()),
            lambda: call(fuse_encoders, chosen),
            lambda: call(map_texts, mapped),
            lambda: loading.open_encoder(evil, servers=True),
        ]
        for attack in attacks:
            with pytest.raises(UserError) as caught:
                attack()
            assert "\n" not in str(caught.value) and server.url in str(caught.value)
            assert not server.bodies and not server.tokens
        # What the study names is asked as the study says, not as the folder does.
        named = endpoint.updated({"key": "OUR_KEY"}).dump()
        scored(evil, "--endpoints", elsewhere.dump(), named)
        assert {*server.tokens} == {"Bearer ours"}


@pytest.mark.parametrize(
    "kind",
    [
        "evil.Pooling",
        "seedbed.encoders.pooling.FirstLastAverage",
        "sentence_transformers.util.misc.importlib",
        "sentence_transformers.sentence_transformer.modules.word_embeddings.WordEmbeddings",
        "sentence_transformers.models.WordEmbeddings",
        "sentence_transformers.models.CLIPModel",
        "sentence_transformers.base.model.torch",
    ],
)
def test_modules_are_those_of_a_list(model: Path, fetching: Callable[[Path], None], kind: str) -> None:
    add_module(model, kind, "")
    assert all(f"modules.json: {kind} is foreign code" in said for said in refusals(model, fetching))


def test_no_module_of_the_list_imports_what_its_file_names() -> None:
    """But Dense, whose activation has a list of its own: after an update of the library, others might."""
    ours = (
        {parallel_adapters.MODULE: parallel_adapters}
        | dict.fromkeys(two_paths.MODULES, two_paths)
        | dict.fromkeys(onnx_int8.MODULES, onnx_int8)
    )
    for name, named in model_files.MODULES.items():
        file = ours.get(name)
        kind = getattr(file, name.rpartition(".")[2]) if file else import_from_string(name)
        source = inspect.getsource(file or kind)
        assert kind.__name__ == named
        assert ("import_from_string" in source or "import_module_class" in source) == (kind is Dense), name


def test_old_spellings_of_modules_are_on_the_list(model: Path) -> None:
    vectors = loading.open_encoder(model).encode(["a text"])
    modules = json.loads((model / "modules.json").read_text())
    for module in modules:
        module["type"] = f"sentence_transformers.models.{module['type'].rsplit('.', 1)[1]}"
    (model / "modules.json").write_text(json.dumps(modules))
    assert (loading.open_encoder(model).encode(["a text"]) == vectors).all()
    modules[-1]["type"] = "sentence_transformers.sentence_transformer.modules.normalize.Normalize"
    (model / "modules.json").write_text(json.dumps(modules))
    assert (loading.open_encoder(model).encode(["a text"]) == vectors).all()


@pytest.mark.parametrize("path", ["../other", "/etc", "a/../../b", "..\\b"])
def test_a_module_lies_in_its_model(model: Path, fetching: Callable[[Path], None], path: Any) -> None:
    add_module(model, "sentence_transformers.models.Normalize", path)
    assert all("leads out of the model's directory" in said for said in refusals(model, fetching))


def test_an_adapter_is_no_module(model: Path, fetching: Callable[[Path], None]) -> None:
    """transformers would read the base that it names, wherever it lies."""
    add_module(model, "sentence_transformers.models.Transformer", "3_Transformer")
    (model / "3_Transformer").mkdir(exist_ok=True)
    edit(model / "3_Transformer" / "adapter_config.json", peft_type="LORA", base_model_name_or_path="/elsewhere")
    assert all("an adapter instead of a module" in said for said in refusals(model, fetching))


@pytest.mark.parametrize("name", ["seedbed_test_evil.Run", "os.getcwd", "torch.nn.Module", "torch.hub.load", 3, ["x"]])
def test_a_dense_layer_calls_an_activation_alone(
    model: Path, fetching: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: Any
) -> None:
    (tmp_path / "seedbed_test_evil.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\nRun = object\n")
    monkeypatch.syspath_prepend(tmp_path)
    edit(model / "2_Dense" / "config.json", activation_function=name)
    assert all(f"activation_function {name!r} is none of" in said for said in refusals(model, fetching))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", sorted(model_files.ACTIVATIONS))
def test_each_activation_of_the_list_is_one(model: Path, name: str) -> None:
    edit(model / "2_Dense" / "config.json", activation_function=name)
    encoder = loading.open_encoder(model)
    assert type(encoder[2].activation_function).__name__ == name.rsplit(".", 1)[1]


REFUSED = [
    ("sentence_bert_config.json", {"modality_config": {"text": {"method": "push_to_hub", "method_output_name": "x"}}}),
    ("sentence_bert_config.json", {"model_kwargs": {"attn_implementation": "evil/kernel"}}),
    ("sentence_bert_config.json", {"model_kwargs": {"gguf_file": "../x.gguf"}}),
    ("sentence_bert_config.json", {"model_args": {"use_kernels": True}}),
    ("sentence_bert_config.json", {"tokenizer_name_or_path": "/somewhere/else"}),
    ("sentence_bert_config.json", {"tokenizer_args": {"vocab_file": "/etc/passwd"}}),
    ("sentence_bert_config.json", {"config_args": {"attn_implementation": "evil/kernel"}}),
    ("sentence_bert_config.json", {"transformer_task": "retrieval"}),
    ("sentence_bert_config.json", {"processing_kwargs": 3}),
    ("sentence_roberta_config.json", {"model_args": {"use_kernels": True}}),
    ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}),
    ("config.json", {"attn_implementation": "evil/kernel"}),
    ("config.json", {"configuration_files": ["config.1.0.0.json"]}),
    ("special_tokens_map.json", {"vocab_file": "/etc/passwd"}),
    ("special_tokens_map.json", {"tokenizer_file": "/etc/passwd"}),
    ("processor_config.json", {"audio_tokenizer": {"audio_tokenizer_name_or_path": "evil/model"}}),
    ("audio_tokenizer_config.json", {"audio_tokenizer_name_or_path": "evil/model"}),
    ("tokenizer_config.json", {"vocab": "/etc/passwd"}),
    ("tokenizer_config.json", {"merges": "/etc/passwd"}),
    ("tokenizer_config.json", {"fast_tokenizer_files": 3}),
    ("config.json", {"text_config": {"_attn_implementation": {"": "paged|evil/kernel"}}}),
    ("tokenizer_config.json", {"vocab_file": "/etc/passwd"}),
    ("tokenizer_config.json", {"merges_file": "../../x"}),
    ("tokenizer_config.json", {"fast_tokenizer_files": ["../tokenizer.4.0.0.json"]}),
    ("model.safetensors.index.json", {"weight_map": {"a": "../../other/model.safetensors"}}),
    ("model.safetensors.index.json", {"weight_map": {"a": "/other/model.safetensors"}}),
    ("adapter_config.json", {"peft_type": "LORA", "base_model_name_or_path": "evil/base"}),
]


@pytest.mark.parametrize(("name", "changes"), REFUSED, ids=str)
def test_a_configuration_names_nothing_from_elsewhere(
    model: Path, fetching: Callable[[Path], None], name: str, changes: dict[str, Any]
) -> None:
    edit(model / name, **changes)
    assert all(f"model/{name}: " in said for said in refusals(model, fetching))


def test_what_published_models_do_say_is_taken(model: Path, fetching: Callable[[Path], None]) -> None:
    edit(model / "sentence_bert_config.json", max_seq_length=32, do_lower_case=False, config_args={}, tokenizer_args={})
    edit(model / "config.json", attn_implementation="sdpa", _attn_implementation_autoset=True, auto_map={"A": "b.C"})
    left = "/root/.cache/torch/somewhere/special_tokens_map.json"
    edit(model / "tokenizer_config.json", special_tokens_map_file=left, tokenizer_file=None, name_or_path=left)
    fetching(model)
    assert loading.load(model, pooling="own").max_seq_length == 32


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "{", '"a"', "[]", '[{"type": "x"}]', '[{"type": "x", "path": ""}]', "[3]", "\x00"]
)
def test_a_broken_list_of_modules_is_one_line(model: Path, fetching: Callable[[Path], None], text: str) -> None:
    (model / "modules.json").write_text(text)
    refusals(model, fetching)


@pytest.mark.parametrize("name", ["config.json", "modules.json", "tokenizer.json", "chat_template.jinja"])
def test_a_file_that_is_read_whole_has_a_size(model: Path, fetching: Callable[[Path], None], name: str) -> None:
    with (model / name).open("ab") as file:
        file.truncate(2**30)  # a hole: it takes no room on the disk
    assert all(f"{name}: 1073741824 bytes; no file of this kind" in said for said in refusals(model, fetching))


LORA = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q"], "base_model_name_or_path": "google/x"}


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    (tmp_path / "adapter").mkdir()
    edit(tmp_path / "adapter" / "adapter_config.json", **LORA, megatron_core="megatron.core", megatron_config=None)
    save_file({}, tmp_path / "adapter" / "adapter_model.safetensors")
    return tmp_path / "adapter"


def test_a_published_adapter_is_taken(adapter: Path, fetching: Callable[[Path], None]) -> None:
    mapping = {"base_model_class": "Gemma3ForCausalLM", "parent_library": "transformers.models.gemma3.modeling_gemma3"}
    edit(adapter / "adapter_config.json", auto_mapping=mapping)
    fetching(adapter)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"megatron_config": {"x": 1}, "megatron_core": "evil"}, "megatron_config is set; only plain LoRA"),
        ({"auto_mapping": {"base_model_class": "M", "parent_library": "evil"}}, "parent_library 'evil' is foreign code"),
        ({"auto_mapping": {"parent_library": "transformers.models.x; import os"}}, "is foreign code"),
        ({"auto_mapping": {"parent_library": 3}}, "a value is of another kind"),
        ({"auto_mapping": "x"}, "a value is of another kind"),
        ({"peft_type": "XLORA", "adapters": {"0": "evil/x"}}, "peft_type 'XLORA'; only LORA"),
        ({"peft_type": "PROMPT_TUNING", "tokenizer_kwargs": {"trust_remote_code": True}}, "'PROMPT_TUNING'"),
        ({"corda_config": {"cache_file": "/x"}}, "corda_config is set"),
        ({"evil": True}, "evil is set"),
    ],
)  # fmt: skip
def test_an_adapter_imports_nothing(
    adapter: Path, fetching: Callable[[Path], None], changes: dict[str, Any], message: str
) -> None:
    edit(adapter / "adapter_config.json", **changes)
    with pytest.raises(UserError, match=message):
        fetching(adapter)


def test_a_generator_is_no_adapter_that_names_its_base(adapter: Path, model: Path) -> None:
    """transformers would load whatever model the adapter names, wherever it lies."""
    edit(adapter / "adapter_config.json", base_model_name_or_path=str(model))
    generator = Generator.model_validate({"source": {"file": "x"}, "prompts": "plain", "dtype": "float32"})
    with pytest.raises(UserError, match=r"adapter:.*config.json; expected.*directory"):
        open_backend(generator, adapter)


def links(model: Path, tmp_path: Path) -> None:
    """A snapshot as a cache of the hub holds it."""
    blobs = tmp_path / "models--some--one" / "blobs"
    snapshot = tmp_path / "models--some--one" / "snapshots" / ("0" * 40)
    blobs.mkdir(parents=True)
    for number, path in enumerate(sorted(path for path in model.rglob("*") if path.is_file())):
        shutil.copy(path, blobs / str(number))
        link = snapshot / path.relative_to(model)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blobs / str(number), link.parent))


def test_a_snapshot_of_the_hub_is_copied_without_its_links(
    model: Path, fetching: Callable[[Path], None], tmp_path: Path
) -> None:
    links(model, tmp_path)
    (snapshot,) = (tmp_path / "models--some--one" / "snapshots").iterdir()
    fetching(snapshot)
    loading.open_encoder(snapshot)
    model_files.check(snapshot / "1_Pooling")
    copied = {path.relative_to(tmp_path / "out" / "weights") for path in (tmp_path / "out" / "weights").rglob("*")}
    assert {path.relative_to(model) for path in model.rglob("*")} == copied - {Path("seedbed.json")}
    assert not any(path.is_symlink() for path in (tmp_path / "out" / "weights").rglob("*"))
    (snapshot / "notes.txt").symlink_to("../../../secret.txt")
    (tmp_path / "secret.txt").write_text("secret")
    with pytest.raises(UserError, match=r"notes.txt:.*folder; .*cp -rL"):
        fetching(snapshot)


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("notes.txt", "/etc/passwd"), ("notes.txt", "notes.txt"), ("notes.txt", "../nothing"), ("folder", "/etc"),
        ("1_Pooling/up", ".."), ("folder", "1_Pooling"),
    ],
)  # fmt: skip
def test_no_link_is_followed(
    model: Path, fetching: Callable[[Path], None], tmp_path: Path, name: str, target: str
) -> None:
    (model / name).symlink_to(target)
    with pytest.raises(UserError, match=f"{name}: leads out of its folder"):
        fetching(model)
    assert not (tmp_path / "out" / "weights").exists()


@pytest.fixture(scope="session")
def integers(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder in integers of 8 bits."""
    folder = tmp_path_factory.mktemp("integers") / "encoder"
    quantized(loading.open_encoder(published)).save_pretrained(str(folder), create_model_card=False)
    return folder


def external(graph: onnx.ModelProto, where: str) -> None:
    """A tensor of a graph that is kept in another file: at the top, in a node, in a part of a part."""
    tensor = onnx.TensorProto(name="t", data_type=onnx.TensorProto.UINT8, dims=[10])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret.txt")
    if where == "initializer":
        graph.graph.initializer.append(tensor)
    elif where == "sparse":
        graph.graph.sparse_initializer.add().values.CopyFrom(tensor)
    elif where == "node":
        graph.graph.node[0].attribute.add(name="a", type=onnx.AttributeProto.TENSOR).t.CopyFrom(tensor)
    elif where == "branch":
        graph.graph.node[0].attribute.add(name="a", type=onnx.AttributeProto.GRAPH).g.initializer.append(tensor)
    else:
        node = graph.functions.add(name="f").node.add(op_type="Constant")
        node.attribute.add(name="a", type=onnx.AttributeProto.TENSOR).t.CopyFrom(tensor)


@pytest.mark.parametrize("where", ["initializer", "sparse", "node", "branch", "function"])
def test_a_graph_reads_no_file_beside_itself(
    integers: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(integers, tmp_path / "int8"))
    assert loading.open_encoder(folder).encode(["a text"]).shape == (1, 8)
    graph = onnx.load(folder / onnx_int8.GRAPH)
    external(graph, where)
    (folder / onnx_int8.GRAPH).write_bytes(graph.SerializeToString())
    (tmp_path / "secret.txt").write_text("the secret")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"model.onnx: names files outside of it"):
        loading.open_encoder(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"width": -1}, {"width": 10**9}, {"width": True}, {"width": "8"}, {"max_seq_length": "$(x)"},
        {"max_seq_length": 0}, {"weights": None}, {"weights": -3}, {"more": 1},
    ],
)  # fmt: skip
def test_numbers_of_integers_are_numbers(integers: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    folder = Path(shutil.copytree(integers, tmp_path / "int8"))
    edit(folder / onnx_int8.Int8Transformer.config_file_name, **changes)
    with pytest.raises(UserError, match=r"int8_config.json: expected width, weights and max_seq_length"):
        loading.open_encoder(folder)


def test_a_graph_that_is_none_is_told(integers: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(integers, tmp_path / "int8"))
    (folder / onnx_int8.GRAPH).write_bytes(b"no graph")
    with pytest.raises(UserError, match=r"model.onnx:.*ONNX.*save it again"):
        loading.open_encoder(folder)
    (folder / onnx_int8.GRAPH).unlink()
    with pytest.raises(UserError, match=r"model.onnx:.*ONNX.*save it again"):
        loading.open_encoder(folder)
    assert (onnx_int8.GRAPH, onnx_int8.Int8Transformer.config_file_name) == (model_files.GRAPH, model_files.INT8)


@pytest.mark.parametrize("linked", ["1_Pooling", "config.json", "deep"])
def test_no_way_of_opening_a_model_follows_a_link(
    model: Path, fetching: Callable[[Path], None], tmp_path: Path, linked: str
) -> None:
    """In a linked folder nobody would look, and libraries would open what it names."""
    elsewhere = tmp_path / "elsewhere"
    if linked == "deep":
        (model / "0_Deep").mkdir()
        shutil.copytree(model / "1_Pooling", elsewhere)
        (model / "0_Deep" / "deep").symlink_to(elsewhere)
    else:
        shutil.move(model / linked, elsewhere)
        (model / linked).symlink_to(elsewhere)
    assert all(f"{linked}: leads out of its folder" in said for said in refusals(model, fetching))
    with pytest.raises(UserError, match=f"{linked}: leads out of its folder"):
        open_backend(Generator(source={"file": "x"}), model)


def test_a_pipe_is_no_file(model: Path, fetching: Callable[[Path], None]) -> None:
    os.mkfifo(model / "notes.txt")
    with pytest.raises(UserError, match=r"notes.txt:.*pipe.*consists"):
        fetching(model)


def test_a_bad_model_of_the_hub_costs_no_weights(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked: list[list[str]] = []

    def download(repository: str, *, local_dir: Path, allow_patterns: list[str], **_: Any) -> None:
        asked.append(allow_patterns)
        shutil.copy(model / "modules.json", local_dir)

    add_module(model, "evil.Pooling", "")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    with pytest.raises(UserError, match=r"^some/one/modules.json: evil.Pooling is foreign code"):
        fetch(Source(hub="some/one", revision="0" * 40), store, tmp_path / "out")
    assert asked == [["*.json"]] and not (tmp_path / "out").exists()
