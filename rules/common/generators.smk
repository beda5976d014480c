"""Models, adapters, and who makes them for whom."""

from importlib.util import find_spec

from seedbed.generators.fetch import local_files as local_model
from seedbed.generators.settings import BOTH, PART_CORPUS

PROMPTS = [resource(f"prompts/{name}.yaml") for name in ("nli", "syncse")]
CHOSEN = "<results>/generators/{generator}/composition/{lang}/scale.json"
LABEL_PROMPTS = [resource(f"prompts/{name}.yaml") for name in ("classification", "icl")]


def model_source(wildcards):
    """Where a model comes from: a study's own, or a published adapter or encoder (see `published_model`)."""
    owner, *what = wildcards.model.split("+")
    if not what:
        model = (STUDY.generators if wildcards.room == "generators" else STUDY.backbones)[owner]
        return model.source.resolved(STUDY.facts(ANY))
    find = STUDY.published_adapter if wildcards.room == "generators" else STUDY.published_encoder
    return find(owner, *what)


def converter(wildcards):
    """The modules that make a model's safetensors: `fetch_model` names them by a format, or runs them on their own."""
    source = model_source(wildcards)
    file = f"seedbed/generators/{'to_safetensors' if source.convert else source.format}.py"
    return [file] if (ROOT / file).is_file() else []


def published_model(room, owner, *what):
    """The directory of what is published for a generator (method, polarity, language) or backbone (recipe, language)."""
    return f"<results>/{room}/{'+'.join([owner, *what])}/weights/seedbed.json"


def generator_setting(*path):
    """One setting of the wildcard's generator."""

    def value(wildcards):
        setting = STUDY.generators[wildcards.generator]
        for name in path:
            setting = getattr(setting, name)
        return plain(setting)

    return value


def written_with(name, *unused):
    """A generator's settings for a job that writes, without those that it does not read: an edit of them re-runs nothing."""
    never = {
        "like",
        "adapters",
        "triplets",
        "task_adapters",
        "language_data",
        "language_loss",
        "composition",
        "shard_rows",
    }
    generator = STUDY.generators[name]
    return compact(generator.model_dump(mode="json", exclude_defaults=True, exclude=never | set(unused)))


def writer(*unused):
    """The same of the wildcard's generator."""
    return lambda wildcards: written_with(wildcards.generator, *unused)


def writing_environment(wildcards):
    """Where the wildcard's generator writes: vLLM pins its own torch and cannot live with what trains."""
    return f"../envs/{'vllm' if STUDY.generators[wildcards.generator].backend == 'vllm' else 'main'}.yaml"


def writing_python(wildcards, resources):
    """The Python that it writes with, where conda does not bring one: of `make env-vllm`, beside this one's, for vLLM."""
    own = Path(sys.prefix).with_name(".venv-vllm") / "bin/python"
    needed = writing_environment(wildcards).endswith("vllm.yaml") and not conda()
    return str(own) if needed and own.exists() else "python"


def conda():
    """Whether jobs run in conda's environments."""
    return any(method.name == "CONDA" for method in workflow.deployment_settings.deployment_method)


def lacking(job):
    """What a job's environment has not; nothing: it has all."""
    if job.rule.name not in ("synthesise", "build_xllora_examples") or conda() or find_spec("vllm"):
        return ""
    generator = STUDY.generators[job.wildcards.generator]
    if generator.backend != "vllm" or writing_python(job.wildcards, None) != "python":
        return ""
    return (
        f"generators.{job.wildcards.generator}.backend: vllm, which is not here; run `make env-vllm`, set "
        "`software-deployment-method: conda` in the profile, or take `backend: transformers`"
    )


def gpus_of(name):
    """What a generator writes on: vLLM spreads a model over several GPUs, an endpoint has its own."""
    generator = STUDY.generators[name]
    return {"vllm": generator.tensor_parallel, "openai": 0, "openai-chat": 0}.get(generator.backend, 1)


def gpus(wildcards):
    """What the wildcard's generator writes on."""
    return gpus_of(wildcards.generator)


def generator_file(generator, part, path):
    """A file of one part of a generator (see MADE_FROM), in the folder of the generator that makes it."""
    return f"<results>/generators/{STUDY.maker(generator, part)}/{path}"


def base_weights(generator):
    """What a generator writes with; nothing: a server alone has it."""
    return generator_file(generator, "weights", "weights/seedbed.json") if STUDY.generators[generator].source else []


def writing_base(wildcards):
    """The same of the wildcard's generator."""
    return base_weights(wildcards.generator)


def base_argument(wildcards, input):
    """Weights as an argument, if there are any."""
    return ["--base", str(Path(str(input.base)).parent)] if input.base else []


