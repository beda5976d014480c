"""Room 5: classifiers."""


rule train_classifier:
    input:
        base=classifiers.weights,
        examples=classifiers.examples,
    output:
        paths.CLASSIFIER_ADAPTER,
    log:
        "<logs>/train_classifier/{classifier}/{part}/{lang}.log",
    benchmark:
        "<benchmarks>/train_classifier/{classifier}/{part}/{lang}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("train_classifier")
    resources:
        **NEEDS.of("train_classifier"),
    params:
        **settings(
            lora="learners.{classifier}.lora",
            dtype="learners.{classifier}.dtype",
            style=classifiers.style,
            kind=classifiers.data_kind,
            language="names.{lang}",
            minutes="checkpoint_minutes",
        ),
        **KEPT,
        code=code("train_classifier", lambda wildcards: classifiers.prompts_of(wildcards.classifier)),
        name=classifiers.model_name,
        base=subpath(input.base, parent=True),
    message:
        "Train the {wildcards.part} adapter of {wildcards.classifier} in {wildcards.lang}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_classifier --base {params.base:q} --name {params.name:q} --kind {params.kind:q}"
        " --examples {input.examples:q} --language {params.language:q} --style {params.style:q} --dtype {params.dtype:q}"
        " --lora {params.lora:q} --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule fine_tune:
    input:
        base=classifiers.tuned_weights,
        train=paths.TRAINING_SET,
        tests=listed(classifiers.labelled),
    output:
        paths.FINE_TUNED,
    log:
        "<logs>/fine_tune/{classifier}/{task}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/fine_tune/{classifier}/{task}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        task=one_of(STUDY.tasks),
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("fine_tune")
    resources:
        **NEEDS.of("fine_tune"),
    params:
        **settings(
            tuning="classifiers.{classifier}.fine_tuning",
            prefix=classifiers.prefix,
            dtype="classifiers.{classifier}.dtype",
            about=classifiers.about,
            minutes="checkpoint_minutes",
        ),
        **KEPT,
        code=code("fine_tune"),
        tests=named(classifiers.labelled),
        base=subpath(input.base, parent=True),
    message:
        "Fine-tune {wildcards.classifier} on {wildcards.task} of {wildcards.lang}, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.fine_tune --base {params.base:q} --train {input.train:q} --tests {params.tests:q}"
        " --fine-tuning {params.tuning:q} --prefix={params.prefix:q} --dtype {params.dtype:q} --seed {wildcards.seed:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --about {params.about:q} --output {params.directory:q} > {log:q} 2>&1"


rule tune_encoder:
    input:
        base=tuned.base,
        train=tuned.training_set,
        tests=listed(tuned.answered),
    output:
        paths.TUNED,
    log:
        "<logs>/tune_encoder/{backbone}/{recipe}/{lang}/{task}/{train_lang}/{seed}.log",
    benchmark:
        "<benchmarks>/tune_encoder/{backbone}/{recipe}/{lang}/{task}/{train_lang}/{seed}.jsonl"
    wildcard_constraints:
        task=one_of(STUDY.tasks),
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("tune_encoder")
    resources:
        **NEEDS.of("tune_encoder"),
    params:
        **settings(
            learning=tuned.learning,
            prefix=prefixes.alone,
            dtype=tuned.dtype,
            about=tuned.about,
            minutes="checkpoint_minutes",
        ),
        **KEPT,
        code=code("tune_encoder", modules=tuned.modules),
        kind=tuned.kind,
        tests=named(tuned.answered),
        base=subpath(input.base, parent=True),
    message:
        "Tune {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang} on {wildcards.task} of {wildcards.train_lang}, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.tune_encoder --base {params.base:q} --train {input.train:q} --tests {params.tests:q}"
        " --kind {params.kind:q} --learning {params.learning:q} --prefix={params.prefix:q} --dtype {params.dtype:q} --seed {wildcards.seed:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --about {params.about:q} --output {params.directory:q} > {log:q} 2>&1"


rule describe_classifier:
    input:
        base=classifiers.described_base,
        adapter=classifiers.variant_adapter,
        head=classifiers.head,
        retriever=classifiers.described_retriever,
    output:
        paths.CLASSIFIER,
    log:
        "<logs>/describe_classifier/{classifier}/{variant}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/describe_classifier/{classifier}/{variant}/{lang}/{seed}.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("describe_classifier")
    resources:
        **NEEDS.of("describe_classifier"),
    params:
        **settings(system=classifiers.system, about=classifiers.about),
        code=code("describe_classifier"),
        parts=classifiers.parts_argument,
        retriever=classifiers.retriever_argument,
        directory=JOBS.directory,
    message:
        "Describe {wildcards.classifier}, {wildcards.variant} of {wildcards.lang}"
    shell:
        "python -m scripts.describe_classifier --system {params.system:q} --about {params.about:q}"
        " --parts {params.parts:q} {params.retriever:q} --output {params.directory:q} > {log:q} 2>&1"
