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
        **job(
            "train_classifier",
            lora="learners.{classifier}.lora",
            dtype="learners.{classifier}.dtype",
            style=classifiers.style,
            kind=classifiers.data_kind,
            language="names.{lang}",
            name=classifiers.model_name,
            **KEPT,
        ),
        code=code("train_classifier", lambda wildcards: classifiers.prompts_of(wildcards.classifier)),
    message:
        "Train the {wildcards.part} adapter of {wildcards.classifier} in {wildcards.lang}"
    shell:
        ON_GPU


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
        **job(
            "fine_tune",
            fine_tuning="classifiers.{classifier}.fine_tuning",
            prefix=classifiers.prefix,
            dtype="classifiers.{classifier}.dtype",
            tests=classifiers.labelled,
            about=classifiers.about,
            **KEPT,
        ),
        code=code("fine_tune"),
    message:
        "Fine-tune {wildcards.classifier} on {wildcards.task} of {wildcards.lang}, seed {wildcards.seed}"
    shell:
        ON_GPU


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
        **job(
            "tune_encoder",
            kind=tuned.kind,
            learning=tuned.learning,
            prefix=prefixes.alone,
            dtype=tuned.dtype,
            tests=tuned.answered,
            about=tuned.about,
            **KEPT,
        ),
        code=code("tune_encoder", modules=tuned.modules),
    message:
        "Tune {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang} on {wildcards.task} of {wildcards.train_lang}, seed {wildcards.seed}"
    shell:
        ON_GPU


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
        **job("describe_classifier", system=classifiers.system, parts=classifiers.parts, about=classifiers.about),
        code=code("describe_classifier"),
    message:
        "Describe {wildcards.classifier}, {wildcards.variant} of {wildcards.lang}"
    shell:
        PROGRAM
