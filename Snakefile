import os
import sys

from snakemake.utils import min_version

min_version("9.20")

# Every path is relative to the project's folder.
if not os.path.isfile("resources/languages.tsv"):
    sys.exit(f"error: {os.getcwd()} is not the project's folder; run there, or add --directory {workflow.basedir}")


# A profile or the command line may bring the whole configuration; merging it with this one would mix two studies.
if "languages" not in config:

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
