#!/bin/sh
# What an image holds: the environments that it is told, beside each other, where Snakemake looks for the second one. No code of the project.
set -eu
apt-get update
apt-get install --yes --no-install-recommends gcc libc6-dev make git  # Triton compiles its kernels on the machine; the report reads the commit
rm -rf /var/lib/apt/lists/*
for name in "$@"; do
    python -m venv "/opt/seedbed/.venv-$name"
    "/opt/seedbed/.venv-$name/bin/pip" install --no-cache-dir --requirement "/opt/seedbed/$name.lock"
done
