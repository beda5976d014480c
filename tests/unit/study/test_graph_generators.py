"""Language models, their adapters, and the triplets that they write."""

from __future__ import annotations

from seedbed.study.graph import composition, generators, triplets
from tests.asking import TOLD, Wildcards, asking, study_of

TASK = {polarity: f"generators/tiny/task/{polarity}/seedbed.json" for polarity in ("positive", "negative")}


def test_a_recipe_has_its_generator_or_the_first_or_who_writes_the_same(ask) -> None:
    writers = {name: ask(generators.of_recipe, name) for name in ("composition", "cold", "taken", "picks+0.5")}
    # picks with 0.5 has the settings of tiny.
    assert writers == {"composition": "tiny", "cold": "colder", "taken": "ready", "picks+0.5": "tiny"}


def test_a_family_shares_what_is_equal(ask) -> None:
    assert ask(generators.part, "colder", "task", "<results>/{generator}") == "tiny"
    assert ask(generators.part, "one", "task", "<results>/{generator}") == "one"
    assert ask(generators.weights, "colder") == "generators/tiny/weights/seedbed.json"
    assert ask(generators.base, generator="one") == "generators/tiny/weights/seedbed.json"
    assert ask(generators.weights_name, generator="one") == "tiny"
    assert ask(generators.writing_base, generator="one") == "generators/tiny/weights/seedbed.json"
    assert ask(generators.writing_base, generator="server") == []


def test_models_come_from_the_study_or_are_published(ask) -> None:
    assert ask(generators.model_source, room="generators", model="tiny").file == "own/generator"
    assert ask(generators.model_source, room="encoders", model="bare").file == "own/other"
    assert ask(generators.model_source, room="encoders", model="other+published+mul").file == "own/published"
    work = {"tiny": {"source": {"file": "x"}, "adapters": {"xllora": {"positive": {"file": "own/{lang}.a"}}}}}
    later = asking(
        study_of(TOLD, generators=work, classifiers={}, start="adapters", compute=None, recipes={"base": {}})
    )
    assert later(generators.model_source, room="generators", model="tiny+xllora+positive+hau").file == "own/hau.a"


def test_a_persons_model_is_its_files(tmp_path) -> None:
    (tmp_path / "config.json").write_text("{}")
    source = {"tiny": {"source": {"file": str(tmp_path)}}}
    here = asking(study_of(TOLD, generators=source, classifiers={}, compute=None, recipes={"base": {}}))
    files = here(generators.local_files, room="generators", model="tiny")
    assert [*map(str, files)] == [str(tmp_path / "config.json")]


def test_what_makes_safetensors_is_named_by_the_format(ask) -> None:
    assert ask(generators.converter, room="generators", model="tiny") == []
    gguf = {"tiny": {"source": {"hub": "x/y", "format": "gguf", "member": "a.gguf"}}}
    other = asking(study_of(TOLD, generators=gguf, classifiers={}, compute=None, recipes={"base": {}}))
    assert other(generators.converter, room="generators", model="tiny") == ["seedbed/generators/gguf.py"]


def test_what_runs_a_generator_is_named_by_its_back_end(ask) -> None:
    assert ask(generators.back_end, generator="server") == ["seedbed/generators/backends/openai.py"]
    local = ["seedbed/generators/backends/hf.py", "seedbed/generators/backends/encoder_decoder.py"]
    assert ask(generators.back_end, generator="tiny") == local == ask(generators.example_writer, generator="tiny")
    assert ask(generators.example_writer, generator="alone") == [], "its examples are published"
    assert ask(generators.environment, generator="tiny") == "main"
    fast = {"fast": {"source": {"file": "x"}, "backend": "vllm"}}
    study = study_of(TOLD, generators=fast, classifiers={}, compute=None, recipes={"base": {}})
    assert asking(study)(generators.environment, generator="fast") == "vllm"


