"""What a person came for, in a few lines: the best encoder of each language, how good it is, and how it is used; and
every other encoder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from seedbed import manifests
from seedbed.encoders import use
from seedbed.encoders.use import Use
from seedbed.tables.best import WORD_OVERLAP

TITLE = "## The best encoder of each language"
NONE = (
    "No encoder was chosen: a study says by `best: {dev: TASK}` which development task chooses, and needs another task "
    "that says how good the choice is."
)
EVERY = "## Every encoder"
IMPORT = "    from sentence_transformers import SentenceTransformer"
CODE = """{import_}
    SentenceTransformer("{folder}"{options}).encode({texts})"""


class Listed(NamedTuple):
    """An encoder that the answer lists."""

    folder: str
    backbone: str
    recipe: str
    rows: int
    """Trained on; 0: it was not trained."""
    use: Use

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The encoder in a folder; raises as `manifests.read`."""
        manifest = manifests.read(folder / manifests.MANIFEST)
        about, training = manifest.get("about", {}), manifest.get("training") or {}
        names = (str(about.get(key, "")) for key in ("backbone", "recipe"))
        return cls(str(folder), *names, training.get("examples") or 0, use.of(folder))


def text(best: Mapping[str, Mapping[str, Any]], encoders: Mapping[str, Sequence[Listed]] = MappingProxyType({})) -> str:
    """Markdown of what `choose_best` chose, and of all encoders that there are.

    Args:
        best: folder of an encoder -> `best` of its manifest, see `best.choose` and `best.report`.
        encoders: name of a language -> its encoders.
    """
    every = "\n".join(["", EVERY, *(_every(name, own, best) for name, own in encoders.items())]) if encoders else ""
    if not best:
        return f"{TITLE}\n\n{NONE}\n{every}"
    lines = [f"* {_language(one)} It is `{folder}`." for folder, one in best.items()]
    folder, first = next(iter(best.items()))
    own = Use(**first.get("use", {}))
    needed = f", with{own.packages} installed" if own.packages else ""
    lines = [TITLE, "", *lines, "", f"Two lines of Python use it{needed}:", "", lines_of(folder, own), every]
    return "\n".join(lines)


def _every(language: str, encoders: Sequence[Listed], best: Mapping[str, Mapping[str, Any]]) -> str:
    """The encoders of a language: what each was trained on, its scores, and the two lines of Python that open it."""
    chosen = next((one for one in best.values() if one["name"] == language), None)
    reports = [report for report in ((chosen["test"], *chosen.get("also", ())) if chosen else ()) if report]
    heads = [language, "trained on", *(f"{one['task']}, {one['metric']}, n = {one['n']}" for one in reports)]
    rows = [heads, ["---"] * len(heads)]
    for one in encoders:
        ours = chosen is not None and (one.backbone, one.recipe) == (chosen["backbone"], chosen["recipe"])
        same = chosen is not None and one.backbone == chosen["backbone"]
        name = f"**{one.recipe}** of {one.backbone}" if ours else f"{one.recipe} of {one.backbone}"
        found = [report["score"] if ours else report["others"].get(one.recipe) for report in reports if same]
        numbers = [_number(number) if number else "" for number in found] or [""] * len(reports)
        rows.append([name, f"{one.rows:,} rows" if one.rows else "nothing", *numbers])
    table = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["", *table, "", IMPORT, *map(_line, encoders), ""])


def _line(one: Listed) -> str:
    needed = f"; needs{one.use.packages}" if one.use.packages else ""
    return f"{lines_of(one.folder, one.use).splitlines()[1]}  # {one.recipe} of {one.backbone}{needed}"


def lines_of(folder: str, use: Use) -> str:
    """The two lines that open an encoder and give it texts."""
    return CODE.format(import_=IMPORT, folder=folder, options=use.options, texts=use.texts)


def _language(one: Mapping[str, Any]) -> str:
    """`**Hausa: unsupervised**, learnt from 64 rows, ...`; then what it is told apart from, and what not."""
    dev, test = one["dev"], one["test"]
    learnt = f"learnt from {one['rows']:,} rows" if one["rows"] else "not trained"
    chosen = f"the best of {dev['among']} on {dev['task']}" if dev else "recommended"
    begins = f"**{one['name']}: {one['recipe']}** of {one['backbone']}, {learnt}, {chosen}."
    said = [begins, one.get("why", ""), _score(test, one) if test else "", one.get("limits", "")]
    return " ".join(filter(None, said))


def _score(test: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    """What it has on the task that reports, compared with others."""
    others = test["others"]
    beside = [
        f"{_number(others[name])} of {_called(name, one)}" for name in (one["base"], WORD_OVERLAP) if name in others
    ]
    return (
        f"On {test['task']} ({test['metric']}, {test['n']} items) it has {_number(test['score'])}"
        f"{', beside ' + ' and '.join(beside) if beside else ''}. {_apart(others, one)}"
    )


def _called(name: str, one: Mapping[str, Any]) -> str:
    return f"{name}, the encoder before training" if name == one["base"] else name


def _number(found: Mapping[str, float]) -> str:
    interval = f" [{found['low']:z.1f}, {found['high']:z.1f}]" if "low" in found else ""
    return f"{found['value']:z.1f}{interval}"


def _apart(others: Mapping[str, Mapping[str, Any]], one: Mapping[str, Any]) -> str:
    """One sentence: which others it is above or below for sure, and which it is not told apart from."""
    if not others:
        return "There is no other to compare it with."
    above = [name for name, each in others.items() if each.get("apart") and each["difference"] > 0]
    below = [name for name, each in others.items() if each.get("apart") and each["difference"] < 0]
    same = [name for name in others if name not in above and name not in below]
    parts = [f"{word} {_listed(names)}" for word, names in (("above", above), ("below", below)) if names]
    told = f"It is {' and '.join(parts)}" if parts else ""
    if not same:
        return f"{told}."
    return (
        f"{told}, and not told apart from {_listed(same)}." if told else f"It is not told apart from {_listed(same)}."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
