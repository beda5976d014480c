"""Room 1: sentences."""


rule fetch_corpus:
    output:
        corpus="<results>/corpora/{lang}/{corpus}.tsv",
        record="<results>/corpora/{lang}/{corpus}.json",
    log:
        "<logs>/fetch_corpus/{lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/fetch_corpus/{lang}/{corpus}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(2000),
        runtime=more(120),
    params:
        code=code("fetch_corpus"),
        local=lambda wildcards: digests_of(source_of(wildcards).local_files()),
        source=lambda wildcards: source_of(wildcards).dump(),
        options=fetch_options,
        cleaning=STUDY.cleaning.dump(),
        downloads=STUDY.downloads,
        lock=STUDY.lock,
    message:
        "Fetch {wildcards.corpus} of {wildcards.lang}"
    shell:
        "HF_HUB_OFFLINE=0 python -m scripts.fetch_corpus --source {params.source:q} {params.options:q}"
        " --cleaning {params.cleaning:q} --downloads {params.downloads:q} --lock {params.lock:q}"
        " --output {output.corpus:q} --record {output.record:q} > {log:q} 2>&1"


rule sample_text:
    input:
        "<results>/corpora/{lang}/text.tsv",
    output:
        "<results>/corpora/{lang}/text.sample.tsv",
    log:
        "<logs>/sample_text/{lang}.log",
    benchmark:
        "<benchmarks>/sample_text/{lang}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(1000),
        runtime=more(30),
    params:
        code=code("sample_text"),
    message:
        "Draw sentences that {wildcards.lang} is known by"
    shell:
        "python -m scripts.sample_text --corpus {input:q} --output {output:q} > {log:q} 2>&1"


rule select_anchors:
    input:
        corpus=lambda wildcards: f"<results>/corpora/{{lang}}/{other_text(wildcards) or 'text'}.tsv",
        pivot=pivot_text("text.sample") if STUDY.anchors.language_id else [],
        tests=tests_of,
    output:
        anchors="<results>/corpora/{lang}/{anchors}.tsv",
        audit="<results>/corpora/{lang}/{anchors}.audit.json",
    log:
        "<logs>/select_anchors/{lang}/{anchors}.log",
    benchmark:
        "<benchmarks>/select_anchors/{lang}/{anchors}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(2000),
        runtime=more(60),
    params:
        code=code("select_anchors"),
        anchors=lambda wildcards: STUDY.drawn_from(other_text(wildcards)).dump(),
        pivot=pivot_argument,
        script=fact("script"),
    message:
        "Draw {wildcards.anchors} of {wildcards.lang}"
    shell:
        "python -m scripts.select_anchors --corpus {input.corpus:q} {params.pivot:q} --tests {input.tests:q}"
        " --script {params.script:q} --anchors {params.anchors:q}"
        " --output {output.anchors:q} --audit {output.audit:q} > {log:q} 2>&1"
