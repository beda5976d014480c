"""Room 6: tables, figures, the report."""

import time


rule tabulate:
    input:
        scores=scores_of,
        triplets=texts_of,
        spec=spec_of("table"),
        paper=paper_of,
    output:
        table="<results>/tables/{table}.csv",
        layout="<results>/tables/{table}.md",
    log:
        "<logs>/tabulate/{table}.log",
    benchmark:
        "<benchmarks>/tabulate/{table}.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(4000),
        runtime=more(120),
    params:
        code=code("tabulate", spec_of("table"), paper_of),
        scores=f"{STUDY.results}/scores",
        plan=lambda wildcards: compact([block.model_dump(mode="json") for block in plan_of(wildcards.table)]),
        statistics=STUDY.statistics.dump(),
    message:
        "Make {wildcards.table}"
    shell:
        # The plan of hundreds of languages is longer than an argument may be; printf is the shell's own.
        "printf %s {params.plan:q} | python -m scripts.tabulate --spec {input.spec:q} --scores {params.scores:q} --plan -"
        " --statistics {params.statistics:q} --output {output.table:q} --layout {output.layout:q} > {log:q} 2>&1"


rule plot:
    input:
        data=drawn_from,
        spec=spec_of("figure"),
    output:
        svg="<results>/figures/{figure}.svg",
        png="<results>/figures/{figure}.png",
    log:
        "<logs>/plot/{figure}.log",
    benchmark:
        "<benchmarks>/plot/{figure}.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(4000),
        runtime=more(30),
    params:
        code=code("plot", spec_of("figure"), resource("languages.tsv")),
    message:
        "Draw {wildcards.figure}"
    shell:
        "python -m scripts.plot --spec {input.spec:q} --data {input.data:q}"
        " --output {output.svg:q} --png {output.png:q} > {log:q} 2>&1"


rule report:
    input:
        tables=collect("<results>/tables/{table}.csv", table=STUDY.tables),
        layouts=collect("<results>/tables/{table}.md", table=STUDY.tables),
        figures=collect(
            "<results>/figures/{figure}.{form}",
            figure=STUDY.figures,
            form=["svg", "png"],
        ),
        audits=triplets_of(".audit.json"),
        triplets=triplets_of(".tsv"),
        rejected=triplets_of(".rejected.tsv"),
        config=CONFIGURATION,
    output:
        "<results>/report.zip",
    log:
        "<logs>/report/report.log",
    benchmark:
        "<benchmarks>/report/report.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(4000),
        runtime=more(30),
    params:
        code=code("report", resource("report.html.j2"), *CONFIGURATION),
        title=f"Seedbed: {STUDY.results}",
        cards=cards(),
    message:
        "Write the report"
    shell:
        "python -m scripts.report --title {params.title:q} --tables {input.tables:q} --layouts {input.layouts:q}"
        " --figures {input.figures:q} --audits {input.audits:q} --triplets {input.triplets:q} --rejected {input.rejected:q}"
        " --cards {params.cards:q} --config {input.config:q} --output {output:q} > {log:q} 2>&1"


rule forecast:
    input:
        config=CONFIGURATION,
    output:
        table="<results>/forecast.tsv",
        page="<results>/forecast.md",
    log:
        "<logs>/forecast/forecast.log",
    benchmark:
        "<benchmarks>/forecast/forecast.jsonl"
    localrule: True
    conda:
        "../envs/forecast.yaml"
    threads: 1
    resources:
        gpu=0,
        mem_mb=more(1000),
        runtime=more(30),
    params:
        code=code("forecast", resource("forecast.yaml"), *CONFIGURATION),
        forecast=STUDY.forecast.dump(),
        asked=lambda wildcards: asked(),
        moment=lambda wildcards: time.time_ns(),  # always another: a forecast is made anew whenever it is asked for
        benchmarks=f"{STUDY.results}/benchmarks",
    message:
        "Forecast the cost of the study"
    shell:
        "python -m scripts.forecast --forecast {params.forecast:q} {params.asked:q} --benchmarks {params.benchmarks:q}"
        " --output {output.table:q} --page {output.page:q} > {log:q} 2>&1"
