"""Columns of overlap: measured on the triplets that encoders learn from, and drawn as pairs."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from seedbed.io import UserError, write_table
from seedbed.study.graph.available import Available
from seedbed.study.model import Study
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, plan
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import OVERLAP, TableSpec
from seedbed.tables.tabulate import measure_blocks, read, tabulate, write
from seedbed.triplets.overlap import by_row, summary
from tests.unit.tables.conftest import PAPER, page

SPEC = TableSpec.load("seedbed/resources/tables/bootstrapping_figure5.yaml")
SETS = [("gold", "eng"), ("prompted", "eng"), ("ta", "eng"), ("prompted", "hau"), ("composed", "hau"),
        ("prompted", "ind"), ("composed", "ind")]  # fmt: skip
FOLDERS = {"english-nli": "gold", "english-prompting": "prompted", "english-ta": "ta", "prompting": "prompted",
           "composition": "composed"}  # fmt: skip
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def dice_by_hand(a, b):
    """Twice the shared words over all words of two texts of lower-case words."""
    a, b = set(a.split()), set(b.split())
    return 2 * sum(word in b for word in a) / (len(a) + len(b))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Triplets of every set; each has five rows more than the one before it."""
    root, rng = tmp_path_factory.mktemp("overlaps"), np.random.default_rng(5)
    for place, (name, lang) in enumerate(SETS):
        size = {"anchor": 5, "positive": 3, "negative": 6}
        rows = [
            {"id": str(n), **{side: " ".join(rng.choice(WORDS, size[side], replace=False)) for side in size}}
            for n in range(40 + 5 * place)
        ]
        write_table(pd.DataFrame(rows), root / name / f"{lang}.tsv")
    return root


def systems():
    """The recipes of the figure, and two that have no triplets in their own language."""
    own = [
        AvailableRecipe(
            recipe=recipe,
            language="eng" if recipe == "english-nli" else "*",
            seeds=[1, 2],
            languages=["eng"] if recipe.startswith("english") else None,
            triplets=f"{name}/{{lang}}.tsv",
        )
        for recipe, name in FOLDERS.items()
    ]
    return [
        *own,
        AvailableRecipe(recipe="base", language="mul", seeds=[0]),
        AvailableRecipe(recipe="xllora", language="*", seeds=[1]),
    ]


def planned(spec=SPEC):
    """The blocks of a study of two encoders."""
    backbones = {"a": AvailableModel(paper="XLM-R"), "b": AvailableModel(paper="mmBERT")}
    tasks = {
        "semrel": AvailableTask(protocol="sts", languages=["hau", "ind"]),
        "all triplets": AvailableTask(protocol=OVERLAP, languages=["eng", "hau", "ind"]),
    }
    return plan(spec, systems(), backbones, tasks, "prompting", {"eng"})


def tabulated(folder, spec=SPEC):
    statistics = Statistics(resamples=2000)
    measured = [*measure_blocks(planned(spec), folder / "none", statistics, spec)]
    return tabulate(measured, statistics, Published(None, PAPER))


@pytest.fixture(scope="module")
def table(folder):
    return tabulated(folder)


def values(folder, recipe, lang, side):
    """Overlaps (n,) of one file's rows, from its text."""
    header, *rows = [line.split("\t") for line in (folder / FOLDERS[recipe] / f"{lang}.tsv").read_text().splitlines()]
    places = header.index("anchor"), header.index(side)
    return np.array([dice_by_hand(row[places[0]], row[places[1]]) for row in rows])


def rows_of(table, metric):
    return table[(table["metric"] == metric) & (table["language"] != "avg")].to_dict("records")


def test_the_table_asks_for_triplets_once_and_for_no_score():
    blocks = planned()
    assert [block.backbone for block in blocks] == [""] * 6 and not [cell for block in blocks for cell in block.cells()]
    english, others = blocks[0], blocks[3]
    assert list(english.tests) == ["eng"] and list(others.tests) == ["ind", "hau"]
    assert [system.recipe for system in english.systems] == ["english-nli", "english-prompting", "english-ta"]
    assert [system.recipe for system in others.systems] == ["prompting", "composition"]
    assert {texts.file for block in blocks for texts in block.texts()} == {f"{name}/{lang}.tsv" for name, lang in SETS}


