from snakemake.utils import min_version

min_version("9.20")


report: "report/workflow.rst"


include: "rules/common.smk"


pathvars:
    results=STUDY.results,
    logs=f"{STUDY.results}/logs",
    benchmarks=f"{STUDY.results}/benchmarks",


wildcard_constraints:
    **constraints(STUDY),


include: "rules/corpora.smk"
include: "rules/generators.smk"
include: "rules/triplets.smk"
include: "rules/encoders.smk"
include: "rules/classifiers.smk"
include: "rules/evaluation.smk"
include: "rules/tables.smk"
include: "rules/operations.smk"


onstart:
    claim()


onsuccess:
    runs.show_forecast(STUDY.results, BEGUN)


onerror:
    runs.say_failures(STUDY.results)


rule all:
    default_target: True
    input:
        paths.REPORT,
        collect(paths.TABLE, table=STUDY.tables),
        collect(paths.FIGURE, figure=STUDY.figures, form="svg"),
        targets(ANSWER.best),
        targets(ANSWER.unchosen),


for paper in ("bootstrapping", "miners", "neighxlm", "modular", "lira"):

    rule:
        name:
            f"all_{paper}"
        input:
            targets(Paper.get(STUDY, paper).files),
