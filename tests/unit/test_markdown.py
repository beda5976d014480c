"""Tables in Markdown."""

from seedbed.markdown import aligned, table


def test_the_last_columns_are_right_aligned_and_a_stroke_in_a_cell_divides_none() -> None:
    text = table(("name", "a", "b"), [("x|y", 1, 2.5), ("---:", "", 3)], right=2)
    assert text == "| name | a | b |\n| --- | ---: | ---: |\n| x\\|y | 1 | 2.5 |\n| ---: |  | 3 |"
    assert table(["name"], []) == "| name |\n| --- |"
    assert table(["of two\nlines"], [["folded\n"]]) == "| of two lines |\n| --- |\n| folded |"


def test_on_a_terminal_columns_are_as_wide_as_their_cells() -> None:
    text = aligned(["rule", "hours"], [["train_encoder", 2], ["score", 10.25]], left=1)
    assert text == "\n".join(
        [
            "| rule          | hours |",
            "| ------------- | ----: |",
            "| train_encoder |     2 |",
            "| score         | 10.25 |",
        ]
    )
