"""Language models and their adapters: what makes which part of a generator, and of what."""

from pathlib import Path
from typing import Any

from seedbed.corpora.settings import Source
from seedbed.generators import fetch
from seedbed.generators.backends import modules_of
from seedbed.generators.settings import PART_CORPUS, POLARITIES, WRITING, Generator, by_adapters
from seedbed.languages import ANY
from seedbed.resources import ROOT, resource
from seedbed.study import paths, published
from seedbed.study.model import Study
from seedbed.study.paths import at

UNREAD = (
    "like",
    "adapters",
    "triplets",
    "task_adapters",
    "language_data",
    "language_text",
    "language_loss",
    "composition",
    "shard_rows",
)
"""Settings of a generator that no writing reads."""


def of_recipe(study: Study, recipe: str) -> str:
    """The generator whose triplets a recipe trains on."""
    spec = study.recipes[recipe]
    return study.makers[spec.generator or next(iter(study.generators)), spec.written]


def part(study: Study, generator: str, name: str, path: str, **wildcards: Any) -> str:
    """A file of one part of a generator (see MADE_FROM), in the folder of the generator that makes it."""
    return at(study, path, generator=study.makers[generator, name], **wildcards)


def weights(study: Study, generator: str) -> str:
    """The weights of a generator."""
    return at(study, paths.WEIGHTS, room="generators", model=study.makers[generator, "weights"])


def model_source(study: Study, wildcards: Any) -> Source:
    """Where weights come from: a model of the study's; `backbone+language`, what it is in one language; or a published
    adapter or encoder, `owner+recipe+language`.
    """
    owner, *what = wildcards.model.split("+")
    in_generators = wildcards.room == "generators"
    if not what:
        return (study.generators if in_generators else study.backbones)[owner].source.resolved(study.facts(ANY))
    if len(what) == 1:
        return study.backbones[owner].by_language[what[0]].resolved(study.facts(what[0]))
    return (published.adapter if in_generators else published.encoder)(study, owner, *what)


def local_files(study: Study, wildcards: Any) -> list[Path]:
    """A person's files that a model is made of."""
    return fetch.local_files(model_source(study, wildcards))


def converter(study: Study, wildcards: Any) -> list[str]:
    """The modules that make a model's safetensors: `fetch_model` names them by a format, or runs them on their own."""
    source = model_source(study, wildcards)
    file = f"seedbed/generators/{'to_safetensors' if source.convert else source.format}.py"
    return [file] if (ROOT / file).is_file() else []


def writer(study: Study, wildcards: Any) -> str:
    """The generator that a job writes with: its own, or that of its judge or translator; empty: it has none."""
    named = dict(wildcards.items())
    for entries, kind in ((study.judges, "judge"), (study.translators, "translator")):
        if kind in named:
            return entries[named[kind]].generator
    return named["generator"]


def back_end(study: Study, wildcards: Any) -> list[str]:
    """The modules that run a generator, which are loaded by name."""
    name = writer(study, wildcards)
    return modules_of(study.generators[name]) if name else []


def example_writer(study: Study, wildcards: Any) -> list[str]:
    """Modules of the back end where XL-LoRA examples are written; empty where they are published or translated."""
    return back_end(study, wildcards) if xllora_writers(study, wildcards) else []


def prompts(study: Study, wildcards: Any) -> str:
    """The words by which a method asks; empty: it has none."""
    name = WRITING[wildcards.method].prompt
    return "" if name == "none" else resource(f"prompts/{name}.yaml")


def base(study: Study, wildcards: Any) -> str:
    """The weights that an adapter is trained on."""
    return weights(study, wildcards.generator)


def writing_base(study: Study, wildcards: Any) -> list[str] | str:
    """The weights that a generator writes with; empty: a server alone has them."""
    return weights(study, wildcards.generator) if study.generators[wildcards.generator].source else []


def weights_name(study: Study, wildcards: Any) -> str:
    """Whose weights a generator has: adapters of variants that share them can be composed."""
    return study.makers[wildcards.generator, "weights"]


def pivot_name(study: Study, wildcards: Any) -> str:
    """The name of the pivot language, as prompts use it."""
    return study.names[study.pivot]


def language_texts(study: Study, wildcards: Any) -> str:
    """The corpus that a language adapter learns from."""
    corpus = study.generators[wildcards.generator].language_corpus
    return at(study, paths.CORPUS, lang=wildcards.lang, corpus=corpus)


def translates(study: Study, wildcards: Any) -> bool:
    """Whether a language adapter learns to translate."""
    return study.generators[wildcards.generator].language_data == "translations"


def translated_into(study: Study, wildcards: Any) -> str:
    """The name of the language that an adapter learns to translate into; empty: it learns something else."""
    return pivot_name(study, wildcards) if translates(study, wildcards) else ""


def language_prompts(study: Study, wildcards: Any) -> str:
    """The words in which a language adapter is asked."""
    return resource(f"prompts/{'translation' if translates(study, wildcards) else 'nli'}.yaml")


def task_adapters(study: Study, generator: str) -> dict[str, str]:
    """Polarity -> the adapter that writes it: in one place or in two."""
    shared = {polarity: study.generators[generator].task_adapter(polarity) for polarity in POLARITIES}
    return {name: part(study, generator, "task", paths.TASK_ADAPTER, polarity=of) for name, of in shared.items()}


def composed_adapters(study: Study, generator: str, lang: str) -> dict[str, str]:
    """Polarity -> the adapter that writes it, composed for a language."""
    wildcards = {"room": "generators", "model": study.makers[generator, by_adapters("composed")], "lang": lang}
    shared = {polarity: study.generators[generator].task_adapter(polarity) for polarity in POLARITIES}
    return {name: at(study, paths.COMPOSED, **wildcards, polarity=of) for name, of in shared.items()}


def written_with(study: Study, generator: str, *unread: str) -> Generator:
    """The settings of a generator for a job that writes, without those that it does not read: UNREAD, and more."""
    return study.generators[generator].without(*UNREAD, *unread)


def environment(study: Study, wildcards: Any) -> str:
    """Where a generator writes: vLLM pins its own torch and cannot live with what trains."""
    name = writer(study, wildcards)
    return "vllm" if name and study.generators[name].backend == "vllm" else "main"


def xllora_corpora(study: Study, wildcards: Any, name: str) -> dict[str, str]:
    """Language -> corpus of one part of the XL-LoRA examples, of the languages that the adapter learns from."""
    spec, role = study.generators[wildcards.generator].xllora, PART_CORPUS[name]
    codes = [code for code in spec.languages if spec.uses(name) and study.corpus(role, code)]
    return {code: at(study, paths.CORPUS, lang=code, corpus=role) for code in codes}


def xllora_writers(study: Study, wildcards: Any) -> dict[str, str]:
    """Polarity -> the adapter that writes the targets of parallel text; no other examples need any."""
    synthetic = study.generators[wildcards.generator].xllora.uses("synthetic")
    return task_adapters(study, wildcards.generator) if synthetic else {}


def published_examples(study: Study, wildcards: Any) -> dict[str, str]:
    """Polarity -> the ready examples, if the study uses them."""
    ready = POLARITIES if study.generators[wildcards.generator].xllora.source == "published" else ()
    return {polarity: at(study, paths.CORPUS, lang=ANY, corpus=f"published_{polarity}") for polarity in ready}
