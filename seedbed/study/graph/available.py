"""The systems, models, tasks and languages of a study that tables and maps can show."""

from dataclasses import dataclass
from functools import cached_property

from seedbed.evaluation import protocols
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.names import languages_of
from seedbed.settings import suggest
from seedbed.study import quoted
from seedbed.study.backbone import StudyBackbone
from seedbed.study.graph import classifier
from seedbed.study.graph.corpus import lacking
from seedbed.study.model import Part
from seedbed.study.recipe import StudyRecipe
from seedbed.tables.figures.maps import Mapped, plan_map
from seedbed.tables.figures.specs import FigureSpec, Map
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, Block, compared, of_labellers, plan
from seedbed.tables.specs import OVERLAP, TableSpec

TRIPLETS = "training triplets"
"""Name in place of the task in columns of lexical overlap; it has a blank, so no task has this name."""


@dataclass(frozen=True)
class Available(Part):
    """The parts of a study that tables and maps can show."""

    @cached_property
    def recipes(self) -> list[AvailableRecipe]:
        """The recipes that a table of encoders can show."""
        return [
            AvailableRecipe(
                recipe=recipe.name,
                language=recipe.folder("*"),
                seeds=recipe.seeds,
                heads=recipe.heads,
                on_request=recipe.spec.on_request,
                languages=recipe.spec.only.languages,
                backbones=recipe.backbones,
                chosen_on=recipe.scale_chosen_on,
                triplets=recipe.compared,
                gives=recipe.gives,
                transformer=recipe.transformer,
            )
            for recipe in StudyRecipe.every(self.study)
        ]

    @cached_property
    def backbones(self) -> dict[str, AvailableModel]:
        """The backbones that a table of encoders can show."""
        return {
            one.name: AvailableModel(
                paper=one.spec.paper,
                on_request=one.spec.on_request,
                fused=bool(one.spec.fusion),
                tasks=one.scored_on,
            )
            for one in StudyBackbone.every(self.study)
        }

    @cached_property
    def variants(self) -> list[AvailableRecipe]:
        """The variants that a table of classifiers can show, each with its classifiers; paths have seed 0."""
        study = self.study
        folders = {"task-target": "*", "composition": "*", "task-pivot": study.pivot}
        folders |= {variant: "*" for spec in study.classifiers.values() for variant in spec.composed}
        taught = {"task-target": [code for code in study.languages if study.corpus("nli_pairs", code)]}
        return [
            AvailableRecipe(
                recipe=form,
                language=folders.get(form, ANY),
                seeds=[0],
                languages=taught.get(form),
                backbones=models,
            )
            for form, models in classifier.variants(study).items()
        ]

    @cached_property
    def labellers(self) -> list[AvailableRecipe]:
        """The variants of classifiers that a table of encoders can show: baselines, fine-tuned backbones, and language
        models that are prompted.
        """
        study, forms = self.study, classifier.labellers(self.study)
        for form, models in classifier.variants(study).items():
            forms[form] = [name for name in models if study.classifiers[name].prompted]
        return [
            AvailableRecipe(recipe=form, language=ANY, seeds=classifier.seeds_of(study, form), backbones=models)
            for form, models in forms.items()
        ]

    @cached_property
    def classifiers(self) -> dict[str, AvailableModel]:
        """The classifiers that tables can show."""
        return {
            one.name: AvailableModel(
                paper=one.spec.paper,
                on_request=one.spec.on_request,
                languages=one.spec.languages,
                tasks=one.tasks,
            )
            for one in classifier.StudyClassifier.every(self.study)
        }

    @cached_property
    def tasks(self) -> dict[str, AvailableTask]:
        """The tasks whose scores, or the triplets whose overlap, a table can show."""
        study = self.study
        scored = {
            name: AvailableTask(
                protocol=task.protocol,
                languages=study.tested_by(name),
                pairs=study.pairs_tested_by(name),
                on_request=task.on_request,
                k=task.k,
            )
            for name, task in sorted(study.tasks.items())
        }
        return scored | {TRIPLETS: AvailableTask(protocol=OVERLAP, languages=sorted(study.languages))}

    # ---- What tables and figures show.

    def blocks(self, spec: TableSpec) -> list[Block]:
        """The blocks of a table; raises as `seedbed.tables.plan.plan`."""
        study = self.study
        reserved = study.reserved | {pair for pair in study.tests_by_pair if study.reserved & {*languages_of(pair)}}
        systems = self.variants if spec.of_classifiers else self.recipes
        models = self.classifiers if spec.of_classifiers else self.backbones
        try:
            blocks = plan(spec, systems, models, self.tasks, study.baseline, reserved)
        except UserError:
            asked = (task for column in spec.columns for task in column.tasks)
            if missing := next(filter(None, (lacking(study, task) for task in asked)), ""):
                raise UserError(f"table {spec.title!r}: {missing}") from None
            raise
        blocks += of_labellers(spec, self.labellers, self.classifiers, self.tasks, study.baseline, reserved)
        blocks = compared(spec, blocks, study.statistics.baseline_backbone)
        for block in blocks:
            self._require_translator(spec, block)
        return [quoted.with_quotes(study, block) for block in blocks]

    def _require_translator(self, spec: TableSpec, block: Block) -> None:
        """Check that recipes choose among the English of the translator whose share a column shows; of a table with
        `partial`, that all of a block do or none.
        """
        column = block.column
        if column.declared.asks != ("choices",):
            return
        if not (name := protocols.class_of(column.protocol, column.metric)):
            return
        read = {one.recipe: StudyRecipe.get(self.study, one.recipe).spec.english.translators for one in block.systems}
        lacking = [recipe for recipe, known in read.items() if name not in known]
        if lacking and not (spec.partial and len(lacking) == len(read)):
            told = f"{lacking[0]} chooses among no translator {name!r}; {suggest(name, read[lacking[0]])}"
            raise UserError(f"table {spec.title!r}: columns.{column.label}: {told}, or name others in its `recipes`")

    def mapped(self, spec: FigureSpec) -> Mapped:
        """The contents of a map; raises as `seedbed.tables.figures.maps.plan_map`."""
        tasks: dict[str, dict[str, list[str]]] = {"labelled_texts": {}, "parallel": {}}
        for name, task in sorted(self.study.tasks.items()):
            protocol = self.study.declared[name]
            labelled = protocol.kind == "labelled_texts" and protocol.learns and not task.train_language
            if labelled or protocol.kind == "parallel":
                tasks[protocol.kind][name] = self.study.tested_by(name)
        return plan_map(spec, self.recipes, self.backbones, tasks, self.study.reserved)

    def has_column(self, spec: TableSpec) -> bool:
        """Whether the study can fill a column of a table with `partial`: it has the column's tasks and their data, or a
        task of the column's protocol. True for a table without `partial`.
        """
        known = {task.protocol for task in self.study.tasks.values()}
        there = {name for name in self.study.tasks if not lacking(self.study, name)}
        return not spec.partial or any(
            {*column.tasks} <= there if column.tasks else column.protocol in known for column in spec.columns
        )

    def has_backbone(self, spec: Map) -> bool:
        """Whether the study has one of the backbones that a map names, by its name or the paper's, and not as an
        optional one (`on_request`). True for a map that names none.
        """
        usual = {name: one for name, one in self.study.backbones.items() if not one.on_request}
        return not spec.backbones or bool({*spec.backbones} & {*usual, *(one.paper for one in usual.values())})
