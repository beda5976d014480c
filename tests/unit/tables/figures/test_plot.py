"""The figure: what is drawn, and the same bytes twice."""

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from scripts import plot as program
from seedbed.io import UserError
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.tabulate import write
from tests.programs import call


@pytest.fixture(scope="module")
def figure_spec():
    return FigureSpec.load("seedbed/resources/figures/table1.yaml")


def redrawn(spec, **changes):
    """A figure of another kind."""
    content = spec.model_dump(exclude_unset=True) | changes
    return FigureSpec.of(content).model_validate(content)


def texts(figure):
    """Everything that is written in a figure."""
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def test_every_score_is_drawn_and_written(table, figure_spec):
    figure = plot(table, figure_spec, {"hau": {"name": "Hausa"}})
    assert len(figure.axes) == 2
    for axes, (_, block) in zip(figure.axes, table.groupby("column", sort=False), strict=True):
        drawn = {float(line.get_xdata()[0]) for line in axes.lines if len(line.get_xdata()) == 1}
        assert set(block["value"]) | set(block["paper"].dropna()) <= drawn | {float("nan")}
    written = texts(figure)
    assert {f"{value:z.1f}" for value in table["value"]} <= set(written)
    assert {"Hausa", "ind", "Average", "STS, xlmr", "Bitext retrieval, xlmr", "Spearman × 100"} <= set(written)
    assert any("Cross Lingual" in text and "95%" in text and "paper" in text for text in written)


def test_training_rows_stand_left_of_the_first_panel(table, figure_spec):
    first, second = plot(table, figure_spec, {}).axes
    written = [{text.get_text() for text in axes.texts} for axes in (first, second)]
    assert {"training rows", "0", "6", "60", "1,288", "12,880"} <= written[0] and not {"training rows", "6"} & written[
        1
    ]
    assert "training rows" not in texts(plot(table.assign(rows=float("nan")), figure_spec, {}))


def test_a_single_language_has_no_average(table, figure_spec):
    alone = plot(table[table["language"] != "ind"], figure_spec, {})
    assert "Average" not in texts(alone) and "Average" in texts(plot(table, figure_spec, {}))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": "groups", "by": "family"},
        {"kind": "pairs", "pairs": {"P": {"STS": "one", "Bitext retrieval": "two"}}},
        {"kind": "shares", "panels": {"P": {"STS": "A part of thirty-three letters in all"}}, "uniform": {"P": "none"}},
    ],
)
def test_a_long_name_of_a_row_is_on_the_page(table, figure_spec, changes):
    names = {"name": "Central Kanuri (Arabic script)", "family": "A family that nobody has heard of"}
    named = table.replace({"method": {"Base Encoder": "A baseline with a name of forty-two letters"}})
    figure = plot(named, redrawn(figure_spec, **changes), {"hau": names})
    FigureCanvasAgg(figure).draw()
    assert all(label.get_window_extent().x0 >= 0 for axes in figure.axes for label in axes.get_yticklabels())


def test_dollars_are_no_formulas(table, figure_spec):
    """Two of them would be, to matplotlib, which ends where it cannot read one."""
    named = table.replace({"method": {"Base Encoder": "between $5_{ and $6"}, "column": {"STS": r"$\no$"}})
    figure = plot(named, redrawn(figure_spec, title="$ and $"), {})
    written = [text for text in figure.findobj(Text) if "$" in text.get_text()]
    assert {text.get_text() for text in written} >= {"$ and $", "between $5_{ and $6", r"$\no$, xlmr"}
    FigureCanvasAgg(figure).draw()


def test_a_real_difference_is_a_triangle(table, figure_spec):
    figure = plot(table, figure_spec, {})
    real = table[table["p_adjusted"] < 0.05]
    markers = [line.get_marker() for axes in figure.axes for line in axes.lines]
    assert markers.count("^") == (real["difference"] > 0).sum() and markers.count("v") == (real["difference"] < 0).sum()


@pytest.mark.parametrize(
    ("protocol", "metric", "best", "decimals"),
    [
        ("math", "accuracy", "max", 1),
        ("geometry", "alignment", "min", 3),
        ("lengths", "mean", "max", 1),
        ("norms", "mean", "max", 3),
    ],
)
def test_the_best_is_bold_be_it_the_highest_or_the_lowest(table, figure_spec, protocol, metric, best, decimals):
    """As the protocol's metric has it, of which another may have one of the same name."""
    figure = plot(table.assign(protocol=protocol, metric=metric), figure_spec, {})
    bold = {text.get_text() for axes in figure.axes for text in axes.texts if text.get_fontweight() == "bold"}
    wanted = table.groupby(["column", "language"])["value"].agg(best)
    assert bold == {f"{value:z.{decimals}f}" for value in wanted}


def test_without_paper_numbers_none_is_promised(table, figure_spec):
    figure = plot(table.assign(paper=float("nan")), figure_spec, {})
    assert not any("paper" in text for text in texts(figure))


def test_rows_of_backbones_and_a_short_palette(table, figure_spec):
    both = [table, table.assign(backbone="mmbert")]
    two = plot(pd.concat(both), figure_spec.updated({"palette": ["#000000"]}), {})
    assert len(two.axes) == 4


