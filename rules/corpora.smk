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
        **job(
            "fetch_corpus",
            corpora.form,
            source=corpora.source,
            cleaning="cleaning",
            downloads="downloads",
            lock="lock",
        ),
        code=code("fetch_corpus"),
        local=JOBS.files(corpora.local_files),
    message:
        "Fetch {wildcards.corpus} of {wildcards.lang}"
    shell:
        ONLINE


rule sample_text:
    input:
        corpus="<results>/corpora/{lang}/text.tsv",
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
        **job("sample_text"),
        code=code("sample_text"),
    message:
        "Draw sentences that {wildcards.lang} is known by"
    shell:
        PROGRAM


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
        **job("select_anchors", anchors=corpora.drawn, script=corpora.script),
        code=code("select_anchors"),
    message:
        "Draw {wildcards.anchors} of {wildcards.lang}"
    shell:
        PROGRAM


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
        **job("select_pairs", seed_pairs="seed_pairs", scripts=corpora.scripts),
        code=code("select_pairs"),
    message:
        "Draw seed pairs of {wildcards.lang}"
    shell:
        PROGRAM
