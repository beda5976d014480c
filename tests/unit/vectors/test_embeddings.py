"""The store of embeddings: what is encoded, what is read, and what a broken file says."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from sentence_transformers import SentenceTransformer

from seedbed.encoders.endpoint import TRANSPORT
from seedbed.encoders.export.save import save
from seedbed.encoders.models import digests, inference, loading
from seedbed.encoders.models.digests import embeddings_folder, vectors_digest
from seedbed.encoders.models.inference import batched, opened
from seedbed.io import UserError
from seedbed.manifests import versions
from seedbed.vectors import store
from seedbed.vectors.store import encode_ahead, with_disk_cache
from tests import tiny

TEXTS = [f"{'word ' * (number % 7)}{number}" for number in range(50)]


class Counting:
    """An encoder that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.extend(texts)
        return np.array([np.random.default_rng(list(text.encode())).normal(size=4) for text in texts], np.float32)


def test_a_text_is_encoded_once_by_all_jobs(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    found = with_disk_cache(first, tmp_path)(TEXTS[:30])
    more = with_disk_cache(second, tmp_path)([*TEXTS[20:], TEXTS[0]])
    np.testing.assert_array_equal(found, Counting()(TEXTS[:30]))
    np.testing.assert_array_equal(more, Counting()([*TEXTS[20:], TEXTS[0]]))
    assert sorted(first.asked) == sorted(TEXTS[:30]) and sorted(second.asked) == sorted(TEXTS[30:])
    assert found.dtype == more.dtype == np.float32


def test_texts_that_differ_in_anything_have_embeddings_of_their_own(tmp_path: Path) -> None:
    alike = ["a", "A", " a", "a ", "á", "a\u0301"]
    np.testing.assert_array_equal(with_disk_cache(Counting(), tmp_path)(alike), Counting()(alike))


def test_repeated_texts_are_encoded_once_and_long_ones_first(tmp_path: Path) -> None:
    encode = Counting()
    with_disk_cache(encode, tmp_path)(["a", "bbb", "a", "cc"])
    assert encode.asked == ["bbb", "cc", "a"]


def test_a_killed_job_loses_a_chunk_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHUNK", 8)
    encode = Counting()

    def killed(texts: Sequence[str]) -> np.ndarray:
        if len(encode.asked) == 24:
            raise KeyboardInterrupt
        return encode(texts)

    with pytest.raises(KeyboardInterrupt):
        with_disk_cache(killed, tmp_path)(TEXTS)
    again = Counting()
    np.testing.assert_array_equal(with_disk_cache(again, tmp_path)(TEXTS), Counting()(TEXTS))
    assert len(again.asked) == len(TEXTS) - 24


def test_jobs_at_once_do_not_disturb_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHUNK", 3)
    expected = Counting()(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: with_disk_cache(Counting(), tmp_path)(TEXTS), range(16)):
            np.testing.assert_array_equal(found, expected)
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".npz"]


def test_what_another_job_stored_meanwhile_is_not_encoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHUNK", 8)
    first, second = Counting(), Counting()

    def slow(texts: Sequence[str]) -> np.ndarray:
        if not first.asked:
            with_disk_cache(second, tmp_path)(TEXTS[:30])
        return first(texts)

    np.testing.assert_array_equal(with_disk_cache(slow, tmp_path)(TEXTS), Counting()(TEXTS))
    assert set(first.asked[8:]) <= set(TEXTS[30:]), "but for the chunk that it had begun"
    assert len(second.asked) == 30


def test_jobs_that_start_together_begin_at_different_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHUNK", 3)
    begun = set()
    for job in range(8):
        encode = Counting()
        with_disk_cache(encode, tmp_path / str(job))([*TEXTS, f"of job {job} alone"])
        begun.add(encode.asked[0])
    assert len(begun) > 4


@pytest.mark.parametrize("jobs", [range(8), [0] * 8], ids=["other texts too", "the same texts"])
def test_no_text_is_sent_to_a_server_twice(
    tmp_path: Path, jobs: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BOUGHT", 3)
    encode = Counting()
    asked = [[*TEXTS, f"of job {job} alone"] for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda texts: with_disk_cache(encode, tmp_path, remote=True)(texts), asked))
    np.testing.assert_array_equal(found, [Counting()(texts) for texts in asked])
    assert sorted(encode.asked) == sorted({text for texts in asked for text in texts})


def test_what_is_in_the_store_waits_for_no_job(tmp_path: Path) -> None:
    with_disk_cache(Counting(), tmp_path, remote=True)(TEXTS)
    locks = list(tmp_path.glob(".*.lock"))
    assert len(locks) == store.LOCKS
    with ExitStack() as held:
        for lock in locks:
            held.enter_context(FileLock(lock))
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(with_disk_cache(Counting(), tmp_path, remote=True), TEXTS).result(timeout=10)
    np.testing.assert_array_equal(found, Counting()(TEXTS))


