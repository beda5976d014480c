"""Language models, their adapters, and the triplets that they write."""

from __future__ import annotations

from typing import Any

from seedbed.study.generator import StudyGenerator
from seedbed.study.graph.adapter import (
    ComposedAdapter,
    LanguageAdapter,
    TaskAdapter,
    Weights,
    XlloraAdapter,
    XlloraExamples,
)
from seedbed.study.graph.chosen import ChosenCandidate
from seedbed.study.graph.corpus import Anchors
from seedbed.study.graph.triplet import RawTriplets, Shard, Triplets
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from tests.asking import TOLD, study_of, within

LEFT: dict[str, Any] = {"classifiers": {}, "compute": None}
TASK = {polarity: f"generators/tiny/task/{polarity}/seedbed.json" for polarity in ("positive", "negative")}


def test_a_recipe_has_its_generator_or_the_first_or_who_writes_the_same(told: Study) -> None:
    writers = {name: StudyRecipe.get(told, name).writer for name in ("composition", "cold", "taken", "picks+0.5")}
    # picks with 0.5 has the settings of tiny.
    assert writers == {"composition": "tiny", "cold": "colder", "taken": "ready", "picks+0.5": "tiny"}


def test_a_family_shares_what_is_equal(told: Study) -> None:
    colder, one, server = (StudyGenerator.get(told, name) for name in ("colder", "one", "server"))
    assert colder.part("task", "<results>/{generator}") == f"{told.results}/tiny"
    assert one.part("task", "<results>/{generator}") == f"{told.results}/one"
    weights = f"{told.results}/generators/tiny/weights/seedbed.json"
    assert colder.weights == one.weights == weights and server.weights == ""
    adapter = TaskAdapter.get(told, "one", "both")
    assert adapter.inputs()["base"] == weights and adapter.settings()["name"] == one.model == "tiny"
    assert Shard.get(told, "one", "prompting", "hau", "0").inputs()["base"] == weights
    assert Shard.get(told, "server", "prompting", "hau", "0").inputs()["base"] == ""


def test_models_come_from_the_study_or_are_published(told: Study) -> None:
    assert Weights.get(told, "generators", "tiny").source.file == "own/generator"
    assert Weights.get(told, "encoders", "bare").source.file == "own/other"
    assert Weights.get(told, "encoders", "other+published+mul").source.file == "own/published"
    work = {"tiny": {"source": {"file": "x"}, "adapters": {"xllora": {"positive": {"file": "own/{lang}.a"}}}}}
    later = study_of(TOLD, **LEFT, generators=work, start="adapters", recipes={"base": {}})
    assert Weights.get(later, "generators", "tiny+xllora+positive+hau").source.file == "own/hau.a"


def test_a_persons_model_is_its_files(tmp_path) -> None:
    (tmp_path / "config.json").write_text("{}")
    study = study_of(TOLD, **LEFT, generators={"tiny": {"source": {"file": str(tmp_path)}}}, recipes={"base": {}})
    files = Weights.get(study, "generators", "tiny").local_files()
    assert [*map(str, files)] == [str(tmp_path / "config.json")]


def test_what_makes_safetensors_is_named_by_the_format(told: Study) -> None:
    assert Weights.get(told, "generators", "tiny").code().modules == ()
    gguf = {"tiny": {"source": {"hub": "x/y", "format": "gguf", "member": "a.gguf"}}}
    other = study_of(TOLD, **LEFT, generators=gguf, recipes={"base": {}})
    assert Weights.get(other, "generators", "tiny").code().modules == ("seedbed/generators/weights/formats/gguf.py",)


def test_what_runs_a_generator_is_named_by_its_back_end(told: Study) -> None:
    server = Shard.get(told, "server", "prompting", "hau", "0")
    assert server.code().modules == ("seedbed/generators/writing/backends/openai.py",)
    local = ("seedbed/generators/writing/backends/hf.py", "seedbed/generators/writing/backends/encoder_decoder.py")
    tiny = Shard.get(told, "tiny", "prompting", "hau", "0")
    assert tiny.code().modules == local == XlloraExamples.get(told, "tiny").code().modules
    assert XlloraExamples.get(told, "alone").code().modules == (), "its examples are published"
    assert tiny.environment == TaskAdapter.get(told, "tiny", "both").environment == "main"
    fast = {"fast": {"source": {"file": "x"}, "backend": "vllm"}}
    study = study_of(TOLD, **LEFT, generators=fast, recipes={"base": {}})
    assert XlloraExamples.get(study, "fast").environment == "vllm"
    assert TaskAdapter.get(study, "fast", "both").environment == "main", "it trains"


