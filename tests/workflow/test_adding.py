"""From a file of text to the answer, and what more data makes anew: `seedbed init`, the run, `seedbed add`, on a tiny model."""

from __future__ import annotations

import contextlib
import re

import pandas as pd
import pytest
import yaml

from seedbed.init.command import main
from seedbed.resources import resource
from tests.workflow.conftest import Project, copy_files

HAUSA = pd.read_csv(resource("demo/sts.hau.tsv"), sep="\t")
STUDY = "hau.yaml"


def in_place(project: Project, *words: str) -> None:
    """The command, run in the project's folder."""
    with contextlib.chdir(project.root):
        main([*words])


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Project:
    """A study of text alone, after a whole run; comments stay, and the model is a tiny one."""
    from tests import tiny

    project = copy_files(tmp_path_factory.mktemp("begun"), {})
    root = project.root
    tiny.backbone(root / "backbone")
    rows = [f"{one} {number}" for number in range(3) for one in HAUSA["sentence1"]]
    (root / "hau.txt").write_text("\n".join(rows[:300]) + "\n")
    HAUSA.rename(columns={"sentence1": "anchor", "sentence2": "positive"}).to_csv(root / "pairs.csv", index=False)
    other = HAUSA["sentence2"]
    HAUSA.assign(sentence1=other, sentence2=[*other[1:], other[0]]).to_csv(root / "test.csv", index=False)
    HAUSA.assign(sentence1=rows[60:180]).to_csv(root / "own.csv", index=False)
    in_place(project, "init", "hau.txt")
    text = (root / STUDY).read_text()
    text = re.sub(r"(?s)(\n  me5-small:\n    source:\n).*?(    prefix:)", r"\1      file: backbone\n\2", text)
    text = (
        text.replace("steps: 40", "steps: 2")
        .replace("batch_size: 64", "batch_size: 8")
        .replace("  adjacent:\n    prefix", "  adjacent:\n    training: {steps: 2, batch_size: 8}\n    prefix")
        .replace("precision: auto", "precision: float32")
    )
    (root / STUDY).write_text(text)
    done = project.snakemake(config=STUDY)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return project


def added(project: Project, file: str, kind: str) -> tuple[str, dict[str, int]]:
    """The study with one file more, and rule -> jobs that then run; the study itself stays as it is."""
    before = (project.root / STUDY).read_text()
    in_place(project, "add", file, f"--{kind}")
    after = (project.root / STUDY).read_text()
    done = project.snakemake("--dry-run", "--quiet", "rules", config=STUDY)
    (project.root / STUDY).write_text(before)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(r"^(\w+) +(\d+)$", done.stdout, flags=re.M)
    return after, {rule: int(count) for rule, count in counts if rule != "total"}


def test_text_alone_ends_in_an_answer_that_is_written_last(begun):
    results = begun.root / "results/hau"
    text = (results / "answer.md").read_text()
    assert "**Hausa: adjacent** of me5-small, trained on " in text and "docs/results.md" in text and "is weak" in text
    for recipe, folder in (("base", "mul/0"), ("bare", "mul/0"), ("unsupervised", "hau/1"), ("adjacent", "hau/1")):
        place = f"results/hau/encoders/me5-small/{recipe}/{folder}"
        opened = "results/hau/best/hau" if recipe == "adjacent" else place
        assert f'SentenceTransformer("{opened}")' in text and (begun.root / place / "modules.json").is_file()
        assert re.search(rf"\| \*{{0,2}}{recipe}\*{{0,2}} of me5-small \| [^|]+ \| \d+\.\d \[", text), "its score"
    made = [*(results / "encoders").rglob("seedbed.json"), *(results / "scores").rglob("*.json")]
    assert len(made) >= 9 and max(path.stat().st_mtime for path in made) <= (results / "answer.md").stat().st_mtime


def test_pairs_train_one_encoder_more_and_nothing_else(begun):
    after, plan = added(begun, "pairs.csv", "pairs")
    assert plan == {"fetch_corpus": 1, "train_encoder": 1, "score": 1, "choose_best": 1, "report": 1, "all": 1}
    assert "# How encoders are made" in after, "comments stay"


def test_a_test_set_trains_nothing_again(begun):
    after, plan = added(begun, "test.csv", "test")
    table = {"plan_table": 1, "tabulate": 1, "plot": 1}  # the first: there was nothing to show
    assert plan == {"fetch_corpus": 2, "score": 4, "choose_best": 1, "report": 1, "all": 1} | table
    study = yaml.safe_load(after)
    assert study["best"] == {"dev": "own-sts-dev", "test": "own-sts-test", "also": ["next-line"]}
    assert study["tasks"]["own-sts-dev"]["apart_from"] == ["text", "adjacent"]


def test_a_test_set_of_what_was_trained_on_is_taken_out_of_training(begun, capsys):
    after, plan = added(begun, "own.csv", "test")
    assert plan["train_encoder"] == 2 and "apart_from" not in after and "trained again" in capsys.readouterr().out


def test_more_text_trains_one_encoder_more(begun):
    (begun.root / "more.txt").write_text("\n".join(f"{one} kuma" for one in HAUSA["sentence2"]))
    after, plan = added(begun, "more.txt", "text")
    assert plan == {"fetch_corpus": 1, "train_encoder": 1, "score": 1, "choose_best": 1, "report": 1, "all": 1}
    assert yaml.safe_load(after)["best"]["recipe"] == "adjacent-2"


@pytest.mark.parametrize(
    ("file", "kind", "fault"),
    [
        ("hau.txt", "text", "hau.txt: is in the study already"),
        ("english.txt", "text", "english.txt: 9"),
        ("utf16.txt", "text", "utf16.txt: UTF-16, not UTF-8"),
        ("pairs.csv", "triplets", "pairs.csv: no column 'negative'"),
        ("twice.csv", "test", "twice.csv: id '1' appears in several rows"),
        ("three.csv", "test", "three.csv: 3 pairs; at least 20 are needed"),
        ("english.csv", "pairs", "english.csv: column anchor: "),
        ("gone.csv", "pairs", "gone.csv: no such file"),
        ("a\nb.csv", "pairs", "'a\\nb.csv': has characters that cannot be printed"),
    ],
)
def test_what_init_refuses_is_refused_and_the_study_stays(begun, file, kind, fault):
    root, before = begun.root, (begun.root / STUDY).read_text()
    english = pd.read_csv(resource("demo/nli.eng.tsv"), sep="\t")
    (root / "english.txt").write_text("\n".join(english["positive"]))
    english.to_csv(root / "english.csv", index=False)
    (root / "utf16.txt").write_text((root / "hau.txt").read_text(), encoding="utf-16")
    HAUSA.assign(id=1).to_csv(root / "twice.csv", index=False)
    HAUSA[:3].to_csv(root / "three.csv", index=False)
    with pytest.raises(SystemExit) as error:
        in_place(begun, "add", file, f"--{kind}")
    assert str(error.value).startswith(f"error: {fault}") and "\n" not in str(error.value)
    assert (root / STUDY).read_text() == before
