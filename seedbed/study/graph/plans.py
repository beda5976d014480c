"""What tables and maps show of a study: systems, models, tasks and languages, block by block."""

from seedbed.encoders.recipes import KINDS
from seedbed.evaluation.protocols import declared
from seedbed.evaluation.settings import Task
from seedbed.generators.settings import WRITING
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.resources import spec_file
from seedbed.study import pairs, quoted
from seedbed.study.graph import classifiers, composition, corpora, encoders, evaluation
from seedbed.study.model import Study
from seedbed.tables.figure_specs import FigureSpec
from seedbed.tables.maps import Mapped, plan_map
from seedbed.tables.plan import Block, Offered, Scored, System, compared, of_labellers
from seedbed.tables.plan import plan as plan_table
from seedbed.tables.specs import OVERLAP, TableSpec

TRIPLETS = "training triplets"
"""What stands for the task of columns of overlap; with its blank it is no task's name."""


def plan(study: Study, table: str) -> list[Block]:
    """What a table shows of a study, found once; raises as `seedbed.tables.plan.plan`, and `TableSpec.load`."""
    return study.once(("plan", table), lambda: of_spec(study, TableSpec.load(spec_file("tables", table))))


def of_spec(study: Study, spec: TableSpec) -> list[Block]:
    """What a table with a spec shows of a study."""
    tasks = {
        name: Scored(
            protocol=task.protocol,
            languages=study.tested_by(name),
            pairs=pairs.tested_by(study, name),
            on_request=task.on_request,
            k=task.k,
        )
        for name, task in sorted(study.tasks.items())
    }
    tasks[TRIPLETS] = Scored(protocol=OVERLAP, languages=sorted(study.languages))
    others = tasks, study.baseline, study.reserved | pairs.reserved(study)
    systems, models = (of_classifiers if spec.of_classifiers else of_encoders)(study)
    try:
        blocks = plan_table(spec, systems, models, *others)
    except UserError:
        asked = (task for column in spec.columns for task in column.tasks)
        if missing := next(filter(None, (corpora.lacking(study, task) for task in asked)), ""):
            raise UserError(f"table {spec.title!r}: {missing}") from None
        raise
    blocks += of_labellers(spec, _labellers(study), _classifiers(study), *others)
    blocks = compared(spec, blocks, study.statistics.baseline_backbone)
    return [quoted.beside(study, block) for block in blocks]


def mapped(study: Study, spec: FigureSpec) -> Mapped:
    """What a map shows of a study; raises as `seedbed.tables.maps.plan_map`."""
    tasks: dict[str, dict[str, list[str]]] = {"labelled_texts": {}, "parallel": {}}
    for name, task in sorted(study.tasks.items()):
        if kind := _maps(task):
            tasks[kind][name] = study.tested_by(name)
    return plan_map(spec, *of_encoders(study), tasks, study.reserved)


def _maps(task: Task) -> str:
    """The kind of texts of a task that a map can show: its training texts, or its pairs; empty: none."""
    protocol = declared(task.protocol)
    labelled = protocol.learns and protocol.kind == "labelled_texts" and not task.train_language
    return protocol.kind if labelled or protocol.kind == "parallel" else ""


def of_encoders(study: Study) -> tuple[list[System], dict[str, Offered]]:
    """The recipes and backbones that a table of encoders can show."""
    systems = [
        System(
            recipe=name,
            language=encoders.trained_on(study, name, "*"),
            seeds=encoders.seeds_of(study, name),
            heads=encoders.heads_of(study, name),
            on_request=recipe.on_request,
            languages=recipe.languages,
            backbones=encoders.backbones_of(study, name),
            chosen_on=composition.chooser_of(study, name),
            triplets=_compared(study, name),
            gives=evaluation.gives(study, name),
        )
        for name, recipe in study.recipes.items()
    ]
    offered = {
        name: Offered(
            paper=spec.paper,
            on_request=spec.on_request,
            fused=bool(spec.fusion),
            tasks=evaluation.can_score(study, name),
        )
        for name, spec in study.backbones.items()
    }
    return systems, offered


def _compared(study: Study, recipe: str) -> str:
    """The triplets whose overlap a table can show, with {lang}: in one language, so that words can be compared.

    A path in the folder of results: a plan is the same in whatever folder it lies.
    """
    spec = study.recipes[recipe]
    if not spec.data or KINDS[spec.data.key] != "triplets":
        return ""
    across = spec.written and WRITING[spec.written].output == "pivot"
    return "" if across else encoders.data_of(study, recipe).removeprefix(f"{study.results}/")


def of_classifiers(study: Study) -> tuple[list[System], dict[str, Offered]]:
    """The variants and classifiers that a table of classifiers can show; one seed, that of their adapters."""
    folders = {"task-target": "*", "composition": "*", "task-pivot": study.pivot}
    folders |= {variant: "*" for spec in study.classifiers.values() for variant in spec.composed}
    taught = {"task-target": [code for code in study.languages if study.corpus("nli_pairs", code)]}
    systems = [
        System(recipe=name, language=folders.get(name, ANY), seeds=[0], languages=taught.get(name), backbones=models)
        for name, models in classifiers.variants(study).items()
    ]
    return systems, _classifiers(study)


def _labellers(study: Study) -> list[System]:
    """What a table of encoders can show of classifiers: those without a prompt, and language models in context."""
    forms = classifiers.labellers(study)
    for form, models in classifiers.variants(study).items():
        forms[form] = [name for name in models if study.classifiers[name].prompted]
    return [
        System(recipe=form, language=ANY, seeds=classifiers.seeds_of(study, form), backbones=models)
        for form, models in forms.items()
    ]


def _classifiers(study: Study) -> dict[str, Offered]:
    """The classifiers as tables see them."""
    return {
        name: Offered(
            paper=spec.paper,
            on_request=spec.on_request,
            languages=spec.languages,
            tasks=classifiers.answerable(study, name),
        )
        for name, spec in study.classifiers.items()
    }
