"""Bad input stops early with one line: what is wrong, where, and what would be right; nothing half-written is left."""

import json
import resource
import runpy
import subprocess
import sys
import tarfile

import pandas as pd
import pytest
from sentence_transformers import SentenceTransformer

from tests import tiny
from tests.humble import humble
from tests.refusals import tells
from tests.workflow.conftest import ENVIRONMENT

ENDPOINT = {"url": "https://host/v1", "model": "m", "dimensions": 8}
CHAT = {"backend": "openai-chat", "endpoint": "https://host/v1", "served_model": "m"}
LABELS_ALONE = {
    "tasks": {"topics": {"protocol": "knn", "k": [10], "source": {"file": "own/{lang}.sts.tsv"}, "train": {"file": "own/{lang}-eng.tsv"}}},
    "tables": ["labels"],
}  # fmt: skip
"""A study of labels alone, without the graded pairs and translations of table 1."""
CONFIGURATIONS = [
    ({"langauges": {}}, "config.langauges: unknown ... 'languages'"),
    ({"training/lr": 1}, "config.training.lr: unknown ... known: adapter, allow_untrained"),
    ({"training/checkpoint_steps": 125}, "config.training: checkpoint_steps: ... `checkpoint_minutes` ... `training`"),
    ({"generators/tiny/lora/rnk": 8}, "config.generators.tiny.lora.rnk: unknown ... 'rank'"),
    ({"languages/hauu": {}}, "config.languages.hauu"),
    ({"languages/swa": {}}, "languages.swa: ... registry ... 'swh'"),
    ({"languages/hau": {"corpus": {"fil": "x"}}}, "config.languages.hau.corpus.fil: unknown ... 'file'"),
    ({"languages/hau": {"corpus": {"file": "a", "hub": "b"}}}, "hub, file, archive, package; found hub, file"),
    ({"languages/hau": {"corpus": {"file": "none.tsv"}}}, "text corpus of hau: ... none.tsv"),
    ({"languages/hau": {"tests": {"own-stss": {"file": "x"}}}}, "languages.hau.tests: ... 'own-stss' ... 'own-sts'"),
    ({"tasks/more": {"protocol": "geometry", "set_of": "own-sts", "source": {"file": "x"}}}, "config.tasks.more: source: with `set_of` it is that of own-sts; give it there"),
    ({"tasks/more": {"protocol": "knn", "set_of": "own-sts", "train": {"file": "x"}}}, "config.tasks.more: train: with `set_of`"),
    ({"tasks/more": {"protocol": "geometry", "set_of": "own-sts", "clean": True}}, "config.tasks.more: clean: with `set_of`"),
    ({"tasks/more": {"protocol": "geometry", "set_of": "own-sts", "apart_from": ["text"]}}, "config.tasks.more: apart_from: with `set_of`"),
    ({"tasks/more": {"protocol": "geometry", "set_of": "own-sts"}, "tasks/most": {"protocol": "geometry", "set_of": "more"}},
     "tasks.most.set_of: more has no sets of its own; name own-sts"),
    ({"tasks/more": {"protocol": "geometry", "set_of": "own-sts"}, "languages/hau": {"tests": {"more": {"file": "own/hau.sts.tsv"}}}},
     "languages.hau.tests.more: its test set is that of own-sts; give it there, or leave out `set_of` of more"),
    ({"recipes/xlora": {}}, "config.recipes: xlora: no preset ... `like` ... 'xllora'"),
    ({"recipes/xllora": {"generator": "gemma"}}, "config.recipes: xllora.generator: ... `data: {by: ...}`"),
    ({"recipes/xllora": {"data": {"by": "gemma"}}}, "recipes.xllora.data.by: no generator 'gemma'; known: tiny"),
    ({"recipes/xllora": {"training": {"epoch": 3}}}, "recipes.xllora.training.epoch: unknown ... 'epochs'"),
    ({"generators": {}}, "method prompting needs a generator ... `generators:`"),
    ({"tasks/own-sts/protocol": "stss"}, "config.tasks.own-sts.protocol: ... 'sts' ... 'stss'"),
    ({"tasks/own-sts/scale": [5, 0]}, "scale ... least to the greatest"),
    ({"tasks/own-sts/languages": ["haus"]}, "tasks.own-sts.languages: ... 'haus' ... 'hau'"),
    ({"statistics/baseline": "crossling"}, "statistics.baseline: ... 'crossling' ... 'crosslingual'"),
    ({"statistics/baseline_backbone": "tiny-bart"}, "statistics.baseline_backbone: ... 'tiny-bart' ... 'tiny-bert'"),
    ({**LABELS_ALONE, "figures": ["table1"]}, "Table 1: ... no task ... sts or bitext"),
    ({"tables": ["table11"]}, "tables: ... resources/tables/*.yaml 'table11' ... 'table1'"),
    ({"training/learning_rate": "fast"}, "config.training.learning_rate: ... number"),
    ({"seeds": []}, "config.seeds: ... at least 1"),
    ({"backbones/my model": {"source": {"file": "own/backbone"}}}, "config.backbones.my model"),
    ({"backbones/api": {}}, "config.backbones.api: ... source, endpoint, fusion, pair; found none"),
    ({"backbones/api": {"endpoint": ENDPOINT | {"key": "sk-secret"}}}, "config.backbones.api.endpoint.key: ... environment variable"),
    ({"backbones/api": {"endpoint": ENDPOINT}, "recipes/unsupervised": {"only": {"backbones": ["api"]}}},
     "recipes.unsupervised.only.backbones: api gives vectors of texts, of which there is no training; name others"),
    ({"backbones/api": {"endpoint": ENDPOINT}, "recipes/static": {"only": {"backbones": ["api"]}}},
     "recipes.static.only.backbones: api gives vectors of texts, of which there is no pooling static; name others"),
    ({"backbones/api": {"endpoint": ENDPOINT}, "recipes": {"base": {}}, "statistics": {"baseline": "base"},
      "classifiers": {"a": {"backbone": "api"}}}, "classifiers.a.backbone: no backbone with weights 'api'"),
    ({"generators/tiny/backend": "openai"}, "generators.tiny: backend openai: ... `endpoint` ... `served_model`"),
    ({"generators/api": {}}, "config.generators.api: source: ... transformers ... or take openai-chat"),
    ({"generators/api": CHAT | {"served_model": ""}}, "config.generators.api: backend openai-chat: ... `endpoint` ... `served_model`"),
    ({"generators/api": CHAT | {"source": {"file": "own/generator"}}}, "source: ... its own weights ... leave it out"),
    ({"generators/api": CHAT | {"prompts": "plain"}}, "prompts: ... its own weights ... leave it out"),
    ({"generators/api": CHAT | {"key": "sk-secret"}}, "config.generators.api.key: ... environment variable"),
    ({"generators/api": CHAT, "recipes/xllora": {"data": {"by": "api"}}}, "recipes.xllora: ... api has no weights; take another"),
    ({"generators/api": CHAT, "recipes/composition": {"data": {"by": "api"}}}, "recipes.composition: ... adapters, and api has no"),
    ({"generators/api": CHAT, "classifiers": {"a": {"generator": "api"}}}, "classifiers.a.generator: api has no weights"),
    ({"corpora/text": {"file": "own/{iso}.tsv"}}, "no registry column, path or code 'iso'"),
    ({"corpora/text": {"file": "own/{lang}.tsv", "columns": {"text": []}}}, "text corpus of hau: columns.text: an empty list; name a"),
    ({"corpora/text": None}, "languages.hau: no corpus; give `corpus:` ... `corpora.text`"),
    ({"corpora/nli": None}, "corpora.nli: no source; recipe crosslingual"),
    ({"corpora/parallel": None}, "xllora learns from fra ... `corpora.nli_translations` ... `corpora.parallel`"),
    ({"generators/tiny/xllora": {"languages": ["fra"], "parts": ["machine"]}}, "which have no `corpora.nli_machine`; give one"),
    ({"generators/tiny/xllora": {"languages": ["fra"], "parts": ["synthetic", "machine"]}}, "generators.tiny.xllora.parts: machine needs"),
    ({"generators/tiny/xllora": {"languages": ["fra"], "parts": ["human", "human"]}}, "parts: 'human' ... name each once"),
    ({"generators/tiny/language_text": "news"}, "generators.tiny.language_text: no corpus under `corpora.others` 'news'"),
    ({"generators/tiny/language_text": "news", "generators/tiny/language_data": "instructions"}, "language_text: ... trained on instructions; leave it out"),
    ({"generators/tiny/language_text": "pairs", "corpora/others": {"pairs": {"kind": "triplets", "file": "own/nli.tsv"}}, "recipes/mine": {"data": {"corpus": "pairs"}, "objective": "contrast"}}, "generators.tiny.language_text: ... corpora.others.pairs ... name ... sentences"),
    ({"generators/tiny/language_text": "news", "corpora/others": {"news": {"file": "own/nothing/{lang}.tsv"}}}, "own/nothing/hau.tsv"),
    ({"generators/tiny/language_data": "annotated"}, "annotated, which hau, eng lack ... `corpora.instructions`"),
    ({"recipes/mine": {"like": "xlora"}}, "config.recipes: mine.like: ... 'xlora' ... 'xllora'"),
    ({"recipes/mine": {"like": "mine"}}, "config.recipes: mine.like: mine needs mine"),
    ({"recipes/xllora": {"only": {"languages": ["hauu"]}}}, "recipes.xllora.only.languages: ... 'hauu' ... 'hau'"),
    ({"tasks/more-sts": {"protocol": "sts", "set_of": "own-stss"}}, "tasks.more-sts.set_of: ... 'own-stss' ... 'own-sts'"),
    ({"tasks/more-sts": {"protocol": "sts", "set_of": "own-stss"}, "corpora/others": {"pairs": {"kind": "triplets", "file": "own/nli.tsv"}},
      "recipes/mine": {"data": {"corpus": "pairs"}, "objective": "contrast"}}, "tasks.more-sts.set_of: no task 'own-stss' ... 'own-sts'"),
    ({"backbones/tiny-bert": {"source": {"hub": "org/bert-{iso1}"}}}, "backbones.tiny-bert.source: no value of {iso1} here; ... `by_language`"),
    ({"backbones/tiny-bert": {"source": {"file": "own/backbone"}, "by_language": {"hau": {"hub": "org/{iso1}"}}}, "languages/hau": {"codes": {"iso1": ""}}},
     "backbones.tiny-bert.by_language.hau: no value of {iso1} here"),
    ({"compute": {"task": "own-sts", "language": "hau", "encoder": {"backbone": "tiny-bert", "recipe": "base"}}},
     "compute.task: own-sts is sts; ... icl or knn"),
    ({"start": "triplet"}, "config.start: ... 'scratch', 'adapters'"),
    ({"classifiers": {"a": {}}}, "config.classifiers.a: give either `backbone` or `generator`"),
    (
        {"classifiers": {"a": {"backbone": "tiny-bert", "lora": {"quantization": "nf4"}}}},
        "config.classifiers.a: lora.quantization: of a language model, and this is an encoder; leave it out",
    ),
    ({"classifiers": {"a": {"generator": "tiny", "lora": {}}}}, "lora: a language model ... leave it out"),
    ({"classifiers": {"a": {"backbone": "tiny"}}}, "classifiers.a.backbone: ... 'tiny' ... 'tiny-bert'"),
    ({"classifiers": {"tiny": {"generator": "tiny"}}}, "classifiers.tiny: a backbone or generator has this name"),
    ({"classifiers": {"a": {"generator": "tiny"}}}, "labelled pairs in eng; give `corpora.nli_pairs`"),
    ({"classifiers": {"a": {"baseline": "random", "backbone": "tiny-bert"}}}, "classifiers.a: backbone: baseline random ... leave it out"),
    ({"classifiers": {"a": {"baseline": "most"}}}, "classifiers.a.baseline: ... '', 'random'"),
    ({"classifiers": {"a": {"backbone": "tiny-bert", "fine_tuning": {}, "lora": {}}}}, "lora: ... fine_tuning ... leave it out"),
    ({"classifiers": {"a": {"generator": "tiny", "fine_tuning": {}}}}, "fine_tuning: ... no head; give a `backbone`"),
    ({"recipes": {"static": {}}, "classifiers": {"a": {"backbone": "tiny-bert", "recipe": "static", "fine_tuning": {}}}}, "classifiers.a.recipe: static has no transformer to fine-tune"),
    ({"classifiers": {"a": {"backbone": "tiny-bert", "fine_tuning": {}, "baseline": "random"}}}, "baseline: ... fine_tuning ... make two classifiers"),
    ({"classifiers": {"a": {"backbone": "tiny-bert", "fine_tuning": {"held_out": 1}}}}, "fine_tuning.held_out: ... less than 1"),
    ({"classifiers": {"a": {"baseline": "random", "languages": ["haus"]}}}, "classifiers.a.languages: ... 'haus' ... 'hau'"),
    ({"classifiers": {"a": {"baseline": "random", "tasks": ["own-stss"]}}}, "classifiers.a.tasks: ... 'own-stss' ... 'own-sts'"),
    ({"languages/xxq": {"name": "Xq", "script": "Latn", "corpus": {"file": "own/hau.tsv"}}, "tasks/own-sts/languages": ["hau"],
      "tasks/own-bitext/languages": ["hau"], "recipes": {"base": {}}}, "languages.xxq: no test set ... no recipe trains"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), CONFIGURATIONS, ids=[message[:50] for _, message in CONFIGURATIONS])
