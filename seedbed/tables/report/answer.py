"""The first section of the report: the best encoder of each language, its score and usage, and all other encoders."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from seedbed import manifests
from seedbed.encoders.export.card import Usage, usage_of
from seedbed.evaluation.metrics import lexical
from seedbed.evaluation.significance import LEAST_ITEMS
from seedbed.markdown import table
from seedbed.tables.cells import interval, with_interval
from seedbed.tables.quotes import NO_INTERVAL

TITLE = "## The best encoder of each language"
NONE = (
    "No encoder was chosen: a study says by `best: {dev: TASK}` which development task chooses, and needs another task "
    "that says how good the choice is."
)
EVERY = "## Every encoder"
IMPORT = "    from sentence_transformers import SentenceTransformer"


class Listed(NamedTuple):
    """An encoder in the list."""

    folder: str
    backbone: str
    recipe: str
    rows: int
    """Training rows; 0: it was not trained."""
    use: Usage

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The encoder in a folder.

        Raises:
            UserError: its manifest cannot be read, or its files were changed.
        """
        manifest = manifests.of(folder)
        about = manifest.get("about", {})
        names = (str(about.get(key, "")) for key in ("backbone", "recipe"))
        return cls(str(folder), *names, manifests.trained_rows(manifest) or 0, usage_of(folder))


def text(best: Mapping[str, Mapping[str, Any]], encoders: Mapping[str, Sequence[Listed]] = MappingProxyType({})) -> str:
    """The answer in Markdown.

    Args:
        best: folder of an encoder -> `best` of its manifest, see `best.choose_encoder` and `best.report`.
        encoders: name of a language -> all its encoders.
    """
    every = "\n".join(["", EVERY, *(_every(name, own, best) for name, own in encoders.items())]) if encoders else ""
    if not best:
        return f"{TITLE}\n\n{NONE}\n{every}"
    lines = [line for folder, one in best.items() for line in _language(one, folder)]
    folder, first = next(iter(best.items()))
    own = Usage(**first.get("use", {}))
    needed = f", with{own.packages} installed" if own.packages else ""
    lines = [TITLE, "", *lines, f"Two lines of Python use it{needed}:", "", IMPORT, line_of(folder, own), every]
    return "\n".join(lines)


def _every(language: str, encoders: Sequence[Listed], best: Mapping[str, Mapping[str, Any]]) -> str:
    """The encoders of a language: what each was trained on, its scores, and the two lines of Python that open it."""
    folder, chosen = next(((folder, one) for folder, one in best.items() if one["name"] == language), ("", None))
    reports = [report for report in ((chosen["test"], *chosen.get("also", ())) if chosen else ()) if report]
    heads = [language, "trained on", *(f"{one['task']}, {one['metric']}, n = {one['n']}" for one in reports)]
    rows, lines = [], []
    for one in encoders:
        ours = chosen is not None and (one.backbone, one.recipe) == (chosen["backbone"], chosen["recipe"])
        same = chosen is not None and one.backbone == chosen["backbone"]
        name = f"**{one.recipe}** of {one.backbone}" if ours else f"{one.recipe} of {one.backbone}"
        found = [report["score"] if ours else report["others"].get(one.recipe) for report in reports if same]
        numbers = [_number(number) if number else "" for number in found] or [""] * len(reports)
        rows.append([name, f"{one.rows:,} rows" if one.rows else "nothing", *numbers])
        needed = f"; needs{one.use.packages}" if one.use.packages else ""
        # The chosen encoder may be of another seed than the first, which is listed.
        lines.append(f"{line_of(folder if ours else one.folder, one.use)}  # {one.recipe} of {one.backbone}{needed}")
    return "\n".join(["", table(heads, rows), "", IMPORT, *lines, ""])


def line_of(folder: str, use: Usage) -> str:
    """The line of Python, after IMPORT, that loads an encoder and encodes texts."""
    return f'    SentenceTransformer("{folder}"{use.options}).encode({use.texts})'


def _language(one: Mapping[str, Any], folder: str) -> list[str]:
    """One sentence: what was chosen, and whether it is better than before training. Then its scores next to others'."""
    dev, test = one["dev"], one["test"]
    trained = f"trained on {one['rows']:,} rows" if one["rows"] else "not trained"
    chosen = f"{_place(dev)} {dev['among']} on {' and '.join(dev['tasks'])}" if dev else "recommended"
    said = f"**{one['name']}: {one['recipe']}** of {one['backbone']}, {trained}, {chosen}"
    before = test["others"].get(one["base"], {}) if test else {}
    if "apart" in before:
        said += f", is {' '.join(_significance(before))} {one['base']}, the encoder before training"
    sentences = " ".join(filter(None, [f"{said}.", one.get("why")]))
    below = _scores(test, one, folder) if test else f"It is `{folder}`."
    limits = [one["limits"], ""] if one.get("limits") else []
    return [sentences, "", below, "", *limits]


def _place(dev: Mapping[str, Any]) -> str:
    """How good the chosen encoder is among the candidates; of equally good ones the first is chosen."""
    equal = dev.get("equal", 1)
    return "the best of" if equal == 1 else f"the first of {equal} with the best score among"


def _scores(test: Mapping[str, Any], one: Mapping[str, Any], folder: str) -> str:
    """A table: the encoder and each other, its score on the test, and by how much the encoder is better."""
    called = {one["base"]: f"{one['base']}, before training"}
    called |= {name: f"{name}, no encoder" for name in lexical.NAMES}
    heads = [f"{test['task']}: {test['metric']}, {test['n']} items", "score", f"{one['recipe']} compared with it"]
    rows = [[f"**{one['recipe']}**: `{folder}`", _number(test["score"]), ""]]
    rows += [[called.get(name, name), _number(each), _difference(each)] for name, each in test["others"].items()]
    rows += [[one["name"], _number(one), f"{one['source']}; {NO_INTERVAL}"] for one in test.get("quoted", ())]
    few = f"Of {test['n']} items there are no intervals and no tests; at least {LEAST_ITEMS} are needed."
    return "\n\n".join([table(heads, rows), *([few] if test["n"] < LEAST_ITEMS else [])])


def _difference(other: Mapping[str, Any]) -> str:
    """`+1.5 [-2.7, 6.1], not significantly different`; empty: there are too few items to say."""
    if "apart" not in other:
        return ""
    return f"{with_interval(other)}, {_significance(other)[0]}"


def _significance(other: Mapping[str, Any]) -> tuple[str, str]:
    """Comparison of the encoder with another: significantly better or not, with the preposition that follows."""
    if not other["apart"]:
        return "not significantly different", "from"
    return f"significantly {'better' if other['difference'] > 0 else 'worse'}", "than"


def _number(found: Mapping[str, float]) -> str:
    within = f" {interval(found)}" if "low" in found else ""
    return f"{found['value']:z.1f}{within}"