DEADLY = """
import os, pathlib, signal, sys
from seedbed.vectors.store import with_disk_cache
with_disk_cache(lambda texts: os.kill(os.getpid(), signal.SIGKILL), pathlib.Path(sys.argv[1]), remote=True)(sys.argv[2:])
"""


def test_a_killed_job_leaves_nothing_to_unlock(tmp_path: Path) -> None:
    assert subprocess.run([sys.executable, "-c", DEADLY, str(tmp_path), *TEXTS]).returncode == -9
    assert list(tmp_path.glob(".*.lock")), "it was killed while it held one"
    np.testing.assert_array_equal(with_disk_cache(Counting(), tmp_path, remote=True)(TEXTS), Counting()(TEXTS))


def test_encoders_do_not_share_and_cards_do_not_count(tmp_path: Path) -> None:
    files = {"model.safetensors": "a", "README.md": "b"}
    folder = embeddings_folder(tmp_path, {"files": files})
    assert folder == embeddings_folder(tmp_path, {"files": files | {"README.md": "c"}})
    assert folder != embeddings_folder(tmp_path, {"files": files | {"model.safetensors": "c"}})


def test_without_adapters_embeddings_lie_apart_or_where_those_of_the_start_do(tmp_path: Path) -> None:
    files = {"model.safetensors": "a", "adapters.safetensors": "b"}
    start = {"files": {"model.safetensors": "a"}}
    own = {"files": files, "training": {"pivot": "p"}}
    found = [embeddings_folder(tmp_path, one, adapters=on) for one in (own, start) for on in (True, False)]
    assert len({*found}) == 3 and found[2] == found[3], "an encoder without adapters has nothing to take off"
    kept = {"files": files, "training": {"saved_from": vectors_digest(start)}}
    assert (
        embeddings_folder(tmp_path, kept) == found[0] and embeddings_folder(tmp_path, kept, adapters=False) == found[2]
    )
    again = {"files": {"model.safetensors": "a", "config.json": "c"}, "training": kept["training"]}
    assert embeddings_folder(tmp_path, again) == found[2], "an encoder that was saved again as it is"


def test_other_libraries_make_other_embeddings_but_a_server_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local, remote = {"files": {"model.safetensors": "a"}}, {"files": {"endpoint.json": "a", TRANSPORT: "b"}}
    before, paid = embeddings_folder(tmp_path, local), embeddings_folder(tmp_path, remote)
    for library in ("torch", "transformers", "sentence-transformers", "tokenizers"):
        known = versions() | {library: "99"}
        with monkeypatch.context() as patched:
            patched.setattr(importlib.metadata, "version", known.get)
            assert embeddings_folder(tmp_path, local) != before and embeddings_folder(tmp_path, remote) == paid
    whole, copy = local, {"files": {"model_int8.onnx": "a"}}
    before = [embeddings_folder(tmp_path, one) for one in (whole, copy)]
    monkeypatch.setattr(digests, "versions_of", lambda *names: dict.fromkeys(names, "99"))
    after = [embeddings_folder(tmp_path, one) for one in (whole, copy)]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False]


def test_edited_code_makes_other_embeddings_but_a_comment_or_a_server_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "code.py"
    local, remote = {"files": {"model.safetensors": "a"}}, {"files": {"endpoint.json": "a", TRANSPORT: "b"}}
    found = {}
    for code in ('"""One."""\nx = 1', '"""Two."""\n# a comment\nx = 1', "x = 2"):
        file.write_text(code)
        digests.code_digest.cache_clear()
        monkeypatch.setattr(digests, "SOURCES", (file,))
        found[code] = [embeddings_folder(tmp_path, one) for one in (local, remote)]
    (one, paid), (comment, _), (edit, again) = found.values()
    assert one == comment != edit and paid == again
    digests.code_digest.cache_clear()
    monkeypatch.undo()
    assert {"loading.py", "inference.py", "prompts.py"} <= {path.name for path in digests.SOURCES}


def test_of_no_texts_there_are_no_vectors_of_the_encoders_width(tmp_path: Path) -> None:
    weights = tiny.backbone(tmp_path / "weights")
    for pooling in ("mean", "static"):
        encode = batched(loading.load(weights, pooling=pooling), 4)
        for one in (encode, with_disk_cache(encode, tmp_path / "cache"), encode_ahead(encode, [])):
            assert one([]).shape == (0, 32)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    with_disk_cache(Counting(), tmp_path)(TEXTS)
    (path,) = tmp_path.glob("*.npz")
    for content in (path.read_bytes()[:200], b"", b"no zip"):
        path.write_bytes(content)
        with pytest.raises(UserError, match=rf"{path.name}: no file of embeddings .*delete it"):
            with_disk_cache(Counting(), tmp_path)(TEXTS)


