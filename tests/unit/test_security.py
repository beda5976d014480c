"""What is brought in is data: no code of a model runs, no pickle is read, no name leads out of its folder."""

from __future__ import annotations

import ast
import io
import json
import pickle
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from seedbed import weights, yamls
from seedbed.corpora.read.assets import Store, members, wheel
from seedbed.corpora.settings import Source
from seedbed.encoders.models import loading
from seedbed.generators.settings import Generator
from seedbed.generators.weights.fetch import fetch
from seedbed.generators.writing.backends import open_backend
from seedbed.io import UserError
from seedbed.servers import post
from seedbed.study.loading import load
from tests import tiny
from tests.embedder import Embedder
from tests.whole import read

PROGRAMS = [*Path("seedbed").rglob("*.py"), *Path("scripts").glob("*.py")]
CODE = "import pathlib\npathlib.Path({!r}).touch()\n"


class Evil:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "downloads", tmp_path / "lock.json")


def test_models_are_opened_from_their_folder_without_their_own_code() -> None:
    """Said at each call: left out, transformers asks whoever sits at the terminal. What reads pickles or runs what it reads,
    ruff refuses."""
    assert weights.LOCAL == {"trust_remote_code": False, "local_files_only": True}
    for path in PROGRAMS:
        text = path.read_text()
        for call in ast.walk(ast.parse(text)) if ".from_pretrained(" in text else ():
            if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith(".from_pretrained"):
                continue
            said = {word.arg or ast.unparse(word.value): ast.unparse(word.value) for word in call.keywords}
            alone = (said.get("trust_remote_code"), said.get("local_files_only")) == ("False", "True")
            assert alone or "LOCAL" in said or ast.unparse(call.func) == "PeftModel.from_pretrained", (
                f"{path}: {ast.unparse(call)}"
            )


def test_no_foreign_code_is_trusted() -> None:
    """Not in a call; who uses encoders whose own code lies beside them is told it, where Seedbed may not be installed."""
    found = {path: re.findall(r".*trust_remote_code\W+True.*", path.read_text()) for path in PROGRAMS}
    (told,) = found.pop(Path("seedbed/encoders/export/card.py"))
    assert '.py"' in told and not any(found.values())


def plant(directory: Path, marker: Path) -> Path:
    """A model that carries pickled weights and code of its own, and asks for both."""
    for name in ("pytorch_model.bin", "adapter_model.bin", "training_args.bin"):
        (directory / name).write_bytes(pickle.dumps(Evil(marker)))
    for name in ("modeling_evil.py", "tokenization_evil.py", "configuration_evil.py"):
        (directory / name).write_text(CODE.format(str(marker)))
    maps = {
        "config.json": {"AutoConfig": "configuration_evil.C", "AutoModel": "modeling_evil.M",
                        "AutoModelForCausalLM": "modeling_evil.M"},
        "tokenizer_config.json": {"AutoTokenizer": ["tokenization_evil.T", None]},
    }  # fmt: skip
    for name, names in maps.items():
        config = json.loads((directory / name).read_text())
        (directory / name).write_text(json.dumps(config | {"auto_map": names}))
    return directory


def test_a_models_code_and_pickles_are_neither_run_nor_copied(tmp_path: Path, store: Store) -> None:
    marker = tmp_path / "run"
    for room, make in (("generators", tiny.generator), ("encoders", tiny.backbone)):
        model = plant(make(tmp_path / room), marker)
        fetch(Source(file=str(model)), store, tmp_path / "fetched" / room)
        assert not [path for path in (tmp_path / "fetched").rglob("*") if path.suffix in (".bin", ".py")]
    generator = Generator.model_validate({"source": {"file": "x"}, "prompts": "plain", "dtype": "float32"})
    for root in (tmp_path, tmp_path / "fetched"):
        open_backend(generator, root / "generators")
        loading.load(root / "encoders", pooling="mean")
    assert not marker.exists()


def test_a_model_of_pickles_alone_is_refused(tmp_path: Path, store: Store) -> None:
    model = plant(tiny.generator(tmp_path / "model"), tmp_path / "run")
    (model / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"no weights in safetensors.*`convert: true`"):
        fetch(Source(file=str(model)), store, tmp_path / "fetched")
    generator = Generator.model_validate({"source": {"file": "x"}, "prompts": "plain", "dtype": "float32"})
    with pytest.raises(UserError, match="safetensors"):
        open_backend(generator, model)
    with pytest.raises(UserError, match="safetensors"):
        loading.load(model, pooling="mean")
    assert not (tmp_path / "run").exists()


