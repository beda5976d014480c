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
        **job("fetch_model", source=generators.model_source, downloads="downloads", lock="lock"),
        code=code("fetch_model", modules=generators.converter),
        local=JOBS.files(generators.local_files),
    message:
        "Fetch {wildcards.model}"
    shell:
        ONLINE


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
        **job("train_task_adapter", language=generators.pivot_name, name=generators.weights_name, **ADAPTER, **KEPT),
        code=code("train_task_adapter", NLI_PROMPTS),
    message:
        "Train the {wildcards.polarity} task adapter of {wildcards.generator}"
    shell:
        ON_GPU


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
        **job(
            "train_language_adapter",
            kind="generators.{generator}.language_data",
            loss="generators.{generator}.language_loss",
            language="names.{lang}",
            pivot=generators.translated_into,
            name=generators.weights_name,
            **ADAPTER,
            **KEPT,
        ),
        code=code("train_language_adapter", generators.language_prompts),
    message:
        "Train the {wildcards.lang} adapter of {wildcards.generator}"
    shell:
        ON_GPU


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
        **job("compose_adapters", composition=composition.settings),
        code=code("compose_adapters"),
    message:
        "Compose the {wildcards.polarity} adapter of {wildcards.model} for {wildcards.lang}"
    shell:
        PROGRAM


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
        **job("choose_scale", dev="choosing.{generator}.dev", scores=composition.trials),
        code=code("choose_scale"),
    message:
        "Choose the scale of {wildcards.generator} for {wildcards.lang}"
    shell:
        PROGRAM


rule build_xllora_examples:
    input:
        base=generators.base,
        adapters=listed(generators.xllora_writers),
        parallel=listed(generators.xllora_corpora, "synthetic"),
        nli=listed(generators.xllora_corpora, "human"),
        machine=listed(generators.xllora_corpora, "machine"),
        published=listed(generators.published_examples),
    output:
        positive_output=paths.XLLORA_EXAMPLES.replace("{polarity}", "positive"),
        negative_output=paths.XLLORA_EXAMPLES.replace("{polarity}", "negative"),
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
        **job(
            "build_xllora_examples",
            generator=lambda wildcards: generators.written_with(wildcards.generator, "shots"),
            adapters=generators.xllora_writers,
            published=generators.published_examples,
            parallel=lambda wildcards: generators.xllora_corpora(wildcards, "synthetic"),
            nli=lambda wildcards: generators.xllora_corpora(wildcards, "human"),
            machine=lambda wildcards: generators.xllora_corpora(wildcards, "machine"),
            language=generators.pivot_name,
            count="generators.{generator}.lora.examples",
            state="state",
        ),
        code=code("build_xllora_examples", NLI_PROMPTS, modules=generators.example_writer),
        python=python_of,
    message:
        "Build XL-LoRA examples with {wildcards.generator}"
    shell:
        WRITER


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
        **job("train_xllora_adapter", language=generators.pivot_name, name=generators.weights_name, **ADAPTER, **KEPT),
        code=code("train_xllora_adapter", NLI_PROMPTS),
    message:
        "Train the {wildcards.polarity} XL-LoRA adapter of {wildcards.generator}"
    shell:
        ON_GPU


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
        **job(
            "translate",
            name=lambda wildcards: wildcards.translator,
            reads=translations.reads,
            adapters=translations.adapters,
            given=translations.given,
            **ASKED,
        ),
        code=code("translate", TRANSLATION_PROMPTS, modules=generators.back_end),
        python=python_of,
    message:
        "Translate the {wildcards.lang} texts of {wildcards.corpus} by {wildcards.translator}"
    shell:
        WRITER


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
        **job(
            "judge",
            name=lambda wildcards: wildcards.judge,
            answer="judges.{judge}.answer",
            translations=translations.candidates,
            **ASKED,
        ),
        code=code("judge", TRANSLATION_PROMPTS, JUDGING_PROMPTS, modules=generators.back_end),
        python=python_of,
    message:
        "Judge the {wildcards.lang} translations of {wildcards.corpus} by {wildcards.judge}"
    shell:
        WRITER
