"""Room 4: sentence encoders."""


rule train_encoder:
    input:
        weights=starting_weights,
        texts=training_texts,
        code=code("train_encoder"),
    output:
        "<results>/encoders/{backbone}/{recipe}/{lang}/{seed}/seedbed.json",
    log:
        "<logs>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: 8
    resources:
        gpu=lambda wildcards: 0 if untrained(wildcards) else 1,
        mem_mb=more(32_000),
        runtime=more(360),
    params:
        method=lambda wildcards: "published" if encoder_published(wildcards) else STUDY.recipes[wildcards.recipe].method,
        texts=lambda wildcards, input: f"--texts {input.texts}" if input.texts else "",
        rows=lambda wildcards: (
            f"--rows {STUDY.recipes[wildcards.recipe].rows}" if STUDY.recipes[wildcards.recipe].rows else ""
        ),
        training=lambda wildcards: STUDY.training_of(wildcards.recipe).dump(),
        prefix=lambda wildcards: STUDY.backbones[wildcards.backbone].prefix,
        about=lineage,
        weights=subpath(input.weights, parent=True),
        directory=subpath(output[0], parent=True),
        state=f"{STUDY.results}/state",
    message:
        "Train {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        "python -m scripts.train_encoder --weights {params.weights} --method {params.method} {params.texts} {params.rows}"
        " --training {params.training:q} --prefix={params.prefix:q} --seed {wildcards.seed} --about {params.about:q}"
        " --state {params.state} --output {params.directory} > {log} 2>&1"


rule train_classifier:
    input:
        base=classifier_weights,
        examples=classifier_examples,
        code=code("train_classifier", *LABEL_PROMPTS, *PROMPTS),
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
        gpu=1,
        mem_mb=more(64_000),
        runtime=more(360),
    params:
        lora=classifier_setting("lora"),
        dtype=classifier_setting("dtype"),
        style=classifier_style,
        kind=classifier_kind,
        name=classifier_name,
        language=fact("name"),
        base=subpath(input.base, parent=True),
        directory=subpath(output[0], parent=True),
        state=f"{STUDY.results}/state",
    message:
        "Train the {wildcards.part} adapter of {wildcards.classifier} in {wildcards.lang}"
    shell:
        "python -m scripts.train_classifier --base {params.base} --name {params.name} --kind {params.kind}"
        " --examples {input.examples} --language {params.language:q} --style {params.style} --dtype {params.dtype}"
        " --lora {params.lora:q} --state {params.state} --output {params.directory} > {log} 2>&1"
