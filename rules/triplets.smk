"""Room 3: synthetic triplets."""


rule synthesise:
    input:
        base=writing_base,
        anchors="<results>/corpora/{lang}/anchors.tsv",
        adapters=method_adapters,
    output:
        triplets="<results>/triplets/{generator}/{method}/{lang}.shards/{shard}.tsv",
        digest="<results>/triplets/{generator}/{method}/{lang}.shards/{shard}.json",
    log:
        "<logs>/synthesise/{generator}/{method}/{lang}/{shard}.log",
    benchmark:
        "<benchmarks>/synthesise/{generator}/{method}/{lang}/{shard}.jsonl"
    priority: 40
    conda:
        writing_environment
    threads: 8
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.writing(wildcards.generator)),
        gpu=gpus,
        mem_mb=more(96_000),
        runtime=more(240),
    params:
        code=code("synthesise", *PROMPTS),
        generator=writer("lora", "xllora"),
        language=lambda wildcards: STUDY.facts(output_language(wildcards))["name"],
        shards=shards_of,
        rows=lambda wildcards: STUDY.anchors_for(wildcards.generator, wildcards.method),
        adapters=adapter_arguments,
        base=base_argument,
        state=f"{STUDY.results}/state",
        python=writing_python,
    message:
        "Write {wildcards.lang} triplets with {wildcards.generator} by {wildcards.method}, shard {wildcards.shard}"
    shell:
        "GPUS={resources.gpu:q} {params.python:q} -m scripts.synthesise {params.base:q} --name {wildcards.generator:q} --anchors {input.anchors:q}"
        " --rows {params.rows:q} --shard {wildcards.shard:q} --shards {params.shards:q} --generator {params.generator:q}"
        " --method {wildcards.method:q} --language {params.language:q} {params.adapters:q}"
        " --state {params.state:q} --output {output.triplets:q} > {log:q} 2>&1"


rule join_triplets:
    input:
        shards=lambda wildcards: collect(
            "<results>/triplets/{{generator}}/{{method}}/{{lang}}.shards/{shard}.tsv",
            shard=range(shards_of(wildcards)),
        ),
        anchors="<results>/corpora/{lang}/anchors.tsv",
    output:
        "<results>/triplets/{generator}/{method}/{lang}.raw.tsv",
    log:
        "<logs>/join_triplets/{generator}/{method}/{lang}.log",
    benchmark:
        "<benchmarks>/join_triplets/{generator}/{method}/{lang}.jsonl"
    priority: 30
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(4000),
        runtime=more(30),
    params:
        code=code("join_triplets"),
        rows=lambda wildcards: STUDY.anchors_for(wildcards.generator, wildcards.method),
    message:
        "Join {wildcards.lang} triplets of {wildcards.generator} by {wildcards.method}"
    shell:
        "python -m scripts.join_triplets --shards {input.shards:q} --anchors {input.anchors:q}"
        " --rows {params.rows:q} --output {output:q} > {log:q} 2>&1"


rule audit_triplets:
    input:
        triplets=raw_triplets,
        corpus=f"<results>/corpora/{{lang}}/{AUDITED}.tsv",
        pivot=pivot_text(AUDITED) if STUDY.audit.reads_pivot else [],
        tests=tests_of,
    output:
        triplets="<results>/triplets/{generator}/{method}/{lang}.tsv",
        rejected="<results>/triplets/{generator}/{method}/{lang}.rejected.tsv",
        audit="<results>/triplets/{generator}/{method}/{lang}.audit.json",
    log:
        "<logs>/audit_triplets/{generator}/{method}/{lang}.log",
    benchmark:
        "<benchmarks>/audit_triplets/{generator}/{method}/{lang}.jsonl"
    priority: 30
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(2000),
        runtime=more(60),
    params:
        code=code("audit_triplets"),
        audit=STUDY.audit.dump(),
        pivot=pivot_argument,
        in_pivot=lambda wildcards: ["--in-pivot"] if output_language(wildcards) == STUDY.pivot else [],
        script=lambda wildcards: STUDY.facts(output_language(wildcards))["script"],
    message:
        "Audit {wildcards.lang} triplets of {wildcards.generator} by {wildcards.method}"
    shell:
        "python -m scripts.audit_triplets --triplets {input.triplets:q} --corpus {input.corpus:q} {params.pivot:q}"
        " {params.in_pivot:q} --script {params.script:q} --tests {input.tests:q} --audit {params.audit:q}"
        " --output {output.triplets:q} --rejected {output.rejected:q} --report {output.audit:q} > {log:q} 2>&1"
