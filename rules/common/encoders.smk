"""What an encoder starts from and learns from, and what its card says."""

from seedbed.corpora.fetch import origin
from seedbed.encoders.settings import UNTRAINED

ENCODER = "<results>/encoders/{backbone}/{recipe}/{lang}/{seed}/seedbed.json"


def first_encoder(retriever, code):
    """The encoder that a retriever offers to a language, its first seed's."""
    lang, seed = STUDY.trained_on(retriever.recipe, code), STUDY.seeds_of(retriever.recipe)[0]
    return ENCODER.format(backbone=retriever.backbone, recipe=retriever.recipe, lang=lang, seed=seed)


def untested_encoders():
    """The encoders of languages without a test set, which no table asks for."""
    return [ENCODER.format(**facts) for facts in STUDY.untested()]


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
    return backbone_weights(wildcards.backbone)


def backbone_weights(backbone):
    """The weights of a backbone, which others of the same source share."""
    return f"<results>/encoders/{STUDY.weights_of(backbone)}/weights/seedbed.json"


def endpoint_argument(wildcards):
    """The endpoint as an argument, if it is one."""
    endpoint = endpoint_of(wildcards)
    return [f"--endpoint={endpoint.dump()}"] if endpoint else []


def weights_argument(wildcards, input):
    """The folder of the weights as an argument, if there are any."""
    return ["--weights", str(Path(str(input.weights)).parent)] if input.weights else []


def rows_argument(wildcards):
    """How many triplets an encoder learns from at most, as an argument."""
    rows = STUDY.recipes[wildcards.recipe].rows
    return ["--rows", rows] if rows else []


def training_texts(wildcards):
    """What a recipe's encoder learns from; the base encoder learns nothing."""
    recipe = STUDY.recipes[wildcards.recipe]
    if untrained(wildcards):
        return []
    if recipe.method == "unsupervised":
        return STUDY.sentences_of(wildcards.recipe)
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
    role = "nli" if recipe.method == "crosslingual" else recipe.text or "text"
    about["data"].append(described(role, STUDY.corpus(role, wildcards.lang)))
    if recipe.method in SYNTHETIC:
        about["generator"] = STUDY.generator_of(wildcards.recipe)
        about["data"].append(generator_described(about["generator"]))
    return compact(about)


def fused_encoders(wildcards):
    """The encoders of the same recipe, language and seed that a fusion is of, in the order of its weights."""
    return [member_of(backbone, wildcards) for backbone in STUDY.fused[wildcards.backbone].of]


def member_of(backbone, wildcards):
    """One of them."""
    return ENCODER.replace("<results>", STUDY.results).format(**{**wildcards, "backbone": backbone})


def member_arguments(wildcards):
    """The same, each with its backbone."""
    members = STUDY.fused[wildcards.backbone].of
    return [f"{backbone}={Path(member_of(backbone, wildcards)).parent}" for backbone in members]


def dev_sets(wildcards):
    """Language -> the development set that chooses a fusion's weights and the training set behind it, if there is one."""
    dev = STUDY.fused[wildcards.backbone].dev
    corpora, found = f"{STUDY.results}/corpora", {}
    for code in STUDY.chosen_on(dev, wildcards.lang):
        name, other = STUDY.test_set(dev), STUDY.train_of(dev, code)
        found[code] = (f"{corpora}/{code}/{name}.tsv", f"{corpora}/{other}/{name}{TRAINING}.tsv" if other else "")
    return found


def dev_tests(wildcards):
    """The development sets."""
    return [test for test, _ in dev_sets(wildcards).values()]


def dev_trains(wildcards):
    """Their training sets."""
    return sorted({train for _, train in dev_sets(wildcards).values() if train})


def dev_arguments(wildcards):
    """Both as arguments, with their task; nothing where the weights are given."""
    if not (sets := dev_sets(wildcards)):
        return []
    dev = STUDY.fused[wildcards.backbone].dev
    tests = [f"{code}={test}" for code, (test, _) in sets.items()]
    trains = [f"{code}={train}" for code, (_, train) in sets.items() if train]
    task = STUDY.task_for(dev, next(iter(sets))).dump()
    return ["--dev", dev, "--task", task, "--tests", *tests, *(["--trains", *trains] if trains else [])]


def fusion_lineage(wildcards):
    """What the manifest says of a fusion's making."""
    return compact(
        {
            "backbone": wildcards.backbone,
            "recipe": wildcards.recipe,
            "method": STUDY.recipes[wildcards.recipe].method,
            "language": wildcards.lang,
            "language_name": STUDY.facts(wildcards.lang)["name"],
            "seed": int(wildcards.seed),
        }
    )


def generator_described(name):
    """A generator as a card names it; a server's model has a licence of its own, which nobody states here."""
    generator = STUDY.generators[name]
    if generator.source:
        return described(name, generator.source)
    return {"name": name, "origin": f"{generator.served_model} at {generator.endpoint}", "licence": ""}


def described(name, source):
    """A source as a card names it."""
    return {"name": name, "origin": origin(source), "licence": source.licence}
