"""Tables in Markdown."""

from seedbed.markdown import table


def test_the_last_columns_are_right_aligned_and_a_stroke_in_a_cell_divides_none() -> None:
    text = table(("name", "a", "b"), [("x|y", 1, 2.5), ("---:", "", 3)], right=2)
    assert text == "| name | a | b |\n| --- | ---: | ---: |\n| x\\|y | 1 | 2.5 |\n| ---: |  | 3 |"
    assert table(["name"], []) == "| name |\n| --- |"
