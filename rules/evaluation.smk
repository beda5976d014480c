"""Room 5: scores."""


rule score_encoder:
    input:
        encoders=encoders_of,
        tests=tests_in(".tsv"),
        records=tests_in(".json"),
        trains=training_sets,
    output:
        SCORED,
    log:
        "<logs>/score_encoder/{backbone}/{recipe}/{lang}/{test_lang}.{bundle}.log",
    benchmark:
        "<benchmarks>/score_encoder/{backbone}/{recipe}/{lang}/{test_lang}.{bundle}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 4
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.reading(wildcards.backbone, bundle_tasks(wildcards))),
        gpu=lambda wildcards: 0 if STUDY.backbones[wildcards.backbone].endpoint else 1,
        mem_mb=more(16_000),
        runtime=more(60),
    params:
        code=code("score_encoder"),
        tasks=tasks_of_bundle,
        trains=training_arguments,
        encoders=lambda wildcards, input: [str(Path(file).parent) for file in input.encoders],
        directory=made_folder,
        state=f"{STUDY.results}/state",
    message:
        "Score {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}: {wildcards.bundle} in {wildcards.test_lang}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.score_encoder --encoders {params.encoders:q} --tests {input.tests:q} --records {input.records:q}"
        " {params.trains:q} --tasks {params.tasks:q} --language {wildcards.test_lang:q} --state {params.state:q}"
        " --scores {params.directory:q} --output {output:q} > {log:q} 2>&1"


rule score_classifier:
    input:
        base=classifier_weights,
        adapter=variant_adapter,
        head=variant_head,
        retriever=variant_retriever,
        tests=tests_in(".tsv"),
        records=tests_in(".json"),
        trains=training_sets,
    output:
        "<results>/scores/{classifier}/{variant}/{lang}/{test_lang}.{bundle}.json",
    log:
        "<logs>/score_classifier/{classifier}/{variant}/{lang}/{test_lang}.{bundle}.log",
    benchmark:
        "<benchmarks>/score_classifier/{classifier}/{variant}/{lang}/{test_lang}.{bundle}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 4
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.labelling(wildcards.classifier)),
        gpu=classifier_gpus,
        mem_mb=more(32_000),
        runtime=more(120),
    params:
        code=code("score_classifier", *LABEL_PROMPTS, *PROMPTS),
        tasks=tasks_of_bundle,
        trains=training_arguments,
        folders=variant_folders,
        variant=variant_settings,
        language=lambda wildcards: STUDY.facts(wildcards.test_lang)["name"],
        about=lambda wildcards: compact(
            {"name": wildcards.classifier, "variant": wildcards.variant, "language": wildcards.lang}
        ),
        base=base_argument,
        directory=lambda wildcards, output: f"{made_folder(wildcards, output)}/0",  # one seed, that of its adapters
        state=f"{STUDY.results}/state",
    message:
        "Score {wildcards.classifier}, {wildcards.variant} of {wildcards.lang}: {wildcards.bundle} in {wildcards.test_lang}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.score_classifier {params.base:q} {params.folders:q} {params.variant:q}"
        " --tests {input.tests:q} --records {input.records:q} {params.trains:q} --tasks {params.tasks:q}"
        " --language {wildcards.test_lang:q} --language-name {params.language:q} --about {params.about:q}"
        " --state {params.state:q} --scores {params.directory:q} --output {output:q} > {log:q} 2>&1"


