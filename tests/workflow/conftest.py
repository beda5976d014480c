"""A copy of the project with a small study of its own files and tiny models: what a user's own study looks like."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pytest
import yaml

from seedbed import yamls
from seedbed.io import UserError
from seedbed.study.loading import load
from tests import warm

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
# As of a person who has not activated the environment.
ENVIRONMENT["PATH"] = os.pathsep.join(one for one in os.get_exec_path() if Path(one) != Path(sys.prefix, "bin"))


@dataclass
class Project:
    """The copy."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: ENVIRONMENT)
    warm: bool = True
    """Whether Snakemake and its jobs are forks of a process with their libraries, or each a plain one."""

    def snakemake(self, *arguments: str, config: str = "study.yaml") -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the copy on two cores."""
        return self.run(self.command(*arguments, config=config))

    def program(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of the project's programs in the copy."""
        return self.run([sys.executable, "-m", f"scripts.{name}", *arguments])

    def snippet(self, code: str, *arguments: str) -> str:
        """What a piece of Python prints in the copy."""
        done = self.run([sys.executable, "-m", "tests.snippet", code, *arguments])
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command of Python in the copy."""
        if self.warm:
            command = [str(warm.python()), *command[1:]]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, env=self.environment)

    def command(self, *arguments: str, config: str = "study.yaml") -> list[str]:
        """Of Snakemake in a plain process; with the demo's profile, but lines for bars and no wait at its end, unless
        another is named.
        """
        profile = (
            () if "--profile" in arguments else ("--profile", "profiles/lines", "--max-jobs-per-timespan", "1000/1s")
        )
        return [sys.executable, "-m", "snakemake", *profile, *arguments, "--configfile", config]

    def planned(self, changes: dict, *targets: str) -> dict[str, int]:
        """Rule -> jobs that run after an edit of the study's configuration, see `edit`."""
        config = self.edit(changes, target="edited.yaml")
        done = self.snakemake(*targets, "--dry-run", "--quiet", "rules", config=config)
        assert done.returncode == 0, done.stderr
        counts = re.findall(r"^(\w+) +(\d+)$", done.stdout, flags=re.M)
        return {rule: int(count) for rule, count in counts if rule != "total"}

    def refusal(self, config: str, *targets: str) -> str:
        """What is wrong with a configuration: as `load` says it, or else the graph when it is planned."""
        with contextlib.chdir(self.root):
            try:
                load(yamls.read(config))
            except UserError as error:
                return f"error: {error}"
        done = self.snakemake("--dry-run", *targets, config=config)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert done.returncode == 1 and len(errors) == 1, done.stderr
        return errors[0]

    def edit(self, changes: dict, *, source: str = "study.yaml", target: str = "study.yaml") -> str:
        """Change keys of a configuration, nested ones by dots; None removes."""
        study = yamls.read(self.root / source)
        for path, value in changes.items():
            *parents, last = path.split("/")
            group = study
            for key in parents:
                group = group[key]
            if value is None:
                group.pop(last, None)
            else:
                group[last] = value
        (self.root / target).write_text(yaml.safe_dump(study, sort_keys=False))
        return target


ALARMING = re.compile(
    r"warn|deprecat|initiali[sz]ed|missing|unexpected|mismatch|traceback|error|fail|exception|consider|differ", re.I
)


def alarming(results: Path) -> dict[str, list[str]]:
    """Log -> its lines that a reader would take for a fault; of bars, which rewrite their line, each state is one."""
    found = {}
    for log in sorted((results / "logs").rglob("*.log")):
        lines = log.read_text().replace("\r", "\n").splitlines()
        if told := [line for line in lines if ALARMING.search(line)]:
            found[str(log.relative_to(results))] = told
    return found


