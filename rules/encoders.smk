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
