"""A Slurm cluster of one node on this machine: real daemons on ports, keys and folders of their own, with fake GPUs.

Nothing outside its folder is read or written, so that it may run beside a Slurm that is already there. Written for Slurm
22.05 (Debian 12).
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel")
DAEMONS = ("slurmd", "slurmctld", "munged")
"""In the order in which they are stopped."""

SBIN = "/usr/sbin:/sbin"
SECONDS = 30
"""How long a daemon may take to answer, or to end."""

CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A job that is queued again may start once its credential has expired: after five seconds, not two minutes.
AuthInfo=socket={root}/munge/socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/run/slurmctld.pid
SlurmdPidFile={root}/run/slurmd.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdLogFile={root}/log/slurmd.log
# Neither cgroups nor systemd: this runs in a container too.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={root}/bin/record
# A job's memory is looked at every second, and a job that has more than it asked for is killed.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
ReturnToService=2
KillWait=2
PropagateResourceLimits=NONE
# A node that claims to be a server: the rules' own requests must fit.
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 NodeHostname={host} CPUs={cpus} RealMemory=1000000 Gres=gpu:fake:{gpus} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=1-00:00:00 State=UP
PartitionName=accelerated Nodes={host} MaxTime=1-00:00:00 State=UP
"""

RECORD = """\
#!/bin/sh
# Which job got what, for each task that Slurm starts but the batch scripts themselves.
[ -z "$SLURM_STEP_ID" ] || [ "$SLURM_STEP_ID" = 4294967291 ] && exit 0
comment=$(SLURM_CONF={root}/etc/slurm.conf squeue --noheader --jobs "$SLURM_JOB_ID" --format %k)
echo "$SLURM_JOB_ID $SLURM_JOB_PARTITION ${{CUDA_VISIBLE_DEVICES:--}} $comment" >> {root}/record
"""

SRUN = """\
#!/bin/sh
# The plugin's job steps drop every SLURM_ variable, and with it where the configuration lies.
SLURM_CONF={root}/etc/slurm.conf exec {srun} "$@"
"""


class ClusterError(RuntimeError):
    """What this machine lacks, or what did not start, in one line."""


class Cluster:
    """The cluster; `with Cluster() as cluster:` starts it and stops it.

    Args:
        cpus: processors that the node says it has; they bound how many jobs run at a time.
        gpus: fake GPUs, device files that behave like /dev/null.

    Raises:
        ClusterError: no root, no Slurm, or a daemon that does not answer.
    """

    def __init__(self, cpus: int = 3, gpus: int = 2) -> None:
        os.environ["PATH"] = f"{os.environ['PATH']}:{SBIN}"
        if missing := lacking():
            raise ClusterError(missing)
        self.cpus, self.gpus = cpus, gpus
        # Not under pytest's folders, which only their owner may enter: munge refuses those, and long names of sockets.
        self.root = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.host = socket.gethostname().split(".")[0]

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which programs find this cluster."""
        return {
            **os.environ,
            "SLURM_CONF": str(self.root / "etc/slurm.conf"),
            "PATH": f"{self.root}/bin:{os.environ['PATH']}",
        }

    def __enter__(self) -> Cluster:
        try:
            self._write()
            munge = {name: f"--{name}={self.root}/{path}" for name, path in MUNGE.items()}
            self.run("munged", *munge.values())
            self.run("slurmctld", "-c", "-i")
            wait_until(lambda: " UP" in self.ask("scontrol", "ping"), "slurmctld does not answer", self._log)
            self.run("slurmd", "-c", "-N", self.host)
            wait_until(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%t"), "no idle node", self._log)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused: object) -> None:
        """Stop the jobs and the daemons that this cluster started, by their process ids."""
        if (self.root / "run/slurmctld.pid").exists():
            self.ask("scancel", "--quiet", "--user=root")
            wait_until(lambda: not self.ask("squeue", "-h"), "jobs do not end", fail=False)
        for daemon in DAEMONS:
            end(self.root / f"run/{daemon}.pid")
        shutil.rmtree(self.root)

    def run(self, *command: str) -> str:
        """The output of one of Slurm's programs, which must succeed."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise ClusterError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def ask(self, *command: str) -> str:
        """The same, where no answer is one too."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout

    def record(self) -> list[tuple[str, str, str, str]]:
        """Job, partition, visible GPUs (- without) and comment of each job step so far."""
        path = self.root / "record"
        lines = path.read_text().splitlines() if path.exists() else []
        return [tuple(line.split(" ", 3)) for line in lines]

    def _write(self) -> None:
        self.root.chmod(0o755)
        for folder in ("bin", "etc", "log", "munge", "run", "spool", "state"):
            (self.root / folder).mkdir()
        key = self.root / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        devices = [self.root / f"etc/gpu{number}" for number in range(self.gpus)]
        for device in devices:
            # Slurm counts any file, but makes only devices visible. The number at the end becomes the index.
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        files = f"{self.root}/etc/gpu[0-{self.gpus - 1}]"
        (self.root / "etc/gres.conf").write_text(f"NodeName={self.host} Name=gpu Type=fake File={files}\n")
        controller_port, node_port = free_ports(2)
        facts = {"root": self.root, "host": self.host, "cpus": self.cpus, "gpus": self.gpus}
        conf = CONF.format(**facts, controller_port=controller_port, node_port=node_port)
        (self.root / "etc/slurm.conf").write_text(conf)
        for name, text in (("record", RECORD), ("srun", SRUN)):
            path = self.root / "bin" / name
            path.write_text(text.format(root=self.root, srun=shutil.which("srun")))
            path.chmod(0o755)

    def _log(self) -> str:
        lines = [line for path in sorted((self.root / "log").glob("*.log")) for line in path.read_text().splitlines()]
        return "; ".join([line for line in lines if "error" in line][-3:])


MUNGE = {
    "key-file": "munge/key",
    "socket": "munge/socket",
    "pid-file": "run/munged.pid",
    "log-file": "log/munged.log",
    "seed-file": "munge/seed",
}


def lacking() -> str:
    """What this machine lacks to run a cluster, in one line; nothing if it lacks nothing."""
    if os.geteuid():
        return "a Slurm of one's own needs root: its fake GPUs are device files; run `make test-slurm` as root"
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    return f"no {', '.join(absent)}: apt-get install slurm-wlm munge" if absent else ""


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for opened in sockets:
        opened.bind(("127.0.0.1", 0))
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


def wait_until(
    holds: Callable[[], bool],
    otherwise: str,
    detail: Callable[[], str] = str,
    seconds: float = SECONDS,
    fail: bool = True,
) -> None:
    """Wait for a condition.

    Raises:
        ClusterError: it did not come about, if `fail`.
    """
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            if fail:
                raise ClusterError(f"{otherwise} after {seconds:g} seconds: {detail()}")
            return
        time.sleep(0.1)


def end(pid_file: Path) -> None:
    """End the process of a file, gently, then not."""
    if not pid_file.exists() or not pid_file.read_text().strip():
        return
    process = int(pid_file.read_text())
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(process, number)
        except ProcessLookupError:
            return
        wait_until(lambda: not Path(f"/proc/{process}").exists(), "", seconds=10, fail=False)
