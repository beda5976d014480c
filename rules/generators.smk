"""Room 2: language models and their adapters."""

from seedbed.generators.settings import BOTH, POLARITIES


rule fetch_model:
    output:
        paths.WEIGHTS,
    log:
        "<logs>/fetch_model/{room}/{model}.log",
    benchmark:
        "<benchmarks>/fetch_model/{room}/{model}.jsonl"
    priority: 90
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("fetch_model")
    resources:
        **NEEDS.of("fetch_model"),
    params:
        **settings(source=generators.model_source, downloads="downloads"),
        code=code("fetch_model", modules=generators.converter),
        local=JOBS.files(generators.local_files),
        lock=STUDY.lock,
        directory=JOBS.directory,
    message:
        "Fetch {wildcards.model}"
    shell:
        "HF_HUB_OFFLINE=0 python -m scripts.fetch_model --source {params.source:q}"
        " --downloads {params.downloads:q} --lock {params.lock:q} --output {params.directory:q} > {log:q} 2>&1"


rule train_task_adapter:
    input:
        base=generators.base,
        triplets=collect(paths.CORPUS, lang=STUDY.pivot, corpus="nli"),
    output:
        paths.TASK_ADAPTER,
    log:
        "<logs>/train_task_adapter/{generator}/{polarity}.log",
    benchmark:
        "<benchmarks>/train_task_adapter/{generator}/{polarity}.jsonl"
    wildcard_constraints:
        polarity=one_of([*POLARITIES, BOTH]),
    priority: 80
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("train_task_adapter")
    resources:
        **NEEDS.of("train_task_adapter"),
    params:
        **settings(**ADAPTER, language=generators.pivot_name, minutes="checkpoint_minutes"),
        **KEPT,
        code=code("train_task_adapter", NLI_PROMPTS),
        name=generators.weights_name,
        base=subpath(input.base, parent=True),
    message:
        "Train the {wildcards.polarity} task adapter of {wildcards.generator}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_task_adapter --base {params.base:q} --name {params.name:q} --triplets {input.triplets:q} --polarity {wildcards.polarity:q}"
        " --language {params.language:q} --style {params.style:q} --dtype {params.dtype:q} --lora {params.lora:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule train_language_adapter:
    input:
        base=generators.base,
        texts=generators.language_texts,
    output:
        paths.LANGUAGE_ADAPTER,
    log:
        "<logs>/train_language_adapter/{generator}/{lang}.log",
    benchmark:
        "<benchmarks>/train_language_adapter/{generator}/{lang}.jsonl"
    priority: 80
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("train_language_adapter")
    resources:
        **NEEDS.of("train_language_adapter"),
    params:
        **settings(
            **ADAPTER,
            kind="generators.{generator}.language_data",
            loss="generators.{generator}.language_loss",
            language="names.{lang}",
            minutes="checkpoint_minutes",
        ),
        **KEPT,
        code=code("train_language_adapter", generators.language_prompts),
        pivot=generators.translated_into,
        name=generators.weights_name,
        base=subpath(input.base, parent=True),
    message:
        "Train the {wildcards.lang} adapter of {wildcards.generator}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_language_adapter --base {params.base:q} --name {params.name:q} --texts {input.texts:q} --kind {params.kind:q} --loss {params.loss:q} {params.pivot:q}"
        " --language {params.language:q} --style {params.style:q} --dtype {params.dtype:q} --lora {params.lora:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule compose_adapters:
    input:
        task=lambda wildcards: composition.part(wildcards, "task", wildcards.polarity),
        target=lambda wildcards: composition.part(wildcards, "language", wildcards.lang),
        source=lambda wildcards: composition.part(wildcards, "language", STUDY.pivot),
        chosen=composition.chosen,
    output:
        paths.COMPOSED,
    log:
        "<logs>/compose_adapters/{room}/{model}/{lang}/{polarity}.log",
    benchmark:
        "<benchmarks>/compose_adapters/{room}/{model}/{lang}/{polarity}.jsonl"
    wildcard_constraints:
        polarity=one_of([*POLARITIES, BOTH, STUDY.pivot]),  # of a classifier: the language of its task adapter
    priority: 50
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("compose_adapters")
    resources:
        **NEEDS.of("compose_adapters"),
    params:
        **settings(composition=composition.settings),
        code=code("compose_adapters"),
        chosen=option("chosen"),
        task=subpath(input.task, parent=True),
        target=subpath(input.target, parent=True),
        source=subpath(input.source, parent=True),
        directory=JOBS.directory,
    message:
        "Compose the {wildcards.polarity} adapter of {wildcards.model} for {wildcards.lang}"
    shell:
        "python -m scripts.compose_adapters --task {params.task:q} --target {params.target:q} --source {params.source:q}"
        " --composition {params.composition:q} {params.chosen:q} --output {params.directory:q} > {log:q} 2>&1"


