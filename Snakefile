from snakemake.utils import min_version

min_version("9.20")


include: "rules/common.smk"


pathvars:
    results=STUDY.results,
    logs=f"{STUDY.results}/logs",
    benchmarks=f"{STUDY.results}/benchmarks",


wildcard_constraints:
    **CONSTRAINTS,


include: "rules/corpora.smk"
include: "rules/generators.smk"
include: "rules/triplets.smk"
include: "rules/encoders.smk"
include: "rules/evaluation.smk"
include: "rules/tables.smk"


onstart:
    claim()


onsuccess:
    show_forecast()


onerror:
    mourn(log)


rule all:
    default_target: True
    input:
        "<results>/report.zip",
        collect("<results>/tables/{table}.csv", table=STUDY.tables),
        collect("<results>/figures/{figure}.svg", figure=STUDY.figures),
        untested_encoders(),


rule all_bootstrapping:
    input:
        of_paper("bootstrapping"),


rule all_miners:
    input:
        of_paper("miners"),