def test_every_number_is_the_mean_of_its_rows(table, folder):
    assert len(rows_of(table, "anchor-positive")) == 3 + 4
    for metric, pick in (("anchor-positive", ["positive"]), ("anchor-negative", ["negative"])):
        for row in rows_of(table, metric):
            dice = values(folder, row["recipe"], row["language"], *pick)
            assert row["value"] == pytest.approx(100 * dice.mean(), abs=1e-3) and row["n"] == len(dice)
            triplets = pd.read_csv(folder / FOLDERS[row["recipe"]] / f"{row['language']}.tsv", sep="\t")
            assert row["value"] == pytest.approx(100 * summary(by_row(triplets, *pick))["mean"], abs=6e-3)
            margin = 196 * dice.std() / np.sqrt(len(dice))
            assert row["low"] == pytest.approx(row["value"] - margin, abs=0.15 * margin)
            assert row["high"] == pytest.approx(row["value"] + margin, abs=0.15 * margin)


def test_a_difference_within_rows_is_paired(table, folder):
    for row in rows_of(table, "positive minus negative"):
        own = [values(folder, row["recipe"], row["language"], side) for side in ("positive", "negative")]
        difference = own[0] - own[1]
        margin = 196 * difference.std() / np.sqrt(len(difference))
        assert row["value"] == pytest.approx(100 * difference.mean(), abs=1e-3)
        assert row["high"] - row["low"] == pytest.approx(2 * margin, rel=0.15)


def test_methods_are_compared_each_resampled_on_its_own(table, folder):
    for row in rows_of(table, "anchor-positive"):
        if row["recipe"] != "composition":
            assert np.isnan(row["difference"])
            continue
        both = [values(folder, recipe, row["language"], "positive") for recipe in ("composition", "prompting")]
        margin = 196 * np.sqrt(sum(each.var() / len(each) for each in both))
        assert row["difference"] == pytest.approx(100 * (both[0].mean() - both[1].mean()), abs=1e-3)
        assert row["difference_high"] - row["difference_low"] == pytest.approx(2 * margin, rel=0.15)
        assert np.isnan(row["p_items"]) and row["p_adjusted"] >= row["p"]


def test_nothing_pairs_two_methods(folder, monkeypatch):
    """Not even the same triplets: another method would have kept other rows."""
    monkeypatch.setitem(FOLDERS, "composition", "prompted")
    table = tabulated(folder)
    rows = table[(table["recipe"] == "composition") & (table["language"] == "hau")]
    assert len(rows) == 3 and (rows["difference"] == 0).all()
    assert (rows["difference_low"] < 0).all() and (rows["difference_high"] > 0).all()


def test_the_average_is_over_the_languages_of_its_column(table):
    average = table[(table["language"] == "avg") & (table["recipe"] == "composition")].iloc[0]
    own = table[(table["column"] == average["column"]) & (table["recipe"] == "composition")].iloc[:2]
    assert average["value"] == pytest.approx(own["value"].mean(), abs=1e-3) and average["n"] == own["n"].sum()


def test_the_page_has_no_number_of_the_paper_and_survives_the_disk(table, tmp_path):
    text = page(table, SPEC)
    assert "paper's figure prints no numbers" in text and "*paper*" not in text and table["paper"].isna().all()
    assert "## English, anchor and positive\n" in text and "mean over 40 to 50 triplets" in text and "**" not in text
    english, _, _, others = text.split("\n## ")[1:5]
    assert "▲ ▼" not in english and "▲ ▼: above or below Prompted, by the bootstrap of both" in others
    write(table, tmp_path / "table.csv")
    assert page(read(tmp_path / "table.csv"), SPEC) == text


def test_a_method_that_lacks_a_language_leaves_its_cell_empty(table):
    text = page(table[(table["recipe"] != "prompting") | (table["language"] != "ind")], SPEC)
    row = next(line for line in text.splitlines() if line.startswith("| Prompted |"))
    assert [bool(cell) for cell in row.split(" | ")[1:]] == [True, False, True]  # hau, ind, avg


def test_the_figure_has_both_dots_of_every_method_and_language(table):
    figure = plot(
        table, FigureSpec.load("seedbed/resources/figures/bootstrapping_figure5.yaml"), {"hau": {"name": "Hausa"}}
    )
    assert [len(axes.get_yticks()) for axes in figure.axes] == [3, 6]
    drawn = {float(line.get_xdata()[0]) for axes in figure.axes for line in axes.lines if len(line.get_xdata()) == 1}
    shown = table[
        table["metric"].str.startswith("anchor")
        & ~((table["column"].str[:7] == "English") & (table["language"] == "avg"))
    ]
    assert drawn == set(shown["value"])
    for left, right in (axes.get_xlim() for axes in figure.axes):
        assert left == 0 and right > shown["high"].max()
    written = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"Hausa", "ind", "Average"} <= written


