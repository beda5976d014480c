"""What a person came for, in a few lines: the best encoder of each language, how good it is, and how it is used."""

from collections.abc import Mapping
from typing import Any

from seedbed.encoders.use import Use
from seedbed.tables.best import WORD_OVERLAP

TITLE = "## The best encoder of each language"
NONE = (
    "No encoder was chosen: a study says by `best: {dev: TASK}` which development task chooses, and needs another task "
    "that says how good the choice is."
)
CODE = """    from sentence_transformers import SentenceTransformer
    SentenceTransformer("{folder}"{options}).encode({texts})"""


def text(best: Mapping[str, Mapping[str, Any]]) -> str:
    """Markdown of what `choose_best` chose.

    Args:
        best: folder of an encoder -> `best` of its manifest, see `best.choose` and `best.report`.
    """
    if not best:
        return f"{TITLE}\n\n{NONE}\n"
    lines = [f"* {_language(one)} It is `{folder}`." for folder, one in best.items()]
    folder, first = next(iter(best.items()))
    use = Use(**first.get("use", {}))
    needed = f", with{use.packages} installed" if use.packages else ""
    return "\n".join([TITLE, "", *lines, "", f"Two lines of Python use it{needed}:", "", lines_of(folder, use)]) + "\n"


def lines_of(folder: str, use: Use) -> str:
    """The two lines that open an encoder and give it texts."""
    return CODE.format(folder=folder, options=use.options, texts=use.texts)


def _language(one: Mapping[str, Any]) -> str:
    """`**Hausa: unsupervised**, learnt from 64 rows, ...`; then what it is told apart from, and what not."""
    dev, test, others = one["dev"], one["test"], one["test"]["others"]
    learnt = f"learnt from {one['rows']:,} rows" if one["rows"] else "not trained"
    chosen = f"the best of {dev['among']} on {dev['task']}"
    beside = [
        f"{_number(others[name])} of {_called(name, one)}" for name in (one["base"], WORD_OVERLAP) if name in others
    ]
    return (
        f"**{one['name']}: {one['recipe']}** of {one['backbone']}, {learnt}, {chosen}. "
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
