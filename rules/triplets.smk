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
        **settings(
            generator=lambda wildcards: generators.written_with(wildcards.generator, "lora", "xllora"),
            language=triplets.output_name,
            shards=triplets.shards,
            rows=triplets.rows,
        ),
        **WRITER,
        code=code("synthesise", generators.prompts, modules=generators.back_end),
        adapters=options(triplets.adapters, "--{}-adapter"),
        base=option("base"),
        translation=triplets.translation,
    message:
        "Write {wildcards.lang} triplets with {wildcards.generator} by {wildcards.method}, shard {wildcards.shard}"
    shell:
        "GPUS={resources.gpu:q} {params.python:q} -m scripts.synthesise {params.base:q} --name {wildcards.generator:q} --anchors {input.anchors:q}"
        " --rows {params.rows:q} --shard {wildcards.shard:q} --shards {params.shards:q} --generator {params.generator:q} --method {wildcards.method:q}"
        " --language {params.language:q} {params.translation:q} {params.adapters:q} --state {params.state:q} --output {output.triplets:q} > {log:q} 2>&1"


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
        **settings(rows=triplets.rows),
        code=code("join_triplets"),
    message:
        "Join {wildcards.lang} triplets of {wildcards.generator} by {wildcards.method}"
    shell:
        "python -m scripts.join_triplets --shards {input.shards:q} --anchors {input.anchors:q}"
        " --rows {params.rows:q} --output {output:q} > {log:q} 2>&1"


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
        audit=paths.AUDIT,
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
        **settings(audit="audit", script=triplets.output_script),
        code=code("audit_triplets"),
        pivot=option("pivot"),
        source=option("source"),
        in_pivot=triplets.in_pivot,
    message:
        "Audit {wildcards.lang} triplets of {wildcards.generator} by {wildcards.method}"
    shell:
        "python -m scripts.audit_triplets --triplets {input.triplets:q} --corpus {input.corpus:q} {params.pivot:q}"
        " {params.source:q} {params.in_pivot:q} --script {params.script:q} --tests {input.tests:q} --audit {params.audit:q}"
        " --output {output.triplets:q} --rejected {output.rejected:q} --report {output.audit:q} > {log:q} 2>&1"
