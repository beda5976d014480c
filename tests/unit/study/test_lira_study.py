"""studies/lira.yaml: the noisy copies that it reads, and which of its encoders read which translations."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from seedbed.io import read_table
from seedbed.operations.jobs import planned
from seedbed.study.checks import translated
from seedbed.study.graph.chosen import ChosenTranslations
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.table import Table
from seedbed.study.recipe import StudyRecipe
from studies import lira_candidates
from tests.asking import asking, study_of

FILE = "studies/lira.yaml"
ENGLISH = [f"A man number {place} is playing the guitar on a big stage." for place in range(12)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """All files that the candidates are made of, a few rows of each."""
    for folder, iso1, code in lira_candidates.LANGUAGES.values():
        (tmp_path / "Kardes-NLU" / folder).mkdir(parents=True)
        for test, lines in (("sts", ENGLISH[:4]), ("xnli", ENGLISH[4:6])):
            with (tmp_path / f"Kardes-NLU/{folder}/{test}.dev.{iso1}.csv").open("w", encoding="utf-8-sig") as file:
                table = csv.DictWriter(file, ["sentence1", "sentence2", "s1_translation", "s2_translation"])
                table.writeheader()
                for one, other in zip(lines[::2], lines[1::2], strict=True):
                    sides = {"sentence1": one, "sentence2": other}
                    table.writerow(sides | {f"s{k}_translation": f"{iso1} {sides[f'sentence{k}']}" for k in (1, 2)})
        write(tmp_path / f"NTREX-128/newstest2019-ref.{code}.txt", [f"{code} {line}" for line in ENGLISH[6:8]])
    write(tmp_path / "NTREX-128/newstest2019-ref.kor.txt", [f"kor {line}" for line in ENGLISH[6:8]])
    write(tmp_path / "NTREX-128/newstest2019-src.eng.txt", ENGLISH[6:8])
    pairs = [(ENGLISH[8], ENGLISH[9]), (ENGLISH[0], ENGLISH[10]), (ENGLISH[10], ENGLISH[11])]
    korean = [f"g\tf\ty\ti\t{place}.5\tkor {one}\tkor {other}" for place, (one, other) in enumerate(pairs)]
    write(tmp_path / "KorNLU/KorSTS/sts-train.tsv", ["genre\tfilename\tyear\tid\tscore\tsentence1\tsentence2", *korean])
    english = [f"g\tf\ty\ti\t{place}.500\t{one}\t{other}\tfrom\there" for place, (one, other) in enumerate(pairs)]
    write(tmp_path / "STS_English/stsbenchmark/sts-train.csv", english)
    return tmp_path


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def made(data: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(sys, "argv", ["lira_candidates.py", "--data", str(data), "--output", str(output)])
    lira_candidates.main()
    return {path.name: path.read_text() for path in output.iterdir()}


def test_candidates_are_the_same_each_time(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(data, tmp_path / "one", monkeypatch)
    assert first == made(data, tmp_path / "two", monkeypatch)
    assert {*first} == {"aze.tsv", "kaz.tsv", "kir.tsv", "uzn.tsv", "kor.tsv", "kor.graded.tsv"}
    table = read_table(tmp_path / "one/uzn.tsv", lira_candidates.HEAD, unique="text")
    assert len(table) == 8
    for row in table.to_dict("records"):
        assert row["text"].endswith(row["human"])
        assert row["wrong"] in ENGLISH and row["wrong"] != row["human"]
        for name in lira_candidates.NOISE:
            assert row[name] and not Counter(row[name].split()) - Counter(row["human"].split())


def test_no_pair_is_learnt_whose_english_is_tested(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(data, tmp_path / "made", monkeypatch)
    learnt = read_table(tmp_path / "made/kor.graded.tsv", ["id", "sentence1", "sentence2", "score"])
    assert learnt["score"].tolist() == ["0.1000", "0.5000"]
    known = {*read_table(tmp_path / "made/kor.tsv", ["text"], unique="text")["text"]}
    assert {*learnt["sentence1"], *learnt["sentence2"]} <= known


def test_noise_drops_so_many_words() -> None:
    words = " ".join(map(str, range(2000)))
    for share in lira_candidates.NOISE.values():
        assert len(lira_candidates.noisy(words, share, 1).split()) == pytest.approx(2000 * (1 - share), abs=80)
        assert lira_candidates.noisy("one", share, 1) == "one"


def test_shares_are_of_the_columns_that_the_test_set_has() -> None:
    tasks = study_of("config/lira.yaml").tasks
    source, shares = tasks["mlqa"].source, tasks["mlqa-shares"].source
    queries, _ = source.joined("queries")
    assert (shares.hub, shares.config, shares.split) == (source.hub, queries.config, source.split)
    assert shares.columns == {"id": queries.columns["id"], "text": queries.columns["query"]}


def test_without_the_embedding_critic_there_is_neither_anchoring_nor_similarity() -> None:
    """Table 8; all else is as with it, down to its learning rates."""
    study = study_of("config/lira.yaml")
    ask = asking(study)
    whole, without = (
        json.loads(
            ask(Encoder, backbone="mt5-qwen3", recipe=recipe, lang="mul", seed="1")
            .settings()["objective"]["anchoring"]
            .dump()
        )
        for recipe in ("arca", "arca-no-embeds-critic")
    )
    assert without == whole | {"similarity": "none", "anchor_weight": 0}
    assert study.recipes["lira-no-embeds-critic"].english.similarity == "none"


def test_training_data_wait_for_no_generator_whose_english_only_untrained_encoders_read() -> None:
    """Gemma translates for two recipes on request, which learn nothing; people's English is test text in any case."""
    found = asking(study_of(FILE))(Corpus, lang="uzn", corpus="ntrex").kept_apart()
    translators = {file.split("/")[1] for file in found if file.startswith("generators/")}
    assert translators == {"human", "noise20", "noise50", "wrong"}
    paper = asking(study_of("config/lira.yaml"))(Corpus, lang="hau", corpus="ntrex").kept_apart()
    assert {file.split("/")[1] for file in paper if file.startswith("generators/")} == {
        "opus-mt", "m2m100", "nllb-600m", "nllb-3.3b", "llama-3.3-70b", "gemma-2-27b", "qwen3-32b", "r1-32b",
    }  # fmt: skip