def test_the_legend_names_every_classifier_of_a_kind(table, figure_spec):
    """They have one colour, and names of their own; the last one's stood for all."""
    own = table[table["recipe"] == "base"].assign(recipe="fine-tuned")
    tuned = [own.assign(backbone=name, method=name) for name in ("bert-tuned", "xlmr-tuned")]
    legend = plot(pd.concat([table, *tuned]), figure_spec, {}).legends[0]
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [*dict.fromkeys(table["method"]), "bert-tuned, xlmr-tuned"]


def test_the_program_writes_the_same_bytes_twice(table, tmp_path):
    write(table, tmp_path / "table.csv")
    for run in ("a", "b"):
        outputs = ["--output", str(tmp_path / f"{run}.svg"), "--png", str(tmp_path / f"{run}.png")]
        call(
            program,
            ["--spec", "seedbed/resources/figures/table1.yaml", "--data", str(tmp_path / "table.csv"), *outputs],
        )
    for kind in ("svg", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    svg = (tmp_path / "a.svg").read_text()
    assert "dc:date" not in svg and svg.startswith("<?xml")


def test_a_curve_passes_through_its_values(table, figure_spec):
    series = {"all": {"base": 1, "xllora": 100, "mine": 5}}
    spec = redrawn(figure_spec, kind="curve", series=series, x_label="triplets", log_x=True)
    figure = plot(table, spec, {"hau": {"name": "Hausa"}})
    assert len(figure.axes) == 2 and {"Hausa", "ind", "Average", "triplets"} <= set(texts(figure))
    sts = table[(table["column"] == "STS") & (table["language"] == "hau")].set_index("recipe")["value"]
    drawn = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert [sts["base"], sts["xllora"]] in drawn
    assert figure.axes[0].get_xscale() == "log"


def test_each_line_of_a_curve_has_a_look_of_its_own(table, figure_spec):
    spec = redrawn(figure_spec, kind="curve", series={"all": {"base": 1, "xllora": 100}}, x_label="triplets")
    hau = table[table["language"] == "hau"]
    many = pd.concat([hau.assign(language=f"language {number}") for number in range(2 * len(spec.palette))])
    legend = plot(many, spec, {}).legends[0]
    looks = {(line.get_color(), line.get_marker()) for line in legend.legend_handles}
    assert len(looks) == 2 * len(spec.palette)


def extents(figure, artists):
    renderer = FigureCanvasAgg(figure).get_renderer()
    return [artist.get_window_extent(renderer) for artist in artists]


@pytest.mark.parametrize("kind", ["dots", "plane", "curve", "groups", "members"])
def test_long_names_stay_in_the_figure_and_apart(table, figure_spec, kind):
    changes = {
        "curve": {"series": {"all": {"base": 1, "xllora": 100}}},
        "groups": {"by": "family"},
        "members": {"recipe": "xllora", "over": ["base", "crosslingual"]},
    }
    spec = redrawn(figure_spec, kind=kind, note="What it shows, in " + "many words and " * 15, **changes.get(kind, {}))
    spec = spec.updated({"paper_note": ""})
    own = table.assign(method=table["method"] + ", which is trained on the text of somebody else")
    own["backbone"] = "paraphrase-multilingual-mpnet-base-v2-of-somebody"
    own["language"] = own["language"].replace({"hau": "eng-hau", "ind": "eng-ind"} if kind == "members" else {})
    figure = plot(own, spec, {})
    for box in extents(figure, [*figure.texts, *figure.legends]):
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    (legend,) = extents(figure, figure.legends)
    titles = extents(figure, [axes._left_title for axes in figure.axes if axes.get_visible()])
    assert all(title.y1 < legend.y0 and title.x1 <= figure.bbox.x1 for title in titles)
    assert not any(one.overlaps(other) for place, one in enumerate(titles) for other in titles[:place])


def test_a_plane_has_a_point_for_each_recipe(table, figure_spec):
    figure = plot(table, redrawn(figure_spec, kind="plane"), {})
    assert len(figure.axes) == 3  # two languages and the average
    points = {(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in figure.axes[0].lines}
    hau = table[table["language"] == figure.axes[0].get_title(loc="left").split(",")[0]]
    for _, rows in hau.groupby("recipe"):
        values = rows.set_index("column")["value"]
        assert (values["Bitext retrieval"], values["STS"]) in points


def test_what_cannot_be_drawn_is_told(table, figure_spec):
    with pytest.raises(UserError, match="no backbone mmbert"):
        plot(table, figure_spec.updated({"backbones": ["mmbert"]}), {})
    with pytest.raises(UserError, match="a plane takes 2 columns"):
        plot(table[table["column"] == "STS"], redrawn(figure_spec, kind="plane"), {})
    with pytest.raises(UserError, match=r"none of its recipes.*it has base, "):
        plot(table, redrawn(figure_spec, kind="curve", series={"all": {"nobody": 1}}), {})
    with pytest.raises(ValueError, match=r"log_x: place 0 .*above 0"):
        redrawn(figure_spec, kind="curve", series={"all": {"base": 0, "xllora": 1}}, log_x=True)
    with pytest.raises(ValueError, match="series\n  Field required"):
        redrawn(figure_spec, kind="curve")
