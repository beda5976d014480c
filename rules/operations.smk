"""Rules of seedbed.operations: the forecast, and a check of published numbers."""


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
        **job("forecast", run_options, data=CONFIGURATION),
        moment=lambda wildcards: time.time_ns(),  # always another: a forecast is made anew whenever it is asked for
    message:
        "Forecast the cost of the study"
    shell:
        PROGRAM


rule verify:
    input:
        tables=targets(REFERENCE.tables),
        best=targets(REFERENCE.best),
        reference=REFERENCE.file,
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
        **job("verify"),
    message:
        "Compare tables with {input.reference}"
    shell:
        PROGRAM
