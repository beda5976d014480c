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
        **job("forecast", asked, forecast="forecast", benchmarks=lambda wildcards: f"{STUDY.results}/benchmarks"),
        code=code("forecast", resource("forecast.yaml"), *CONFIGURATION),
        moment=lambda wildcards: time.time_ns(),  # always another: a forecast is made anew whenever it is asked for
    message:
        "Forecast the cost of the study"
    shell:
        PROGRAM


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
        **job("verify"),
        code=code("verify"),
    message:
        "Compare tables with {input.reference}"
    shell:
        PROGRAM
