"""A table as a person reads it: Markdown in the paper's layout, and the paper's own numbers beside ours."""

from __future__ import annotations

import pandas as pd

from seedbed.tables.cells import cell, grid, paper_cell
from seedbed.tables.published import AVERAGE, KEY, NAME, Published
from seedbed.tables.specs import METRICS, OVERLAP, TableSpec, named
from seedbed.tables.summary import summary
from seedbed.tables.tabulate import NOT_REPRODUCED, NOT_RUN, REPRODUCED

TESTS = {"spearman": "Williams' test"}
PERMUTATION = "a permutation test"
MARKS = {REPRODUCED: " ✓", NOT_REPRODUCED: " ✗"}


def layout(table: pd.DataFrame, spec: TableSpec, published: Published) -> str:
    """The table in Markdown as the paper prints it: a block for each backbone and column, methods x languages.

    Below it the paper's own table, each number with ours, their difference and a verdict.
    """
    parts = [f"# {spec.title}", spec.caption]
    if spec.across != "languages":
        shown = [mean.label for mean in spec.over_columns] if spec.across == "means" else None
        return "\n\n".join([*parts, summary(table, shown), *_against(table, spec, published)]) + "\n"
    for (backbone, column), block in table.groupby(["backbone", "column"], sort=False):
        title = f"{column}, over backbones" if backbone == AVERAGE else ", ".join(filter(None, (column, backbone)))
        legend = _overlap_legend(block) if _is_overlap(block) else _legend(block)
        parts += [f"## {title}", *legend, _grid(block)]
    return "\n\n".join([*parts, *_against(table, spec, published)]) + "\n"


def _legend(block: pd.DataFrame) -> list[str]:
    """What the numbers of a block are, and what stands beside them; a paragraph each."""
    first = block.iloc[0]
    items = block[block["language"] != AVERAGE].drop_duplicates("language")
    counts = ", ".join(f"{language} {n:.0f}" for language, n in zip(items["language"], items["n"], strict=True))
    names = dict(zip(block["recipe"], block["method"], strict=True))
    baseline = names.get(first["baseline"], first["baseline"])
    test = TESTS.get(first["metric"], PERMUTATION)
    ours = (
        f"{named(first['metric'])}{_points(first)}, mean over training seeds ({_seeds(block)}). "
        f"Test items: {counts}. "
        f"In brackets, the {first['level']:.0%} bootstrap interval over seeds and items. "
        f"▲ ▼: above or below {baseline}, by the paired bootstrap and by {test} "
        f"(p < {1 - first['level']:.2g} after Benjamini and Hochberg over languages). Bold: the best of a language."
    )
    return [ours, _paper_legend(block)]


def _is_overlap(block: pd.DataFrame) -> bool:
    return block["metric"].iloc[0] in METRICS[OVERLAP]


def _overlap_legend(block: pd.DataFrame) -> list[str]:
    """What overlaps are, and what stands beside them."""
    first, n = block.iloc[0], block.loc[block["language"] != AVERAGE, "n"]
    counts = " to ".join(f"{count:.0f}" for count in sorted({n.min(), n.max()}))
    ours = (
        f"Dice{_points(first)} of case-folded word sets: {first['metric']}, mean over {counts} triplets a method and "
        f"language. In brackets, the {first['level']:.0%} bootstrap interval over triplets."
    )
    if block["p_adjusted"].notna().any():
        baseline = dict(zip(block["recipe"], block["method"], strict=True))[first["baseline"]]
        ours += (
            f" ▲ ▼: above or below {baseline}, by the bootstrap of both, each on its own "
            f"(p < {1 - first['level']:.2g} after Benjamini and Hochberg over languages)."
        )
    return [ours]


def _points(row: pd.Series) -> str:
    points = next(metrics[row["metric"]].points for metrics in METRICS.values() if row["metric"] in metrics)
    return f" x {points}" if points != 1 else ""


def _seeds(block: pd.DataFrame) -> str:
    """`3; Base Encoder 1`: the usual number of seeds, then who has another."""
    seeds = block.drop_duplicates("recipe").set_index("method")["seeds"]
    usual = seeds.mode().iloc[-1]
    others = [f"{method} {count:.0f}" for method, count in seeds[seeds != usual].items()]
    return "; ".join([f"{usual:.0f}", *others])