def test_prompts_are_in_the_languages_of_a_job(told, ask) -> None:
    assert ask(generators.prompts, method="xllora").name == "nli.yaml"
    assert ask(generators.prompts, method="prompting").name == "syncse.yaml"
    assert (ask(generators.pivot_name), told.names["hau"]) == ("English", "Hausa")


def test_adapters_learn_the_task_in_the_pivot_and_a_language_in_its_texts(ask) -> None:
    assert ask(generators.language_texts, generator="tiny", lang="hau") == "corpora/hau/text.tsv"
    assert ask(generators.language_texts, generator="one", lang="hau") == "corpora/hau/instructions.tsv"
    assert ask(generators.task_adapters, "colder") == TASK
    assert ask(generators.task_adapters, "one") == dict.fromkeys(TASK, "generators/one/task/both/seedbed.json")
    composed = {polarity: f"generators/colder/composition/hau/{polarity}/seedbed.json" for polarity in TASK}
    assert ask(generators.composed_adapters, "colder", "hau") == composed


def test_a_job_gets_the_settings_that_it_reads_alone(told, ask) -> None:
    assert ask(generators.written_with, "tiny", "lora").lora.rank == 8 != told.generators["tiny"].lora.rank
    written = ask(generators.written_with, "tiny", "lora", "xllora")
    assert (written.shots, written.sampling.seed, written.lora.rank, written.xllora.languages) == (2, 11, 8, [])
    examples = ask(generators.written_with, "tiny", "shots")
    assert (examples.shots, examples.lora.rank, examples.xllora.languages) == (5, 4, ["swh", "fra"])


def test_xllora_learns_from_its_languages_or_from_ready_examples(told, ask) -> None:
    for part, role in (("synthetic", "parallel"), ("human", "nli_translations"), ("machine", "nli_machine")):
        found = generators.xllora_corpora(told, Wildcards(generator="tiny"), part)
        assert found == {lang: f"{told.results}/corpora/{lang}/{role}.tsv" for lang in ("swh", "fra")}
        assert generators.xllora_corpora(told, Wildcards(generator="alone"), part) == {}, "its examples are ready"
    assert ask(generators.xllora_writers, generator="tiny") == TASK
    assert ask(generators.xllora_writers, generator="alone") == {}
    ready = {polarity: f"corpora/mul/published_{polarity}.tsv" for polarity in TASK}
    assert ask(generators.published_examples, generator="alone") == ready
    assert ask(generators.published_examples, generator="tiny") == {}


def test_adapters_of_generators_and_classifiers_are_composed_alike(ask) -> None:
    job = Wildcards(room="generators", model="one")
    assert ask(composition.part, job, "task", "both") == "generators/one/task/both/seedbed.json"
    assert ask(composition.part, job, "language", "hau") == "generators/one/language/hau/seedbed.json"
    job = Wildcards(room="classifiers", model="xlm+0.5")
    assert ask(composition.part, job, "task", "eng") == "classifiers/xlm/task/eng/seedbed.json"
    assert ask(composition.part, job, "language", "hau") == "classifiers/xlm/language/hau/seedbed.json"
    # A language model has its language adapters from its generator.
    job = Wildcards(room="classifiers", model="gemma")
    assert ask(composition.part, job, "language", "eng") == "generators/tiny/language/eng/seedbed.json"


def test_a_scale_is_the_studys_or_one_of_several_or_chosen(ask) -> None:
    scales = {
        model: ask(composition.settings, room=room, model=model).scale
        for room, model in (("generators", "tiny"), ("classifiers", "xlm"), ("classifiers", "xlm+0.25"))
    }
    assert scales == {"tiny": 0.5, "xlm": 2, "xlm+0.25": 0.25}
    chosen = "generators/picks/composition/hau/scale.json"
    assert ask(composition.chosen, room="generators", model="picks", lang="hau") == chosen
    assert ask(composition.chosen, room="generators", model="tiny", lang="hau") == []


