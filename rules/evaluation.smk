"""Room 6: scores."""


rule fuse_encoders:
    input:
        members=listed(evaluation.members),
        tests=listed(evaluation.dev_tests),
        trains=listed(evaluation.dev_trains),
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
        **job(
            "fuse_encoders",
            evaluation.chooses,
            members=evaluation.members,
            weights=evaluation.weights,
            tests=evaluation.dev_tests,
            trains=evaluation.dev_trains,
            endpoints=evaluation.backbone_endpoints,
            about=cards.described,
            state="state",
        ),
        code=code("fuse_encoders", modules=evaluation.dev_code),
    message:
        "Fuse {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        ON_GPU


rule score:
    input:
        systems=evaluation.systems,
        seconds=evaluation.seconds,
        retrievers=evaluation.retrievers,
        english=choices.scored_files,
        tests=evaluation.tests,
        records=evaluation.records,
        trains=listed(evaluation.training_by_task),
    output:
        paths.SCORES,
    log:
        "<logs>/score/{backbone}/{recipe}/{lang}/{test_lang}.{tasks}.log",
    benchmark:
        "<benchmarks>/score/{backbone}/{recipe}/{lang}/{test_lang}.{tasks}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("score")
    resources:
        **NEEDS.of("score"),
    params:
        **job(
            "score",
            language=evaluation.languages,
            language_name=evaluation.language_names,
            tasks=evaluation.tasks,
            orders=evaluation.orders,
            trains=evaluation.training_by_task,
            adapters=evaluation.adapters,
            english=choices.scored,
            generators=evaluation.generators,
            endpoints=evaluation.endpoints,
            scores=evaluation.places,
            state="state",
        ),
        code=code("score", evaluation.prompts, modules=evaluation.code),
    message:
        "Score {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}: {wildcards.tasks} in {wildcards.test_lang}"
    shell:
        ON_GPU


rule map_texts:
    input:
        encoder=tables.mapped_encoder,
        texts=listed(tables.mapped_texts),
        english=tables.mapped_english,
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
        **job(
            "map_texts",
            texts=tables.mapped_texts,
            map=tables.map_settings,
            pivot="pivot",
            batch_size=tables.map_rows,
            endpoints=evaluation.backbone_endpoints,
            state="state",
        ),
        code=code("map_texts"),
    message:
        "Map texts by {wildcards.backbone}, {wildcards.recipe}, for {wildcards.figure}"
    shell:
        ON_GPU


rule measure_compute:
    input:
        train=compute.train,
        test=compute.test,
        encoder=compute.encoder,
        weights=compute.weights,
        bases=listed(compute.bases),
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
        **job(
            "measure_compute",
            compute=compute.settings,
            task=compute.task,
            prefix=compute.prefix,
            classifiers=compute.learners,
            bases=compute.bases,
        ),
        code=code("measure_compute", ICL_PROMPTS, modules=compute.code),
    message:
        "Count and time what labels cost"
    shell:
        ON_GPU
