"""What each way of mining found for a pair stands together; pairs are spread over the file."""

import pandas as pd
import pytest

from seedbed.io import UserError, write_table
from seedbed.tables.pages.neighbour_browser import browse


def mined(path, pairs, ranks):
    rows = pd.DataFrame(
        {"id": [str(n) for n in pairs], "text": [f"t{n}" for n in pairs], "pivot": [f"p{n}" for n in pairs]}
    )
    for rank in range(1, ranks + 1):
        rows[f"neighbour_{rank}"] = [f"{path.parent.name} {n}.{rank}" for n in pairs]
        rows[f"cosine_{rank}"] = [f"{1 - rank / 10:.1f}" for _ in pairs]
    write_table(rows, path)
    return path


def test_ways_of_mining_stand_below_one_pair_nearest_first(tmp_path):
    files = [
        mined(tmp_path / f"xlmr/neighbours/{way}/hau.tsv", range(5), ranks) for way, ranks in (("far", 1), ("near", 2))
    ]
    shown = browse(files, 2)
    assert [*shown] == ["hau"] and [pair["anchor"] for pair in shown["hau"]] == ["p0", "p4"]
    assert shown["hau"][1] == {
        "anchor": "p4",
        "positive": "t4",
        "rows": [
            {"mining": "far", "rank": 1, "text": "far 4.1", "cosine": "0.9"},
            {"mining": "near", "rank": 1, "text": "near 4.1", "cosine": "0.9"},
            {"mining": "near", "rank": 2, "text": "near 4.2", "cosine": "0.8"},
        ],
    }


def test_of_several_backbones_each_is_named_and_languages_are_in_order(tmp_path):
    files = [mined(tmp_path / f"{name}/neighbours/l9/{lang}.tsv", [1], 1) for name in "ba" for lang in ("swh", "hau")]
    shown = browse(files, 3)
    assert [*shown] == ["hau", "swh"]
    assert [row["mining"] for row in shown["swh"][0]["rows"]] == ["a l9", "b l9"]
    assert browse([], 3) == {} and browse(files, 0) == {"hau": [], "swh": []}


def test_a_file_of_something_else_is_told(tmp_path):
    write_table(pd.DataFrame({"id": ["1"], "text": ["a"], "pivot": ["b"]}), tmp_path / "hau.tsv")
    with pytest.raises(UserError, match="hau.tsv: no column 'neighbour_1'"):
        browse([tmp_path / "hau.tsv"], 3)
