"""Draw which rule needs which: docs/rule_graph.svg, from the plan of a study that has a job of every rule.

python docs/rule_graph.py    from the project's folder, in half a minute
"""

from __future__ import annotations

import re
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))

from tests.workflow.test_commands import PLAN, copied_with_study

PICTURE = Path("docs/rule_graph.svg")
COLOURS = {
    "corpora": "#80cbc4",
    "generators": "#ffe082",
    "triplets": "#ffab91",
    "encoders": "#90caf9",
    "classifiers": "#ce93d8",
    "evaluation": "#a5d6a7",
    "tables": "#e6ee9c",
    "operations": "#cfd8dc",
}
"""Stage -> the colour of its rules."""
WIDTH, HEIGHT, ACROSS, DOWN, TOP = 152, 26, 178, 70, 52
"""Of a box; from one box to the next; above the first."""
STYLE = """
text { font: 12px sans-serif; fill: #222; text-anchor: middle; }
rect { stroke: #607d8b; }
path { fill: none; stroke: #78909c; stroke-width: 1.2; }
marker path { fill: #78909c; stroke: none; }
@media (prefers-color-scheme: dark) { path { stroke: #b0bec5; } marker path { fill: #b0bec5; } }
"""
Pairs = set[tuple[str, str]]


def rules() -> dict[str, str]:
    """Rule -> its stage, by the file that it is in."""
    return {
        name: stage
        for stage in COLOURS
        for name in re.findall(r"^rule (\w+):", Path(f"rules/{stage}.smk").read_text(encoding="utf-8"), re.M)
    }


def edges() -> Pairs:
    """Pairs of rules, of which the second reads what the first writes."""
    with tempfile.TemporaryDirectory() as folder:
        project = copied_with_study(Path(folder) / "study")
        dot = project.snakemake("--rulegraph", "dot", "--forceall", *PLAN["targets"]).stdout
    names = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)"', dot, re.M))
    found = {(names[one], names[other]) for one, other in re.findall(r"^\s*(\d+) -> (\d+)", dot, re.M)}
    return {(one, other) for one, other in found if one != other}


def forward(pairs: Pairs, order: list[str]) -> Pairs:
    """The pairs without those that close a circle: a rule may prepare what another job of an earlier rule reads."""
    place, kept = {name: n for n, name in enumerate(order)}, set()
    for one, other in sorted(pairs, key=lambda pair: (place[pair[0]] > place[pair[1]], pair)):
        if one not in _reached(other, kept):
            kept.add((one, other))
    return kept


def direct(pairs: Pairs) -> Pairs:
    """The pairs that do not follow from others."""
    return {(one, other) for one, other in pairs if other not in _reached(one, pairs - {(one, other)})}


def _reached(start: str, pairs: Pairs) -> set[str]:
    found, todo = set(), [start]
    while todo:
        new = {other for one, other in pairs if one == todo[-1]} - found
        todo.pop()
        found |= new
        todo += sorted(new)
    return found


def layers(names: list[str], pairs: Pairs) -> list[list[str]]:
    """Rules by the longest way to them from the start; within a layer near those that they read."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for one, other in pairs:
            depth[other] = max(depth[other], depth[one] + 1)
    found: list[list[str]] = [[name for name in names if depth[name] == n] for n in range(max(depth.values()) + 1)]
    for _ in range(12):
        for one, other in [*pairwise(found), *pairwise(found[::-1])]:
            middle = {name: (n + 0.5) / len(one) for n, name in enumerate(one)}
            near = {
                name: [middle[a if b == name else b] for a, b in pairs if name in (a, b) and {a, b} & {*one}]
                for name in other
            }
            before = {name: (n + 0.5) / len(other) for n, name in enumerate(other)}
            other.sort(key=lambda name: sum(near[name]) / len(near[name]) if near[name] else before[name])
    return found


def picture(stage_of: dict[str, str], pairs: Pairs) -> str:
    """The graph as SVG: what is above is read by what is below."""
    rows = layers([*stage_of], pairs)
    wide = max(map(len, rows))
    place = {
        name: (10 + (wide - len(names)) * ACROSS // 2 + n * ACROSS, TOP + row * DOWN)
        for row, names in enumerate(rows)
        for n, name in enumerate(names)
    }
    width, height = 20 + wide * ACROSS, TOP + len(rows) * DOWN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>Which rule needs which</title><style>{STYLE}</style>",
        '<defs><marker id="end" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0,0 L6,3 L0,6 z"/></marker></defs>',
    ]
    for n, (stage, colour) in enumerate(COLOURS.items()):
        parts.append(_box(10 + n * 130, 8, 120, stage, colour))
    for one, other in sorted(pairs):
        (x, y), (u, v) = place[one], place[other]
        x, y, u = x + WIDTH // 2, y + HEIGHT, u + WIDTH // 2
        parts.append(f'<path marker-end="url(#end)" d="M{x},{y} C{x},{y + 30} {u},{v - 30} {u},{v}"/>')
    parts += [_box(x, y, WIDTH, name, COLOURS[stage_of[name]]) for name, (x, y) in place.items()]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _box(x: int, y: int, width: int, text: str, colour: str) -> str:
    rect = f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="5" fill="{colour}"/>'
    return f'{rect}<text x="{x + width // 2}" y="{y + 17}">{text}</text>'


def main() -> None:
    stage_of = rules()
    PICTURE.write_text(picture(stage_of, direct(forward(edges(), [*stage_of]))), encoding="utf-8")


if __name__ == "__main__":
    main()
