"""Room 3: synthetic triplets."""


rule synthesise:
    input:
        base=generators.writing_base,
        anchors=triplets.anchors,
        adapters=listed(triplets.adapters),
    output:
        triplets=paths.SHARD,
        digest=paths.SHARD_DIGEST,
    log:
        "<logs>/synthesise/{generator}/{method}/{lang}/{shard}.log",
    benchmark:
        "<benchmarks>/synthesise/{generator}/{method}/{lang}/{shard}.jsonl"
    priority: 40
    conda:
        lambda wildcards: f"../envs/{generators.environment(wildcards)}.yaml"
    threads: NEEDS.threads("synthesise")
    resources:
        **NEEDS.of("synthesise"),
    params:
        **job(
            "synthesise",
            name=lambda wildcards: wildcards.generator,
            generator=lambda wildcards: generators.written_with(wildcards.generator, "lora", "xllora"),
            language=triplets.output_name,
            shards=triplets.shards,
            rows=triplets.rows,
            translated=triplets.translation,
            adapters=triplets.adapters,
            state="state",
        ),
        code=code("synthesise", generators.prompts, modules=generators.back_end),
        python=python_of,
    message:
        "Write {wildcards.lang} triplets with {wildcards.generator} by {wildcards.method}, shard {wildcards.shard}"
    shell:
        WRITER


rule join_triplets:
    input:
        shards=triplets.shard_files,
        anchors=triplets.anchors,
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
        **job("join_triplets", rows=triplets.rows),
        code=code("join_triplets"),
    message:
        "Join {wildcards.lang} triplets of {wildcards.generator} by {wildcards.method}"
    shell:
        PROGRAM


rule audit_triplets:
    input:
        triplets=triplets.raw,
        corpus=lambda wildcards: triplets.audited_text(wildcards.lang),
        pivot=triplets.audited_pivot,
        source=triplets.source,
        tests=corpora.tests,
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
        **job("audit_triplets", audit="audit", script=triplets.output_script, in_pivot=triplets.in_pivot),
        code=code("audit_triplets"),
    message:
        "Audit {wildcards.lang} triplets of {wildcards.generator} by {wildcards.method}"
    shell:
        PROGRAM
