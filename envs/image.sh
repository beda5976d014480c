#!/bin/sh
# What an image holds: both environments beside each other, where Snakemake looks for the second one. No code of the project.
set -eu
apt-get update
apt-get install --yes --no-install-recommends gcc libc6-dev make  # Triton compiles its kernels on the machine
rm -rf /var/lib/apt/lists/*
for name in gpu vllm; do
    python -m venv "/opt/seedbed/.venv-$name"
    "/opt/seedbed/.venv-$name/bin/pip" install --no-cache-dir --requirement "/opt/seedbed/$name.lock"
done
