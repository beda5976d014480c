"""Figures of MINERS: columns as points, means of groups of languages, maps of texts."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.tabulate import COLUMNS

CODES = ["hau", "amh", "arb", "ind", "ace", "ace-Arab", "tel"]


def load(name):
    return FigureSpec.load(f"seedbed/resources/figures/{name}.yaml")


def scores(columns, languages, backbones=("labse", "xlmr")):
    """A table as tabulate writes it, drawn at random."""
    rng = np.random.default_rng(1)
    rows = [
        {
            "backbone": backbone, "column": column, "recipe": "published", "method": "as published", "language": language,
            "value": value, "low": value - 2, "high": value + 3, "level": 0.95, "baseline": "published",
        }
        for backbone in backbones
        for column in columns
        for language in languages
        for value in [30 + 60 * rng.random()]
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def means():
    spec = load("miners_figure2")
    columns = [column for places in spec.panels.values() for column in places]
    return spec, scores(columns, ["avg"])


def test_columns_are_points_of_a_line_for_each_backbone():
    spec, table = means()
    figure = plot(table, spec, {})
    assert titles(figure) == list(spec.panels) and legend(figure) == ["labse", "xlmr"]
    for axes, places in zip(figure.axes, spec.panels.values(), strict=True):
        for line, backbone in zip(axes.lines, ("labse", "xlmr"), strict=True):
            own = table[table["backbone"] == backbone].set_index("column")["value"]
            assert list(line.get_xdata()) == [1, 5, 10] and list(line.get_ydata()) == [own[column] for column in places]
        assert list(axes.get_xticks()) == [1, 5, 10] and len(axes.collections) == 2
    low = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1].min()
    assert low == pytest.approx(table["low"].head(3).min())


def test_what_a_study_lacks_is_left_out():
    spec, table = means()
    lacking = table[~table["column"].str.startswith("Bitext CS") & (table["column"] != "Labels XL, k = 5")]
    lacking = lacking[(lacking["backbone"] == "labse") | ~lacking["column"].str.startswith("Labels CS")]
    figure = plot(lacking, spec, {})
    assert titles(figure) == [title for title in spec.panels if title != "Bitext, CS"]
    drawn = {
        title: [list(line.get_xdata()) for line in axes.lines]
        for title, axes in zip(titles(figure), figure.axes, strict=True)
    }
    assert drawn["Labels, XL"] == [[1, 10]] * 2 and drawn["Labels, CS"] == [[1, 5, 10]]
    with pytest.raises(UserError, match=r"none of its columns.*has other"):
        plot(scores(["other"], ["avg"]), spec, {})
    with pytest.raises(UserError, match=r"averages over languages.*by_language"):
        plot(scores(["Bitext XL, k = 1"], ["hau"]), spec, {})


def test_each_language_may_have_a_panel_of_its_own():
    spec = load("layers")
    table = scores(["L1", "L2"], ["hau", "swh", "avg"])
    figure = plot(table, spec, {"hau": {"name": "Hausa"}})
    assert titles(figure) == ["Hausa", "swh", "Average"]
    for axes, language in zip(figure.axes, ("hau", "swh", "avg"), strict=True):
        own = table[(table["language"] == language) & (table["backbone"] == "labse")]
        assert list(axes.lines[0].get_ydata()) == list(own["value"]) and list(axes.get_xticks()) == [1, 2]


def test_ten_backbones_differ_by_colour_and_marker():
    spec, _ = means()
    figure = plot(scores(["Bitext XL, k = 1"], ["avg"], [f"b{n}" for n in range(11)]), spec, {})
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines}
    assert len(looks) == 11


FAMILIES = {"Afro-Asiatic": ["hau", "amh", "arb"], "Austronesian": ["ind", "ace", "ace-Arab"], "Dravidian": ["tel"]}
SCRIPTS = {"Latn": ["hau", "ind", "ace"], "Ethi": ["amh"], "Arab": ["arb", "ace-Arab"], "Telu": ["tel"]}


@pytest.mark.parametrize(("name", "groups"), [("miners_figure6", FAMILIES), ("miners_figure7", SCRIPTS)])
def test_groups_are_means_over_languages_with_their_deviation(name, groups):
    table = scores(["k = 1", "k = 5", "k = 10"], [*CODES, "avg"])
    figure = plot(table, load(name), registry())
    assert titles(figure) == ["labse", "xlmr"] and legend(figure) == ["k = 1", "k = 5", "k = 10"]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert sorted(labels) == sorted(f"{group} ({len(codes)})" for group, codes in groups.items())
    order = [label.partition(" (")[0] for label in labels]
    last = table[table["column"] == "k = 10"].groupby("language")["value"].mean()
    assert order == sorted(groups, key=lambda group: -last[groups[group]].mean())
    for axes, backbone in zip(figure.axes, ("labse", "xlmr"), strict=True):
        own = table[table["backbone"] == backbone].set_index(["column", "language"])["value"]
        dots = [line for line in axes.lines if len(line.get_xdata()) == 1]
        expected = {
            np.mean([own[column, code] for code in groups[group]])
            for column in ("k = 1", "k = 5", "k = 10")
            for group in groups
        }
        assert sorted(float(dot.get_xdata()[0]) for dot in dots) == pytest.approx(sorted(expected))
        heights = [float(dot.get_ydata()[0]) for dot in dots]
        assert len(set(heights)) == len(heights)
        bars = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
        assert len(bars) == 3 * sum(len(codes) > 1 for codes in groups.values())
        several = next(codes for codes in groups.values() if len(codes) == 3)
        of_three = [own["k = 1", code] for code in several]
        sd = np.std(of_three, ddof=1)
        assert any(bar == pytest.approx([np.mean(of_three) - sd, np.mean(of_three) + sd]) for bar in bars)


def test_a_language_that_the_registry_lacks_has_a_group_of_its_own():
    figure = plot(scores(["k = 1"], ["hau", "xyz"]), load("miners_figure6"), registry())
    assert {label.get_text() for label in figure.axes[0].get_yticklabels()} == {"Afro-Asiatic (1)", "not known (1)"}


def test_a_group_says_of_how_many_languages_its_means_are_where_some_lack_a_cell():
    """It named all languages of the group, whichever a panel or column has."""
    table = scores(["k = 1", "k = 5"], CODES)
    lacking = table["language"].isin(["amh", "ace"]) & (table["backbone"] == "xlmr")
    figure = plot(
        table[~lacking | (table["column"] == "k = 5") & (table["language"] == "ace")],
        load("miners_figure6"),
        registry(),
    )
    labels = {label.get_text() for label in figure.axes[0].get_yticklabels()}
    assert labels == {"Afro-Asiatic (2 to 3)", "Austronesian (2 to 3)", "Dravidian (1)"}


def test_groups_of_averages_alone_are_told():
    with pytest.raises(UserError, match=r"groups.*languages.*but averages"):
        plot(scores(["k = 1"], ["avg"]), load("miners_figure6"), registry())


def points():
    rows = [
        {"backbone": backbone, "recipe": "published", "id": str(id), "language": code, "label": ["bad", "good"][id % 2]}
        for backbone in ("labse", "xlmr")
        for id in range(11)
        for code in ("hau", "ind", "xyz")
    ]
    return pd.DataFrame(rows).assign(x=np.arange(66) % 7 + 0.5, y=np.arange(66) / 3)


def test_long_names_of_backbones_and_classes_stay_in_a_map_and_apart():
    classes = ["entertainment", "geography", "health", "politics", "science/technology", "sports", "travel"]
    table = points().assign(label=[classes[place % 7] for place in range(66)])
    names = {"labse": "paraphrase-multilingual-mpnet-base-v2"}
    figure = plot(table.assign(backbone=table["backbone"].replace(names)), load("miners_map"), registry())
    renderer = FigureCanvasAgg(figure).get_renderer()
    titles = [axes._left_title.get_window_extent(renderer) for axes in figure.axes]
    assert not any(one.overlaps(other) for place, one in enumerate(titles) for other in titles[:place])
    legends = [axes.get_legend().get_window_extent(renderer) for axes in figure.axes if axes.get_legend()]
    assert len(legends) == 2 and all(legend.x1 <= figure.bbox.x1 for legend in legends)


def test_a_map_has_every_point_three_times_for_each_backbone():
    figure = plot(points(), load("miners_map"), registry())
    assert titles(figure) == [
        f"{name}, by {what}" for name in ("labse", "xlmr") for what in ("sentence", "language", "label")
    ]
    for place, axes in enumerate(figure.axes):
        own = points().iloc[:33] if place < 3 else points().iloc[33:]
        drawn = {
            (x, y) for line in axes.lines if line.get_marker() != "None" for x, y in zip(*line.get_data(), strict=True)
        }
        assert drawn == set(zip(own["x"], own["y"], strict=True))
    groups = [
        {(line.get_color(), line.get_marker()) for line in axes.lines if line.get_marker() != "None"}
        for axes in figure.axes
    ]
    assert [len(looks) for looks in groups] == [11, 3, 2] * 2  # eleven of eight colours: the marker tells them apart
    legends = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes[4:]]
    assert legends == [["Hausa", "Indonesian", "xyz"], ["bad", "good"]]
    assert any("11 sentences in 3 languages" in text.get_text() for text in figure.texts)