NAMES = ["../../escaped.txt", "/tmp/escaped-absolute.txt", "inside.txt"]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_members_that_point_outside_are_read_and_never_written(tmp_path: Path, store: Store, kind: str) -> None:
    path = tmp_path / "deep" / "er" / f"archive.{kind}"
    path.parent.mkdir(parents=True)
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in NAMES:
                archive.writestr(name, f"a sentence of {name}")
    else:
        with tarfile.open(path, "w") as archive:
            for name in NAMES:
                entry = tarfile.TarInfo(name)
                content = f"a sentence of {name}".encode()
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
            for name, target in (("link.txt", "/etc/passwd"), ("hard.txt", "../../escaped.txt")):
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE if name == "link.txt" else tarfile.LNKTYPE, target
                archive.addfile(entry)
    before = set(tmp_path.rglob("*"))
    table = read(Source(archive=path.as_uri(), member="*.txt", format="text"), store)
    assert not any("root:" in text for text in table["text"]), "a link is no member"
    new = set(tmp_path.rglob("*")) - before - {store.folder, store.lock}
    assert all(made.is_relative_to(store.folder) or made.name.startswith(".lock") for made in new), new
    assert not Path("/tmp/escaped-absolute.txt").exists()


def test_a_folders_members_are_inside_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out.txt").write_text("out")
    (tmp_path / "in" / "in.txt").write_text("in")
    assert [name for name, _ in members(tmp_path / "in", "*.txt")] == ["in.txt"]
    with pytest.raises(UserError, match="no member matches"):
        members(tmp_path / "in", "../out.txt")


@pytest.mark.parametrize("requirement", ["../../x==1", "--index-url=http://x==1", "x==../1", "x", "/x==1"])
def test_a_package_is_a_name_and_a_version(store: Store, requirement: str) -> None:
    with pytest.raises(UserError, match="write name==version"):
        wheel(store, requirement, "")
    assert not store.folder.exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "..", ".", ".x", "/x", "a b", ""])
@pytest.mark.parametrize(
    "place", ["languages", "generators", "backbones", "recipes", "tasks", "tables", "figures", "pivot"]
)
def test_a_name_that_becomes_a_folder_stays_one(place: str, name: str) -> None:
    study = yamls.read("config/demo.yaml")
    if place == "pivot":
        study["pivot"] = name
    elif place in ("tables", "figures"):
        study[place] = [name]
    else:
        study[place][name] = next(iter(study[place].values())) or {}
    with pytest.raises(UserError) as caught:
        load(study)
    assert place in str(caught.value)


def test_borrowed_languages_and_adapter_methods_stay_names_too() -> None:
    study = yamls.read("config/demo.yaml")
    (generator,) = study["generators"].values()
    generator["xllora"] = {"languages": ["../../x"]}
    with pytest.raises(UserError, match=r"xllora\.languages: \.\./\.\./x"):
        load(study)


def test_passwords_in_urls_are_refused() -> None:
    with pytest.raises(ValueError, match="password in a URL"):
        Source(archive="https://me:secret@host/a.zip")
    with pytest.raises(ValueError, match="password in a URL"):
        Generator.model_validate({"source": {"file": "x"}, "endpoint": "https://me:secret@host/v1"})
    with pytest.raises(UserError, match=r"endpoint: a password.*environment variable$"):
        Generator.load('{"source": {"file": "x"}, "endpoint": "https://me:secret@host/v1"}')
    Source(archive="https://host/a@b.zip")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_follows_no_redirection(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDER_KEY", "sk-secret")
    with Embedder() as other, Embedder(headers={"Location": f"{other.url}/elsewhere"}) as server:
        server.faults = [status]
        with pytest.raises(UserError, match=rf"model 'm': {status} "):
            post(f"{server.url}/embeddings", {"model": "m", "input": ["a"]}, key="EMBEDDER_KEY", timeout=10)
        assert server.tokens == ["Bearer sk-secret"] and other.tokens == []


def test_every_value_that_reaches_a_shell_is_quoted() -> None:
    """Snakemake's `:q` quotes each word of a list; without it a value of the configuration is read by the shell."""
    text = "\n".join(file.read_text() for file in Path("rules").glob("*.smk"))
    commands = re.findall(r"^    shell:\n(.*?)(?=^\S|\Z)", text, flags=re.M | re.S)
    assert len(commands) == len(re.findall(r"^rule ", text, flags=re.M))
    fields = [field for command in commands for field in re.findall(r"(?<!\{)\{([^{}]+)\}", command)]
    assert not [field for field in fields if not field.endswith(":q")]