def made(part, path):
    """A file of one part of the wildcard's generator."""
    return lambda wildcards: generator_file(wildcards.generator, part, path)


def composed(part, path):
    """A file that is composed of adapters: a generator's own, or a classifier's (see `classifier_made`)."""

    def file(wildcards):
        find = classifier_made if wildcards.room == "encoders" else generator_file
        return find(wildcards.model.partition("+")[0], part, path)

    return file


def composition_of(wildcards):
    """How a generator's or a classifier's adapters are composed; maybe with one of several scales, or one to be chosen."""
    name, _, scale = wildcards.model.partition("+")
    composition = (STUDY.generators[name] if wildcards.room == "generators" else learner(name)).composition
    if choosing(wildcards):
        scale = 1  # which is not said: a file has the chosen one
    return (composition.updated({"scale": float(scale)}) if scale else composition).dump()


def choosing(wildcards):
    """Whether a development task chooses the scale of the adapters of the wildcard's model."""
    return wildcards.room == "generators" and wildcards.model in STUDY.choosing


def chosen_scale(wildcards):
    """The file that says which scale was chosen; nothing: it is given."""
    return CHOSEN.replace("{generator}", wildcards.model) if choosing(wildcards) else []


def chosen_argument(wildcards, input):
    """The same as an argument."""
    return ["--chosen", str(input.chosen)] if input.chosen else []


def tried(wildcards):
    """Scale and language -> the scores of the encoders that try it on the development task."""
    dev = STUDY.choosing[wildcards.generator].dev
    return {
        f"{scale:g}/{code}": SCORED.replace("<results>", STUDY.results).format(
            backbone=backbone, recipe=recipe, lang=code, test_lang=code, bundle=dev
        )
        for scale, (recipe, backbone) in STUDY.candidates_of(wildcards.generator).items()
        for code in STUDY.chosen_on(dev, wildcards.lang)
    }


def tried_arguments(wildcards):
    """The same as arguments."""
    return [f"{key}={file}" for key, file in tried(wildcards).items()]


def weights_name(wildcards):
    """Whose weights the wildcard's generator has: adapters of variants that share them can be composed."""
    return STUDY.maker(wildcards.generator, "weights")


def language_texts(wildcards):
    """The corpus that a language adapter learns from."""
    return f"<results>/corpora/{{lang}}/{STUDY.generators[wildcards.generator].language_corpus}.tsv"


def task_adapters(generator, part="task", folder="task/{polarity}", **wildcards):
    """The adapters that write positives and negatives: in one place or in two."""
    return collect(
        f"<results>/generators/{{generator}}/{folder}/seedbed.json",
        generator=STUDY.maker(generator, part),
        polarity=[STUDY.generators[generator].task_adapter(polarity) for polarity in POLARITIES],
        **wildcards,
    )


def xllora_corpora(part):
    """One part's corpora for the languages that the XL-LoRA adapter learns from."""

    def files(wildcards):
        spec = STUDY.generators[wildcards.generator].xllora
        role = PART_CORPUS[part]
        codes = [code for code in spec.languages if spec.uses(part) and STUDY.corpus(role, code)]
        return [f"<results>/corpora/{code}/{role}.tsv" for code in codes]

    return files


def xllora_writers(wildcards):
    """The adapters that write the targets of parallel text; no other examples need any."""
    synthetic = STUDY.generators[wildcards.generator].xllora.uses("synthetic")
    return task_adapters(wildcards.generator) if synthetic else []


def published(wildcards):
    """The ready examples, positive and negative, if the study uses them."""
    ready = STUDY.generators[wildcards.generator].xllora.source == "published"
    names = ["published_positive", "published_negative"] if ready else []
    return collect("<results>/corpora/mul/{corpus}.tsv", corpus=names)


def xllora_inputs(wildcards, input):
    """Where the examples come from, as arguments."""
    if input.published:
        return [
            "--published-positive",
            input.published[0],
            "--published-negative",
            input.published[1],
        ]
    return [
        *adapter_arguments(wildcards, input),
        *("--parallel", *named_by_language(input.parallel)),
        *("--nli", *named_by_language(input.nli)),
        *(("--nli-machine", *named_by_language(input.machine)) if input.machine else ()),
    ]


def adapter_arguments(wildcards, input):
    """The folders of a positive and a negative adapter, as arguments; nothing where there are none."""
    folders = [str(Path(manifest).parent) for manifest in input.adapters]
    return [argument for polarity, folder in zip(POLARITIES, folders) for argument in (f"--{polarity}-adapter", folder)]


def named_by_language(files):
    """LANG=FILE arguments for corpora that lie in their language's folder."""
    return [f"{file.split('/')[-2]}={file}" for file in files]