rule choose_scale:
    input:
        scores=listed(composition.trials),
    output:
        paths.SCALE,
    log:
        "<logs>/choose_scale/{generator}/{lang}.log",
    benchmark:
        "<benchmarks>/choose_scale/{generator}/{lang}.jsonl"
    priority: 50
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("choose_scale")
    resources:
        **NEEDS.of("choose_scale"),
    params:
        **settings(dev="choosing.{generator}.dev"),
        code=code("choose_scale"),
        scores=named(composition.trials),
    message:
        "Choose the scale of {wildcards.generator} for {wildcards.lang}"
    shell:
        "python -m scripts.choose_scale --dev {params.dev:q} --scores {params.scores:q} --output {output:q} > {log:q} 2>&1"


rule build_xllora_examples:
    input:
        base=generators.base,
        adapters=listed(generators.xllora_writers),
        parallel=listed(generators.xllora_corpora, "synthetic"),
        nli=listed(generators.xllora_corpora, "human"),
        machine=listed(generators.xllora_corpora, "machine"),
        published=listed(generators.published_examples),
    output:
        positive=paths.XLLORA_EXAMPLES.replace("{polarity}", "positive"),
        negative=paths.XLLORA_EXAMPLES.replace("{polarity}", "negative"),
    log:
        "<logs>/build_xllora_examples/{generator}.log",
    benchmark:
        "<benchmarks>/build_xllora_examples/{generator}.jsonl"
    priority: 70
    conda:
        lambda wildcards: f"../envs/{generators.environment(wildcards)}.yaml"
    threads: NEEDS.threads("build_xllora_examples")
    resources:
        **NEEDS.of("build_xllora_examples"),
    params:
        **settings(
            generator=lambda wildcards: generators.written_with(wildcards.generator, "shots"),
            examples="generators.{generator}.lora.examples",
            language=generators.pivot_name,
        ),
        **WRITER,
        code=code("build_xllora_examples", NLI_PROMPTS, modules=generators.example_writer),
        adapters=options(generators.xllora_writers, "--{}-adapter"),
        parallel=named(generators.xllora_corpora, "synthetic", option="--parallel"),
        nli=named(generators.xllora_corpora, "human", option="--nli"),
        machine=named(generators.xllora_corpora, "machine", option="--nli-machine"),
        published=options(generators.published_examples, "--published-{}"),
        base=subpath(input.base, parent=True),
    message:
        "Build XL-LoRA examples with {wildcards.generator}"
    shell:
        "GPUS={resources.gpu:q} {params.python:q} -m scripts.build_xllora_examples --base {params.base:q} --name {wildcards.generator:q}"
        " --generator {params.generator:q} {params.adapters:q} {params.parallel:q} {params.nli:q} {params.machine:q}"
        " {params.published:q} --language {params.language:q} --count {params.examples:q} --state {params.state:q}"
        " --positive-output {output.positive:q} --negative-output {output.negative:q} > {log:q} 2>&1"