def test_a_development_task_chooses_a_scale_by_the_encoders_that_try_it(ask) -> None:
    tried = {0.25: ("picks+0.25", "other"), 0.5: ("picks+0.5", "other")}
    assert ask(composition.candidates_of, "picks") == tried
    choosers = {name: ask(composition.chooser_of, name) for name in ("picked", "composition", "base")}
    assert choosers == {"picked": "dev", "composition": "", "base": ""}
    scores = {f"{scale:g}/hau": f"scores/other/picks+{scale:g}/hau/hau.dev.json" for scale in tried}
    assert ask(composition.trials, generator="picks", lang="hau") == scores
    assert [*ask(composition.trials, generator="picks", lang="eng")] == ["0.25/hau", "0.25/hin", "0.5/hau", "0.5/hin"]


def test_a_generator_writes_for_as_many_anchors_as_the_greediest_recipe_learns_from(ask) -> None:
    rows = {name: ask(triplets.rows, generator=name, method="composition") for name in ("tiny", "colder")}
    assert rows == {"tiny": 40, "colder": 30}
    job = {"generator": "tiny", "method": "xllora", "lang": "hau"}
    assert (ask(triplets.rows, **job), ask(triplets.shards, **job)) == (24, 2)
    assert ask(triplets.shard_files, **job) == [f"triplets/tiny/xllora/hau.shards/{shard}.tsv" for shard in (0, 1)]


def test_a_method_writes_in_the_language_or_in_the_pivot(ask) -> None:
    for method, language, name, script, argument in (
        ("xllora", "eng", "English", "Latn", True),
        ("prompting", "hin", "Hindi", "Deva", False),
    ):
        job = {"method": method, "lang": "hin"}
        assert ask(triplets.output_language, **job) == language
        assert (ask(triplets.output_name, **job), ask(triplets.output_script, **job)) == (name, script)
        assert ask(triplets.in_pivot, **job) == argument


def test_adapters_write_as_the_method_says_unless_others_are_published(ask) -> None:
    def adapters(generator, method):
        return ask(triplets.adapters, generator=generator, method=method, lang="hau")

    assert adapters("tiny", "prompting") == {}
    assert adapters("alone", "composition") == TASK, "a scale of 0 leaves the task's own"
    for generator in ("tiny", "picks"):
        assert adapters(generator, "composition") == ask(generators.composed_adapters, generator, "hau")
    own = {polarity: f"generators/alone/xllora/{polarity}/seedbed.json" for polarity in TASK}
    assert adapters("alone", "xllora") == own
    both = {polarity: {"file": "own/{lang}.a"} for polarity in ("positive", "negative")}
    work = {"tiny": {"source": {"file": "x"}, "adapters": {"xllora": both}}}
    later = asking(
        study_of(TOLD, generators=work, classifiers={}, compute=None, recipes={"xllora": {}}, start="adapters")
    )
    models = {polarity: f"generators/tiny+xllora+{polarity}+hau/weights/seedbed.json" for polarity in both}
    found = later(triplets.adapters, generator="tiny", method="xllora", lang="hau")
    assert found == models


def test_an_audit_reads_the_triplets_and_the_language(ask) -> None:
    job = {"generator": "ready", "method": "prompting", "lang": "hau"}
    assert ask(triplets.raw, **job) == "corpora/hau/ready+prompting.tsv"
    assert ask(triplets.raw, **job | {"generator": "tiny"}) == "triplets/tiny/prompting/hau.raw.tsv"
    assert ask(triplets.audited_text, "hau") == "corpora/hau/text.sample.tsv"
    assert ask(triplets.audited_text, "eng") == "corpora/eng/text.sample.tsv"
    assert ask(triplets.audited_pivot, lang="hau") == "corpora/eng/text.sample.tsv"
    assert ask(triplets.audited_pivot, lang="eng") == []
    words = asking(study_of(TOLD, audit={"language_id": False}))
    assert words(triplets.audited_pivot, lang="hau") == []
