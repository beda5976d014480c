"""What an encoder starts from and learns from, and what its card says."""

from seedbed.corpora.fetch import origin
from seedbed.encoders.settings import UNTRAINED


def untrained(wildcards):
    """Whether an encoder is used as it is."""
    recipe = STUDY.recipes[wildcards.recipe]
    return recipe.method in UNTRAINED or bool(encoder_published(wildcards))


def encoder_published(wildcards):
    """The published encoder, if the study takes it."""
    return STUDY.published_encoder(wildcards.backbone, wildcards.recipe, wildcards.lang)


def endpoint_of(wildcards):
    """The endpoint that makes an encoder's vectors; None: it has weights."""
    return None if encoder_published(wildcards) else STUDY.backbones[wildcards.backbone].endpoint


def method_of(wildcards):
    """How an encoder is made; an endpoint is always used as it is."""
    if encoder_published(wildcards) or endpoint_of(wildcards):
        return "published"
    return STUDY.recipes[wildcards.recipe].method


def starting_weights(wildcards):
    """What training starts from, or the published encoder; an endpoint has none."""
    if encoder_published(wildcards):
        return published_model("encoders", wildcards.backbone, wildcards.recipe, wildcards.lang)
    if endpoint_of(wildcards):
        return []
    return "<results>/encoders/{backbone}/weights/seedbed.json"


def endpoint_argument(wildcards):
    """The endpoint as an argument, if it is one."""
    endpoint = endpoint_of(wildcards)
    return [f"--endpoint={endpoint.dump()}"] if endpoint else []


def training_texts(wildcards):
    """What a recipe's encoder learns from; the base encoder learns nothing."""
    recipe = STUDY.recipes[wildcards.recipe]
    if untrained(wildcards):
        return []
    if recipe.method == "unsupervised":
        return "<results>/corpora/{lang}/anchors.tsv"
    return STUDY.triplets_of(wildcards.recipe)


def lineage(wildcards):
    """What the model card says of an encoder's making."""
    recipe, given = STUDY.recipes[wildcards.recipe], encoder_published(wildcards)
    source = given or STUDY.backbones[wildcards.backbone].source  # None: an endpoint
    about = {
        "backbone": wildcards.backbone,
        "base_model": source and source.hub or "",
        "backbone_licence": source.licence if source else "",
        "recipe": wildcards.recipe,
        "method": method_of(wildcards),
        "language": wildcards.lang,
        "language_name": STUDY.facts(wildcards.lang)["name"],
        "seed": int(wildcards.seed),
        "data": [],
    }
    if untrained(wildcards):
        return compact(about)
    role = "nli" if recipe.method == "crosslingual" else "text"
    about["data"].append(described(role, STUDY.corpus(role, wildcards.lang)))
    if recipe.method in SYNTHETIC:
        about["generator"] = STUDY.generator_of(wildcards.recipe)
        about["data"].append(described(about["generator"], STUDY.generators[about["generator"]].source))
    return compact(about)


def described(name, source):
    """A source as a card names it."""
    return {"name": name, "origin": origin(source), "licence": source.licence}