rule map_texts:
    input:
        encoder=mapped_encoder,
        texts=mapped_texts,
    output:
        MAPPED,
    log:
        "<logs>/map_texts/{figure}/{backbone}.log",
    benchmark:
        "<benchmarks>/map_texts/{figure}/{backbone}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 4
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.reading(wildcards.backbone, [mapped(wildcards.figure).map.task])),
        gpu=lambda wildcards: 0 if STUDY.backbones[wildcards.backbone].endpoint else 1,
        mem_mb=more(16_000),
        runtime=more(60),
    params:
        code=code("map_texts"),
        encoder=subpath(input.encoder, parent=True),
        texts=mapped_arguments,
        map=lambda wildcards: mapped(wildcards.figure).map.dump(),
        rows=lambda wildcards: STUDY.tasks[mapped(wildcards.figure).map.task].batch_size,
        state=f"{STUDY.results}/state",
    message:
        "Map texts by {wildcards.backbone} for {wildcards.figure}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.map_texts --encoder {params.encoder:q} --texts {params.texts:q} --map {params.map:q}"
        " --backbone {wildcards.backbone:q} --batch-size {params.rows:q} --state {params.state:q}"
        " --output {output:q} > {log:q} 2>&1"


rule score_baseline:
    input:
        tests=tests_in(".tsv"),
        records=tests_in(".json"),
        trains=training_sets,
        labels=lambda wildcards: [*labels_of(wildcards).values()],
        learnt=lambda wildcards: [learnt_with(file) for file in labels_of(wildcards).values()],
    output:
        "<results>/scores/{classifier}/{variant}/{lang}/{test_lang}.{bundle}.json",
    log:
        "<logs>/score_baseline/{classifier}/{variant}/{lang}/{test_lang}.{bundle}.log",
    benchmark:
        "<benchmarks>/score_baseline/{classifier}/{variant}/{lang}/{test_lang}.{bundle}.jsonl"
    wildcard_constraints:
        variant=one_of(BESIDE),
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(2_000),
        runtime=more(20),
    params:
        code=code("score_baseline"),
        tasks=tasks_of_bundle,
        trains=training_arguments,
        labels=label_arguments,
        seeds=lambda wildcards: STUDY.seeds_of_classifier(wildcards.variant),
        about=lambda wildcards: compact({"name": wildcards.classifier, "variant": wildcards.variant}),
        directory=made_folder,
    message:
        "Score {wildcards.classifier}: {wildcards.bundle} in {wildcards.test_lang}"
    shell:
        "python -m scripts.score_baseline --kind {wildcards.variant:q} --tests {input.tests:q} --records {input.records:q}"
        " {params.trains:q} {params.labels:q} --tasks {params.tasks:q} --language {wildcards.test_lang:q} --seeds {params.seeds:q}"
        " --about {params.about:q} --scores {params.directory:q} --output {output:q} > {log:q} 2>&1"


rule measure_compute:
    input:
        train=compute_train,
        test=compute_test,
        encoder=compute_encoder,
        weights=compute_weights,
        bases=compute_bases,
    output:
        flops="<results>/compute/flops.tsv",
        seconds="<results>/compute/seconds.tsv",
        page="<results>/compute/miners_table4.md",
    log:
        "<logs>/measure_compute/measure_compute.log",
    benchmark:
        "<benchmarks>/measure_compute/measure_compute.jsonl"
    conda:
        "../envs/main.yaml"
    threads: 4
    resources:
        **on_a_gpu(lambda wildcards: NEEDS.measuring()),
        gpu=1,
        mem_mb=more(32_000),
        runtime=more(120),
    params:
        code=code("measure_compute", *LABEL_PROMPTS, *PROMPTS),
        compute=lambda wildcards: asked_compute().dump(),
        task=lambda wildcards: STUDY.task_for(asked_compute().task, asked_compute().language).dump(),
        encoder=subpath(input.encoder, parent=True),
        weights=subpath(input.weights, parent=True),
        prefix=lambda wildcards: STUDY.backbones[asked_compute().learner].prefix,
        classifiers=compute_classifiers,
        bases=compute_folders,
    message:
        "Count and time what labels cost"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.measure_compute --compute {params.compute:q} --task {params.task:q}"
        " --train {input.train:q} --test {input.test:q} --encoder {params.encoder:q} --weights {params.weights:q}"
        " --prefix={params.prefix:q} {params.classifiers:q} {params.bases:q} --flops {output.flops:q} --seconds {output.seconds:q} --output {output.page:q} > {log:q} 2>&1"
