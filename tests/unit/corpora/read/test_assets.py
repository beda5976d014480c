"""Downloads from a real server that fails in real ways, and archives that are made to fill the memory."""

import contextlib
import gzip
import http.server
import io
import tarfile
import threading
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from seedbed.corpora.read import assets, downloads
from seedbed.corpora.read.assets import Store, archive, members
from seedbed.corpora.settings import Cleaning, Source
from seedbed.io import UserError
from seedbed.study.settings import Language
from tests.refusals import tells
from tests.whole import fetch

CONTENT = b"Yara suna karatu. " * 5000


class Server(http.server.ThreadingHTTPServer):
    """Answers each request by the next of `faults`; without one it sends everything."""

    def __init__(self, *faults: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.requests = list(faults), 0


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.requests += 1
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if fault.isdigit():
            return self.send_error(int(fault))
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[: len(CONTENT) // 2] if fault == "cut" else CONTENT)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """Fetch from a server with faults: the file, or the error; and how often it was asked."""
    monkeypatch.setattr(downloads, "PAUSES", (0, 0))
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")

    def fetch(*faults: str):
        with Server(*faults) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                found = archive(store, f"http://127.0.0.1:{server.server_port}/corpus.txt", "").read_bytes()
            except UserError as error:
                found = str(error)
            server.shutdown()
        return found, server.requests

    return fetch


@pytest.mark.parametrize("faults", [(), ("cut",), ("500", "cut"), ("503",)])
def test_a_download_is_tried_again(fetched, faults):
    assert fetched(*faults) == (CONTENT, len(faults) + 1)


def test_a_download_that_is_always_cut_leaves_nothing(fetched, tmp_path):
    message, requests = fetched("cut", "cut", "cut")
    assert requests == 3 and tells(message, "45000 of 90000 bytes ... give a local copy")
    assert not [path for path in tmp_path.rglob("*.txt*") if path.is_file()] and not (tmp_path / "lock.json").exists()


def test_what_is_not_there_is_not_asked_for_again(fetched):
    message, requests = fetched("404")
    assert requests == 1 and "404" in message


def test_a_download_that_says_it_has_no_end_is_not_begun(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "DOWNLOAD", len(CONTENT) - 1)
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(UserError, match=r"corpus.txt: 90000.*89999"):
            archive(store, f"http://127.0.0.1:{server.server_port}/corpus.txt", "")
        server.shutdown()
    assert server.requests == 1 and not [path for path in tmp_path.rglob("*.txt*") if path.is_file()]


def test_a_download_that_does_not_say_how_long_it_is_ends_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "DOWNLOAD", len(CONTENT) - 1)
    monkeypatch.setattr(Handler, "send_header", lambda *_: None)
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(UserError, match=r"corpus.txt: more than 89999 bytes"):
            archive(store, f"http://127.0.0.1:{server.server_port}/corpus.txt", "")
        server.shutdown()
    assert not [path for path in tmp_path.rglob("*.txt*") if path.is_file()]


@pytest.fixture(scope="module")
def bomb():
    """100 MiB of blanks in a thousandth of it."""
    return gzip.compress(b" " * (100 << 20), 1)


def packed(path: Path, content: bytes | int) -> Path:
    """An archive with one member: these bytes, or so many blanks."""
    content = b" " * content if isinstance(content, int) else content
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.txt", content)
    else:
        entry = tarfile.TarInfo("a.txt")
        entry.size = len(content)
        with tarfile.open(path, "w:gz") as archive:
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_a_gzip_bomb_is_left_before_it_fills_the_memory(bomb):
    tracemalloc.start()
    with pytest.raises(UserError, match=r"^big.txt.gz:.*compressed.*at most \d+"):
        stream = assets.unpacked(io.BytesIO(bomb), "big.txt.gz")
        while stream.read(1 << 20):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 << 20


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_member_that_is_a_bomb_is_not_opened(tmp_path, name):
    path = packed(tmp_path / name, 100 << 20)
    with pytest.raises(UserError, match=rf"{name}: 104857600 bytes.*at most 67108864"):
        [*members(path, "*.txt")]


def test_members_are_measured_together(tmp_path, monkeypatch):
    """The same bytes under many names are as large as they are when they are read."""
    monkeypatch.setattr(assets, "SMALL", 1000)
    monkeypatch.setattr(assets, "RATIO", 1)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(10):
            archive.writestr(f"{number}.txt", b" " * 900)
    assert len([*members(tmp_path / "a.zip", "1.txt")]) == 1
    with pytest.raises(UserError, match=r"a.zip: 9000 bytes in \d+ compressed"):
        members(tmp_path / "a.zip", "*.txt")


def test_a_zip_member_that_lies_about_its_size_is_cut_there(tmp_path):
    path = packed(tmp_path / "a.zip", 50 << 20)
    size = (50 << 20).to_bytes(4, "little")
    assert path.read_bytes().count(size) == 2
    path.write_bytes(path.read_bytes().replace(size, (10).to_bytes(4, "little")))
    ((_, stream),) = members(path, "*.txt")
    tracemalloc.start()
    with contextlib.suppress(zipfile.BadZipFile):
        assert stream.read() == b" " * 10
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 << 20


def test_the_name_of_a_tar_entry_has_a_size(tmp_path):
    name = tarfile.TarInfo("././@LongLink")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 100 << 20
    header = name.tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(header + b"x" * name.size, 1))
    with pytest.raises(UserError, match=r"104857600 bytes.*another"):
        members(tmp_path / "a.tar.gz", "*")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_real_text_is_read_whole(tmp_path, name):
    ((_, stream),) = members(packed(tmp_path / name, CONTENT), "*")
    assert stream.read() == CONTENT
    assert assets.unpacked(io.BytesIO(gzip.compress(CONTENT)), "a.gz").read() == CONTENT


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(CONTENT, mtime=0)[:-20], gzip.compress(CONTENT, mtime=0)[:40], b"\x1f\x8b"]
)
def test_a_broken_gzip_is_one_line(content):
    with pytest.raises(UserError, match=r"^a.gz: not gzip.*again$"):
        assets.unpacked(io.BytesIO(content), "a.gz").read()


