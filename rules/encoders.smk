"""Rules of seedbed.encoders: trained, adapted, aligned, fused and compressed sentence encoders."""


rule train_encoder:
    input:
        unpack(inputs("train_encoder")),
    output:
        paths.ENCODER,
    log:
        "<logs>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        **encoders_of(STUDY, "train_encoder"),
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("train_encoder")
    resources:
        **NEEDS.of("train_encoder"),
    params:
        **job("train_encoder"),
    message:
        "Train {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        ON_GPU


rule choose_translations:
    input:
        unpack(inputs("choose_translations")),
    output:
        paths.CHOICES,
    log:
        "<logs>/choose_translations/{backbone}/{recipe}/{lang}/{seed}/{test_lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/choose_translations/{backbone}/{recipe}/{lang}/{seed}/{test_lang}/{corpus}.jsonl"
    wildcard_constraints:
        test_lang=constraints(STUDY)["lang"],
        corpus=one_of(TEXT_SETS),
    priority: 30
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("choose_translations")
    resources:
        **NEEDS.of("choose_translations"),
    params:
        **job("choose_translations"),
    message:
        "Choose translations of the {wildcards.test_lang} texts of {wildcards.corpus} for {wildcards.backbone}, {wildcards.recipe}"
    shell:
        ON_GPU


rule mine_neighbours:
    input:
        unpack(inputs("mine_neighbours")),
    output:
        neighbours=paths.NEIGHBOURS,
        audit=paths.NEIGHBOURS_AUDIT,
    log:
        "<logs>/mine_neighbours/{backbone}/{mining}/{lang}.log",
    benchmark:
        "<benchmarks>/mine_neighbours/{backbone}/{mining}/{lang}.jsonl"
    priority: 30
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("mine_neighbours")
    resources:
        **NEEDS.of("mine_neighbours"),
    params:
        **job("mine_neighbours"),
    message:
        "Mine neighbours of {wildcards.lang} by {wildcards.backbone}: {wildcards.mining}"
    shell:
        ON_GPU


rule train_vocabulary:
    input:
        unpack(inputs("train_vocabulary")),
    output:
        paths.ENCODER,
    log:
        "<logs>/train_vocabulary/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/train_vocabulary/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        **encoders_of(STUDY, "train_vocabulary"),
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("train_vocabulary")
    resources:
        **NEEDS.of("train_vocabulary"),
    params:
        **job("train_vocabulary"),
    message:
        "Give {wildcards.backbone} the vocabulary of {wildcards.lang}: {wildcards.recipe}"
    shell:
        PROGRAM


rule adapt_backbone:
    input:
        unpack(inputs("adapt_backbone")),
    output:
        paths.ENCODER,
    log:
        "<logs>/adapt_backbone/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/adapt_backbone/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        **encoders_of(STUDY, "adapt_backbone"),
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("adapt_backbone")
    resources:
        **NEEDS.of("adapt_backbone"),
    params:
        **job("adapt_backbone"),
    message:
        "Adapt {wildcards.backbone} to {wildcards.lang}: {wildcards.recipe}"
    shell:
        ON_GPU


rule copy_encoder:
    input:
        unpack(inputs("copy_encoder")),
    output:
        paths.ENCODER,
    log:
        "<logs>/copy_encoder/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/copy_encoder/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        **encoders_of(STUDY, "copy_encoder"),
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("copy_encoder")
    resources:
        **NEEDS.of("copy_encoder"),
    params:
        **job("copy_encoder"),
    message:
        "Copy {wildcards.backbone} for {wildcards.lang}, seed {wildcards.seed}: {wildcards.recipe}"
    shell:
        ON_GPU


rule embed_pivot:
    input:
        unpack(inputs("embed_pivot")),
    output:
        paths.PIVOT,
    log:
        "<logs>/embed_pivot/{backbone}/{recipe}/{corpus}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/embed_pivot/{backbone}/{recipe}/{corpus}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        corpus=r"[A-Za-z0-9._+-]+",  # what is drawn from a corpus too, and what a generator wrote
    priority: 30
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("embed_pivot")
    resources:
        **NEEDS.of("embed_pivot"),
    params:
        **job("embed_pivot"),
    message:
        "Embed the pivot's {wildcards.corpus} of {wildcards.lang} by {wildcards.backbone}, {wildcards.recipe}, seed {wildcards.seed}"
    shell:
        ON_GPU


rule align_encoders:
    input:
        unpack(inputs("align_encoders")),
    output:
        paths.JOINT,
    log:
        "<logs>/align_encoders/{backbone}/{recipe}/{seed}.log",
    benchmark:
        "<benchmarks>/align_encoders/{backbone}/{recipe}/{seed}.jsonl"
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("align_encoders")
    resources:
        **NEEDS.of("align_encoders"),
    params:
        **job("align_encoders"),
    message:
        "Align {wildcards.backbone} of {wildcards.recipe} in all languages, seed {wildcards.seed}"
    shell:
        ON_GPU
