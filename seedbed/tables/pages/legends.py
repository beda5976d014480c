"""Legends of a table's page: what its numbers, intervals and marks are, and why some are missing."""

from collections.abc import Iterator, Sequence

import pandas as pd

from seedbed import names
from seedbed.evaluation.protocols import Metric
from seedbed.evaluation.significance import LEAST_ITEMS, alpha, percent
from seedbed.tables.cells import methods_of, trained_on
from seedbed.tables.published import AVERAGE
from seedbed.tables.quotes import NO_INTERVAL, Quote, by_system
from seedbed.tables.specs import OVERLAP

FEW = 6
"""Up to this many languages or columns, a legend names them one by one."""


def of_block(block: pd.DataFrame, metric: Metric) -> str:
    """What the numbers of a block are."""
    first = block.iloc[0]
    items = block[block["language"] != AVERAGE].drop_duplicates("language")
    counts = ", ".join(f"{language} {n:.0f}" for language, n in zip(items["language"], items["n"], strict=True))
    what = f"{metric.heading(first['metric'])}{_points(metric)}, mean over training seeds ({_seeds(block)})."
    return f"{what} Test items: {counts}."


def of_marks(block: pd.DataFrame, metric: Metric) -> str:
    """Legend of intervals, marks and bold numbers of a block."""
    first = block.iloc[0]
    items = block[block["language"] != AVERAGE].drop_duplicates("language")
    names = methods_of(block)
    own = _own_baseline(block)
    baseline = _baseline(block, names.get(own, own))
    test = "" if _are_pairs(items) else f" and by {metric.by.name}"  # none is of both orders
    averages = "; averages by the bootstrap alone" if (block["language"] == AVERAGE).any() else ""
    marks = (
        f"In brackets, the {percent(first['level'])}% bootstrap interval over {_resampled(block)}. "
        f"▲ ▼: above or below {baseline}, by the paired bootstrap{test} "
        f"(p < {alpha(first['level']):g} after Benjamini and Hochberg over languages){averages}. "
        "Bold: the best of a language."
    )
    return f"{marks} Rows: what an encoder was last trained on." if trained_on(block) else marks


def without_interval(block: pd.DataFrame, metric: Metric) -> list[str]:
    """Why numbers of a block have no interval; nothing where all have one."""
    lacking = block.loc[block["low"].isna(), "language"].unique()
    if not len(lacking):
        return []
    if not metric.items:
        return ["No number has an interval: this metric does not follow from resampled items."]
    few = ", ".join(language for language in lacking if language != AVERAGE)
    whole = "; so has an average over such a language" if AVERAGE in lacking else ""
    each = " in an order" if _are_pairs(block) else ""
    return [f"n instead of an interval: fewer than {LEAST_ITEMS} test items{each} ({few}){whole}."]


def of_overlaps(block: pd.DataFrame, metric: Metric) -> str:
    """Legend of a block of overlaps: the measure, intervals and marks."""
    first, n = block.iloc[0], block.loc[block["language"] != AVERAGE, "n"]
    counts = " to ".join(f"{count:.0f}" for count in sorted({n.min(), n.max()}))
    ours = (
        f"Dice{_points(metric)} of case-folded word sets: {first['metric']}, mean over {counts} triplets a method and "
        f"language. In brackets, the {percent(first['level'])}% bootstrap interval over triplets."
    )
    if block["p_adjusted"].notna().any():
        baseline = methods_of(block)[first["baseline"]]
        ours += (
            f" ▲ ▼: above or below {baseline}, by the bootstrap of both, each on its own "
            f"(p < {alpha(first['level']):g} after Benjamini and Hochberg over languages)."
        )
    return ours


def of_paper(block: pd.DataFrame) -> str:
    """Which numbers are the paper's, and what they cannot be compared with."""
    first, languages = block.iloc[0], block[block["language"] != AVERAGE]
    if block["paper"].isna().all():
        return f"The paper does not have {first['column']} of {first['backbone']}."
    lines = ["In italics below a row: the paper's number, with the standard deviation over its seeds."]
    counts = languages.groupby("language", sort=False)["paper"].count()
    if absent := list(counts.index[counts == 0]):
        lines.append(f"The paper lacks {', '.join(absent)}.")
    return " ".join([*lines, *_notes(languages, "language")])


