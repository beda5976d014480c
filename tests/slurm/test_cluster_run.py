"""The whole graph as jobs of a real Slurm, and what becomes of it when something dies. Opt-in: `make test-slurm`."""

import json
import os
import shutil
import signal
import subprocess
from collections import defaultdict

import pytest
from safetensors.torch import load_file

from tests.slurm.cluster import wait_until
from tests.slurm.conftest import SLURM, content, payload

pytestmark = pytest.mark.slurm

GPU_RULES = {
    "train_task_adapter", "train_language_adapter", "build_xllora_examples", "train_xllora_adapter", "synthesise",
    "train_encoder", "score",
}  # fmt: skip
CPU_RULES = {
    "fetch_corpus",
    "sample_text",
    "select_anchors",
    "fetch_model",
    "compose_adapters",
    "join_triplets",
    "audit_triplets",
}
UNTRAINED = "rule_train_encoder_wildcards_tiny-bert_base_mul_0"

ENCODER = "results/slurm/encoders/tiny-bert/xllora/hau/1"
TRAINING = "rule_train_encoder_wildcards_tiny-bert_xllora_hau_1"


def test_tables_and_all_that_lies_below_them_are_those_of_a_local_run(slurm, finished):
    local = slurm.snakemake(config=slurm.edit({"results": "results/local"}, target="local.yaml"))
    assert local.returncode == 0, local.stderr[-4000:]
    compared = defaultdict(int)
    for folder, ending in (("tables", "*"), ("figures", "*"), ("triplets", "*.tsv"), ("encoders", "*.safetensors")):
        for path in (slurm.root / "results/local" / folder).rglob(ending):
            if path.is_file():
                theirs = slurm.root / "results/slurm" / path.relative_to(slurm.root / "results/local")
                assert theirs.read_bytes() == path.read_bytes(), theirs
                compared[folder] += 1
    assert (
        compared["tables"] == 4 and compared["figures"] == 2 and compared["triplets"] > 4 and compared["encoders"] > 2
    )


def test_every_rule_but_the_local_ones_is_a_job_with_the_gpus_that_it_asks_for(finished, cluster):
    steps = defaultdict(set)
    for _, partition, gpus, comment in cluster.record():
        rule = comment.removeprefix("rule_").split("_wildcards")[0]
        if comment != UNTRAINED:
            steps[rule].add((partition, gpus))
    assert set(steps) == GPU_RULES | CPU_RULES
    for rule in GPU_RULES:
        assert {partition for partition, _ in steps[rule]} == {"accelerated"}, rule
        assert {gpus for _, gpus in steps[rule]} <= {"0", "1"}, rule
    for rule in CPU_RULES:
        assert steps[rule] == {("main", "-")}, rule
    # A rule whose need hangs on the recipe: nothing to train, no GPU.
    assert [step[1:3] for step in cluster.record() if step[3] == UNTRAINED] == [("main", "-")]


@pytest.fixture
def training(slurm, finished, cluster):
    """A finished encoder, taken away and under way again at the site that knows gres alone."""
    before = content(slurm.root, ENCODER)
    shutil.rmtree(slurm.root / ENCODER)
    known = len(jobs(cluster))
    command = slurm.command(*SLURM, "gres.yaml", f"{ENCODER}/seedbed.json")
    with (slurm.root / "again.log").open("w") as log:
        run = subprocess.Popen(command, cwd=slurm.root, env=slurm.environment, stdout=log, stderr=log)
    wait_until(
        lambda: payload(slurm.root, "train_encoder"),
        "no training under way",
        (slurm.root / "again.log").read_text,
        seconds=120,
    )
    yield run, jobs(cluster)[known:]
    run.kill()
    run.wait()
    assert content(slurm.root, ENCODER) == before, "the same bytes as without a fault"


def jobs(cluster) -> list[str]:
    """Ids of the jobs that trained the encoder, in the order of their starts."""
    return [step[0] for step in cluster.record() if step[3] == TRAINING]


def test_a_killed_process_is_tried_again_and_the_message_names_both_logs(training, slurm, cluster):
    run, first = training
    os.kill(payload(slurm.root, "train_encoder")[0], signal.SIGKILL)
    assert run.wait() == 0
    assert len(jobs(cluster)) == len(set(jobs(cluster))) and jobs(cluster)[-1] not in first
    said = (slurm.root / "again.log").read_text()
    assert "results/slurm/logs/train_encoder/tiny-bert/xllora/hau/1.log" in said
    slurm_log = slurm.root / f"logs/slurm/rule_train_encoder/tiny-bert_xllora_hau_1/{first[0]}.log"
    assert str(slurm_log) in said and slurm_log.is_file()


def test_a_cancelled_job_is_submitted_again(training, slurm, cluster):
    run, first = training
    cluster.run("scancel", *first)
    assert run.wait() == 0
    assert jobs(cluster)[-1] not in first


def test_a_job_that_slurm_queues_again_goes_on_under_its_number(training, slurm, cluster):
    """What preemption does."""
    run, first = training
    cluster.run("scontrol", "requeue", *first)
    assert run.wait() == 0
    assert jobs(cluster)[-2:] == first * 2


def test_snakemake_killed_and_started_again_takes_up_what_its_job_made(training, slurm, cluster):
    run, first = training
    run.send_signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not cluster.ask("squeue", "-h"), "the job does not end", seconds=120)
    done = slurm.snakemake(*SLURM, "gres.yaml", f"{ENCODER}/seedbed.json")
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Nothing to be done" in done.stdout + done.stderr and jobs(cluster)[-1:] == first


def test_a_training_that_is_given_two_gpus_is_the_same_in_two_processes(slurm, cluster):
    """Without dropout, in which processes differ; tests/unit/encoders/training/test_shares.py has the rest."""
    training = {"dropout": 0.0, "batch_size": 8, "steps": 6}
    made = {}
    for name, how in {"alone": (), "shared": (*SLURM, "site.yaml", "--set-resources", "train_encoder:gpu=2")}.items():
        study = {"results": f"results/{name}", "recipes": {"crosslingual": {"training": training}}}
        config = slurm.edit(study | {"statistics/baseline": "crosslingual"}, target=f"{name}.yaml")
        made[name] = slurm.root / f"results/{name}/encoders/tiny-bert/crosslingual/mul/1"
        done = slurm.snakemake(f"{made[name].relative_to(slurm.root)}/seedbed.json", *how, config=config)
        assert done.returncode == 0, done.stderr[-4000:]
    assert cluster.record()[-1][1:3] == ("accelerated", "0,1")
    one, two = (json.loads((place / "seedbed.json").read_text())["training"] for place in made.values())
    assert two["processes"] == 2 and "processes" not in one
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
    alone, shared = (load_file(place / "model.safetensors") for place in made.values())
    assert alone.keys() == shared.keys()
    for name, weight in alone.items():
        assert shared[name].numpy() == pytest.approx(weight.numpy(), abs=1e-5), name