def test_the_difference_is_of_the_specs_first_dot_whatever_the_tables_order(table):
    spec = FigureSpec.load("seedbed/resources/figures/bootstrapping_figure5.yaml")
    differences = table.loc[table["metric"] == "positive minus negative", "value"]
    for own in (table, table.iloc[::-1]):
        written = {text.get_text() for axes in plot(own, spec, {}).axes for text in axes.texts}
        assert {f"{value:+.1f}" for value in differences} == {text for text in written if text[0] in "+-"}


def test_each_backbone_has_lines_of_its_own(table):
    """Dots of two backbones were on one line, which did not say whose they are, and had no difference."""
    spec = FigureSpec.load("seedbed/resources/figures/bootstrapping_figure5.yaml")
    one = table[table["column"].str[:7] != "English"].assign(backbone="one")
    both = pd.concat([one, one.assign(backbone="two", value=one["value"] / 2)])
    (alone,), (axes,) = (plot(part, spec, {"hau": {"name": "Hausa"}}).axes for part in (one, both))
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    places = pd.Series([line.get_ydata()[0] for line in dots]).value_counts()
    assert set(places) == {2} and len(places) == len(axes.get_yticks()) == 2 * len(alone.get_yticks())
    written, before = ([text.get_text() for text in own.texts] for own in (axes, alone))
    assert {"Hausa, one", "Hausa, two", "ind, one", "Average, two"} <= {*written} and "Hausa" in before
    assert sum(text[0] in "+-" for text in written) == len(places)


def test_differences_of_a_panel_stand_apart_from_the_names_of_the_next(table):
    spec = FigureSpec.load("seedbed/resources/figures/bootstrapping_figure5.yaml")
    figure = plot(table.assign(method="Prompted (SynCSE-partial)"), spec, {})
    renderer = FigureCanvasAgg(figure).get_renderer()
    first, second = figure.axes
    numbers = [text.get_window_extent(renderer) for text in first.texts if text.get_text()[0] in "+-"]
    names = [label.get_window_extent(renderer) for label in second.get_yticklabels()]
    assert numbers and max(box.x1 for box in numbers) < min(box.x0 for box in names)


def test_a_panel_without_rows_is_left_out_and_a_figure_without_panels_told(table):
    spec = FigureSpec.load("seedbed/resources/figures/bootstrapping_figure5.yaml")
    assert len(plot(table[table["column"].str[:7] != "English"], spec, {}).axes) == 1
    with pytest.raises(UserError, match="none of its columns"):
        plot(table[table["metric"] == "positive minus negative"], spec, {})


def test_a_file_that_is_not_there_is_told(folder, tmp_path):
    with pytest.raises(UserError, match="no such file"):
        tabulated(tmp_path)


def test_recipes_without_triplets_of_their_language_fill_no_cell():
    columns = [column.model_copy(update={"recipes": (), "languages": ()}) for column in SPEC.columns[:1]]
    changes = {"columns": columns, "recipes": {"base": "Base", "xllora": "XL-LoRA"}, "baseline": "base"}
    with pytest.raises(UserError, match=r"learns from triplets.*one language") as error:
        planned(SPEC.model_copy(update=changes))
    assert "\n" not in str(error.value)


def test_a_study_knows_what_its_recipes_learn_from():
    source = {"file": "x"}
    study = Study.model_validate(
        {
            "languages": {"hau": {}},
            "corpora": {"text": source, "nli": source},
            "generators": {"g": {"source": source}, "h": {"like": "g", "shard_rows": 9}},
            "backbones": {"b": {"source": source}},
            "recipes": dict.fromkeys(["base", "unsupervised", "crosslingual", "prompting", "xllora"])
            | {"varied": {"like": "prompting", "data": {"by": "h"}}},
            "tasks": {"t": {"protocol": "sts", "source": source}},
        }
    )
    found = {system.recipe: system.triplets for system in Available.get(study).recipes}
    assert found == {
        "base": "", "unsupervised": "",
        "crosslingual": "corpora/{lang}/nli.tsv",
        "prompting": "triplets/g/prompting/{lang}.tsv",
        "xllora": "",
        "varied": "triplets/g/prompting/{lang}.tsv",
    }  # fmt: skip