def own_study(root: Path) -> None:
    """A study on local files: own corpora, own graded pairs, own generator and backbone directories."""
    from tests import tiny  # torch takes seconds, which a plan alone does not need

    data = root / "own"
    data.mkdir()
    for lang in ("hau", "swh", "eng"):
        texts = tiny.sentences(lang, 60)
        pd.DataFrame({"id": range(60), "text": texts}).to_csv(data / f"{lang}.tsv", sep="\t", index=False)
    for lang in ("hau", "swh", "fra"):
        pairs = {"id": range(24), "text": tiny.sentences(lang, 24, 1), "pivot": tiny.sentences("eng", 24, 1)}
        for name in (f"{lang}-eng.tsv", f"{lang}-eng.test.tsv"):  # the same: numbers of tiny models mean nothing
            pd.DataFrame(pairs).to_csv(data / name, sep="\t", index=False)
        graded = {"id": range(24), "sentence1": pairs["text"], "sentence2": tiny.sentences(lang, 24, 2)}
        graded["score"] = [n / 23 for n in range(24)]
        pd.DataFrame(graded).to_csv(data / f"{lang}.sts.tsv", sep="\t", index=False)
    columns = {"anchor": 3, "positive": 4, "negative": 5}
    nli = {"id": range(24), **{name: tiny.sentences("eng", 24, seed) for name, seed in columns.items()}}
    pd.DataFrame(nli).to_csv(data / "nli.tsv", sep="\t", index=False)
    tiny.generator(data / "generator")
    tiny.backbone(data / "backbone")


STUDY = {
    "results": "results/own",
    "seeds": [1],
    "languages": {"hau": {}},
    "corpora": {
        "text": {"file": "own/{lang}.tsv"},
        "nli": {"file": "own/nli.tsv"},
        "parallel": {"file": "own/{lang}-eng.tsv"},
    },
    "anchors": {"count": 32},
    "generators": {
        "tiny": {
            "source": {"file": "own/generator"},
            "prompts": "plain",
            "dtype": "float32",
            "language_data": "text",
            "lora": {"examples": 16, "epochs": 1, "batch_size": 8, "micro_batch_size": 8, "learning_rate": 0.01},
            "sampling": {"max_new_tokens": 12, "max_prompt_tokens": 2000},
            "xllora": {"languages": ["fra"]},
            "shard_rows": 16,
        }
    },
    # The tiny generator writes salad: only the checks that do not judge language are left on.
    "audit": {
        "finished": False, "language_id": False, "script_share": 0, "other_script": False, "length_ratio": 1000, "max_repetition": 1, "refusals": ["⊥"], "min_rows": 2,
        "max_lost": 1,
    },
    "backbones": {"tiny-bert": {"source": {"file": "own/backbone"}}},
    "training": {"epochs": 1, "batch_size": 8, "precision": "float32"},
    "recipes": dict.fromkeys(["base", "unsupervised", "crosslingual", "prompting", "composition", "xllora"], {}),
    "tasks": {
        "own-sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}},
        "own-bitext": {"protocol": "bitext", "source": {"file": "own/{lang}-eng.test.tsv"}},
    },
    "statistics": {"resamples": 100},
}  # fmt: skip


def copy_project(root: Path, study: dict) -> Project:
    """The project's files, copied, with a study in it and the files of `own_study`."""
    own_study(root)
    return copy_files(root, study)


def copy_files(root: Path, study: dict) -> Project:
    """The project's files, copied, with a study in it."""
    copied(root)
    demo = yamls.read(root / "profiles/demo/profile.yaml")
    (root / "profiles/lines").mkdir()
    (root / "profiles/lines/profile.yaml").write_text(
        yaml.safe_dump({key: demo[key] for key in demo if key != "logger"})
    )
    for kind in ("tables", "figures"):
        (root / "resources" / kind).mkdir(parents=True)  # for specs of its own
    (root / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    return Project(root)


def copied(root: Path) -> None:
    """Copy the project's files."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if Path(name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, root / name)


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Project:
    """The project with the small study; nothing has run."""
    return copy_project(tmp_path_factory.mktemp("project"), STUDY)


@pytest.fixture(scope="session")
def finished(project) -> Project:
    """The same after a whole run."""
    done = project.snakemake()
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert "Traceback" not in done.stderr, done.stderr[-6000:]
    return project
