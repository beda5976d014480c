"""Rules of seedbed.triplets: synthetic triplets and their audit."""


rule synthesise:
    input:
        unpack(inputs("synthesise")),
    output:
        triplets=paths.SHARD,
        digest=paths.SHARD_DIGEST,
    log:
        "<logs>/synthesise/{generator}/{method}/{lang}/{shard}.log",
    benchmark:
        "<benchmarks>/synthesise/{generator}/{method}/{lang}/{shard}.jsonl"
    priority: 40
    conda:
        environment("synthesise")
    threads: NEEDS.threads("synthesise")
    resources:
        **NEEDS.of("synthesise"),
    params:
        **job("synthesise"),
        python=generator_python("synthesise"),
    message:
        "Write {wildcards.lang} triplets with {wildcards.generator} by {wildcards.method}, shard {wildcards.shard}"
    shell:
        IN_GENERATOR_ENV


rule join_triplets:
    input:
        unpack(inputs("join_triplets")),
    output:
        paths.RAW_TRIPLETS,
    log:
        "<logs>/join_triplets/{generator}/{method}/{lang}.log",
    benchmark:
        "<benchmarks>/join_triplets/{generator}/{method}/{lang}.jsonl"
    priority: 30
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("join_triplets")
    resources:
        **NEEDS.of("join_triplets"),
    params:
        **job("join_triplets"),
    message:
        "Join {wildcards.lang} triplets of {wildcards.generator} by {wildcards.method}"
    shell:
        PROGRAM


rule audit_triplets:
    input:
        unpack(inputs("audit_triplets")),
    output:
        triplets=paths.TRIPLETS,
        rejected=paths.REJECTED,
        report=paths.AUDIT,
    log:
        "<logs>/audit_triplets/{generator}/{method}/{lang}.log",
    benchmark:
        "<benchmarks>/audit_triplets/{generator}/{method}/{lang}.jsonl"
    priority: 30
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("audit_triplets")
    resources:
        **NEEDS.of("audit_triplets"),
    params:
        **job("audit_triplets"),
    message:
        "Audit {wildcards.lang} triplets of {wildcards.generator} by {wildcards.method}"
    shell:
        PROGRAM
