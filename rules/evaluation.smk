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
        **settings(weights=evaluation.weights, about=cards.described),
        **KEPT,
        code=code("fuse_encoders", modules=evaluation.dev_code),
        members=named(evaluation.members),
        endpoints=evaluation.endpoints_argument,
        dev=evaluation.dev_arguments,
        tests=named(evaluation.dev_tests, option="--tests"),
        trains=named(evaluation.dev_trains, option="--trains"),
    message:
        "Fuse {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.fuse_encoders --members {params.members:q} --weights {params.weights:q}"
        " {params.endpoints:q} {params.dev:q} {params.tests:q} {params.trains:q} --about {params.about:q} --state {params.state:q} --output {params.directory:q} > {log:q} 2>&1"


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
        **settings(
            tasks=evaluation.tasks,
            names=evaluation.language_names,
            generators=evaluation.generators,
            endpoints=evaluation.endpoints,
        ),
        **KEPT,
        code=code("score", evaluation.prompts, modules=evaluation.code),
        trains=named(evaluation.training_by_task, option="--trains"),
        systems=lambda wildcards, input: [paths.told(file) for file in input.systems],
        languages=evaluation.languages,
        scores=evaluation.places,
        sides=evaluation.side_arguments,
        english=choices.score_arguments,
    message:
        "Score {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}: {wildcards.tasks} in {wildcards.test_lang}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.score --systems {params.systems:q} {params.sides:q} {params.english:q} --tests {input.tests:q} --records {input.records:q}"
        " {params.trains:q} --tasks {params.tasks:q} --language {params.languages:q} --language-name {params.names:q}"
        " --generators {params.generators:q} --endpoints {params.endpoints:q} --state {params.state:q}"
        " --scores {params.scores:q} --output {output:q} > {log:q} 2>&1"


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
        **settings(map=tables.map_settings, rows=tables.map_rows, pivot="pivot"),
        code=code("map_texts"),
        encoder=subpath(input.encoder, parent=True),
        texts=named(tables.mapped_texts),
        english=option("english"),
        endpoints=evaluation.endpoints_argument,
        state=STATE,
    message:
        "Map texts by {wildcards.backbone}, {wildcards.recipe}, for {wildcards.figure}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.map_texts --encoder {params.encoder:q} --texts {params.texts:q} {params.english:q} {params.endpoints:q} --map {params.map:q}"
        " --pivot {params.pivot:q} --backbone {wildcards.backbone:q} --recipe {wildcards.recipe:q} --batch-size {params.rows:q} --state {params.state:q} --output {output:q} > {log:q} 2>&1"


rule measure_compute:
    input:
        train=compute.train,
        test=compute.test,
        encoder=compute.encoder,
        weights=compute.weights,
        bases=compute.bases,
    output:
        flops=paths.FLOPS,
        seconds=paths.SECONDS,
        page=paths.COMPUTE,
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
        **settings(compute=compute.settings, task=compute.task, prefix=compute.prefix, classifiers=compute.learners),
        code=code("measure_compute", ICL_PROMPTS, modules=compute.code),
        encoder=subpath(input.encoder, parent=True),
        weights=subpath(input.weights, parent=True),
        bases=compute.base_arguments,
    message:
        "Count and time what labels cost"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.measure_compute --compute {params.compute:q} --task {params.task:q}"
        " --train {input.train:q} --test {input.test:q} --encoder {params.encoder:q} --weights {params.weights:q}"
        " --prefix={params.prefix:q} --classifiers {params.classifiers:q} {params.bases:q} --flops {output.flops:q} --seconds {output.seconds:q} --output {output.page:q} > {log:q} 2>&1"
