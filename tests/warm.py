"""A `python` whose libraries are imported already: it asks a server to fork, and stands for the process that runs.

Most of a small job's time is the import of torch and what is built on it, and of the project's own modules. A server
imports them once, for every set of variables that libraries read while they are imported; each program is a fork of it.
Where the project that it runs has other files than these modules were read from, it imports its own, so that an edited copy
counts. Modules of PACKAGES are run so (`-m scripts.x`); all else is plain Python.

What differs from a process of its own: limits and capabilities are the server's, the seed of hashes is shared, and the
process is no child of the one that started it. Tests of kills, rights and memory use plain Python.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import ctypes
import fcntl
import functools
import gc
import importlib
import marshal
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import weakref
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

LIBRARIES = {
    "snakemake": [
        "snakemake.cli", "snakemake.api", "snakemake.dag", "snakemake_logger_plugin_rich", "pandas", "smart_open",
        "snakemake.profiles", "snakemake.report.html_reporter", "snakemake.storage", "snakemake_executor_plugin_slurm",
        "PIL.Image", "pyarrow.pandas_compat", "pyarrow.vendored.version", "pandas.core.methods.to_dict",
        "argparse_dataclass", "graphlib", "packaging.version", "platformdirs.unix", "snakemake.benchmark",
    ],
    "scripts": [
        "pandas", "scipy.stats", "sklearn.linear_model", "matplotlib.pyplot", "torch", "transformers", "datasets",
        "sentence_transformers", "peft", "mteb", "accelerate", "snakemake.api", "faiss", "torch.profiler",
        "transformers.conversion_mapping", "transformers.models.gemma3.modeling_gemma3", "peft.utils.transformers_weight_conversion",
        "matplotlib.backends.backend_mixed", "pandas.core.methods.to_dict", "pandas.io.formats.csvs",
    ],
    "abroad": ["sentence_transformers", "transformers.conversion_mapping"],
}  # fmt: skip
"""What a server imports ahead."""
PACKAGES = {
    "snakemake": "snakemake",
    "seedbed": "snakemake",
    "scripts": "scripts",
    "tests": "scripts",
    "benchmarks": "scripts",
    "abroad": "abroad",
}
"""Which server forks for the modules of a package. The one for `abroad` has never imported a module of the project."""
HOME = Path(__file__).resolve().parents[1]
"""The project whose own modules a server imports ahead."""


def module_of(file: Path) -> str:
    """The name by which a file of the project is imported."""
    return ".".join(file.relative_to(HOME).with_suffix("").parts).removesuffix(".__init__")


OWN = {
    "snakemake": [
        "seedbed.study.graph",
        "seedbed.study.loading",
        "seedbed.study.needs",
        "seedbed.operations.limits",
        "seedbed.study.remarks",
        "seedbed.study.environment",
        "seedbed.study.wildcards",
        "seedbed.init.adding",
        "seedbed.init.yaml_text",
        *sorted(
            module_of(file)
            for folder in ("encoders/objectives", "evaluation/protocols")
            for file in HOME.glob(f"seedbed/{folder}/*.py")
        ),
        *sorted(module_of(file) for file in HOME.glob("scripts/*.py")),
    ],
    "scripts": ["scripts.cli", *sorted(module_of(file) for file in HOME.glob("seedbed/**/*.py"))],
    "abroad": [],
}
"""Which of them, with all that they import."""
READ_BY_IMPORTS = (
    "HF_", "HOME", "LANG", "LC_", "MPL", "OMP_NUM", "PYTHON", "TOKENIZERS_", "TORCH", "TQDM_", "TRANSFORMERS_", "XDG_",
)  # fmt: skip
"""How the names of variables begin that decide what an import does."""
FOR_FORKS = ("PYTHONPATH", "PYTHONSAFEPATH", "HF_HUB_OFFLINE")
"""What each fork obeys by itself: a server imports what all share."""
KEEP_OFFLINE = ("huggingface_hub.constants", "datasets.config")
"""Modules that keep what HF_HUB_OFFLINE said when they were imported."""
READ_LATER = (*FOR_FORKS, "HF_TOKEN", "TOKENIZERS_PARALLELISM", "TORCHINDUCTOR_CACHE_DIR")
"""Names that begin so, and decide nothing until a program runs."""
PATIENCE = 300
"""Seconds until a server must have imported all."""
PAGE = 2 << 20
"""Bytes of a large page of memory."""
COLLAPSE = 25
"""Linux's MADV_COLLAPSE, of which Python's `mmap` has no name."""

CLIENT = """#!{base} -SEI
import _signal, _socket, binascii, marshal, posix, sys, time