rule train_xllora_adapter:
    input:
        base=generators.base,
        examples=paths.XLLORA_EXAMPLES,
    output:
        paths.XLLORA_ADAPTER,
    log:
        "<logs>/train_xllora_adapter/{generator}/{polarity}.log",
    benchmark:
        "<benchmarks>/train_xllora_adapter/{generator}/{polarity}.jsonl"
    priority: 60
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("train_xllora_adapter")
    resources:
        **NEEDS.of("train_xllora_adapter"),
    params:
        **settings(**ADAPTER, language=generators.pivot_name, minutes="checkpoint_minutes"),
        **KEPT,
        code=code("train_xllora_adapter", NLI_PROMPTS),
        name=generators.weights_name,
        base=subpath(input.base, parent=True),
    message:
        "Train the {wildcards.polarity} XL-LoRA adapter of {wildcards.generator}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_xllora_adapter --base {params.base:q} --name {params.name:q} --examples {input.examples:q} --polarity {wildcards.polarity:q}"
        " --language {params.language:q} --style {params.style:q} --dtype {params.dtype:q} --lora {params.lora:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule translate:
    input:
        texts=translations.texts,
        base=translations.base,
        adapters=listed(translations.adapters),
        given=listed(translations.given),
    output:
        texts=paths.TRANSLATIONS,
        record=paths.TRANSLATIONS_RECORD,
    log:
        "<logs>/translate/{translator}/{lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/translate/{translator}/{lang}/{corpus}.jsonl"
    wildcard_constraints:
        corpus=one_of(translations.text_sets()),
    conda:
        lambda wildcards: f"../envs/{generators.environment(wildcards)}.yaml"
    threads: NEEDS.threads("translate")
    resources:
        **NEEDS.of("translate"),
    params:
        **settings(**ASKED, reads=translations.reads),
        **WRITER,
        code=code("translate", TRANSLATION_PROMPTS, modules=generators.back_end),
        base=option("base"),
        adapters=named(translations.adapters, option="--adapters"),
        given=named(translations.given, option="--given"),
    message:
        "Translate the {wildcards.lang} texts of {wildcards.corpus} by {wildcards.translator}"
    shell:
        "GPUS={resources.gpu:q} {params.python:q} -m scripts.translate {params.base:q} --name {wildcards.translator:q} --texts {input.texts:q} --columns {params.columns:q} --languages {params.languages:q}"
        " --pivot {params.pivot:q} --generator {params.generator:q} --reads {params.reads:q} {params.adapters:q} {params.given:q} --state {params.state:q} --record {output.record:q} --output {output.texts:q} > {log:q} 2>&1"


rule judge:
    input:
        texts=translations.texts,
        base=translations.base,
        translations=listed(translations.candidates),
    output:
        scores=paths.JUDGEMENTS,
        record=paths.JUDGEMENTS_RECORD,
    log:
        "<logs>/judge/{judge}/{lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/judge/{judge}/{lang}/{corpus}.jsonl"
    wildcard_constraints:
        corpus=one_of(translations.text_sets()),
    conda:
        lambda wildcards: f"../envs/{generators.environment(wildcards)}.yaml"
    threads: NEEDS.threads("judge")
    resources:
        **NEEDS.of("judge"),
    params:
        **settings(**ASKED, answer="judges.{judge}.answer"),
        **WRITER,
        code=code("judge", TRANSLATION_PROMPTS, JUDGING_PROMPTS, modules=generators.back_end),
        base=option("base"),
        translations=named(translations.candidates),
    message:
        "Judge the {wildcards.lang} translations of {wildcards.corpus} by {wildcards.judge}"
    shell:
        "GPUS={resources.gpu:q} {params.python:q} -m scripts.judge {params.base:q} --name {wildcards.judge:q} --texts {input.texts:q} --columns {params.columns:q} --languages {params.languages:q}"
        " --pivot {params.pivot:q} --translations {params.translations:q} --generator {params.generator:q} --answer {params.answer:q} --state {params.state:q} --record {output.record:q} --output {output.scores:q} > {log:q} 2>&1"