class Evil:
    """A pickle that makes a folder when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_in_the_place_of_embeddings_is_not_run(tmp_path: Path) -> None:
    folder, marker = tmp_path / "store", tmp_path / "run"
    with_disk_cache(Counting(), folder)(TEXTS)
    (path,) = folder.glob("*.npz")
    for part in ("keys", "embeddings"):
        with np.load(path) as file:
            content = dict(file)
        np.savez(path, **content | {part: np.array([Evil(marker)] * len(TEXTS), object)})
        with pytest.raises(UserError, match=rf"{path.name}: no file of embeddings .*pickle"):
            with_disk_cache(Counting(), folder)(TEXTS)
        np.savez(path, **content)
    assert not marker.exists()


def test_one_call_for_all_texts_and_another_for_a_stranger() -> None:
    encode = Counting()
    remembered = encode_ahead(encode, ["a", "bbb", "a", "cc"])
    assert encode.asked == ["a", "bbb", "cc"]
    np.testing.assert_array_equal(remembered(["cc", "a", "cc"]), Counting()(["cc", "a", "cc"]))
    assert len(encode.asked) == 3
    np.testing.assert_array_equal(remembered(["cc", "new", "new"]), Counting()(["cc", "new", "new"]))
    assert encode.asked[3:] == ["new"]


def test_of_no_texts_nothing_is_asked(tmp_path: Path) -> None:
    """As where layers alone are scored, whose texts are read in another way; the store has nothing to stack."""
    encode_ahead(with_disk_cache(Counting(), tmp_path), [])
    assert not [*tmp_path.iterdir()]


@pytest.fixture(scope="module")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformer:
    return loading.load(tiny.backbone(tmp_path_factory.mktemp("backbone")), pooling="mean", prefix="query: ")


def test_an_encoder_that_was_changed_by_hand_is_not_opened(tiny_encoder: SentenceTransformer, tmp_path: Path) -> None:
    """Its embeddings would be kept, and read, under the name of what its job wrote."""
    folder = tmp_path / "encoder"
    save(tiny_encoder, folder, {}, {})
    assert opened(folder, 8).width == 32
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + b"?")
    with pytest.raises(UserError, match=r"model\.safetensors:.*put it back, or delete"):
        opened(folder, 8)
    weights.write_bytes(content)
    assert opened(folder, 8).width == 32


def uneven() -> list[str]:
    """Texts of one word to more than the encoder reads."""
    words = " ".join(tiny.sentences("hau", 40)).split()
    return [" ".join(words[number : number + 2 ** (number % 8)]) for number in range(60)]


@pytest.mark.parametrize("rows", [1, 7, 64])
@pytest.mark.parametrize("tokens", [1, 50, 10_000])
def test_batches_and_order_change_no_embedding(
    tiny_encoder: SentenceTransformer, rows: int, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inference, "TOKENS", tokens)
    texts = uneven()
    expected = np.concatenate([tiny_encoder.encode([text]) for text in texts])  # each alone, without padding
    encode = batched(tiny_encoder, rows)
    np.testing.assert_allclose(encode(texts), expected, rtol=0, atol=1e-6)
    mixed = np.random.default_rng(rows).permutation(len(texts))
    np.testing.assert_allclose(encode([texts[place] for place in mixed]), expected[mixed], rtol=0, atol=1e-6)


def test_batches_hold_few_tokens_and_little_padding(
    tiny_encoder: SentenceTransformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: list[tuple[int, int]] = []
    real: list[int] = []

    def count(_: object, inputs: tuple) -> None:
        shapes.append(tuple(inputs[0]["input_ids"].shape))
        real.append(int(inputs[0]["attention_mask"].sum()))

    hook = tiny_encoder[0].register_forward_pre_hook(count)
    monkeypatch.setattr(inference, "TOKENS", 200)
    batched(tiny_encoder, 8)(uneven())
    hook.remove()
    assert sum(rows for rows, _ in shapes) == 60 and max(rows for rows, _ in shapes) == 8
    assert [length for _, length in shapes] == sorted((length for _, length in shapes), reverse=True)
    prompt = len(tiny_encoder.tokenizer("query: ", add_special_tokens=False)["input_ids"])
    assert all(rows == 1 or rows * (length - prompt) <= 200 for rows, length in shapes)
    assert sum(rows * length for rows, length in shapes) < 1.3 * sum(real)


def test_a_tokenizer_may_have_no_limit(tiny_encoder: SentenceTransformer) -> None:
    """As mT5's, which then says 10^30; positions have one, which these texts do not reach."""
    limit, texts = tiny_encoder.max_seq_length, tiny.sentences("hau", 6)
    expected = batched(tiny_encoder, 4)(texts)
    try:
        tiny_encoder.max_seq_length = int(1e30)
        np.testing.assert_array_equal(batched(tiny_encoder, 4)(texts), expected)
    finally:
        tiny_encoder.max_seq_length = limit