words, environment = sys.argv[1:], dict(posix.environ)
package = words[1].partition(".")[0] if words[:1] == ["-m"] else ""
kind = {packages!r}.get(package)
if not kind:
    posix.execv({real!r}, [{real!r}, *words])
read = {{k: v for k, v in sorted(environment.items()) if k.startswith({prefixes!r}) and k not in {later!r}}}
place = {folder!r} + "/%s-%08x" % (kind, binascii.crc32(marshal.dumps(list(read.items()), 2)))
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
for turn in range({patience} * 20):
    try:
        server.connect(place)
        break
    except (FileNotFoundError, ConnectionRefusedError):
        if not turn:
            log = (posix.POSIX_SPAWN_OPEN, 1, place + ".log", posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND, 0o600)
            quiet = [(posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0), log, (posix.POSIX_SPAWN_DUP2, 1, 2)]
            start = [{real!r}, {program!r}, place, kind, {owner!r}]
            posix.posix_spawn({real!r}, start, environment, file_actions=quiet, setsid=True)
        time.sleep(0.05)
else:
    sys.exit("no server; see " + place + ".log")
umask = posix.umask(0o77)
request = marshal.dumps((words, posix.getcwd(), environment, umask))
files = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
server.sendmsg([len(request).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
    _signal.signal(number, lambda number, frame: server.send(bytes([number])))
server.sendall(request)
status = int.from_bytes(server.recv(4) or b"\\1\\0", "big")
if posix.WIFSIGNALED(status):
    if posix.WTERMSIG(status) != _signal.SIGKILL:
        _signal.signal(posix.WTERMSIG(status), _signal.SIG_DFL)
    posix.kill(posix.getpid(), posix.WTERMSIG(status))
posix._exit(posix.WEXITSTATUS(status))
"""


@dataclass
class Request:
    """A program to run, as a client sent it."""

    words: list[str]
    folder: bytes
    environment: dict[bytes, bytes]
    umask: int
    files: list[int]
    """Standard input, output and error."""

    @classmethod
    def receive(cls, connection: socket.socket) -> Request:
        files = array.array("i")
        head, rights, *_ = connection.recvmsg(8, socket.CMSG_LEN(3 * files.itemsize))
        files.frombytes(rights[0][2])
        rest = connection.makefile("rb").read(int.from_bytes(head, "big"))
        words, folder, environment, umask = marshal.loads(rest)
        return cls(words, folder, environment, umask, list(files))

    def become(self) -> str:
        """Make this process the one that was asked for; the name of its module."""
        for number, file in enumerate(self.files):
            os.dup2(file, number)
            os.close(file)
        os.umask(self.umask)
        os.chdir(self.folder)
        os.environb.clear()
        os.environb.update(self.environment)
        _, module, *arguments = self.words
        sys.argv = [module, *arguments]
        path, safe, offline = map(os.environ.get, FOR_FORKS)
        for kept in KEEP_OFFLINE:
            if kept in sys.modules:
                sys.modules[kept].HF_HUB_OFFLINE = offline not in (None, "", "0")
        paths = [*filter(None, (path or "").split(os.pathsep))]
        if not safe:
            paths.insert(0, ".")
        sys.path[:0] = [str(Path(path).absolute()) for path in paths]
        if numpy := sys.modules.get("numpy"):
            numpy.random.seed()
        return module


class Ahead:
    """The project's own modules that a server has imported, and all files that they may have read."""

    def __init__(self, names: list[str]) -> None:
        sys.path.insert(0, str(HOME))
        for name in names:
            importlib.import_module(name)
        sys.path.remove(str(HOME))
        self.modules = {
            name: sys.modules[name] for name in sys.modules if name.partition(".")[0] in ("seedbed", "scripts")
        }
        self.files = _files(HOME)

    def adopt(self) -> None:
        """Make them those of the project that this process finds; if its files are others, forget them."""
        found = next((path for path in sys.path if Path(path, "seedbed/__init__.py").is_file()), None)
        if found and _files(Path(found)) == self.files:
            for module in self.modules.values():
                self._move(module, found)
        else:
            for name in self.modules:
                del sys.modules[name]

    @staticmethod
    def _move(module: ModuleType, folder: str) -> None:
        """Let a module, and the files that it names, lie in another folder."""

        def moved(path: str) -> str:
            return str(Path(folder, Path(path).relative_to(HOME))) if Path(path).is_relative_to(HOME) else path

        for name, value in vars(module).items():
            if isinstance(value, Path):
                vars(module)[name] = Path(moved(str(value)))
        module.__file__ = module.__spec__.origin = moved(module.__file__)
        if hasattr(module, "__path__"):
            module.__path__ = module.__spec__.submodule_search_locations = [*map(moved, module.__path__)]


def _files(project: Path) -> dict[str, int]:
    """File -> checksum, of the library and of what programs share.

    Other processes write below __pycache__ while this one reads.
    """
    files = [*project.glob("scripts/*.py"), *project.glob("seedbed/**/*.*")]
    return {
        str(file.relative_to(project)): zlib.crc32(file.read_bytes())
        for file in files
        if file.parent.name != "__pycache__" and file.suffix
    }


@functools.cache
def python() -> Path:
    """The client, which all workers of a test session share; its folder is gone soon after the session."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    # Not below pytest's own folder: the path of a socket has 107 bytes.
    folder = Path(tempfile.gettempdir(), f"warm-{run}") if run else Path(tempfile.mkdtemp(prefix="warm-"))
    folder.mkdir(mode=0o700, exist_ok=True)
    names = {
        "base": Path(sys.executable).resolve(),
        "real": sys.executable,
        "program": str(Path(__file__).resolve()),
        "packages": PACKAGES,
        "prefixes": tuple(name.encode() for name in READ_BY_IMPORTS),
        "later": tuple(name.encode() for name in READ_LATER),
        "folder": str(folder),
        "owner": str(os.getppid() if run else os.getpid()),
        "patience": PATIENCE,
    }
    draft = folder / f"python.{os.getpid()}"
    draft.write_text(CLIENT.format(**names))
    draft.chmod(0o755)
    return draft.replace(folder / "python")


def abroad(code: str, *arguments: str, folder: Path) -> str:
    """What code prints in a folder, where the project cannot be imported."""
    (folder / "abroad.py").write_text(f"import sys\nsys.modules['seedbed'] = None\n{code}")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(python()), "-m", "abroad", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass
class Running:
    """A program that runs, and its client."""

    child: int
    ended: int
    """A file that can be read once the program has ended."""
    connection: socket.socket

    def hear(self) -> bool:
        """Pass on what the client was sent; whether it may say more. Who is gone leaves nothing running."""
        said = self.connection.recv(1)
        if said:
            os.kill(self.child, said[0])
        else:
            os.killpg(self.child, signal.SIGKILL)
        return bool(said)

    def end(self) -> None:
        """Tell the client how its program ended."""
        _, status = os.waitpid(self.child, 0)
        with contextlib.suppress(ConnectionError):
            self.connection.sendall(status.to_bytes(4, "big"))
        self.connection.close()
        os.close(self.ended)


def started(connection: socket.socket) -> Running | Request | None:
    """Fork for a request; in the fork, the request; None: the client is gone."""
    try:
        request = Request.receive(connection)
    except (EOFError, IndexError, ConnectionError):
        return connection.close()
    if not (child := os.fork()):
        os.setpgid(0, 0)
        connection.close()
        return request
    with contextlib.suppress(ProcessLookupError):
        os.setpgid(child, child)
    for file in request.files:
        os.close(file)
    return Running(child, os.pidfd_open(child), connection)


def serve(listener: socket.socket, owner: int) -> Request | None:
    """Start what is asked for until the owner ends; in a fork, return what it is to run."""
    with listener, selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(owner, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == owner:
                    return None
                if key.fileobj is listener:
                    match started(listener.accept()[0]):
                        case Request() as request:
                            return request
                        case Running() as running:
                            selector.register(running.connection, selectors.EVENT_READ, running)
                            selector.register(running.ended, selectors.EVENT_READ, running)
                elif key.fd not in selector.get_map():
                    continue  # ended in this very round
                elif key.fd == key.data.ended:
                    for file in (key.data.ended, key.data.connection):
                        if file in selector.get_map():
                            selector.unregister(file)
                    key.data.end()
                elif not key.data.hear():
                    selector.unregister(key.fileobj)


def run(module: str) -> int:
    """A module as a program; its exit code."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except Exception:  # a library waits for its server's threads, should Python end by itself
        traceback.print_exc()
        return 1
    return 0


def leave(code: int) -> None:
    """End as Python ends, but for half a second in which it would take all libraries apart."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def in_large_pages() -> None:
    """Put what this process has written to memory into large pages, where Linux can: a fork copies less to begin with."""
    maps, libc = Path("/proc/self/maps"), ctypes.CDLL(None)
    for line in maps.read_text().splitlines() if maps.exists() else ():
        place, rights, *_, name = f"{line} -".split(maxsplit=5)
        first, last = (int(address, 16) for address in place.split("-"))
        if rights == "rw-p" and name in ("-", "[heap] -"):
            for page in range(-(-first // PAGE) * PAGE, last - PAGE + 1, PAGE):
                libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), COLLAPSE)


def main() -> None:
    """Be the server of a place, unless another is: import, fork when asked, and in each fork be the program."""
    place, kind, owner = Path(sys.argv[1]), sys.argv[2], os.pidfd_open(int(sys.argv[3]))
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of this file
    paths, *_ = (os.environ.pop(name, "") for name in FOR_FORKS)
    for path in paths.split(os.pathsep):
        with contextlib.suppress(ValueError):
            sys.path.remove(str(Path(path).absolute()))
    with place.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        for library in LIBRARIES[kind]:
            importlib.import_module(library)
        if mapping := sys.modules.get("transformers.conversion_mapping"):
            mapping.get_checkpoint_conversion_mapping("bert")  # compiles a thousand regular expressions, once
        ahead = Ahead(OWN[kind])
        if kind == "snakemake":
            sys.modules["snakemake.cli"].get_argument_parser()  # looks for plugins in all folders
            for program in HOME.glob("scripts/*.py"):  # reads the code that each can reach
                sys.modules["seedbed.study.code"].value(str(program.relative_to(HOME)))
        for one in [*weakref.finalize._registry]:
            one.atexit = False  # libraries take themselves apart; each fork would copy a tenth of them for it
        gc.collect()
        gc.freeze()  # else each fork's first collection copies all of it
        in_large_pages()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        place.unlink(missing_ok=True)  # of a server that was killed
        listener.bind(str(place))
        listener.listen(64)
        request = serve(listener, owner)
        os.close(owner)
    if request:
        sys.executable = str(place.parent / "python")
        module = request.become()
        ahead.adopt()
        leave(run(module))
    else:
        shutil.rmtree(place.parent, ignore_errors=True)


if __name__ == "__main__":
    main()
