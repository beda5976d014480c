"""Room 5: scores."""


rule score_encoder:
    input:
        encoder="<results>/encoders/{backbone}/{recipe}/{lang}/{seed}/seedbed.json",
        test=test_of(".tsv"),
        record=test_of(".json"),
        code=code("score_encoder"),
    output:
        scores=SCORE,
        per_item="<results>/scores/{backbone}/{recipe}/{lang}/{seed}/{task}/{test_lang}.items.tsv",
    log:
        "<logs>/score_encoder/{backbone}/{recipe}/{lang}/{seed}/{task}/{test_lang}.log",
    benchmark:
        "<benchmarks>/score_encoder/{backbone}/{recipe}/{lang}/{seed}/{task}/{test_lang}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 4
    resources:
        gpu=1,
        mem_mb=more(16_000),
        runtime=more(60),
    params:
        task=lambda wildcards: STUDY.task_for(wildcards.task, wildcards.test_lang).dump(),
        encoder=subpath(input.encoder, parent=True),
        state=f"{STUDY.results}/state",
    message:
        "Score {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}: {wildcards.task} in {wildcards.test_lang}"
    shell:
        "python -m scripts.score_encoder --encoder {params.encoder} --test {input.test} --record {input.record}"
        " --name {wildcards.task} --task {params.task:q} --language {wildcards.test_lang}"
        " --state {params.state} --output {output.scores} --items {output.per_item} > {log} 2>&1"
