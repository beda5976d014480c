"""What looks at the study from outside."""


rule forecast:
    input:
        config=CONFIGURATION,
    output:
        table=paths.FORECAST,
        page=paths.FORECAST_PAGE,
    log:
        "<logs>/forecast/forecast.log",
    benchmark:
        "<benchmarks>/forecast/forecast.jsonl"
    localrule: True
    conda:
        "../envs/forecast.yaml"
    threads: NEEDS.threads("forecast")
    resources:
        **NEEDS.of("forecast"),
    params:
        **settings(forecast="forecast"),
        code=code("forecast", resource("forecast.yaml"), *CONFIGURATION),
        asked=lambda wildcards: runs.asked(workflow, config if IN_MODULE else None, NEEDS.at_most),
        moment=lambda wildcards: time.time_ns(),  # always another: a forecast is made anew whenever it is asked for
        benchmarks=f"{STUDY.results}/benchmarks",
    message:
        "Forecast the cost of the study"
    shell:
        "python -m scripts.forecast --forecast {params.forecast:q} {params.asked:q} --benchmarks {params.benchmarks:q}"
        " --output {output.table:q} --page {output.page:q} > {log:q} 2>&1"


rule verify:
    input:
        tables=lambda wildcards: operations.verified(wildcards, CONFIGURATION),
        best=lambda wildcards: operations.best(wildcards, CONFIGURATION),
        reference=operations.reference(CONFIGURATION),
    output:
        paths.VERIFIED,
    log:
        "<logs>/verify/verify.log",
    benchmark:
        "<benchmarks>/verify/verify.jsonl"
    localrule: True
    conda:
        "../envs/main.yaml"
    threads: NEEDS.threads("verify")
    resources:
        **NEEDS.of("verify"),
    params:
        code=code("verify"),
    message:
        "Compare tables with {input.reference}"
    shell:
        "python -m scripts.verify --reference {input.reference:q} --tables {input.tables:q} --best {input.best:q} --output {output:q} > {log:q} 2>&1"
