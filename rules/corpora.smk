"""Room 1: sentences."""


rule fetch_corpus:
    input:
        tests=corpora.kept_apart,
        trained=corpora.trained_before,
    output:
        corpus=paths.CORPUS,
        record=paths.RECORD,
    log:
        "<logs>/fetch_corpus/{lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/fetch_corpus/{lang}/{corpus}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("fetch_corpus")
    resources:
        **NEEDS.of("fetch_corpus"),
    params:
        **settings(source=corpora.source, cleaning="cleaning", downloads="downloads"),
        code=code("fetch_corpus"),
        local=JOBS.files(corpora.local_files),
        options=corpora.fetch_options,
        tests=option("tests"),
        trained=option("trained"),
        lock=STUDY.lock,
    message:
        "Fetch {wildcards.corpus} of {wildcards.lang}"
    shell:
        "HF_HUB_OFFLINE=0 python -m scripts.fetch_corpus --source {params.source:q} {params.options:q} {params.tests:q} {params.trained:q}"
        " --cleaning {params.cleaning:q} --downloads {params.downloads:q} --lock {params.lock:q}"
        " --output {output.corpus:q} --record {output.record:q} > {log:q} 2>&1"


rule sample_text:
    input:
        "<results>/corpora/{lang}/text.tsv",
    output:
        paths.SAMPLE,
    log:
        "<logs>/sample_text/{lang}.log",
    benchmark:
        "<benchmarks>/sample_text/{lang}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("sample_text")
    resources:
        **NEEDS.of("sample_text"),
    params:
        code=code("sample_text"),
    message:
        "Draw sentences that {wildcards.lang} is known by"
    shell:
        "python -m scripts.sample_text --corpus {input:q} --output {output:q} > {log:q} 2>&1"


rule select_anchors:
    input:
        corpus=corpora.drawn_corpus,
        pivot=corpora.pivot_sample,
        tests=corpora.tests,
    output:
        anchors=paths.ANCHORS,
        audit=paths.ANCHORS_AUDIT,
    log:
        "<logs>/select_anchors/{lang}/{anchors}.log",
    benchmark:
        "<benchmarks>/select_anchors/{lang}/{anchors}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("select_anchors")
    resources:
        **NEEDS.of("select_anchors"),
    params:
        **settings(anchors=corpora.drawn, script=corpora.script),
        code=code("select_anchors"),
        pivot=option("pivot"),
    message:
        "Draw {wildcards.anchors} of {wildcards.lang}"
    shell:
        "python -m scripts.select_anchors --corpus {input.corpus:q} {params.pivot:q} --tests {input.tests:q}"
        " --script {params.script:q} --anchors {params.anchors:q} --output {output.anchors:q} --audit {output.audit:q} > {log:q} 2>&1"


rule select_pairs:
    input:
        corpus="<results>/corpora/{lang}/parallel.tsv",
        record="<results>/corpora/{lang}/parallel.json",
        known=corpora.known,
        tests=corpora.every_test,
    output:
        pairs=paths.SEED_PAIRS,
        audit=paths.SEED_PAIRS_AUDIT,
    log:
        "<logs>/select_pairs/{lang}.log",
    benchmark:
        "<benchmarks>/select_pairs/{lang}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("select_pairs")
    resources:
        **NEEDS.of("select_pairs"),
    params:
        **settings(seed_pairs="seed_pairs", scripts=corpora.scripts),
        code=code("select_pairs"),
    message:
        "Draw seed pairs of {wildcards.lang}"
    shell:
        "python -m scripts.select_pairs --corpus {input.corpus:q} --record {input.record:q} --known {input.known:q}"
        " --tests {input.tests:q} --scripts {params.scripts:q} --seed-pairs {params.seed_pairs:q}"
        " --output {output.pairs:q} --audit {output.audit:q} > {log:q} 2>&1"
