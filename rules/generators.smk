"""Room 2: language models and their adapters."""


rule fetch_model:
    output:
        "<results>/{room}/{model}/weights/seedbed.json",
    log:
        "<logs>/fetch_model/{room}/{model}.log",
    benchmark:
        "<benchmarks>/fetch_model/{room}/{model}.jsonl"
    priority: 90
    conda:
        "../envs/main.yaml"
    threads: 2
    resources:
        gpu=0,
        mem_mb=more(6000),
        runtime=more(240),
    params:
        code=code("fetch_model", modules=converter),
        local=lambda wildcards: digests_of(local_model(model_source(wildcards))),
        source=lambda wildcards: model_source(wildcards).dump(),
        downloads=STUDY.downloads,
        lock=STUDY.lock,
        directory=made_folder,
    message:
        "Fetch {wildcards.model}"
    shell:
        "HF_HUB_OFFLINE=0 python -m scripts.fetch_model --source {params.source:q}"
        " --downloads {params.downloads:q} --lock {params.lock:q} --output {params.directory:q} > {log:q} 2>&1"


rule train_task_adapter:
    input:
        base=made("weights", "weights/seedbed.json"),
        triplets=f"<results>/corpora/{STUDY.pivot}/nli.tsv",
    output:
        "<results>/generators/{generator}/task/{polarity}/seedbed.json",
    log:
        "<logs>/train_task_adapter/{generator}/{polarity}.log",
    benchmark:
        "<benchmarks>/train_task_adapter/{generator}/{polarity}.jsonl"
    wildcard_constraints:
        polarity=one_of([*POLARITIES, BOTH]),
    priority: 80
    conda:
        "../envs/main.yaml"
    threads: 8
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.adapting(wildcards.generator)),
        gpu=1,
        mem_mb=more(96_000),
        runtime=more(720),
    params:
        code=code("train_task_adapter", *PROMPTS),
        name=weights_name,
        lora=generator_setting("lora"),
        style=generator_setting("prompts"),
        dtype=generator_setting("dtype"),
        language=STUDY.facts(STUDY.pivot)["name"],
        base=subpath(input.base, parent=True),
        directory=made_folder,
        state=f"{STUDY.results}/state",
        minutes=unrecorded(STUDY.checkpoint_minutes),
    message:
        "Train the {wildcards.polarity} task adapter of {wildcards.generator}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_task_adapter --base {params.base:q} --name {params.name:q}"
        " --triplets {input.triplets:q} --polarity {wildcards.polarity:q} --language {params.language:q}"
        " --style {params.style:q} --dtype {params.dtype:q} --lora {params.lora:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule train_language_adapter:
    input:
        base=made("weights", "weights/seedbed.json"),
        texts=language_texts,
    output:
        "<results>/generators/{generator}/language/{lang}/seedbed.json",
    log:
        "<logs>/train_language_adapter/{generator}/{lang}.log",
    benchmark:
        "<benchmarks>/train_language_adapter/{generator}/{lang}.jsonl"
    priority: 50
    conda:
        "../envs/main.yaml"
    threads: 8
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.adapting(wildcards.generator)),
        gpu=1,
        mem_mb=more(96_000),
        runtime=more(720),
    params:
        code=code("train_language_adapter", *PROMPTS),
        name=weights_name,
        lora=generator_setting("lora"),
        kind=generator_setting("language_data"),
        loss=generator_setting("language_loss"),
        style=generator_setting("prompts"),
        dtype=generator_setting("dtype"),
        language=fact("name"),
        base=subpath(input.base, parent=True),
        directory=made_folder,
        state=f"{STUDY.results}/state",
        minutes=unrecorded(STUDY.checkpoint_minutes),
    message:
        "Train the {wildcards.lang} adapter of {wildcards.generator}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_language_adapter --base {params.base:q} --name {params.name:q}"
        " --texts {input.texts:q} --kind {params.kind:q} --loss {params.loss:q} --language {params.language:q}"
        " --style {params.style:q} --dtype {params.dtype:q} --lora {params.lora:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule compose_adapters:
    input:
        task=composed("task", "task/{polarity}/seedbed.json"),
        target=composed("language", "language/{lang}/seedbed.json"),
        source=composed("language", f"language/{STUDY.pivot}/seedbed.json"),
        chosen=chosen_scale,
    output:
        "<results>/{room}/{model}/composition/{lang}/{polarity}/seedbed.json",
    log:
        "<logs>/compose_adapters/{room}/{model}/{lang}/{polarity}.log",
    benchmark:
        "<benchmarks>/compose_adapters/{room}/{model}/{lang}/{polarity}.jsonl"
    wildcard_constraints:
        polarity=one_of([*POLARITIES, BOTH, STUDY.pivot]),  # of a classifier: the language of its task adapter
    priority: 50
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(8000),
        runtime=more(30),
    params:
        code=code("compose_adapters"),
        composition=composition_of,
        chosen=chosen_argument,
        task=subpath(input.task, parent=True),
        target=subpath(input.target, parent=True),
        source=subpath(input.source, parent=True),
        directory=made_folder,
    message:
        "Compose the {wildcards.polarity} adapter of {wildcards.model} for {wildcards.lang}"
    shell:
        "python -m scripts.compose_adapters --task {params.task:q} --target {params.target:q} --source {params.source:q}"
        " --composition {params.composition:q} {params.chosen:q} --output {params.directory:q} > {log:q} 2>&1"


