"""Room 4: sentence encoders."""


rule choose_prefix:
    input:
        scores=listed(prefix_choice.trials),
    output:
        paths.PREFIX,
    log:
        "<logs>/choose_prefix/{backbone}/{recipe}/{lang}.log",
    benchmark:
        "<benchmarks>/choose_prefix/{backbone}/{recipe}/{lang}.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("choose_prefix")
    resources:
        **NEEDS.of("choose_prefix"),
    params:
        **settings(dev="best.dev", prefixes=prefix_choice.offered),
        code=code("choose_prefix"),
        scores=named(prefix_choice.trials),
    shell:
        "python -m scripts.choose_prefix --dev {params.dev:q} --prefixes {params.prefixes:q} --scores {params.scores:q} --output {output:q} > {log:q} 2>&1"


rule train_encoder:
    input:
        weights=encoders.starting_weights,
        texts=encoders.texts,
        each=listed(encoders.each_texts),
        pivot=alignment.pivot_rows,
        references=listed(choices.references),
        mined=listed(mining.mined),
        candidates=choices.learnt,
        judged=choices.learnt_judgements,
        chosen=choices.read,
        prefix=listed(prefixes.chosen),
    output:
        paths.ENCODER,
    log:
        "<logs>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        backbone=one_of({*STUDY.backbones} - {*STUDY.fused}),
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("train_encoder")
    resources:
        **NEEDS.of("train_encoder"),
    params:
        **settings(
            training=lambda wildcards: encoders.training_of(wildcards.recipe),
            prefix=prefixes.of_encoder,
            about=cards.lineage,
            minutes="checkpoint_minutes",
        ),
        **KEPT,
        code=code("train_encoder", modules=encoders.modules, without=kinds.never_run),
        objective=encoders.objective,
        prompts=prefixes.arguments,
        choice=options(prefixes.chosen, "--{}-prefix"),
        refer=named(choices.references, option="--refer"),
        translated=choices.training_arguments,
        texts=option("texts"),
        each=named(encoders.each_texts, option="--each"),
        pivot=option("pivot"),
        rows=mining.rows_arguments,
        weights=option("weights"),
        endpoint=encoders.endpoint_argument,
    message:
        "Train {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.train_encoder {params.weights:q} {params.endpoint:q} {params.objective:q} {params.refer:q} {params.texts:q} {params.each:q} {params.pivot:q} {params.rows:q} {params.translated:q}"
        " --training {params.training:q} --prefix={params.prefix:q} {params.choice:q} {params.prompts:q} --seed {wildcards.seed:q} --about {params.about:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"


rule choose_translations:
    input:
        candidates=listed(choices.candidates),
        judged=choices.judged,
        actor=choices.policy,
        weights=choices.weights,
        similarity=choices.critic,
    output:
        paths.CHOICES,
    log:
        "<logs>/choose_translations/{backbone}/{recipe}/{lang}/{seed}/{test_lang}/{corpus}.log",
    benchmark:
        "<benchmarks>/choose_translations/{backbone}/{recipe}/{lang}/{seed}/{test_lang}/{corpus}.jsonl"
    wildcard_constraints:
        test_lang=constraints(STUDY)["lang"],
        corpus=one_of(translations.text_sets()),
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("choose_translations")
    resources:
        **NEEDS.of("choose_translations"),
    params:
        **settings(how=choices.how),
        code=code("choose_translations"),
        candidates=named(choices.candidates),
        given=choices.choice_arguments,
        endpoints=choices.endpoints_argument,
        state=STATE,
    message:
        "Choose translations of the {wildcards.test_lang} texts of {wildcards.corpus} for {wildcards.backbone}, {wildcards.recipe}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.choose_translations --translations {params.candidates:q} {params.given:q} {params.endpoints:q}"
        " --how {params.how:q} --seed {wildcards.seed:q} --state {params.state:q} --output {output:q} > {log:q} 2>&1"


rule mine_neighbours:
    input:
        weights=mining.mined_weights,
        pairs=paths.SEED_PAIRS,
        pool="<results>/corpora/{lang}/anchors.tsv",
    output:
        neighbours=paths.NEIGHBOURS,
        audit=paths.NEIGHBOURS_AUDIT,
    log:
        "<logs>/mine_neighbours/{backbone}/{mining}/{lang}.log",
    benchmark:
        "<benchmarks>/mine_neighbours/{backbone}/{mining}/{lang}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("mine_neighbours")
    resources:
        **NEEDS.of("mine_neighbours"),
    params:
        **settings(mining="mining.{mining}", prefix=prefixes.of_backbone),
        code=code("mine_neighbours"),
        weights=option("weights"),
        state=STATE,
    message:
        "Mine neighbours of {wildcards.lang} by {wildcards.backbone}: {wildcards.mining}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.mine_neighbours {params.weights:q} --pairs {input.pairs:q} --pool {input.pool:q}"
        " --mining {params.mining:q} --prefix={params.prefix:q} --state {params.state:q} --output {output.neighbours:q} --audit {output.audit:q} > {log:q} 2>&1"


