"""Rules of seedbed.corpora. Their jobs are short and all others wait for them: they go before trainings that are ready."""


rule fetch_corpus:
    input:
        unpack(inputs("fetch_corpus")),
    output:
        corpus=paths.CORPUS,
        record=paths.RECORD,
    log:
        "<logs>/fetch_corpus/{lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/fetch_corpus/{lang}/{corpus}.jsonl"
    priority: 85
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("fetch_corpus")
    resources:
        **NEEDS.of("fetch_corpus"),
    params:
        **job("fetch_corpus"),
    message:
        "Fetch {wildcards.corpus} of {wildcards.lang}"
    shell:
        ONLINE


rule sample_text:
    input:
        unpack(inputs("sample_text")),
    output:
        paths.SAMPLE,
    log:
        "<logs>/sample_text/{lang}.log",
    benchmark:
        "<benchmarks>/sample_text/{lang}.jsonl"
    priority: 85
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("sample_text")
    resources:
        **NEEDS.of("sample_text"),
    params:
        **job("sample_text"),
    message:
        "Draw sentences that {wildcards.lang} is known by"
    shell:
        PROGRAM


rule select_anchors:
    input:
        unpack(inputs("select_anchors")),
    output:
        anchors=paths.ANCHORS,
        audit=paths.ANCHORS_AUDIT,
    log:
        "<logs>/select_anchors/{lang}/{anchors}.log",
    benchmark:
        "<benchmarks>/select_anchors/{lang}/{anchors}.jsonl"
    priority: 85
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("select_anchors")
    resources:
        **NEEDS.of("select_anchors"),
    params:
        **job("select_anchors"),
    message:
        "Draw {wildcards.anchors} of {wildcards.lang}"
    shell:
        PROGRAM


rule select_pairs:
    input:
        unpack(inputs("select_pairs")),
    output:
        pairs=paths.SEED_PAIRS,
        audit=paths.SEED_PAIRS_AUDIT,
    log:
        "<logs>/select_pairs/{lang}.log",
    benchmark:
        "<benchmarks>/select_pairs/{lang}.jsonl"
    priority: 85
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("select_pairs")
    resources:
        **NEEDS.of("select_pairs"),
    params:
        **job("select_pairs"),
    message:
        "Draw seed pairs of {wildcards.lang}"
    shell:
        PROGRAM
