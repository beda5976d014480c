"""Rules of seedbed.tables: tables, figures and the report."""


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
        **job("plan_table"),
    shell:
        PROGRAM


rule tabulate:
    input:
        unpack(inputs("tabulate")),
    output:
        table=report(paths.TABLE, category="Tables", labels={"table": "{table}"}, caption="../report/table.rst"),
        compared=paths.COMPARED,
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
        **job("tabulate"),
    message:
        "Make {wildcards.table}"
    shell:
        PROGRAM


rule plot:
    input:
        unpack(inputs("plot")),
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
    message:
        "Draw {wildcards.figure}"
    shell:
        PROGRAM


rule choose_best:
    input:
        unpack(inputs("choose_best")),
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
        **job("choose_best"),
    shell:
        PROGRAM


rule report:
    input:
        unpack(inputs("report")),
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
        **job("report", gpus_of_jobs, data=CONFIGURATION),
    message:
        "Write the report"
    shell:
        PROGRAM