def of_quotes(quotes: Sequence[Quote]) -> list[str]:
    """Where the scores of others are from; nothing where there are none."""
    found = by_system(quotes)
    sources = {name: ", ".join(dict.fromkeys(one.source for one in each)) for name, each in found.items()}
    told = "; ".join(f"{name}: {source}" for name, source in sources.items())
    return [f"Reported by others, with {NO_INTERVAL} and in no test. {told}."] if told else []


def of_summary(table: pd.DataFrame, averages: pd.DataFrame, hundredths: bool) -> str:
    """What the numbers are; `hundredths`: they are printed x 100."""
    level = table["level"].iloc[0]
    measured = table[table["language"] != AVERAGE].drop_duplicates(["column", "language"])
    told = "; ".join(_items_measured(measured))
    lines = [
        f"Averages over languages{', x 100' if hundredths else ''}. Measured: {told}. In brackets, the "
        f"{percent(level)}% bootstrap interval over {_resampled(averages)}; languages are not resampled. "
        "Bold: the best of a column."
    ]
    if averages["p_adjusted"].notna().any():
        baseline = methods_of(table).get(_own_baseline(table), "")
        baseline = _baseline(averages, f"{baseline} of the same backbone")
        lines.append(f"▲ ▼: above or below {baseline}, by the paired bootstrap (p < {alpha(level):g}).")
    if averages["paper"].notna().any():
        lines.append("In italics below a row: the paper's number.")
    if averages["low"].isna().any():
        lines.append(f"n instead of an interval: a language has fewer than {LEAST_ITEMS} items, or the metric none.")
    return " ".join([*lines, *_notes(averages, "column")])


def _items_measured(measured: pd.DataFrame) -> Iterator[str]:
    """`Tatoeba: f1@1 forward, 112 languages, 88,000 items`; of many columns with as much the first and the last."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for column, rows in measured.groupby("column", sort=False):
        what = "pair" if _are_pairs(rows) else "language"
        languages = f"{len(rows)} {what}{'s' if len(rows) > 1 else ''}"
        found = alike.setdefault(f"{languages}, {int(rows['n'].sum()):,} items", [])
        found.append((str(column), rows["metric"].iloc[0]))
    for much, columns in alike.items():
        if len(columns) > FEW:
            yield f"{columns[0][0]} ... {columns[-1][0]} ({len(columns)} columns): {much}"
        else:
            yield from (f"{column}: {metric}, {much}" for column, metric in columns)


def _resampled(rows: pd.DataFrame) -> str:
    """What intervals are over: a single seed says nothing of the variance between seeds."""
    return "seeds and items" if (rows["seeds"] > 1).any() else "items, and not over seeds, of which there is one"


def _own_baseline(rows: pd.DataFrame) -> str:
    """The recipe that differences within a backbone are taken from."""
    named = rows["baseline_backbone"].fillna("") != ""
    return str(rows.assign(named=named).sort_values("named", kind="stable")["baseline"].iloc[0])


def _baseline(rows: pd.DataFrame, own: str) -> str:
    """What differences are taken from: the baseline of the same backbone, or of another, or in some rows of either."""
    named = rows.loc[rows["difference"].notna(), "baseline_backbone"].fillna("")
    others = [name for name in named.unique() if name]
    if not others:
        return own
    return others[0] if (named != "").all() else f"{own}, and that above or below the one of {others[0]}"


def _points(metric: Metric) -> str:
    return f" x {metric.points}" if metric.points != 1 else ""


def _seeds(block: pd.DataFrame) -> str:
    """`3; Base Encoder 1`: the usual number of seeds, then who has another."""
    seeds = block.drop_duplicates("recipe").set_index("method")["seeds"]
    usual = seeds.mode().iloc[-1]
    others = [f"{method} {count:.0f}" for method, count in seeds[seeds != usual].items()]
    return "; ".join([f"{usual:.0f}", *others])


def _notes(rows: pd.DataFrame, by: str) -> list[str]:
    """What the notes on the paper's numbers say, with the languages or columns that have them."""
    noted = rows[rows["paper_note"] != ""].groupby("paper_note", sort=False)
    every = rows[by].nunique()
    names = {note: some[by].unique() for note, some in noted}
    return [f"† {'all' if FEW < len(some) == every else ', '.join(some)}: {note}." for note, some in names.items()]


def _are_pairs(rows: pd.DataFrame) -> bool:
    return any(len(names.languages_of(language)) > 1 for language in rows["language"])


def is_overlap(block: pd.DataFrame) -> bool:
    return block["protocol"].iloc[0] == OVERLAP