def test_every_encoder_of_the_study_is_planned() -> None:
    study = study_of(FILE)
    translated.of_pairs(study)
    ask = asking(study)
    assert {score.split("/")[2] for score in ask(Table, table="pairs").inputs()["scores"]} <= {*study.recipes}
    told = {"backbone": "pair", "lang": "mul", "seed": "0"}
    read = {"corpus": "kardes-sts", "test_lang": "uzn"}
    for name, recipe in study.recipes.items():
        if recipe.english.fusion:
            found = ask(ChosenTranslations, recipe=name, **told, **read).inputs()["translations"]
            assert [*found] == recipe.english.translators
    critic, actor = (ask(ChosenTranslations, recipe=name, **told, **read) for name in ("both-critic", "english-actor"))
    assert critic.critic == actor.critic == "encoders/me5-small/base/mul/0/seedbed.json"
    assert (critic.actor, actor.actor) == ("", "encoders/pair/arca/mul/1/seedbed.json")
    assert StudyRecipe.get(study, "anchored-critic").seeds == [1, 2]


def test_the_study_has_as_many_jobs_as_its_page_says_and_runs_no_language_model(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its default rows do not read, a translator and a judge of 270M, is neither fetched nor asked."""
    made(data, tmp_path / "made", monkeypatch)
    jobs = planned([Path(FILE)], {"paths": {"data": str(data), "candidates": str(tmp_path / "made")}}, {}, ["all"])
    assert f" {len(jobs)} jobs, " in Path("docs/papers/lira.md").read_text()
    fetched = {job.outputs[0].split("/")[-3] for job in jobs if job.rule == "fetch_model"}
    assert fetched == {"me5-small", "minilm"}
    assert not any(job.rule == "judge" or "/small/" in job.outputs[0] for job in jobs)
