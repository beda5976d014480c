"""The benchmarks that compare scores run, and their own comparisons hold: on a tiny encoder, where no ratio counts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from benchmarks import brute_force, scoring, tatoeba
from seedbed.encoders import backbone
from seedbed.io import UserError, write_table
from tests import tiny


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("encoder")
    backbone.load(tiny.backbone(root / "backbone"), pooling="mean", prefix="query: ").save(str(root / "encoder"))
    return root / "encoder"


def test_tatoeba_by_the_papers_way_and_by_ours(encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for code in ("hau", "swh"):
        for side, lang in ((code, code), ("eng", "eng")):
            lines = "\n".join(tiny.sentences(lang, 12))
            (tmp_path / f"tatoeba.{code}-eng.{side}").write_text(lines + "\n", encoding="utf-8")
    tatoeba.main(["--encoder", str(encoder), "--data", str(tmp_path), "--rows", "10"])
    printed = capsys.readouterr().out
    # The paper's way encodes four sides in both directions; English is the same in both languages, and ours knows it.
    assert "ours" in printed and "30.0" in printed.split("ours")[1].splitlines()[0]
    assert "80.0" in printed.split("theirs")[1].splitlines()[0]
    with pytest.raises(UserError, match="no tatoeba.xxx-eng.eng; expected LASER's folder"):
        tatoeba.main(["--encoder", str(encoder), "--data", str(encoder)])


def test_scores_beside_mtebs(encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    first, second = tiny.sentences("hau", 12), tiny.sentences("eng", 12)
    ids = [str(number) for number in range(12)]
    graded = {"id": ids, "sentence1": first, "sentence2": first[::-1], "score": [n / 12 for n in range(12)]}
    write_table(pd.DataFrame(graded), tmp_path / "sts.tsv")
    write_table(pd.DataFrame({"id": ids, "text": first, "pivot": second}), tmp_path / "bitext.tsv")
    files = ["--sts", str(tmp_path / "sts.tsv"), "--bitext", str(tmp_path / "bitext.tsv")]
    scoring.main(["--encoder", str(encoder), *files, "--rows", "12"])
    assert "mteb / ours, CPU seconds:" in capsys.readouterr().out


def test_votes_and_fused_neighbours_beside_brute_force(
    encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    ids, texts = [str(number) for number in range(12)], tiny.sentences("hau", 24)
    for name, part in (("knn", texts[:12]), ("knn_train", texts[12:])):
        write_table(pd.DataFrame({"id": ids, "text": part, "label": ["good", "bad"] * 6}), tmp_path / f"{name}.tsv")
    write_table(
        pd.DataFrame({"id": ids, "text": texts[:12], "pivot": tiny.sentences("eng", 12)}), tmp_path / "bitext.tsv"
    )
    tests = ["--labelled", str(tmp_path / "knn.tsv"), "--pairs", str(tmp_path / "bitext.tsv")]
    brute_force.main(["--encoders", str(encoder), str(encoder), *tests])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert len(rows) == 2 * len(brute_force.WEIGHTS)
    assert all(row[-3:-1] == ["1.0", "0.0"] for row in rows)