def test_prompts_are_in_the_languages_of_a_job(told: Study) -> None:
    files = {method: Shard.get(told, "tiny", method, "hau", "0").code().data for method in ("xllora", "prompting")}
    assert {method: file.name for method, (file,) in files.items()} == {
        "xllora": "nli.yaml",
        "prompting": "syncse.yaml",
    }
    in_pivot = TaskAdapter.get(told, "tiny", "both"), XlloraAdapter.get(told, "tiny", "positive")
    assert [one.language for one in in_pivot] == ["English", "English"]
    assert XlloraExamples.get(told, "tiny").settings()["language"] == "English"
    assert LanguageAdapter.get(told, "tiny", "hau").language == "Hausa"


def test_adapters_learn_the_task_in_the_pivot_and_a_language_in_its_texts(told: Study) -> None:
    read = {name: LanguageAdapter.get(told, name, "hau").inputs() for name in ("tiny", "one")}
    learnt = {name: within(files["texts"], told) for name, files in read.items()}
    assert learnt == {"tiny": "corpora/hau/text.tsv", "one": "corpora/hau/instructions.tsv"}
    colder = StudyGenerator.get(told, "colder")
    assert within(colder.task_adapters(), told) == TASK
    both = dict.fromkeys(TASK, "generators/one/task/both/seedbed.json")
    assert within(StudyGenerator.get(told, "one").task_adapters(), told) == both
    composed = {polarity: f"generators/colder/composition/hau/{polarity}/seedbed.json" for polarity in TASK}
    assert within(colder.composed_adapters("hau"), told) == composed


def test_a_job_gets_the_settings_that_it_reads_alone(told: Study) -> None:
    tiny = StudyGenerator.get(told, "tiny")
    assert tiny.written_with("lora").lora.rank == 8 != tiny.spec.lora.rank
    written = Shard.get(told, "tiny", "prompting", "hau", "0").settings()["generator"]
    assert (written.shots, written.sampling.seed, written.lora.rank, written.xllora.languages) == (2, 11, 8, [])
    examples = XlloraExamples.get(told, "tiny").settings()["generator"]
    assert (examples.shots, examples.lora.rank, examples.xllora.languages) == (5, 4, ["swh", "fra"])


def test_xllora_learns_from_its_languages_or_from_ready_examples(told: Study) -> None:
    tiny, alone = XlloraExamples.get(told, "tiny"), XlloraExamples.get(told, "alone")
    for part, role in (("synthetic", "parallel"), ("human", "nli_translations"), ("machine", "nli_machine")):
        found = tiny.corpora(part)
        assert found == {lang: f"{told.results}/corpora/{lang}/{role}.tsv" for lang in ("swh", "fra")}
        assert alone.corpora(part) == {}, "its examples are ready"
    assert within(tiny.adapters, told) == TASK and alone.adapters == {}
    ready = {polarity: f"corpora/mul/published_{polarity}.tsv" for polarity in TASK}
    assert within(alone.inputs()["published"], told) == ready and tiny.inputs()["published"] == {}


def test_adapters_of_generators_and_classifiers_are_composed_alike(told: Study) -> None:
    def parts(room: str, model: str, polarity: str) -> list[str]:
        found = ComposedAdapter.get(told, room, model, "hau", polarity).inputs()
        return within([found["task"], found["target"], found["source"]], told)

    languages = [f"generators/one/language/{code}/seedbed.json" for code in ("hau", "eng")]
    assert parts("generators", "one", "both") == ["generators/one/task/both/seedbed.json", *languages]
    languages = [f"classifiers/xlm/language/{code}/seedbed.json" for code in ("hau", "eng")]
    assert parts("classifiers", "xlm+0.5", "eng") == ["classifiers/xlm/task/eng/seedbed.json", *languages]
    # A language model has its language adapters from its generator.
    languages = [f"generators/tiny/language/{code}/seedbed.json" for code in ("hau", "eng")]
    assert parts("classifiers", "gemma", "eng") == ["classifiers/gemma/task/eng/seedbed.json", *languages]


def test_a_scale_is_the_studys_or_one_of_several_or_chosen(told: Study) -> None:
    def composed(room: str, model: str) -> ComposedAdapter:
        return ComposedAdapter.get(told, room, model, "hau", "positive")

    models = {"tiny": "generators", "picks+0.25": "generators", "xlm": "classifiers", "xlm+0.25": "classifiers"}
    scales = {model: composed(room, model).composition.scale for model, room in models.items()}
    assert scales == {"tiny": 0.5, "picks+0.25": 0.25, "xlm": 2, "xlm+0.25": 0.25}
    chosen = "chosen/scale/picks/hau.json"
    assert within(composed("generators", "picks").scale_file, told) == chosen
    assert composed("generators", "tiny").scale_file == ""


