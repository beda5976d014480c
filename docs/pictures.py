"""Draw docs/*.svg that pages show: what training gains, how data flows, and what a kill costs.

python docs/pictures.py           from the project's folder; numbers are those of docs/results.md and docs/kill.json
python docs/pictures.py --kill    runs .test three times first, kills one run, and keeps the times in docs/kill.json
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

DOCS = Path("docs")
TIMES = DOCS / "kill.json"
STYLE = """
text { font: 13px sans-serif; fill: #1f2328; }
.soft { fill: #59636e; } .head { font-weight: bold; } .code { font-family: monospace; }
.card { fill: #ffffff; } .box { fill: #eef3f6; stroke: #8c959f; } .optional { stroke-dasharray: 5 4; }
.grid { stroke: #d8dee4; } .arrow { stroke: #59636e; stroke-width: 1.5; fill: none; } .tip { fill: #59636e; }
.base { stroke: #6e7781; fill: #6e7781; } .adjacent { stroke: #0072b2; fill: #0072b2; }
.bootstrap { stroke: #00875f; fill: #00875f; } .lost { stroke: #c4500c; fill: #c4500c; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .soft { fill: #a6b0ba; }
.card { fill: #161b22; } .box { fill: #222b35; stroke: #7d8590; }
.grid { stroke: #343c46; } .arrow { stroke: #a6b0ba; } .tip { fill: #a6b0ba; }
.base { stroke: #a6b0ba; fill: #a6b0ba; } .adjacent { stroke: #56b4e9; fill: #56b4e9; }
.bootstrap { stroke: #2fc795; fill: #2fc795; } .lost { stroke: #f08a4b; fill: #f08a4b; }
}
"""
"""On a card of its own, so that a picture can be read whatever the page around it."""


class Picture:
    """An SVG, part by part."""

    def __init__(self, title: str, width: int, height: int) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title><style>{STYLE}</style>",
            f'<rect class="card" width="{width}" height="{height}" rx="6"/>',
        ]

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        place = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
        self.parts.append(f'<text {place} class="{kind}">{escape(words)}</text>')

    def line(self, x: float, y: float, u: float, v: float, kind: str, width: float = 1) -> None:
        self.parts.append(f'<path class="{kind}" stroke-width="{width}" d="M{x:.1f},{y:.1f} L{u:.1f},{v:.1f}"/>')

    def box(self, x: float, y: float, width: float, height: float, kind: str, opacity: float = 1) -> None:
        size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4"'
        self.parts.append(f'<rect {size} class="{kind}" fill-opacity="{opacity}"/>')

    def dot(self, x: float, y: float, kind: str) -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="{kind}"/>')

    def arrow(self, points: list[tuple[float, float]]) -> None:
        """A way through points, right angles or straight, that ends in a tip."""
        (_, v), (x, y) = points[-2:]
        way = " L".join(f"{a:.0f},{b:.0f}" for a, b in points)
        tip = f"{x - 7:.0f},{y - 4:.0f} {x:.0f},{y:.0f} {x - 7:.0f},{y + 4:.0f}"
        if v != y:
            down = 7 if y > v else -7
            tip = f"{x - 4:.0f},{y - down:.0f} {x:.0f},{y:.0f} {x + 4:.0f},{y - down:.0f}"
        self.parts.append(f'<path class="arrow" d="M{way}"/><polygon class="tip" points="{tip}"/>')

    def __str__(self) -> str:
        return "\n".join([*self.parts, "</svg>"]) + "\n"


# ---- What training gains: from the tables of docs/results.md.


class Number(NamedTuple):
    """A number with its interval, as a page has it."""

    value: float
    low: float
    high: float

    @classmethod
    def read(cls, cell: str) -> Number:
        """The number of a cell such as `**57.2** [53.8, 60.6]`; without an interval it is its own."""
        value, *bounds = map(float, re.findall(r"-?\d+\.\d+", cell))
        return cls(value, *(bounds or (value, value)))


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the first table below a heading of docs/results.md, without marks of bold text."""
    section = (DOCS / "results.md").read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    for line in re.search(r"(?:^\|.*\n)+", section, re.M)[0].splitlines():
        yield [cell.strip().replace("**", "") for cell in line.strip("|").split("|")]


def text_alone() -> dict[str, dict[str, Number]]:
    """Language -> encoder -> its score on graded pairs."""
    table = {name: cells for name, *cells in rows("Neighbouring sentences")}
    languages = [cell.partition(",")[0] for cell in table["Spearman"]]
    chosen = {"base": "base, no prefix", "adjacent": "adjacent: neighbouring sentences, 40 steps, three seeds"}
    return {
        language: {name: Number.read(table[row][place]) for name, row in chosen.items()}
        for place, language in enumerate(languages)
    }


def with_translations(column: int) -> dict[str, dict[str, Number]]:
    """Language -> encoder -> its score in a column of the table of the recommended recipe, where it has one."""
    found: dict[str, dict[str, Number]] = {}
    language = ""
    for name, *cells in rows("The recommended recipe"):
        if (named := name.partition(", ")) and named[2]:
            language, name = named[0], named[2]
        if name in ("base", "adjacent", "bootstrap") and re.search(r"\d+\.\d", cells[column]):
            found.setdefault(language, {})[name] = Number.read(cells[column])
    return found


def panel_height(groups: dict[str, Any]) -> int:
    """Of a panel's intervals: `groups` is language -> encoder -> its score."""
    return sum(22 * len(one) + 16 for one in groups.values()) - 8


def panel(picture: Picture, x: int, heads: tuple[str, str], axis: tuple[int, int], groups: dict[str, Any]) -> None:
    """A panel of intervals.

    Args:
        axis: the least and the greatest value.
        groups: language -> encoder -> its score.
    """
    left, width, y = x + 88, 140, 92
    place = lambda value: left + (value - axis[0]) / (axis[1] - axis[0]) * width  # noqa: E731
    for line, words in enumerate(heads):
        picture.text(x, 56 + 18 * line, words, "" if line else "head")
    bottom = y + panel_height(groups)
    for tick in range(axis[0], axis[1] + 1, 20):
        picture.line(place(tick), y - 6, place(tick), bottom, "grid")
        picture.text(place(tick), bottom + 18, str(tick), "soft", "middle")
    for language, scores in groups.items():
        picture.text(x, y + 11 * len(scores) + 4, language)
        for name, number in scores.items():
            picture.line(place(number.low), y + 11, place(number.high), y + 11, name, 3)
            picture.dot(place(number.value), y + 11, name)
            picture.text(left + width + 12, y + 15, f"{number.value:.1f}", "head" if name != "base" else "soft")
            y += 22
        y += 16


def before_and_after() -> str:
    """What an encoder scores before training and after it, in the studies of docs/results.md."""
    pairs, costs = with_translations(0), with_translations(4)
    names = {
        "base": "before training",
        "adjacent": "adjacent: text alone",
        "bootstrap": "bootstrap: text and translations",
    }
    both = {
        language: {name: one for name, one in scores.items() if name != "adjacent"}
        for language, scores in pairs.items()
    }
    each = {language: {name: one[name] for name in names} for language, one in costs.items() if len(one) == len(names)}
    panels = [
        (("Text alone", "graded pairs, Spearman x 100"), (20, 100), text_alone()),
        (("Text and translations", "graded pairs, Spearman x 100"), (20, 100), both),
        (("What it costs", "retrieval from English, accuracy x 100"), (60, 100), each),
    ]
    height = 152 + max(panel_height(groups) for *_, groups in panels)
    picture = Picture("Scores before and after training, with 95 % intervals", 900, height)
    for x, (name, words) in zip((22, 172, 352), names.items(), strict=True):
        picture.dot(x, 22, name)
        picture.text(x + 12, 27, words)
    for x, (heads, axis, groups) in zip((16, 308, 600), panels, strict=True):
        panel(picture, x, heads, axis, groups)
    picture.text(16, height - 14, "Dots with 95 % intervals. Numbers, settings and limits: results.md.", "soft")
    return str(picture)


# ---- How data flows.


def flow() -> str:
    """From a text to the answer, for users; each arrow is jobs of Snakemake."""
    picture = Picture("From a text to an encoder and its score", 900, 300)
    wide, high, top = 152, 62, 110
    stages = [
        ("Your text", "kin.txt", "corpora/"),
        ("Training pairs", "a line, the next one", "corpora/ triplets/"),
        ("Encoders", "one for each recipe", "encoders/"),
        ("Scores", "of each test item", "scores/"),
        ("Tables, report", "with intervals", "tables/"),
    ]
    places = [16 + n * 179 for n in range(len(stages))]
    for x, (name, example, folder) in zip(places, stages, strict=True):
        picture.box(x, top, wide, high, "box")
        picture.text(x + wide / 2, top + 26, name, "head", "middle")
        picture.text(x + wide / 2, top + 46, example, "soft", "middle")
        picture.text(x + wide / 2, top + high + 20, folder, "soft code", "middle")
        if x != places[-1]:
            picture.arrow([(x + wide, top + high / 2), (x + 179, top + high / 2)])
    inputs = {
        1: ("Translations, pairs,", "generator, if any", "box optional"),
        2: ("A pretrained encoder", "multilingual-e5-small", "box"),
        3: ("Graded pairs, if any,", "else held-out lines", "box optional"),
    }
    for stage, (first, second, kind) in inputs.items():
        x = places[stage]
        picture.box(x, 16, wide, 54, kind)
        picture.text(x + wide / 2, 38, first, "", "middle")
        picture.text(x + wide / 2, 57, second, "soft", "middle")
        picture.arrow([(x + wide / 2, 70), (x + wide / 2, top)])
    x = places[3]
    picture.box(x, 226, 331, 58, "box")
    picture.text(x + 16, 250, "answer.md: the best encoder and its scores")
    picture.text(x + 16, 271, "best/kin: that encoder, to take home")
    picture.arrow([(x + wide / 2 - 62, top + high), (x + wide / 2 - 62, 226)])
    picture.text(16, 250, "Each arrow is one or more jobs of Snakemake.", "soft")
    picture.text(16, 271, "Folders are those of the study's results, results/kin.", "soft")
    return str(picture)


# ---- What a kill costs: a run of .test that was killed, and the same command once more.


def record() -> dict[str, Any]:
    """Run .test, kill it in its training, run it again; the times of jobs and checkpoints, in seconds of each run."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(".test/config", place / "config")
        shutil.copy(".test/config.yaml", place / "config.yaml")
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(Path("Snakefile").resolve())]
        command += ["--directory", folder, "--cores", "2", "--config", "checkpoint_minutes=0"]
        command += [f"downloads={Path('downloads').resolve()}"]
        runs = [_run(command, place, kill_after=3), _run(command, place)]
    return {"made": time.strftime("%d %B %Y").lstrip("0"), "steps": 6, "runs": runs}


def _run(command: list[str], place: Path, kill_after: int = 0) -> dict[str, Any]:
    """A run: when its jobs began and ended, and when its training kept a checkpoint.

    Args:
        kill_after: the step of the training in the midst of whose next one everything is killed; 0: none is.
    """
    began, steps = time.time(), {}
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    killed = 0.0
    while run.poll() is None:
        for file in place.glob("results/state/*/**/checkpoint-*/trainer_state.json"):
            if (seen := file.stat().st_mtime) >= began:
                steps.setdefault(int(file.parent.name.rpartition("-")[2]), seen)
        taken = sorted(steps.values())
        if not killed and kill_after in steps and time.time() > taken[-1] + 0.6 * (taken[-1] - taken[-2]):
            killed = time.time()
            os.killpg(run.pid, signal.SIGKILL)
        time.sleep(0.2)
    if run.returncode and not killed:
        sys.exit(f"{' '.join(command)}: failed")
    ended = killed or time.time()
    jobs = {}
    for file in place.glob(".snakemake/metadata/*"):
        about = json.loads(file.read_text(encoding="utf-8"))
        if about["starttime"] >= began:
            key = about["rule"], about["endtime"]  # a record for each output of a job
            jobs[key] = min(about["starttime"], jobs.get(key, ended))
    lines = (place / "results/logs/events.jsonl").read_text(encoding="utf-8").splitlines()
    for output, kind, at, _ in map(json.loads, filter(None, lines)):
        if killed and kind == "job_info" and at >= began and "/crosslingual/eng/1/" in output:
            jobs["train_encoder", killed] = at
    shown = [[rule, round(start - began, 1), round(end - began, 1)] for (rule, end), start in jobs.items()]
    return {
        "seconds": round(ended - began, 1),
        "killed": bool(killed),
        "jobs": sorted(shown, key=lambda job: job[1:]),
        "checkpoints": [[step, round(at - began, 1)] for step, at in sorted(steps.items())],
    }


LABELS = {
    "fetch_model": "download, decode",
    "base": "base",
    "fetch_corpus": "texts",
    "train_encoder": "training",
    "score": "scores",
    "tabulate": "tables, report",
}
"""A job's rule -> its row."""
SAME = {"plan_table": "fetch_corpus", "choose_best": "tabulate", "plot": "tabulate", "report": "tabulate"}
"""A job's rule -> the rule in whose row it is."""


def kill() -> str:
    """A killed run and the one that resumed it, job by job."""
    recorded = json.loads(TIMES.read_text(encoding="utf-8"))
    first, second = recorded["runs"]
    picture = Picture(
        "What a kill costs: a run that was killed in a training, and the same command once more", 900, 330
    )
    left, top, high = 144, 84, 26
    scale = (884 - left) / (first["seconds"] + second["seconds"])
    place = lambda seconds: left + seconds * scale  # noqa: E731
    rows = {rule: top + number * high for number, rule in enumerate(LABELS)}
    for rule, y in rows.items():
        picture.text(left - 12, y + 15, LABELS[rule], "", "end")
    killed, done = (
        first["seconds"],
        [*first["jobs"], *([rule, *_later(first, times)] for rule, *times in second["jobs"])],
    )
    untrained = next(job for job in done if job[0] == "train_encoder")
    untrained[0] = "base"
    step = (first["checkpoints"][-1][1] - first["checkpoints"][0][1]) / (len(first["checkpoints"]) - 1)
    last, resumed = first["checkpoints"][-1][1], killed + second["checkpoints"][0][1] - step
    for rule, start, end in done:
        y = rows[SAME.get(rule, rule)]
        if rule == "train_encoder" and end == killed:
            picture.box(place(last), y, (end - last) * scale, 20, "lost")
            end = last
        elif rule == "train_encoder":
            picture.box(place(start), y, (resumed - start) * scale, 20, "adjacent", 0.25)
            again, start = start, resumed
        picture.box(place(start), y, (end - start) * scale, 20, "adjacent")
    y = rows["train_encoder"]
    for number, at in [*first["checkpoints"], *([one, killed + at] for one, at in second["checkpoints"])]:
        picture.line(place(at), y - 3, place(at), y + 23, "arrow")
        picture.text(place(at), y + 37, str(number), "soft", "middle")
    picture.line(place(killed), top - 14, place(killed), top + high * len(rows), "lost", 2)
    bottom = top + high * len(rows)
    for tick in range(0, int(first["seconds"] + second["seconds"]) + 1, 120):
        picture.text(place(tick), bottom + 18, f"{tick // 60} min", "soft", "middle")
    within = first["checkpoints"][-1][0] + 1
    lost, plan, load = (f"{seconds:.0f} s" for seconds in (killed - last, again - killed, resumed - again))
    words = {
        28: f"Killed in step {within} of {recorded['steps']}: {lost} of training are lost (orange).",
        50: f"The same command: {plan} to plan, {load} to load (pale), then the next step. Nothing else runs twice.",
        bottom + 50: "Small numbers: checkpoints, here after each step; by default every ten minutes of a training.",
        bottom
        + 70: f"The study in .test, {recorded['made']}, on two cores that other programs used too: alone it is faster.",
    }
    for y, line in words.items():
        picture.text(16, y, line, "head" if y == 28 else "soft" if y > bottom else "")
    return str(picture)


def _later(first: dict[str, Any], times: list[float]) -> list[float]:
    """Times of the second run, as if it began when the first was killed."""
    return [round(first["seconds"] + at, 1) for at in times]


FILES = {DOCS / "before_and_after.svg": before_and_after, DOCS / "flow.svg": flow, DOCS / "kill.svg": kill}


def main() -> None:
    if "--kill" in sys.argv:
        TIMES.write_text(json.dumps(record()) + "\n", encoding="utf-8")
    for path, draw in FILES.items():
        path.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
