"""Every benchmark runs, and its own comparisons hold: on tiny models, where no ratio counts.

That of corpora's memory runs in tests/unit/corpora/select/test_any_size.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import faiss
import numpy as np
import pandas as pd
import peft
import pytest
import torch
from transformers import AutoModelForCausalLM

from benchmarks import (
    alignment_step,
    anchoring_step,
    belebele_texts,
    brute_force,
    code_switching,
    composition,
    copies,
    encoder_step,
    generation,
    gpu_steps,
    judging,
    layers,
    lora_step,
    mini_batch,
    mining,
    models,
    neighbour_step,
    neighbours,
    planning,
    scoring,
    sft_trainer,
    swapped_step,
    tatoeba,
    two_paths,
    vocabulary,
)
from seedbed.encoders.models import loading
from seedbed.io import UserError, write_table
from seedbed.languages import registry
from seedbed.study.model import Study
from tests import tiny, warm
from tests.asking import study_of


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("encoder")
    loading.load(tiny.backbone(root / "backbone"), pooling="mean", prefix="query: ").save(str(root / "encoder"))
    return root / "encoder"


@pytest.mark.parametrize("kind", ["ours", "trl"])
def test_both_trainers_of_adapters_take_the_steps(kind: str) -> None:
    if kind == "trl":
        pytest.importorskip(
            "trl", reason="not in requirements.lock; benchmarks/sft_trainer.py says how it is installed"
        )
    found = sft_trainer.trained(kind, None, 3)
    assert found["seconds"] > 0 and 10 < found["loss"] < 11, "about log 32,768"


def test_tatoeba_by_the_papers_way_and_by_ours(encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for code in ("hau", "swh"):
        for side, lang in ((code, code), ("eng", "eng")):
            lines = "\n".join(tiny.sentences(lang, 12))
            (tmp_path / f"tatoeba.{code}-eng.{side}").write_text(lines + "\n", encoding="utf-8")
    tatoeba.main(["--encoder", str(encoder), "--data", str(tmp_path), "--rows", "11"])
    printed = capsys.readouterr().out
    # The paper's way encodes four sides in both directions; English is the same in both languages, and ours knows it.
    assert "ours" in printed and "33.0" in printed.split("ours")[1].splitlines()[0]
    assert "88.0" in printed.split("theirs")[1].splitlines()[0]
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


def test_a_step_with_neighbours_is_the_same_column_by_column(
    encoder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(neighbour_step, "LAYERS", 2)
    command = ["--weights", str(encoder.parent / "backbone"), "--batch-size", "4", "--rounds", "1"]
    neighbour_step.main(command)
    printed = capsys.readouterr().out
    assert "k = 2 / vanilla: " in printed and "column by column / k = 2: " in printed
    follow = neighbour_step.ColumnByColumn.after_step

    def late(self: neighbour_step.ColumnByColumn) -> None:
        with torch.no_grad():
            follow(self)
            self.head[0].weight += 1e-3

    monkeypatch.setattr(neighbour_step.ColumnByColumn, "after_step", late)
    with pytest.raises(AssertionError, match="the losses are|the copies differ"):
        neighbour_step.main(command)


def test_all_layers_are_those_of_an_encoding_each(
    encoder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    command = ["--weights", str(encoder.parent / "backbone"), "--rows", "40", "--rounds", "1"]
    layers.main(command)
    printed = capsys.readouterr().out
    assert "an encoding for each of 2 layers / one pass: " in printed and "one plain encoding: " in printed
    means = layers.layer_means
    monkeypatch.setattr(layers, "layer_means", lambda *given: means(*given)[::-1])
    with pytest.raises(AssertionError, match="the means differ by"):
        layers.main(command)


def test_candidates_that_share_a_beginning_are_judged_as_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    command = ["--base", str(tiny.generator(tmp_path / "base")), "--sources", "2", "--words", "8", "--rounds", "1"]
    judging.main(command)
    printed = capsys.readouterr().out
    assert "four candidates, times together (CPU seconds): " in printed and "ten answers, times together" in printed
    once = judging.scored
    monkeypatch.setattr(judging, "scored", lambda model, prompts, scores: once(model, prompts, scores) + len(prompts))
    with pytest.raises(AssertionError, match="the scores differ by"):
        judging.main(command)


def test_mining_by_blocks_is_one_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    weights = models.random_weights(tmp_path / "weights", width=16, heads=2, vocabulary=300, blocks=2)
    mining.agree(weights, 1, rows=70)
    assert "in the same place: 100.00%" in capsys.readouterr().out
    monkeypatch.setattr(mining, "SEARCHED", {"queries": 5, "rows": 70, "width": 3})
    assert {*models.least_seconds(mining.searches(), 1)} == {"once", "blocks"}
    assert {*models.least_seconds(mining.encodings(weights, 1), 1)} == {"all", "first"}
    monkeypatch.setattr(sys, "executable", str(warm.python()))
    (tmp_path / "pool").mkdir()
    for name, rows in (("pairs.tsv", 8), ("pool/pool.tsv", 30)):
        table = mining.table(rows, seed=rows)
        write_table(table.assign(pivot=table["text"]), tmp_path / name)
    assert 0 <= mining.peak_alone(weights, tmp_path / "pool", 1) < 500


def test_a_step_after_the_swap_beside_one_before(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    shape = {"width": 16, "heads": 2, "blocks": 1}
    folders = [models.random_weights(tmp_path / str(size), vocabulary=size, **shape) for size in (300, 60)]
    write_table(pd.DataFrame({"id": range(4), "text": models.random_texts(4, words=50)}), tmp_path / "texts.tsv")
    swapped_step.main([*map(str, folders), "--texts", str(tmp_path / "texts.tsv"), "--rounds", "1"])
    told = capsys.readouterr().out
    assert told.count("tokens a sentence") == 2 and "before / after: " in told


def test_a_step_on_kept_states_and_one_of_two_paths_are_the_same(
    encoder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    weights = str(encoder.parent / "backbone")
    sides = ["--source", weights, "--english", weights, "--rounds", "1"]
    anchoring_step.main([*sides, "--batch-size", "3", "--translators", "2"])
    assert "losses apart: 0.0e+00" in capsys.readouterr().out
    two_paths.main([*sides, "--texts", "6", "--batch-size", "2"])
    printed = capsys.readouterr().out
    assert all(f"{fusion} / two encoders: " in printed for fusion in ("none", "concat", "prefix"))


@pytest.mark.parametrize(
    ("benchmark", "options", "told"),
    [
        (encoder_step, ["--steps", "1", "--precision", "float32"], "ours, frozen / trained: "),
        (alignment_step, [], "each time / made once: "),
    ],
)
def test_a_step_of_training_has_the_loss_of_the_other_way(
    benchmark, options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    weights = models.random_weights(tmp_path / "weights", width=16, heads=2, vocabulary=300, blocks=2)
    benchmark.main(["--weights", str(weights), "--batch-size", "4", "--rounds", "1", *options])
    printed = capsys.readouterr().out
    assert told in printed and "difference of the losses: " in printed


def test_a_step_in_parts_is_measured_beside_one_of_the_whole_batch(tmp_path: Path) -> None:
    weights = models.random_weights(tmp_path / "weights", width=16, heads=2, vocabulary=300, blocks=2)
    assert all(seconds > 0 and grown >= 0 for seconds, grown in (mini_batch.step(weights, 4, part) for part in (0, 3)))


def test_rows_of_a_vocabulary_and_a_step_of_masked_words_are_those_of_the_usual_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(vocabulary, "VOCABULARY", 300)
    vocabulary.main(["--anchors", "20", "--new", "9", "--width", "16", "--blocks", "1", "--rounds", "1"])
    printed = capsys.readouterr().out
    differences = [float(line.split()[-1]) for line in printed.splitlines()]
    assert len(differences) >= 3 and max(differences) < 1e-5


def test_neighbours_are_those_of_other_searches(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    threads = torch.get_num_threads()
    for module, name in ((torch, "set_num_threads"), (faiss, "omp_set_num_threads")):  # in some builds they share them
        monkeypatch.setattr(module, name, lambda count: None)
    neighbours.main(
        ["--queries", "30", "--corpus", "50", "--dimension", "8", "--k", "3", "--equal", "0", "--rounds", "1"]
    )
    assert capsys.readouterr().out.count("the same rows: 100.0%") == 3 and torch.get_num_threads() == threads


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.generator(tmp_path_factory.mktemp("base") / "weights")


def test_generation_in_batches_is_that_of_one_by_one(base: Path, capsys: pytest.CaptureFixture) -> None:
    generation.main(["--base", str(base), "--rows", "6", "--max-new-tokens", "4", "--batch-sizes", "4"])
    assert "6 of 6 outputs the same" in capsys.readouterr().out


def test_a_lora_step_has_the_default_loss(base: Path, capsys: pytest.CaptureFixture) -> None:
    lora_step.main(["--base", str(base), "--batches", "2", "--batch-size", "2"])
    assert float(capsys.readouterr().out.split()[-1]) < 1e-5


def test_steps_on_a_gpu_are_measured_on_whatever_is_there(capsys: pytest.CaptureFixture) -> None:
    small = ["--batch-size", "8", "--examples", "4", "--steps", "1", "--product", "64"]
    gpu_steps.main(["--encoders", "tiny", "--generators", "tiny", *small])
    printed = capsys.readouterr().out
    for what in ("encoder tiny, 8 triplets", "adapter tiny, 4 examples"):
        assert float(printed.split(f"{what}: ours / theirs ")[1].split()[0]) > 0


def test_composed_adapters_lie_at_the_exact_update(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    roles = ("task", "target", "source")
    for seed, role in enumerate(roles):
        torch.manual_seed(seed)
        config = peft.LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False)
        adapted = peft.get_peft_model(AutoModelForCausalLM.from_pretrained(base, local_files_only=True), config)
        adapted.save_pretrained(tmp_path / role)
    composition.main([word for role in roles for word in (f"--{role}", str(tmp_path / role))] + ["--scales", "0.5"])
    scale, product, factors, *ranks = map(float, capsys.readouterr().out.splitlines()[-1].split())
    assert scale == 0.5 and product < 1e-5 < factors and len(ranks) == 5


def test_planted_words_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for lang in ("hau", "swh", "eng"):
        (tmp_path / lang).write_text("\n".join(tiny.sentences(lang, 60)).lower(), encoding="utf-8")
    own = [f"{lang}={tmp_path / lang}" for lang in ("hau", "swh")]
    code_switching.main(["--text", *own, "--pivot", str(tmp_path / "eng")])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert {row[0] for row in rows} == {"hau", "swh"} and len(rows) == 8
    with pytest.raises(UserError, match="xxx: not in the language registry"):
        code_switching.main(["--text", f"xxx={tmp_path / 'hau'}", "--pivot", str(tmp_path / "eng")])


def test_a_plan_of_many_languages_is_of_a_study() -> None:
    study = Study.model_validate(planning.study(30))
    assert len(study.languages) == 30 and len({*study.languages} - {*registry()}) > 0


def test_each_text_of_multiple_choice_is_read_once_an_encoder_and_mode(capsys: pytest.CaptureFixture) -> None:
    """Three languages at small size; and the paper's, by its plan: four candidates a question, and the passages."""
    belebele_texts.main(["--languages", "3", "--questions", "6", "--passages", "4"])
    printed = capsys.readouterr().out
    assert "3 languages and 3 pairs of them, 6 encoders and modes" in printed
    assert f"{6 * 4 + 4} texts an encoder and mode; {3 * (6 * 4 + 4)} if each job" in printed
    paper = study_of("config/modular.yaml")
    assert len(paper.tested_by("belebele-choice")) == 22
    assert len(paper.pairs_tested_by("belebele-choice")) == 231
    assert belebele_texts.QUESTIONS * belebele_texts.ANSWERS + belebele_texts.PASSAGES == 4088 < 4200


