"""Rules of seedbed.evaluation: scores, and what they are compared by."""


rule fuse_encoders:
    input:
        unpack(inputs("fuse_encoders")),
    output:
        paths.ENCODER,
    log:
        "<logs>/fuse_encoders/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/fuse_encoders/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        backbone=one_of(STUDY.fused),
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("fuse_encoders")
    resources:
        **NEEDS.of("fuse_encoders"),
    params:
        **job("fuse_encoders"),
    message:
        "Fuse {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        ON_GPU


rule score:
    input:
        unpack(inputs("score")),
    output:
        paths.SCORES,
    log:
        "<logs>/score/{backbone}/{recipe}/{lang}/{test_lang}.{tasks}.log",
    benchmark:
        "<benchmarks>/score/{backbone}/{recipe}/{lang}/{test_lang}.{tasks}.jsonl"
    conda:
        environment("score")
    threads: NEEDS.threads("score")
    resources:
        **NEEDS.of("score"),
    params:
        **job("score"),
        python=generator_python("score"),
    message:
        "Score {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}: {wildcards.tasks} in {wildcards.test_lang}"
    shell:
        IN_GENERATOR_ENV


rule choose:
    input:
        unpack(inputs("choose")),
    output:
        paths.CHOSEN,
    log:
        "<logs>/choose/{what}/{owner}/{lang}.log",
    benchmark:
        "<benchmarks>/choose/{what}/{owner}/{lang}.jsonl"
    priority: 50
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("choose")
    resources:
        **NEEDS.of("choose"),
    params:
        **job("choose"),
    message:
        "Choose the {wildcards.what} of {wildcards.owner} for {wildcards.lang}"
    shell:
        PROGRAM


rule map_texts:
    input:
        unpack(inputs("map_texts")),
    output:
        paths.MAP,
    log:
        "<logs>/map_texts/{figure}/{backbone}/{recipe}.log",
    benchmark:
        "<benchmarks>/map_texts/{figure}/{backbone}/{recipe}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("map_texts")
    resources:
        **NEEDS.of("map_texts"),
    params:
        **job("map_texts"),
    message:
        "Map texts by {wildcards.backbone}, {wildcards.recipe}, for {wildcards.figure}"
    shell:
        ON_GPU


rule measure_compute:
    input:
        unpack(inputs("measure_compute")),
    output:
        flops=paths.FLOPS,
        seconds=paths.SECONDS,
        output=paths.COMPUTE,
    log:
        "<logs>/measure_compute/measure_compute.log",
    benchmark:
        "<benchmarks>/measure_compute/measure_compute.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("measure_compute")
    resources:
        **NEEDS.of("measure_compute"),
    params:
        **job("measure_compute"),
    message:
        "Count and time what labels cost"
    shell:
        ON_GPU
