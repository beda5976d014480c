"""Room 4: sentence encoders."""


rule train_encoder:
    input:
        weights=starting_weights,
        texts=training_texts,
    output:
        ENCODER,
    log:
        "<logs>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        backbone=one_of({*STUDY.backbones} - {*STUDY.fused}),
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: 8
    resources:
        **on_a_gpu(
            lambda wildcards: 0 if untrained(wildcards) else NEEDS.encoding(wildcards.backbone, wildcards.recipe)
        ),
        gpu=lambda wildcards: 0 if untrained(wildcards) else 1,
        mem_mb=more(32_000),
        runtime=more(360),
    params:
        code=code("train_encoder"),
        method=method_of,
        texts=lambda wildcards, input: ["--texts", str(input.texts)] if input.texts else [],
        rows=rows_argument,
        training=lambda wildcards: STUDY.training_of(wildcards.recipe).dump(),
        prefix=lambda wildcards: STUDY.backbones[wildcards.backbone].prefix,
        about=lineage,
        weights=weights_argument,
        endpoint=endpoint_argument,
        directory=made_folder,
        state=f"{STUDY.results}/state",
        minutes=unrecorded(STUDY.checkpoint_minutes),
    message:
        "Train {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_encoder {params.weights:q} {params.endpoint:q} --method {params.method:q} {params.texts:q} {params.rows:q}"
        " --training {params.training:q} --prefix={params.prefix:q} --seed {wildcards.seed:q} --about {params.about:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule fuse_encoders:
    input:
        members=fused_encoders,
        tests=dev_tests,
        trains=dev_trains,
    output:
        ENCODER,
    log:
        "<logs>/fuse_encoders/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/fuse_encoders/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        backbone=one_of(STUDY.fused),
    conda:
        "../envs/main.yaml"
    threads: 4
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.fusing(wildcards.backbone)),
        gpu=lambda wildcards: 1 if STUDY.fused[wildcards.backbone].dev else 0,
        mem_mb=more(16_000),
        runtime=more(60),
    params:
        code=code("fuse_encoders"),
        members=member_arguments,
        weights=lambda wildcards: compact(STUDY.fused[wildcards.backbone].weights),
        dev=dev_arguments,
        about=fusion_lineage,
        directory=made_folder,
        state=f"{STUDY.results}/state",
    message:
        "Fuse {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.fuse_encoders --members {params.members:q} --weights {params.weights:q} {params.dev:q}"
        " --about {params.about:q} --state {params.state:q} --output {params.directory:q} > {log:q} 2>&1"


rule train_classifier:
    input:
        base=classifier_weights,
        examples=classifier_examples,
    output:
        "<results>/encoders/{classifier}/{part}/{lang}/seedbed.json",
    log:
        "<logs>/train_classifier/{classifier}/{part}/{lang}.log",
    benchmark:
        "<benchmarks>/train_classifier/{classifier}/{part}/{lang}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 8
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.classifying(wildcards.classifier)),
        gpu=1,
        mem_mb=more(64_000),
        runtime=more(360),
    params:
        code=code("train_classifier", *LABEL_PROMPTS, *PROMPTS),
        lora=classifier_setting("lora"),
        dtype=classifier_setting("dtype"),
        style=classifier_style,
        kind=classifier_kind,
        name=classifier_name,
        language=fact("name"),
        base=subpath(input.base, parent=True),
        directory=made_folder,
        state=f"{STUDY.results}/state",
        minutes=unrecorded(STUDY.checkpoint_minutes),
    message:
        "Train the {wildcards.part} adapter of {wildcards.classifier} in {wildcards.lang}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_classifier --base {params.base:q} --name {params.name:q} --kind {params.kind:q}"
        " --examples {input.examples:q} --language {params.language:q} --style {params.style:q} --dtype {params.dtype:q}"
        " --lora {params.lora:q} --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule fine_tune:
    input:
        base=classifier_weights,
        train=f"<results>/corpora/{{lang}}/{{task}}{TRAINING}.tsv",
        tests=labelled_tests,
    output:
        labels=LABELS,
        record=LABELS.replace(".tsv", ".json"),
    log:
        "<logs>/fine_tune/{classifier}/{task}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/fine_tune/{classifier}/{task}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        task=one_of(STUDY.tasks),
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: 8
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.fine_tuning(wildcards.classifier)),
        gpu=1,
        mem_mb=more(32_000),
        runtime=more(360),
    params:
        code=code("fine_tune"),
        tests=labelled_arguments,
        tuning=lambda wildcards: STUDY.classifiers[wildcards.classifier].fine_tuning.dump(),
        prefix=lambda wildcards: STUDY.backbones[STUDY.classifiers[wildcards.classifier].backbone].prefix,
        dtype=lambda wildcards: STUDY.classifiers[wildcards.classifier].dtype,
        base=subpath(input.base, parent=True),
        state=f"{STUDY.results}/state",
        minutes=unrecorded(STUDY.checkpoint_minutes),
    message:
        "Fine-tune {wildcards.classifier} on {wildcards.task} of {wildcards.lang}, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.fine_tune --base {params.base:q} --train {input.train:q} --tests {params.tests:q}"
        " --fine-tuning {params.tuning:q} --prefix={params.prefix:q} --dtype {params.dtype:q} --seed {wildcards.seed:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {output.labels:q} --record {output.record:q} > {log:q} 2>&1"
