"""Room 7: tables, figures, the report."""


rule plan_table:
    output:
        paths.PLAN,
    log:
        "<logs>/plan_table/{table}.log",
    benchmark:
        "<benchmarks>/plan_table/{table}.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("plan_table")
    resources:
        **NEEDS.of("plan_table"),
    params:
        **settings(plan=tables.plan),
        code=code("plan_table"),
    shell:
        # The plan of hundreds of languages is longer than an argument may be; printf is the shell's own.
        "printf %s {params.plan:q} | python -m scripts.plan_table --output {output:q} > {log:q} 2>&1"


rule tabulate:
    input:
        scores=tables.scores,
        triplets=tables.texts,
        plan=paths.PLAN,
        spec=tables.spec,
        paper=tables.paper,
    output:
        table=report(paths.TABLE, category="Tables", labels={"table": "{table}"}, caption="../report/table.rst"),
        layout=paths.LAYOUT,
    log:
        "<logs>/tabulate/{table}.log",
    benchmark:
        "<benchmarks>/tabulate/{table}.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("tabulate")
    resources:
        **NEEDS.of("tabulate"),
    params:
        **settings(statistics="statistics"),
        code=code("tabulate", tables.spec, tables.paper, modules=tables.metrics),
        scores=f"{STUDY.results}/scores",
    message:
        "Make {wildcards.table}"
    shell:
        "python -m scripts.tabulate --spec {input.spec:q} --scores {params.scores:q} --plan {input.plan:q}"
        " --statistics {params.statistics:q} --output {output.table:q} --layout {output.layout:q} > {log:q} 2>&1"


rule plot:
    input:
        data=tables.drawn_from,
        spec=tables.spec,
    output:
        svg=report(paths.SVG, category="Figures", labels={"figure": "{figure}"}, caption="../report/figure.rst"),
        png=paths.PNG,
    log:
        "<logs>/plot/{figure}.log",
    benchmark:
        "<benchmarks>/plot/{figure}.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("plot")
    resources:
        **NEEDS.of("plot"),
    params:
        code=code("plot", tables.spec, resource("languages.tsv"), modules=tables.metrics),
    message:
        "Draw {wildcards.figure}"
    shell:
        "python -m scripts.plot --spec {input.spec:q} --data {input.data:q} --output {output.svg:q} --png {output.png:q} > {log:q} 2>&1"


rule choose_best:
    input:
        encoders=best.encoders,
        scores=best.scores,
        test=best.read,
    output:
        paths.BEST,
    log:
        "<logs>/choose_best/{lang}.log",
    benchmark:
        "<benchmarks>/choose_best/{lang}.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("choose_best")
    resources:
        **NEEDS.of("choose_best"),
    params:
        **settings(blocks=best.blocks, choice=best.choice, statistics="statistics"),
        code=code("choose_best", modules=best.metrics),
        name=lambda wildcards: STUDY.names[wildcards.lang],
        test=option("test"),
        directory=JOBS.directory,
        root=lambda wildcards: STUDY.results,
    shell:
        "python -m scripts.choose_best --language {wildcards.lang:q} --name {params.name:q} --blocks {params.blocks:q} {params.choice:q}"
        " {params.test:q} --statistics {params.statistics:q} --root {params.root:q} --output {params.directory:q} > {log:q} 2>&1"


rule report:
    input:
        best=best.chosen(),
        encoders=best.every(),
        untested=encoders.untested(),
        tables=collect(paths.TABLE, table=STUDY.tables),
        layouts=collect(paths.LAYOUT, table=STUDY.tables),
        figures=collect(paths.FIGURE, figure=STUDY.figures, form=["svg", "png"]),
        audits=lambda wildcards: tables.shown_triplets(paths.AUDIT),
        triplets=lambda wildcards: tables.shown_triplets(paths.TRIPLETS),
        rejected=lambda wildcards: tables.shown_triplets(paths.REJECTED),
        neighbours=tables.shown_neighbours,
        config=CONFIGURATION,
    output:
        report=paths.REPORT,
        answer=paths.ANSWER,
    log:
        "<logs>/report/report.log",
    benchmark:
        "<benchmarks>/report/report.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("report")
    resources:
        **NEEDS.of("report"),
    params:
        **settings(prices="forecast"),
        code=code("report", *map(resource, ("report.html.j2", "report.js", "languages.tsv")), *CONFIGURATION),
        title=f"Seedbed: {STUDY.results}",
        cards=tables.cards,
        encoders=best.named(),
        benchmarks=f"{STUDY.results}/benchmarks",
        gpus=NEEDS.gpus_by_folder,
    message:
        "Write the report"
    shell:
        "python -m scripts.report --title {params.title:q} --tables {input.tables:q} --layouts {input.layouts:q}"
        " --figures {input.figures:q} --audits {input.audits:q} --triplets {input.triplets:q} --rejected {input.rejected:q}"
        " --neighbours {input.neighbours:q} --cards {params.cards:q} --config {input.config:q}"
        " --best {input.best:q} --encoders {params.encoders:q} --benchmarks {params.benchmarks:q} --prices {params.prices:q} --gpus {params.gpus:q}"
        " --answer {output.answer:q} --output {output.report:q} > {log:q} 2>&1"