def _paper_legend(block: pd.DataFrame) -> str:
    """Which numbers are the paper's, and what they cannot be compared with."""
    first, languages = block.iloc[0], block[block["language"] != AVERAGE]
    if block["paper"].isna().all():
        what = f"it does not have {first['column']} of {first['backbone']}"
        return f"**No number here has a counterpart in the paper:** {what}."
    lines = ["In italics below a row: the paper's number, with the standard deviation over its seeds."]
    counts = languages.groupby("language", sort=False)["paper"].count()
    if absent := list(counts.index[counts == 0]):
        lines.append(f"The paper lacks {', '.join(absent)}.")
    for note, rows in languages[languages["paper_note"] != ""].groupby("paper_note", sort=False):
        lines.append(f"† {', '.join(rows['language'].unique())}: {note}.")
    return " ".join(lines)


def _grid(block: pd.DataFrame) -> str:
    """Methods down, languages and their average across."""
    languages = sorted(block["language"].unique(), key=lambda language: language == AVERAGE)
    best = {} if _is_overlap(block) else dict(block.groupby("language")["value"].max().map("{:z.1f}".format))
    lines = [["Method", *languages]]
    for method, rows in block.groupby("method", sort=False):
        own = {row["language"]: row for _, row in rows.iterrows()}
        cells = [own.get(language) for language in languages]
        lines.append([str(method), *("" if row is None else cell(row, best.get(row["language"])) for row in cells)])
        if rows["paper"].notna().any():
            lines.append(["*paper*", *("" if row is None else paper_cell(row) for row in cells)])
    return grid(lines)


# ------------------------------------------------------------------------------------------------ the paper's own table


def _against(table: pd.DataFrame, spec: TableSpec, published: Published) -> list[str]:
    """Every number that the paper prints in this table, with ours where there is one."""
    printed = _printed(table, spec, published)
    if printed.empty:
        return []
    counts = printed["verdict"].value_counts()
    told = ", ".join(f"{counts.get(kind, 0)} {kind}" for kind in (REPRODUCED, NOT_REPRODUCED, NOT_RUN))
    level = table["level"].iloc[0]
    text = (
        f"Of the {len(printed)} numbers that the paper prints here: {told}. Reproduced: the paper's number lies within "
        f"our {level:.0%} interval over seeds and items. A number of ours on other data, or of another encoder, is no "
        "attempt at the paper's, which counts as not run."
    )
    grids = []
    if (printed["verdict"] != NOT_RUN).any():
        for (task, metric, backbone), rows in printed.groupby(["task", "metric", "backbone"], sort=False):
            grids += [f"### {' '.join(filter(None, (task, metric, backbone)))}", _paper_grid(rows)]
    return ["## The paper's numbers, and ours", text, *grids]


def _printed(table: pd.DataFrame, spec: TableSpec, published: Published) -> pd.DataFrame:
    """The paper's cells, each with our value, delta and verdict if we have it."""
    rows = [
        {"paper_cell": NAME.join(key), "system": cell.system, "paper": cell.value} | dict(zip(KEY, key, strict=True))
        for key, cell in published.cells.items()
        if (key[KEY.index("task")], key[KEY.index("metric")]) in spec.printed
    ]
    ours = table.loc[table["verdict"] != "", ["paper_cell", "value", "delta", "verdict"]]
    printed = pd.DataFrame(rows, columns=["paper_cell", "system", "paper", *KEY])
    return printed.merge(ours, on="paper_cell", how="left").fillna({"verdict": NOT_RUN})


def _paper_grid(rows: pd.DataFrame) -> str:
    languages = list(rows["language"].unique())
    lines = [["Method", *languages]]
    for system, cells in rows.groupby("system", sort=False):
        by_language = {cell["language"]: cell for _, cell in cells.iterrows()}
        lines.append([str(system), *(_compared(by_language.get(language)) for language in languages)])
    return grid(lines)


def _compared(cell: pd.Series | None) -> str:
    """`72.3 → 71.9 (-0.4) ✓`, or the paper's number alone."""
    if cell is None:
        return ""
    if cell["verdict"] == NOT_RUN:
        return f"{cell['paper']:.1f}"
    return f"{cell['paper']:.1f} → {cell['value']:z.1f} ({cell['delta']:+z.1f}){MARKS[cell['verdict']]}"