def test_a_wrong_configuration_is_told_in_one_line(project, changes, message):
    said = project.refusal(project.edit(changes, target="bad.yaml"))
    assert tells(said, message) and "\n" not in said and "sk-secret" not in said, said


def test_a_study_of_labels_alone_needs_no_other_test_set(project):
    jobs = project.planned(LABELS_ALONE, "all")
    assert jobs["tabulate"] == 1 and "plot" not in jobs


def test_a_wrong_configuration_stops_at_once_and_no_shell_reads_it(project):
    config = project.edit({"results": "res$(touch made)"}, target="bad.yaml")
    before = files(project.root)
    done = project.snakemake("res$(touch made)/corpora/hau/text.tsv", config=config)
    assert tells(only_error(done), "config.results: ... letters, digits")
    assert files(project.root) == before


def test_a_key_that_is_repeated_stops_a_run(project):
    """Snakemake reads the file for itself, and lets the last one win."""
    bad = project.root / "repeated.yaml"
    bad.write_text((project.root / "study.yaml").read_text() + "seeds: [2]\n")
    assert "repeated.yaml: line " in (said := only_error(project.snakemake("--dry-run", config=bad.name)))
    assert tells(said, "key 'seeds' ... in line 2; keep one")


def test_another_environment_is_told_to_make_and_activate_ours(project, tmp_path):
    """Snakemake is there, and a library of the project is not."""
    (tmp_path / "regex.py").write_text("raise ModuleNotFoundError(\"No module named 'regex'\")")
    command = project.command("--dry-run")
    done = subprocess.run(
        command, cwd=project.root, capture_output=True, text=True, env=ENVIRONMENT | {"PYTHONPATH": str(tmp_path)}
    )
    where = f"in the environment of {sys.executable}; run `make env` and `source .venv/bin/activate`"
    assert only_error(done) == f"error: No module named 'regex' {where}"