def test_a_link_out_of_a_folder_is_no_member(tmp_path):
    (tmp_path / "out.txt").write_text("secret")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.txt").write_text("secret")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "own.txt").write_text("own")
    links = {
        "a.txt": "../out.txt",
        "b.txt": "/etc/passwd",
        "c.txt": "c.txt",
        "d": "../out",
        "e": ".",
        "f.txt": "own.txt",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    assert [name for name, _ in members(folder, "*.txt")] == ["f.txt", "own.txt"]
    with pytest.raises(UserError, match="no member matches 'a.txt'"):
        members(folder, "a.txt")


def test_a_snapshot_of_the_hub_has_its_links_for_members(tmp_path):
    snapshot = tmp_path / "datasets--some--one" / "snapshots" / "abc"
    (snapshot.parents[1] / "blobs").mkdir(parents=True)
    (snapshot.parents[1] / "blobs" / "0").write_text("text")
    snapshot.mkdir(parents=True)
    (snapshot / "a.txt").symlink_to("../../blobs/0")
    (snapshot / "b.txt").symlink_to("../../../datasets--another/blobs/0")
    assert [name for name, _ in members(snapshot, "*")] == ["a.txt"]


@pytest.mark.parametrize(("fault", "second"), [("404", True), ("403", False), ("", False)])
def test_another_source_is_read_where_the_first_is_not_there(tmp_path, fault, second):
    """Leipzig's corpora are renamed by year and size: a 404 is no end, but a refusal is."""
    (tmp_path / "second.txt").write_text("Yara suna karatu yau.\n")
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    with Server(fault) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        first = {"archive": f"http://127.0.0.1:{server.server_port}/corpus.txt"}
        language = Language.model_validate({"corpus": [first, {"file": str(tmp_path / "second.txt")}]})
        try:
            table, record = fetch(language.corpus.resolved({}), "text", store, Cleaning(max_characters=10**6))
            assert (record["origin"][0]["name"] == f"{tmp_path}/second.txt") == second == ("instead_of" in record)
            assert ("yau" in table["text"].iloc[0]) == second
            assert record["counts"]["read"] == len(table)
        except UserError as error:
            assert fault == "403" and "cannot be downloaded" in str(error)
        server.shutdown()


def test_another_source_is_read_where_a_top_up_is_not_there(tmp_path):
    for name, text in {"first.txt": "Yara suna karatu.\n", "second.txt": "Yara suna karatu yau.\n"}.items():
        (tmp_path / name).write_text(text)
    with Server("404") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        more = {"file": None, "archive": f"http://127.0.0.1:{server.server_port}/{{lang}}.txt"}
        source = Source(file=str(tmp_path / "first.txt"), top_up=more, otherwise={"file": str(tmp_path / "second.txt")})
        store = Store(tmp_path / "downloads", tmp_path / "lock.json")
        table, record = fetch(source.resolved({"lang": "hau"}), "text", store, Cleaning())
        assert list(table["text"]) == ["Yara suna karatu yau."]
        assert record["instead_of"] and record["counts"]["read"] == 1
        server.shutdown()


@pytest.mark.parametrize("place", ["sets", "join", "top_up"])
def test_another_source_is_read_where_one_inside_of_a_source_is_not_there(tmp_path, place):
    (tmp_path / "first.txt").write_text("Yara suna karatu.\n")
    (tmp_path / "second.txt").write_text("Yara suna karatu yau.\n")
    store, first = Store(tmp_path / "downloads", tmp_path / "lock.json"), {"file": str(tmp_path / "first.txt")}
    with Server("404") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        away = {"archive": f"http://127.0.0.1:{server.server_port}/{{lang}}.txt"}
        away |= {"otherwise": {"file": str(tmp_path / "second.txt"), "licence": "MIT"}}
        within = {
            "sets": {"sets": {"a": first, "b": away}},
            "join": first | {"join": {"pivot": {"file": None} | away}},
            "top_up": first | {"top_up": {"file": None} | away},
        }[place]
        source = Source.model_validate(within).resolved({"lang": "hau"})
        table, record = fetch(source, "parallel" if place == "join" else "text", store, Cleaning())
        server.shutdown()
    assert "Yara suna karatu yau." in table.drop(columns="id").to_numpy() and record["counts"]["kept"] == len(table)
    assert tmp_path / "second.txt" in source.local_files()
    if place == "sets":
        assert table["id"].tolist() == ["a:1", "b:1"] and record["counts"]["b: kept"] == 1
        assert [one["name"] for one in record["origin"]] == [str(path) for path in source.local_files()]
        assert record["licence"] == "MIT" and record["instead_of"][1]["kind"] == "archive"


def test_what_stands_in_for_sets_is_a_file_of_the_source(tmp_path):
    (tmp_path / "second.txt").write_text("Yara suna karatu yau.\n")
    source = Source(sets={"a": {"archive": "https://host/a.txt"}}, otherwise={"file": str(tmp_path / "second.txt")})
    assert source.local_files() == [tmp_path / "second.txt"]


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_files_of_an_archive_come_in_the_order_of_their_names(tmp_path, kind):
    """Not in that of the archive, which another packer or disk changes: rows without ids have their places for ids."""
    folder = tmp_path / "texts"
    folder.mkdir()
    names = ["c.txt", "a.txt", "b.txt"]
    for name in names:
        (folder / name).write_text(f"of {name}")
    path = folder
    if kind == "zip":
        path = tmp_path / "texts.zip"
        with zipfile.ZipFile(path, "w") as container:
            for name in names:
                container.write(folder / name, name)
    elif kind == "tar":
        path = tmp_path / "texts.tar"
        with tarfile.open(path, "w") as container:
            for name in names:
                container.add(folder / name, name)
    found = [(name, stream.read().decode()) for name, stream in members(path, "*.txt")]
    assert found == [(name, f"of {name}") for name in sorted(names)]


def test_of_entries_of_one_name_a_link_is_none(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, content in (("a.txt", b"own"), ("b.txt", b"other")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for kind, target in ((tarfile.SYMTYPE, "nothing"), (tarfile.LNKTYPE, "b.txt")):
            entry = tarfile.TarInfo("a.txt")
            entry.type, entry.linkname = kind, target
            archive.addfile(entry)
    assert [(name, stream.read()) for name, stream in members(tmp_path / "a.tar", "a.txt")] == [("a.txt", b"own")]


def test_a_folder_in_a_zip_is_no_member(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.mkdir("texts")
        archive.writestr("texts/a.txt", "own")
    assert [(name, stream.read()) for name, stream in members(tmp_path / "a.zip", "texts/*")] == [
        ("texts/a.txt", b"own")
    ]