def test_a_text_that_is_read_twice_is_counted_twice(tmp_path: Path) -> None:
    for name in ("a", "b"):
        np.savez(tmp_path / f"{name}.npz", keys=np.zeros((2, 32), np.uint8))
    assert belebele_texts.texts_in(tmp_path) == 4


def test_small_copies_beside_their_original(encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    texts, scores = tiny.sentences("hau", 40), [str(number % 5) for number in range(20)]
    write_table(pd.DataFrame({"id": map(str, range(40)), "text": texts}), tmp_path / "texts.tsv")
    pairs = {"id": map(str, range(20)), "sentence1": texts[:20], "sentence2": texts[20:], "score": scores}
    write_table(pd.DataFrame(pairs), tmp_path / "pairs.tsv")
    copies.main(
        [
            str(encoder),
            "--texts",
            str(tmp_path / "texts.tsv"),
            "--pairs",
            str(tmp_path / "pairs.tsv"),
            "--dimensions",
            "8",
        ]
    )
    rows = {line.split("|")[1].strip(): line for line in capsys.readouterr().out.splitlines() if "|" in line}
    assert {"original", "trimmed", "bfloat16", "static", "trimmed and int8"} <= {*rows}
    assert rows["original"].split("|")[5:7] == rows["trimmed"].split("|")[5:7]  # its texts are the pairs'