def only_error(done):
    """The one line that a run ends with."""
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and len(errors) == 1 and "Traceback" not in done.stderr, done.stderr
    return errors[0]


def files(root):
    """All but what Python and Snakemake keep for themselves."""
    return {path for path in root.rglob("*") if not {".snakemake", "__pycache__"} & set(path.parts)}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Files of every kind of badness, beside good ones."""
    root = tmp_path_factory.mktemp("inputs")
    good = pd.DataFrame({"id": list("123"), "text": tiny.sentences("hau", 3)})
    good.to_csv(root / "good.tsv", sep="\t", index=False)
    (root / "empty.tsv").write_text("")
    (root / "header.tsv").write_text("id\ttext\n")
    (root / "tabs.tsv").write_text("id\ttext\n1\tone\ttwo\n")
    (root / "latin1.tsv").write_bytes("id\ttext\n1\tcafé\n".encode("latin-1"))
    (root / "twice.tsv").write_text("id\ttext\n1\ta b c d\n1\te f g h\n")
    (root / "column.tsv").write_text("id\tsentence\n1\ta b c d\n")
    (root / "score.tsv").write_text("id\tsentence1\tsentence2\tscore\n1\ta\tb\t5\n")
    (root / "words.tsv").write_text("id\tsentence1\tsentence2\tscore\n1\ta\tb\thigh\n")
    (root / "three.txt").write_text("a\nb\nc\n")
    (root / "two.txt").write_text("A\nB\n")
    (root / "blank.txt").write_text("")
    (root / "list.jsonl").write_text('[{"id": "1", "text": "a b c d"}]')
    (root / "wide.csv").write_text(",".join(f"c{place}" for place in range(99)) + "\n" + "," * 98 + "\n")
    (root / "broken.jsonl").write_text('{"id": 1\n')
    (root / "corpus.hau").write_text("a b c d\n")
    (root / "false.tsv.gz").write_text("id\ttext\n1\ta b c d\n")
    (root / "blank.tsv").write_text("id\ttext\tlabel\n1\ta b\tgood\n2\tc d\t\n")
    (root / "row.tsv").write_text("id\tsentence1\tsentence2\tscore\n1\ta\tb\t1\n")
    good.assign(pivot=[*tiny.sentences("eng", 2), good["text"][2]]).to_csv(root / "pairs.tsv", sep="\t", index=False)
    (root / "counts.json").write_text('{"counts": {"kept": 3}}')
    with tarfile.open(root / "pair.tar", "w") as archive:
        for side in ("src", "trg"):
            archive.add(root / "good.tsv", f"eng-hau/train.{side}.gz")
    (root / "record.json").write_text('{"origin": [{"kind": "file", "name": "row.tsv"}]}')
    (root / "nli.tsv").write_text(
        "id\tanchor\tpositive\tnegative\n1\ta b\tc d\te f\n2\tg h\ti j\tk l\n3\tm n\to p\tq r\n"
    )
    (root / "alike.tsv").write_text("id\ttext\n" + "".join(f"{n}\ta b\n" for n in range(3)))
    pairs = "id\tpremise\thypothesis\tlabel\n1\ta b c\td e f\t{}\n2\tg h i\tj k l\t{}\n"
    (root / "label.tsv").write_text(pairs.format("0", "maybe"))
    (root / "same.tsv").write_text("id\ttext\tlabel\n" + "".join(f"{n}\ta b\tgood\n" for n in range(20)))
    (root / "few.tsv").write_text("id\ttext\tlabel\n1\ta b\tgood\n2\tc d\tbad\n")
    (root / "one-label.tsv").write_text(pairs.format("1", "neutral"))
    tiny.generator(root / "generator")
    tiny.backbone(root / "backbone")
    SentenceTransformer(str(root / "backbone")).save(str(root / "encoder"))
    (root / "encoder" / "seedbed.json").write_text('{"about": {}}')
    tiny.backbone(root / "no-tokenizer")
    for file in (root / "no-tokenizer").glob("tokenizer*"):
        file.unlink()
    weights = tiny.backbone(root / "cut") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    (root / "no-adapter").mkdir()
    return root


FETCH = "fetch_corpus --kind {kind} --source {source} --downloads {root}/d --lock {root}/l --output {out}/x --record {out}/y"
TRAIN = 'train_encoder --weights {root}/backbone --objective {"{objective}":{}} --training {training} --seed 1 --about {} --state {out}/state --output {out}/x'
LORA = (
    "train_task_adapter --base {root}/generator --name tiny --triplets {root}/nli.tsv --polarity positive --language English"
    " --style {style} --dtype float32 --lora {lora} --state {out}/state --output {out}/x"
)


LABELS = (
    "train_classifier --base {root}/BASE --name tiny --kind pairs --examples {root}/FILE --language English --style STYLE"
    " --dtype float32 --state {out}/state --output {out}/x"
)


def classify(file, style="head"):
    base = "backbone" if style == "head" else "generator"
    return LABELS.replace("BASE", base).replace("FILE", file).replace("STYLE", style)


FINE_TUNE = (
    "fine_tune --base {root}/backbone --train {root}/FILE --tests hau={root}/good.tsv --dtype float32 --seed 1"
    " --state {out}/state --output {out}/x"
)


def fetch(kind, **source):
    test = " --test" if kind == "pairs" else ""
    return FETCH.replace("{kind}", kind).replace("{source}", json.dumps(source).replace(" ", "")) + test


def train(objective="contrast", texts="{root}/nli.tsv", **training):
    command = TRAIN.replace("{objective}", objective).replace("{training}", json.dumps(training).replace(" ", ""))
    return f"{command} --texts {texts}"


def lora(style="plain", **settings):
    return LORA.replace("{style}", style).replace("{lora}", json.dumps(settings).replace(" ", ""))


SELECT = "select_anchors --corpus {root}/good.tsv --pivot {root}/good.tsv --output {out}/x --audit {out}/y --script "
PAIRS = (
    "select_pairs --corpus {root}/pairs.tsv --record {root}/counts.json --scripts Latn Latn --output {out}/x"
    " --audit {out}/y --seed-pairs "
)
SCORE = (
    "score --systems {root}/encoder --tests {root}/FILE --records {root}/record.json --tasks"
    ' {"t":{"protocol":"sts"}} --language hau --scores {out} --output {out}/x'
)

SYNTHESISE = (
    'synthesise --base {root}/generator --name tiny --generator {"source":{"file":"x"}} --anchors {root}/good.tsv'
    " --method prompting --language Hausa --state {out}/state --output {out}/x "
)

PROGRAMS = [
    (fetch("text", file="{root}/none.tsv"), "none.tsv: no such file"),
    (fetch("text", file="{root}/empty.tsv"), "empty.tsv: empty; expected tab-separated rows"),
    (fetch("text", file="{root}/header.tsv"), "no row is left"),
    (fetch("parallel", file="{root}/three.txt", format="text", join={"pivot": {"file": "{root}/two.txt"}}),
     "two.txt 2; ... by their places"),
    (fetch("parallel", file="{root}/blank.txt", format="text", join={"pivot": {"file": "{root}/blank.txt"}}) + " --test",
     "column 'text' is empty in all 1 rows"),
    (fetch("text", file="{root}/tabs.tsv"), "row 2 has 3 fields ... tabs"),
    (fetch("text", file="{root}/latin1.tsv"), "byte 13 is not UTF-8"),
    (fetch("text", file="{root}/column.tsv"), "no column 'text'"),
    (fetch("text", file="{root}/corpus.hau"), "corpus.hau: its ending says no form"),
    (fetch("text", file="{root}/false.tsv.gz"), "false.tsv.gz: not gzip, or cut short"),
    (fetch("text", file="{root}/generator"), "generator: a folder; name the file"),
    (fetch("text", file="{root}/twice.tsv") + " --test", "id '1' appears in several rows"),
    (fetch("labelled_texts", file="{root}/blank.tsv"), "id '2' has no label"),
    (fetch("parallel", file="{root}/pair.tar", member="*/train.trg.gz", join={"pivot": {"member": "*/train.scr.gz"}}),
     "pair.tar: ... '*/train.scr.gz'; ... eng-hau/train.src.gz"),
    (SELECT + "Latm", "script 'Latm': no such script"),
    (PAIRS + '{"count":3}', "2 of 3 pairs ... count is 3 (dropped: {'equal sides': 1})"),
    (PAIRS + '{"number":3}', "--seed-pairs.number: unknown key; known: count"),
    (PAIRS.replace("pairs.tsv", "good.tsv") + "{}", "good.tsv: no column 'pivot'"),
    (PAIRS.replace("counts.json", "blank.txt") + '{"count":2}', "blank.txt: not JSON"),
    (SCORE.replace("FILE", "row.tsv"), "sts: a single pair ... two pairs"),
    (SCORE.replace("FILE", "words.tsv"), "words.tsv: id '1' has score 'high'"),
    (SCORE.replace("FILE", "row.tsv").replace("record.json", "blank.txt"), "blank.txt: not JSON"),
    ("report --title x --layouts {root}/latin1.tsv --output {out}/x", "latin1.tsv: byte 13 is not UTF-8; delete it"),
    (fetch("text", file="{root}/good.tsv", columns={"text": "body"}), "column 'body' ... id, text"),
    (fetch("text", file="{root}/broken.jsonl"), "broken.jsonl: not jsonl"),
    (fetch("text", file="{root}/wide.csv", columns={"text": "body"}), "wide.csv: no column 'body'; it has c0, ... c29, ..."),
    (fetch("text", file="{root}/list.jsonl"), "list.jsonl: no column 'text'; ... (there are id, 0)"),
    (fetch("text", file="{root}/good.tsv", member="*.txt"), "not a zip or tar archive"),
    (fetch("text", archive="file://{root}/none.zip"), "cannot be downloaded"),
    (fetch("text", package={"no-version": ""}), "kolibri==0.18.1"),
    (fetch("text", hub="no-such/data"), "no-such/data: ... hub"),
    (fetch("pairs", file="{root}/score.tsv"), "id '1' has score '5'; expected ... 0 to 1"),
    (fetch("pairs", file="{root}/words.tsv"), "id '1' has score 'high'"),
    (fetch("labelled_pairs", file="{root}/label.tsv"), "id '2' has label 'maybe'; expected ... contradiction"),
    (fetch("labelled_pairs", file="{root}/good.tsv"), "no column 'premise'; map ... `columns:`"),
    (classify("label.tsv"), "label.tsv: id '2' has label 'maybe'"),
    (classify("good.tsv", "plain"), "good.tsv: no column 'premise'"),
    (classify("one-label.tsv", "plain"), "every label is 'neutral' ... two labels"),
    (classify("nli.tsv", "plain").replace("pairs", "text"), "language adapters ... train_language_adapter's"),
    ("choose_best --root {root} --language hau --name hau --blocks [] --statistics {} --output {out}/x", "`dev` ... or `encoder`"),
    ("choose_best --root {root} --language hau --name hau --blocks [] --dev t --output {out}/x", "blocks: none ... give one"),
    ("choose --what scale --dev t --values {} --scores {} --output {out}/x", "values: ... at least 1"),
    (SYNTHESISE + "--shards 0", "shards: ... greater than or equal to 1"),
    (SYNTHESISE + "--shards 2 --shard 2", "shard: 2 of 2; they are numbered from 0"),
    (SYNTHESISE + "--rows -1", "rows: ... greater than or equal to 0"),
    ("train_encoder --seed 1 --state {out}/state --output {out}/x", "`weights` or `endpoint`"),
    (train("masked"), "masked is trained by adapt_backbone"),
    (FINE_TUNE.replace("FILE", "same.tsv"), "fine_tuning: every label is 'good' ... two labels"),
    (FINE_TUNE.replace("FILE", "few.tsv"), "held_out 0.1 of 2 ... at least one"),
    (FINE_TUNE.replace("FILE", "blank.tsv"), "blank.tsv: id '2' has no label"),
    (FINE_TUNE.replace("FILE", "good.tsv"), "good.tsv: no column 'label'"),
    (fetch("text", files="x"), "source.files: unknown ... 'file'"),
    ("fetch_model --source {\"file\":\"{root}/no-tokenizer\"} --output {out}/x", "no tokenizer; expected a transformers model"),
    ("fetch_model --source {\"file\":\"{root}/none\"} --output {out}/x", "local model ... config.json"),
    ("fetch_model --source {\"file\":\"{root}/cut\"} --output {out}/x", "cut/model.safetensors: broken or cut short"),
    (train("graded", texts="{root}/good.tsv"), "graded: ... sentence1, sentence2, score; ... id"),
    (train("correlation", texts="{root}/good.tsv"), "correlation: ... sentence1, sentence2, score; ... id"),
    (train("listwise", texts="{root}/good.tsv"), "listwise: ... query, document; ... id"),
    (train(texts="{root}/alike.tsv"), "contrast: all 3 rows have the same texts; give rows"),
    (train(texts="{root}/twice.tsv"), "id '1' appears twice"),
    (train(texts="{root}/none.tsv"), "none.tsv: no such file"),
    (train(learning_rate=1e30, epochs=40, batch_size=2, precision="float32"), "loss is"),
    (train(epochs=0), "training.epochs: ... greater ... 0"),
    (lora(style="chat"), "chat template"),
    (lora(max_length=9), "max_length"),
    (lora(learning_rate=1e30, epochs=60, batch_size=1, micro_batch_size=1), "loss is"),
    ("describe_classifier --system {} --about {} --parts base={root}/no-adapter --output {out}/x",
     "no-adapter/seedbed.json: no such file; ... base first"),
    ("compose_adapters --task {root}/no-adapter --target {root}/no-adapter --source {root}/no-adapter --output {out}/x", "no-adapter"),
    ("score --systems {root}/none --tests {root}/good.tsv --records {root}/none --tasks {\"t\":{\"protocol\":\"sts\"}}"
     " --language hau --scores {out} --output {out}/x", "no column 'sentence1'"),
    ("score --systems {root}/none --tests {root}/good.tsv --records {root}/none --tasks {\"t\":{\"protocol\":\"sts\"}}"
     " --language hau --language swh --scores {out} --output {out}/x", "tasks: 1 for 2 languages; give one for each"),
    ("fuse_encoders --members a={root}/none --weights [1] --dev t --output {out}/x", "`dev` and `task`, or neither"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "message"), PROGRAMS, ids=[message[:50] for _, message in PROGRAMS])
def test_a_program_stops_with_one_line_and_leaves_nothing(inputs, tmp_path, monkeypatch, command, message):
    """In this process, which has its libraries in memory: Python prints what a program exits with."""
    arguments = [part.replace("{root}", str(inputs)).replace("{out}", str(tmp_path)) for part in command.split()]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stop:
        runpy.run_module(f"scripts.{arguments[0]}", run_name="__main__")
    said = stop.value.code
    assert isinstance(said, str) and said.startswith("error: ") and tells(said, message) and "\n" not in said, said
    assert not [path for path in tmp_path.iterdir() if path.name != "state"]


def full() -> None:
    """A limit on the size of files stands for a disk without space."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))


@pytest.mark.parametrize(("disk", "said"), [(full, ""), (humble, "permission denied")])
def test_a_disk_that_takes_nothing_is_one_line_and_left_as_it_is(inputs, tmp_path, disk, said):
    (tmp_path / "results").mkdir(mode=0o555 if disk is humble else 0o755)
    out = {"{root}": str(inputs), "{out}": str(tmp_path / "results")}
    command = fetch("text", file="{root}/good.tsv")
    for name, value in out.items():
        command = command.replace(name, value)
    done = subprocess.run(
        [sys.executable, "-m", "scripts.fetch_corpus", *command.split()[1:]],
        capture_output=True, text=True, env=ENVIRONMENT, preexec_fn=disk,
    )  # fmt: skip
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and said in line and line.endswith("nothing was written")
    assert "Traceback" not in done.stderr and not list((tmp_path / "results").iterdir())