rule train_vocabulary:
    input:
        weights=adaptation.weights,
        texts=adaptation.texts,
    output:
        paths.VOCABULARY,
    log:
        "<logs>/train_vocabulary/{backbone}/{lang}.log",
    benchmark:
        "<benchmarks>/train_vocabulary/{backbone}/{lang}.jsonl"
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("train_vocabulary")
    resources:
        **NEEDS.of("train_vocabulary"),
    params:
        **settings(vocabulary="adaptation.vocabulary", about=adaptation.about),
        code=code("train_vocabulary"),
        masks=adaptation.masked_argument,
        weights=option("weights"),
        directory=JOBS.directory,
    message:
        "Make the vocabulary of {wildcards.lang} for {wildcards.backbone}"
    shell:
        "python -m scripts.train_vocabulary {params.weights:q} --texts {input.texts:q} --vocabulary {params.vocabulary:q} {params.masks:q}"
        " --about {params.about:q} --output {params.directory:q} > {log:q} 2>&1"


rule adapt_backbone:
    input:
        weights=adaptation.swapped,
        texts=adaptation.texts,
    output:
        paths.ADAPTED,
    log:
        "<logs>/adapt_backbone/{backbone}/{lang}.log",
    benchmark:
        "<benchmarks>/adapt_backbone/{backbone}/{lang}.jsonl"
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("adapt_backbone")
    resources:
        **NEEDS.of("adapt_backbone"),
    params:
        **settings(
            masked="adaptation.masked",
            sentences="adaptation.vocabulary.sentences",
            about=adaptation.about,
            minutes="checkpoint_minutes",
        ),
        **KEPT,
        code=code("adapt_backbone"),
        weights=option("weights"),
    message:
        "Adapt {wildcards.backbone} to {wildcards.lang}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.adapt_backbone {params.weights:q} --texts {input.texts:q} --sentences {params.sentences:q}"
        " --masked {params.masked:q} --about {params.about:q} --state {params.state:q} --checkpoint-minutes {params.minutes:q}"
        " --output {params.directory:q} > {log:q} 2>&1"


rule embed_pivot:
    input:
        encoder=alignment.pivot_encoder,
        texts=alignment.pivot_texts,
    output:
        paths.PIVOT,
    log:
        "<logs>/embed_pivot/{backbone}/{recipe}/{corpus}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/embed_pivot/{backbone}/{recipe}/{corpus}/{lang}/{seed}.jsonl"
    wildcard_constraints:
        corpus=r"[A-Za-z0-9._+-]+",  # what is drawn from a corpus too, and what a generator wrote
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("embed_pivot")
    resources:
        **NEEDS.of("embed_pivot"),
    params:
        **KEPT,
        code=code("embed_pivot"),
        encoder=option("encoder"),
        columns=alignment.pivot_columns,
    message:
        "Embed the pivot's {wildcards.corpus} of {wildcards.lang} by {wildcards.backbone}, {wildcards.recipe}, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.embed_pivot {params.encoder:q} --texts {input.texts:q} --columns {params.columns:q}"
        " --state {params.state:q} --output {params.directory:q} > {log:q} 2>&1"


rule align_encoders:
    input:
        encoders=listed(alignment.together),
        each=listed(alignment.each_texts),
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
        **settings(
            training=lambda wildcards: encoders.training_of(wildcards.recipe),
            prefix=alignment.prefix,
            about=alignment.about,
            minutes="checkpoint_minutes",
        ),
        **KEPT,
        code=code("align_encoders", modules=alignment.modules),
        encoders=named(alignment.together, option="--encoders"),
        each=named(alignment.each_texts, option="--each"),
        rows=alignment.rows,
        objective=alignment.objective,
    message:
        "Align {wildcards.backbone} of {wildcards.recipe} in all languages, seed {wildcards.seed}"
    shell:
        "GPUS={resources.gpu:q} python -m scripts.align_encoders {params.encoders:q} {params.each:q} {params.rows:q} {params.objective:q}"
        " --training {params.training:q} --prefix={params.prefix:q} --seed {wildcards.seed:q} --about {params.about:q}"
        " --state {params.state:q} --checkpoint-minutes {params.minutes:q} --output {params.directory:q} > {log:q} 2>&1"
