"""The costs as two tables, counted and timed, and as a page."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, inf
from typing import Any

import pandas as pd

from seedbed.evaluation.compute import formulae
from seedbed.evaluation.compute.cost import Cost
from seedbed.evaluation.compute.measuring import Span
from seedbed.markdown import table

HEAD = """# What labels cost (MINERS, table 4)

{task} in {language}: {train} training, {dev} development and {test} test texts. Formulae and what is
counted: docs/papers/miners.md.

"""
FOOT = """
Measured on {device}, {threads} thread(s), torch {torch}; seconds are the median of {repeats} runs, in brackets the
lowest and the highest. ~: scaled from a sample. They are another machine's in another run; operations are not.
"""


def counts(costs: Sequence[Cost]) -> pd.DataFrame:
    """Every input and result of the formulae, with the number of texts that it was counted on; equal in every run."""
    rows = []
    for cost in costs:
        found = [(f"|D_{part}|", size, "") for part, size in cost.sizes._asdict().items()]
        found += [(symbol, value, "") for symbol, value in cost.symbols.items()]
        for one in cost.counted:
            found.append((one.symbol, one.flops, one.texts))
            for name, count in vars(one.read).items() if one.read else ():
                found.append((f"{one.symbol}: {name}", count / one.texts, one.texts))
        found += [("FLOPs, formula", cost.flops, ""), ("FLOPs, done", cost.done, "")]
        rows += [(cost.method, cost.model, symbol, f"{value:.10g}", texts) for symbol, value, texts in found]
    return pd.DataFrame(rows, columns=["method", "model", "symbol", "value", "texts"])


def times(costs: Sequence[Cost], machine: Mapping[str, str], repeats: int) -> pd.DataFrame:
    """Seconds of each method's parts and of the whole, with the machine."""
    rows = []
    for cost in costs:
        parts = [(timed.part, timed.texts, timed.span, False) for timed in cost.timed]
        for part, texts, span, scaled in [*parts, ("whole", cost.sizes.test, cost.span, cost.scaled)]:
            row = {"method": cost.method, "model": cost.model, "part": part, "texts": texts}
            row |= {name: f"{value:.6g}" for name, value in span._asdict().items()}
            rows.append(row | {"scaled": "yes" if scaled else "no", "dtype": cost.dtype, "repeats": repeats, **machine})
    return pd.DataFrame(rows)


def layout(costs: Sequence[Cost], about: Mapping[str, Any], machine: Mapping[str, str]) -> str:
    """The page in Markdown: costs, their parts, and the sizes from which fine-tuning costs more.

    Args:
        about: task, language and repeats.
        machine: see `measuring.machine`.
    """
    whole = [
        [cost.method, cost.model, _tera(cost.flops), _tera(cost.done), _span(cost.span, cost.scaled)] for cost in costs
    ]
    made = [
        [cost.method, cost.model, one.symbol, f"{one.flops / 1e9:.4g}", one.texts, *_read(one)]
        for cost in costs
        for one in cost.counted
    ]
    parts = [
        [cost.method, cost.model, timed.part, timed.texts, cost.dtype, _span(timed.span, scaled=False)]
        for cost in costs
        for timed in cost.timed
    ]
    return "\n".join(
        [
            HEAD.format(**costs[0].sizes._asdict(), **about),
            table(["method", "model", "TFLOPs, formula", "TFLOPs, done", "seconds"], whole, right=3),
            "",
            "## Counted, by the text\n",
            table(["method", "model", "pass", "GFLOPs", "texts", "tokens read", "of which filling"], made, right=4),
            "",
            "## Timed\n",
            table(["method", "model", "part", "texts", "dtype", "seconds"], parts, right=1),
            "",
            *_crossings(costs),
            FOOT.format(**about, **machine),
        ]
    )


def _crossings(costs: Sequence[Cost]) -> list[str]:
    """For how many training texts fine-tuning costs more than each other method, by the formulae."""
    tuned = next(cost for cost in costs if cost.method == "fine-tuning")
    found = ["## Where fine-tuning overtakes\n"]
    for cost in costs:
        if cost is not tuned:
            counts = _counts(formulae.dearer(tuned.formula, cost.formula))
            found.append(f"* more FLOPs than {cost.method}, {cost.model}: {counts}")
    return found


def _counts(bounds: tuple[float, float] | None) -> str:
    """In words, between which numbers of training texts."""
    if bounds is None:
        return "never"
    low, high = bounds
    if high < inf:
        return f"up to {ceil(high) - 1:,} training texts"
    return f"from {floor(low) + 1:,} training texts on" if low else "always"


def _tera(flops: float) -> str:
    return f"{flops / 1e12:.4g}"


def _span(span: Span, scaled: bool) -> str:
    median, lowest, highest = (f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in span)
    return f"{'~' if scaled else ''}{median} [{lowest}, {highest}]"


def _read(one: Any) -> list[str]:
    if not one.read:
        return ["", ""]
    return [f"{one.read.tokens / one.texts:.1f}", f"{one.read.filling / max(one.read.tokens, 1):.0%}"]
