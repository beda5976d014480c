"""What a plan costs: each dry-run, and the start of each job on a cluster, pays it."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.workflow.conftest import ENVIRONMENT

UNNEEDED = ("peft", "scipy", "sentence_transformers", "sklearn", "torch", "transformers")
"""Libraries that compute, of which a plan needs none; torch alone takes a second."""
PLAN = """
import json, sys
from snakemake.cli import main
try:
    main(["--dry-run", "--quiet", "all", "--profile", "profiles/demo", "--configfile", "config/demo.yaml"])
except SystemExit as end:
    print(json.dumps([end.code, sorted(sys.modules)]))
"""


def test_a_plan_imports_no_library_that_computes() -> None:
    done = subprocess.run([sys.executable, "-c", PLAN], capture_output=True, text=True, env=ENVIRONMENT)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    assert not set(modules) & set(UNNEEDED)
    assert "seedbed.study.graph.encoder" in modules
