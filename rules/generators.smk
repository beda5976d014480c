"""Rules of seedbed.generators: language models, their adapters, translations and judgements."""

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
        **job("fetch_model"),
    message:
        "Fetch {wildcards.model}"
    shell:
        ONLINE


rule train_task_adapter:
    input:
        unpack(inputs("train_task_adapter")),
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
        **job("train_task_adapter"),
    message:
        "Train the {wildcards.polarity} task adapter of {wildcards.generator}"
    shell:
        ON_GPU


rule train_language_adapter:
    input:
        unpack(inputs("train_language_adapter")),
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
        **job("train_language_adapter"),
    message:
        "Train the {wildcards.lang} adapter of {wildcards.generator}"
    shell:
        ON_GPU


rule compose_adapters:
    input:
        unpack(inputs("compose_adapters")),
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
        **job("compose_adapters"),
    message:
        "Compose the {wildcards.polarity} adapter of {wildcards.model} for {wildcards.lang}"
    shell:
        PROGRAM


rule build_xllora_examples:
    input:
        unpack(inputs("build_xllora_examples")),
    output:
        positive_output=paths.XLLORA_EXAMPLES.replace("{polarity}", "positive"),
        negative_output=paths.XLLORA_EXAMPLES.replace("{polarity}", "negative"),
    log:
        "<logs>/build_xllora_examples/{generator}.log",
    benchmark:
        "<benchmarks>/build_xllora_examples/{generator}.jsonl"
    priority: 70
    conda:
        environment("build_xllora_examples")
    threads: NEEDS.threads("build_xllora_examples")
    resources:
        **NEEDS.of("build_xllora_examples"),
    params:
        **job("build_xllora_examples"),
        python=generator_python("build_xllora_examples"),
    message:
        "Build XL-LoRA examples with {wildcards.generator}"
    shell:
        IN_GENERATOR_ENV


rule train_xllora_adapter:
    input:
        unpack(inputs("train_xllora_adapter")),
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
        **job("train_xllora_adapter"),
    message:
        "Train the {wildcards.polarity} XL-LoRA adapter of {wildcards.generator}"
    shell:
        ON_GPU


rule translate:
    input:
        unpack(inputs("translate")),
    output:
        texts=paths.TRANSLATIONS,
        record=paths.TRANSLATIONS_RECORD,
    log:
        "<logs>/translate/{translator}/{lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/translate/{translator}/{lang}/{corpus}.jsonl"
    wildcard_constraints:
        corpus=one_of(TEXT_SETS),
    priority: 40
    conda:
        environment("translate")
    threads: NEEDS.threads("translate")
    resources:
        **NEEDS.of("translate"),
    params:
        **job("translate"),
        python=generator_python("translate"),
    message:
        "Translate the {wildcards.lang} texts of {wildcards.corpus} by {wildcards.translator}"
    shell:
        IN_GENERATOR_ENV


rule judge:
    input:
        unpack(inputs("judge")),
    output:
        scores=paths.JUDGEMENTS,
        record=paths.JUDGEMENTS_RECORD,
    log:
        "<logs>/judge/{judge}/{lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/judge/{judge}/{lang}/{corpus}.jsonl"
    wildcard_constraints:
        corpus=one_of(TEXT_SETS),
    priority: 40
    conda:
        environment("judge")
    threads: NEEDS.threads("judge")
    resources:
        **NEEDS.of("judge"),
    params:
        **job("judge"),
        python=generator_python("judge"),
    message:
        "Judge the {wildcards.lang} translations of {wildcards.corpus} by {wildcards.judge}"
    shell:
        IN_GENERATOR_ENV
