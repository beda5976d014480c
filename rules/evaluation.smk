"""Room 5: scores."""


rule score_encoder:
    input:
        encoders=encoders_of,
        tests=tests_in(".tsv"),
        records=tests_in(".json"),
        code=code("score_encoder"),
    output:
        SCORED,
    log:
        "<logs>/score_encoder/{backbone}/{recipe}/{lang}/{test_lang}.{bundle}.log",
    benchmark:
        "<benchmarks>/score_encoder/{backbone}/{recipe}/{lang}/{test_lang}.{bundle}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 4
    resources:
        gpu=1,
        mem_mb=more(16_000),
        runtime=more(60),
    params:
        tasks=tasks_of_bundle,
        encoders=lambda wildcards, input: [str(Path(file).parent) for file in input.encoders],
        directory=subpath(output[0], parent=True),
        state=f"{STUDY.results}/state",
    message:
        "Score {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}: {wildcards.bundle} in {wildcards.test_lang}"
    shell:
        "python -m scripts.score_encoder --encoders {params.encoders} --tests {input.tests} --records {input.records}"
        " --tasks {params.tasks:q} --language {wildcards.test_lang} --state {params.state}"
        " --scores {params.directory} --output {output} > {log} 2>&1"
