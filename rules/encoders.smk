"""Room 4: sentence encoders."""

from seedbed.corpora.fetch import origin
from seedbed.encoders.settings import SYNTHETIC


def training_texts(wildcards):
    """What a recipe's encoder learns from; the base encoder learns nothing."""
    recipe = STUDY.recipes[wildcards.recipe]
    if recipe.method == "base":
        return []
    if recipe.method == "unsupervised":
        return "<results>/corpora/{lang}/anchors.tsv"
    if recipe.method == "crosslingual":
        return "<results>/corpora/{lang}/nli.tsv"
    generator = STUDY.generator_of(wildcards.recipe)
    return f"<results>/triplets/{generator}/{recipe.method}/{{lang}}.tsv"


def lineage(wildcards):
    """What the model card says of an encoder's making."""
    recipe, backbone = STUDY.recipes[wildcards.recipe], STUDY.backbones[wildcards.backbone]
    about = {
        "backbone": wildcards.backbone,
        "base_model": backbone.source.hub or "",
        "backbone_licence": backbone.source.licence,
        "recipe": wildcards.recipe,
        "method": recipe.method,
        "language": wildcards.lang,
        "language_name": STUDY.facts(wildcards.lang)["name"],
        "seed": int(wildcards.seed),
        "data": [],
    }
    if recipe.method != "base":
        role = "nli" if recipe.method == "crosslingual" else "text"
        about["data"].append(described(role, STUDY.corpus(role, wildcards.lang)))
    if recipe.method in SYNTHETIC:
        about["generator"] = STUDY.generator_of(wildcards.recipe)
        about["data"].append(described(about["generator"], STUDY.generators[about["generator"]].source))
    return compact(about)


def described(name, source):
    """A source as a card names it."""
    return {"name": name, "origin": origin(source), "licence": source.licence}


rule train_encoder:
    input:
        weights="<results>/encoders/{backbone}/weights/seedbed.json",
        texts=training_texts,
        code=code("train_encoder"),
    output:
        "<results>/encoders/{backbone}/{recipe}/{lang}/{seed}/seedbed.json",
    log:
        "<logs>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.log",
    benchmark:
        "<benchmarks>/train_encoder/{backbone}/{recipe}/{lang}/{seed}.jsonl"
    priority: 20
    conda:
        "../envs/main.yaml"
    threads: 8
    resources:
        gpu=lambda wildcards: (0 if STUDY.recipes[wildcards.recipe].method == "base" else 1),
        mem_mb=more(32_000),
        runtime=more(360),
    params:
        method=lambda wildcards: STUDY.recipes[wildcards.recipe].method,
        texts=lambda wildcards, input: f"--texts {input.texts}" if input.texts else "",
        training=lambda wildcards: STUDY.training_of(wildcards.recipe).dump(),
        prefix=lambda wildcards: STUDY.backbones[wildcards.backbone].prefix,
        about=lineage,
        weights=subpath(input.weights, parent=True),
        directory=subpath(output[0], parent=True),
        state=f"{STUDY.results}/state",
    message:
        "Train {wildcards.backbone} by {wildcards.recipe} for {wildcards.lang}, seed {wildcards.seed}"
    shell:
        "python -m scripts.train_encoder --weights {params.weights} --method {params.method} {params.texts}"
        " --training {params.training:q} --prefix={params.prefix:q} --seed {wildcards.seed} --about {params.about:q}"
        " --state {params.state} --output {params.directory} > {log} 2>&1"