def test_a_development_task_chooses_a_scale_by_the_encoders_that_try_it(told: Study) -> None:
    tried = {0.25: ("picks+0.25", "other"), 0.5: ("picks+0.5", "other")}
    assert StudyGenerator.get(told, "picks").candidates() == tried
    choosers = {name: StudyRecipe.get(told, name).scale_chosen_on for name in ("picked", "composition", "base")}
    assert choosers == {"picked": "dev", "composition": "", "base": ""}
    scores = {f"{scale:g}/hau": f"scores/other/picks+{scale:g}/hau/hau.dev.json" for scale in tried}
    assert within(ChosenCandidate.get(told, "scale", "picks", "hau").inputs()["scores"], told) == scores
    assert [*ChosenCandidate.get(told, "scale", "picks", "eng").inputs()["scores"]] == [
        "0.25/hau",
        "0.25/hin",
        "0.5/hau",
        "0.5/hin",
    ]


def test_a_generator_writes_for_as_many_anchors_as_the_greediest_recipe_learns_from(told: Study) -> None:
    rows = {name: RawTriplets.get(told, name, "composition", "hau").rows for name in ("tiny", "colder")}
    assert rows == {"tiny": 40, "colder": 30}
    written = RawTriplets.get(told, "tiny", "xllora", "hau")
    assert (written.rows, written.shards) == (24, 2)
    shards = [f"triplets/tiny/xllora/hau.shards/{shard}.tsv" for shard in (0, 1)]
    assert within(written.inputs()["shards"], told) == shards


def test_a_method_writes_in_the_language_or_in_the_pivot(told: Study) -> None:
    for method, name, script, in_pivot in (("xllora", "English", "Latn", True), ("prompting", "Hindi", "Deva", False)):
        assert Shard.get(told, "tiny", method, "hin", "0").settings()["language"] == name
        audited = Triplets.get(told, "tiny", method, "hin").settings()
        assert (audited["script"], audited["in_pivot"]) == (script, in_pivot)


def test_an_audit_says_who_wrote_the_triplets_of_a_variant_too(told: Study) -> None:
    """The weights of `colder` are in the folder of `tiny`, which it is like."""
    record = {"name": "colder", "origin": [{"kind": "file", "name": "own/generator"}], "licence": "MIT"}
    about = Triplets.get(told, "colder", "composition", "hau").settings()["about"]
    assert about == {"generator": record | {"role": "generator"}}


def test_adapters_write_as_the_method_says_unless_others_are_published(told: Study) -> None:
    def adapters(generator: str, method: str) -> dict[str, str]:
        return within(Shard.get(told, generator, method, "hau", "0").adapters, told)

    assert adapters("tiny", "prompting") == {}
    assert adapters("alone", "composition") == TASK, "a scale of 0 leaves the task's own"
    for generator in ("tiny", "picks"):
        composed = StudyGenerator.get(told, generator).composed_adapters("hau")
        assert adapters(generator, "composition") == within(composed, told)
    own = {polarity: f"generators/alone/xllora/{polarity}/seedbed.json" for polarity in TASK}
    assert adapters("alone", "xllora") == own
    both = {polarity: {"file": "own/{lang}.a"} for polarity in ("positive", "negative")}
    work = {"tiny": {"source": {"file": "x"}, "adapters": {"xllora": both}}}
    later = study_of(TOLD, **LEFT, generators=work, recipes={"xllora": {}}, start="adapters")
    models = {polarity: f"generators/tiny+xllora+{polarity}+hau/weights/seedbed.json" for polarity in both}
    assert within(Shard.get(later, "tiny", "xllora", "hau", "0").adapters, later) == models


def test_an_audit_reads_the_triplets_and_the_language(told: Study) -> None:
    def read(generator: str, lang: str) -> dict[str, Any]:
        return within(Triplets.get(told, generator, "prompting", lang).inputs(), told)

    assert read("ready", "hau")["triplets"] == "corpora/hau/ready+prompting.tsv"
    assert read("tiny", "hau")["triplets"] == "triplets/tiny/prompting/hau.raw.tsv"
    assert [read("tiny", code)["corpus"] for code in ("hau", "eng")] == [
        "corpora/hau/text.sample.tsv",
        "corpora/eng/text.sample.tsv",
    ]
    assert [read("tiny", code)["pivot"] for code in ("hau", "eng")] == ["corpora/eng/text.sample.tsv", ""]
    assert read("tiny", "hau")["tests"] == within(Anchors.get(told, "hau", "anchors").inputs()["tests"], told)
    words = study_of(TOLD, audit={"language_id": False})
    assert Triplets.get(words, "tiny", "prompting", "hau").inputs()["pivot"] == ""
