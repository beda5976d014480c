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
        **job("plan_table", blocks=tables.plan),
        code=code("plan_table"),
    shell:
        PROGRAM


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
        **job("tabulate", statistics="statistics", scores=lambda wildcards: f"{STUDY.results}/scores"),
        code=code("tabulate", tables.spec, tables.paper, modules=tables.metrics),
    message:
        "Make {wildcards.table}"
    shell:
        PROGRAM


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
        **job("plot"),
        code=code("plot", tables.spec, resource("languages.tsv"), modules=tables.metrics),
    message:
        "Draw {wildcards.figure}"
    shell:
        PROGRAM


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
        **job(
            "choose_best",
            language=lambda wildcards: wildcards.lang,
            name="names.{lang}",
            blocks=best.blocks,
            dev=best.choosing,
            encoder=best.recommended,
            also=best.also,
            why="best.why",
            limits="best.limits",
            statistics="statistics",
            root="results",
        ),
        code=code("choose_best", modules=best.metrics),
    shell:
        PROGRAM


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
        **job(
            "report",
            title=lambda wildcards: f"Seedbed: {STUDY.results}",
            cards=tables.cards,
            encoders=best.named,
            benchmarks=lambda wildcards: f"{STUDY.results}/benchmarks",
            prices="forecast",
            gpus=lambda wildcards: NEEDS.gpus_by_folder(),
        ),
        code=code("report", *map(resource, ("report.html.j2", "report.js", "languages.tsv")), *CONFIGURATION),
    message:
        "Write the report"
    shell:
        PROGRAM
