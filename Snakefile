import os
import sys

from snakemake.utils import min_version

min_version("9.20")


# A profile, the command line or another Snakefile may bring the whole configuration; to merge it would mix two studies.
if "languages" not in config:
    if not os.path.isfile("config.yaml"):
        sys.exit(f"error: no study, and no config.yaml in {os.getcwd()}; name one by --configfile")

    configfile: "config.yaml"


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
