# Everything is set up by the targets themselves: the virtual environment, the Python packages and the programs.
# Needed beforehand: Python 3.11 or newer, git and make. PYTHON=… chooses another interpreter.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Files of tests that run side by side; each of them that needs a cluster makes one, of about 1.5 GiB.
WORKERS ?= 3
# Of `make gitops`.
STACK  ?= kind
LAYOUT ?= plain
# Of `make gitops-change`: the commit before the change, and the stacks whose charts the toolchain has.
BASE   ?= HEAD^
STACKS ?= staging prod kind
# Part of the whole crash sweep, as I/N.
SHARD ?= 1/1
# Of kuberay-policies.yaml, for plain YAML.
ENVIRONMENT ?= kind

.PHONY: help setup programs lifecycle kind images sweep sweep-memory sweep-shard sweep-report test test-nightly unit test-parity lint policies manifests schemas gitops gitops-change bench doctor lock clean

help:  ## Say what the targets do
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

setup: $(READY)  ## Virtual environment and Python packages, exactly those of requirements.lock

$(READY): requirements.lock pyproject.toml scripts/make-venv
	PYTHON='$(PYTHON)' scripts/make-venv '$(VENV)'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

programs: $(READY)  ## Find the programs in their pinned versions, or build them
	$(BIN)/python -m kuberay_toolchain $(PROGRAMS)

lifecycle: programs  ## The ten-step life cycle on real Ray, the operator killed on the way (ARGS=… for more)
	$(BIN)/kuberay-e2e lifecycle --report report $(ARGS)

kind: programs  ## On a real kind cluster: life cycle, operator killed both ways, faults, Kueue; report in reports/kind
	scripts/install-container-engine
	$(BIN)/kuberay-e2e kind --report reports/kind $(ARGS)

images: $(READY)  ## Make the container images of the real cluster (node and Ray: as root, with debootstrap)
	scripts/install-container-engine
	$(BIN)/kuberay-e2e images build $(ARGS)

sweep: programs  ## The crash sweep of a pull request: 5 minutes of runs, chosen by coverage; report in reports/sweep
	$(BIN)/kuberay-e2e crash run --fresh --time-budget 5m --report reports/sweep $(ARGS)

sweep-memory: programs  ## Learn anew what the sweep's scenarios write, on a quiet machine
	$(BIN)/kuberay-e2e crash learn --report reports/memory $(ARGS)
	$(BIN)/kuberay-e2e crash plan --report reports/memory > reports/memory/plan.txt
	cp reports/memory/learned.json e2e/kuberay_e2e/crash/memory/learned.json

sweep-shard: programs  ## Part SHARD, such as 2/4, of the whole crash sweep; report in reports/sweep
	$(BIN)/kuberay-e2e crash run --shard $(SHARD) --report reports/sweep $(ARGS)

sweep-report: $(READY)  ## One report, in reports/sweep, of the parts that lie in reports/shards
	$(BIN)/kuberay-e2e crash report reports/shards/* --report reports/sweep

test: programs lint  ## Lint, types, unit tests, end-to-end tests; all but those of test-nightly and kind
	$(BIN)/python -m pytest -m 'not kind and not nightly' -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-nightly: programs  ## The tests that take longer than a change has time for
	$(BIN)/python -m pytest -m nightly $(ARGS)

unit: $(READY)  ## The tests that need no cluster
	$(BIN)/python -m pytest -m 'not e2e and not kind and not nightly' $(ARGS)

test-parity: $(READY)  ## The rules against the operator's own validation, on 20,000 RayJobs
	$(BIN)/python -m kuberay_toolchain kuberay-validation
	PARITY_EXAMPLES=20000 $(BIN)/python -m pytest -s tests/parity/test_parity.py $(ARGS)

policies: $(READY)  ## What a pull request is checked for: every stack and example, without a cluster
	status=0; for stack in dev staging prod kind; do $(BIN)/kuberay-policies preview --stack $$stack $(ARGS) || status=$$?; done; exit $$status

manifests: $(READY)  ## What a pull request is checked for: plain YAML, wherever it lies here, by the policies of ENVIRONMENT
	$(BIN)/kuberay-policies check . --environment $(ENVIRONMENT) --exclude report --exclude reports --exclude tests/gitops/snapshots $(ARGS)

schemas: $(READY)  ## Make anew what is made from pinned releases and from the rules: schemas, pages
	$(BIN)/python toolchain/make_schemas.py
	$(BIN)/python -m kuberay_model.rules_page docs/rules.md
	$(BIN)/python -m kuberay_e2e.deviations.page docs/deviations.md
	$(BIN)/kuberay-policies export schema --output policies/kuberay-policies.schema.json

gitops: programs  ## STACK as YAML for LAYOUT (argocd, flux, plain) in reports/gitops/STACK, checked
	$(BIN)/kuberay-e2e render $(STACK) --layout $(LAYOUT) --out reports/gitops/$(STACK)
	$(BIN)/kuberay-e2e gitops check reports/gitops/$(STACK) $(ARGS)

gitops-change: programs  ## What the change since commit BASE does to STACKS when it is synced; reports/gitops/summary.md
	scripts/gitops-change '$(BASE)' $(LAYOUT) $(STACKS)

lint: $(READY)  ## Style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy policies/__main__.py
	$(BIN)/mypy components/plugin/__main__.py
	$(BIN)/lint-imports --no-cache

bench: programs  ## Measure speed and memory
	$(BIN)/python -m kuberay_toolchain kubeconform
	-$(BIN)/python -m tests.policies.bench
	-$(BIN)/python -m tests.policies.bench_preview
	-$(BIN)/python -m tests.gitops.bench
	$(BIN)/python -m kuberay_e2e.bench $(ARGS)

doctor: $(READY)  ## Say what is there and what is missing
	$(BIN)/kuberay-e2e doctor

lock: $(READY)  ## Write requirements.lock and those of the harness's image anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
		--constraint constraints.txt --extra policies --extra e2e --extra kind --extra dev pyproject.toml --output-file requirements.lock
	uv pip compile --python-version 3.11 --python-platform x86_64-manylinux_2_28 --generate-hashes --no-annotate \
		--no-emit-index-url --no-header --quiet --constraint requirements.lock \
		toolchain/kuberay_toolchain/images/harness-requirements.in \
		--output-file toolchain/kuberay_toolchain/images/harness-requirements.txt

clean:  ## Remove the virtual environment and what tools leave in the tree
	rm -rf $(VENV) report reports .mypy_cache .ruff_cache .pytest_cache .hypothesis
