"""Rules of seedbed.classifiers: their adapters, fine-tuned models and descriptions."""


rule train_classifier:
    input:
        unpack(inputs("train_classifier")),
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
        **job("train_classifier"),
    message:
        "Train the {wildcards.part} adapter of {wildcards.classifier} in {wildcards.lang}"
    shell:
        ON_GPU


rule fine_tune:
    input:
        unpack(inputs("fine_tune")),
    output:
        paths.FINE_TUNED,
    log:
        "<logs>/fine_tune/{classifier}/{task}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/fine_tune/{classifier}/{task}/{lang}/{seed}.jsonl"
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("fine_tune")
    resources:
        **NEEDS.of("fine_tune"),
    params:
        **job("fine_tune"),
    message:
        "Fine-tune {wildcards.classifier} on {wildcards.task} of {wildcards.lang}, seed {wildcards.seed}"
    shell:
        ON_GPU


rule tune_encoder:
    input:
        unpack(inputs("tune_encoder")),
    output:
        paths.TUNED,
    log:
        "<logs>/tune_encoder/{backbone}/{recipe}/{lang}/{task}/{train_lang}/{seed}.log",
    benchmark:
        "<benchmarks>/tune_encoder/{backbone}/{recipe}/{lang}/{task}/{train_lang}/{seed}.jsonl"
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("tune_encoder")
    resources:
        **NEEDS.of("tune_encoder"),
    params:
        **job("tune_encoder"),
    message:
        "Tune {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}, "
        "on {wildcards.task} of {wildcards.train_lang}"
    shell:
        ON_GPU


rule describe_classifier:
    input:
        unpack(inputs("describe_classifier")),
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
        **job("describe_classifier"),
    message:
        "Describe {wildcards.classifier}, {wildcards.variant} of {wildcards.lang}"
    shell:
        PROGRAM