rule choose_scale:
    input:
        scores=lambda wildcards: [*tried(wildcards).values()],
    output:
        CHOSEN,
    log:
        "<logs>/choose_scale/{generator}/{lang}.log",
    benchmark:
        "<benchmarks>/choose_scale/{generator}/{lang}.jsonl"
    priority: 50
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(1000),
        runtime=more(10),
    params:
        code=code("choose_scale"),
        dev=lambda wildcards: STUDY.choosing[wildcards.generator].dev,
        scores=tried_arguments,
    message:
        "Choose the scale of {wildcards.generator} for {wildcards.lang}"
    shell:
        "python -m scripts.choose_scale --dev {params.dev:q} --scores {params.scores:q} --output {output:q} > {log:q} 2>&1"


rule build_xllora_examples:
    input:
        base=made("weights", "weights/seedbed.json"),
        adapters=xllora_writers,
        parallel=xllora_corpora("synthetic"),
        nli=xllora_corpora("human"),
        machine=xllora_corpora("machine"),
        published=published,
    output:
        positive="<results>/generators/{generator}/xllora/positive.tsv",
        negative="<results>/generators/{generator}/xllora/negative.tsv",
    log:
        "<logs>/build_xllora_examples/{generator}.log",
    benchmark:
        "<benchmarks>/build_xllora_examples/{generator}.jsonl"
    priority: 70
    conda:
        writing_environment
    threads: 8
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.writing(wildcards.generator)),
        gpu=lambda wildcards, input: gpus(wildcards) if input.adapters else 0,
        mem_mb=more(96_000),
        runtime=more(720),
    params:
        code=code("build_xllora_examples", *PROMPTS),
        generator=writer("shots"),
        examples=generator_setting("lora", "examples"),
        inputs=xllora_inputs,
        language=STUDY.facts(STUDY.pivot)["name"],
        base=subpath(input.base, parent=True),
        state=f"{STUDY.results}/state",
        python=writing_python,
    message:
        "Build XL-LoRA examples with {wildcards.generator}"
    shell:
        "GPUS={resources.gpu:q} {params.python:q} -m scripts.build_xllora_examples --base {params.base:q} --name {wildcards.generator:q}"
        " --generator {params.generator:q} {params.inputs:q} --language {params.language:q}"
        " --count {params.examples:q} --state {params.state:q}"
        " --positive-output {output.positive:q} --negative-output {output.negative:q} > {log:q} 2>&1"


rule train_xllora_adapter:
    input:
        base=made("weights", "weights/seedbed.json"),
        examples="<results>/generators/{generator}/xllora/{polarity}.tsv",
    output:
        "<results>/generators/{generator}/xllora/{polarity}/seedbed.json",
    log:
        "<logs>/train_xllora_adapter/{generator}/{polarity}.log",
    benchmark:
        "<benchmarks>/train_xllora_adapter/{generator}/{polarity}.jsonl"
    priority: 60
    conda:
        "../envs/main.yaml"
    threads: 8
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.adapting(wildcards.generator)),
        gpu=1,
        mem_mb=more(96_000),
        runtime=more(720),
    params:
        code=code("train_xllora_adapter", *PROMPTS),
        name=weights_name,
        lora=generator_setting("lora"),
        style=generator_setting("prompts"),
        dtype=generator_setting("dtype"),
        language=STUDY.facts(STUDY.pivot)["name"],
        base=subpath(input.base, parent=True),
        directory=made_folder,
        state=f"{STUDY.results}/state",
        minutes=unrecorded(STUDY.checkpoint_minutes),
    message:
        "Train the {wildcards.polarity} XL-LoRA adapter of {wildcards.generator}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_xllora_adapter --base {params.base:q} --name {params.name:q}"
        " --examples {input.examples:q} --polarity {wildcards.polarity:q} --language {params.language:q}"
        " --style {params.style:q} --dtype {params.dtype:q} --lora {params.lora:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"
