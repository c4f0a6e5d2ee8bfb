# One verb per job. Everything happens inside this folder: the environment is .venv, caches that have no
# better home are in .cache, nothing global is touched.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# onnxruntime reports its use to its maker unless told not to, from the moment it is imported.
export ORT_DISABLE_TELEMETRY := 1

BIN := .venv/bin
PY := $(BIN)/python
UV := $(BIN)/uv
STAMP := .venv/.locked
MANIFESTS = $(filter-out %/kustomization.yaml deploy/kubernetes/components/autoscaling/workers.yaml, \
	$(wildcard deploy/kubernetes/*/*.yaml deploy/kubernetes/*/*/*.yaml))
LOCK := $(UV) pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet $(if $(UPGRADE),--upgrade)

# Interpreters to try, in this order; `make PYTHON=/path/to/python setup` overrides.
PYTHONS := python3 python3.13 python3.12 python3.11 python3.14 python

# A home that is absent or read-only must not stop anything: the installers' caches then live here. uv
# does not read pip's settings, nor trusts the machine's own certificates, unless told.
CACHES = if ! { [ -n "$${HOME:-}" ] && mkdir -p "$$HOME/.cache" && [ -w "$$HOME/.cache" ]; } 2>/dev/null; then \
	export HOME="$$PWD/.cache/home" UV_CACHE_DIR="$${UV_CACHE_DIR:-$$PWD/.cache/uv}" \
	PIP_CACHE_DIR="$${PIP_CACHE_DIR:-$$PWD/.cache/pip}"; mkdir -p "$$HOME"; fi; \
	if [ -n "$${PIP_INDEX_URL:-}" ]; then export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$PIP_INDEX_URL}"; fi; \
	if compgen -G '/etc/ssl/certs/*' || compgen -G '/etc/pki/tls/certs/*'; then export UV_SYSTEM_CERTS=1; fi >/dev/null; \
	export PIP_DISABLE_PIP_VERSION_CHECK=1

.PHONY: help setup demo run up test unit integration acceptance chaos test-api test-model test-distributed test-kafka check format bench aging model lock clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

setup: $(STAMP) ## create .venv with exactly the locked packages (instant when up to date)

# pip comes with the interpreter and is used once, to fetch the locked uv; uv then makes the environment
# equal to the lock file, nothing more and nothing less, refusing any file whose hash differs.
$(STAMP): requirements-dev.lock pyproject.toml
	@$(CACHES); \
	if ! $(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		found=; for each in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
			if "$$each" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
			then found=$$each; break; fi; done; \
		if [ -z "$$found" ]; then \
			echo "Cardlog needs Python 3.11 or newer with its venv module (on Debian: python3 and python3-venv)." \
				"Install it, or say where it is: make PYTHON=/path/to/python3 setup" >&2; exit 1; fi; \
		echo "creating .venv with $$("$$found" --version)"; \
		"$$found" -m venv --clear .venv; fi; \
	wanted=$$(sed -n 's/^\(uv==[^ ]*\).*/\1/p' $<); \
	if [ "$$($(UV) --version 2>/dev/null | cut -d' ' -f2)" != "$${wanted#uv==}" ]; then \
		$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null; \
		sed -n '/^uv==/,/[^\\]$$/p' $< > .venv/uv.lock; \
		$(PY) -m pip install --quiet --no-deps --require-hashes --only-binary :all: -r .venv/uv.lock; fi; \
	export VIRTUAL_ENV="$$PWD/.venv"; \
	$(UV) pip sync --quiet --require-hashes $<; \
	$(UV) pip install --quiet --no-deps --no-build-isolation --editable .; \
	touch $@; echo "ready: .venv holds $$($(UV) pip list --quiet 2>/dev/null | tail -n +3 | wc -l) packages"

demo: setup ## talk to a small memory: everything embedded, nothing to configure
	@$(PY) -m deploy.tools.model --optional
	@$(BIN)/cardlog demo

run: setup ## the demo, and it stays up afterwards
	@$(PY) -m deploy.tools.model --optional
	@$(BIN)/cardlog demo --stay

up: setup ## the whole service, with its data in ./data
	@$(PY) -m deploy.tools.model --optional
	@$(BIN)/cardlog up --data data

test: setup ## unit, integration and acceptance tests, two files at a time
	@$(PY) -m deploy.tools.model --optional
	@$(PY) -m pytest -n 2 --dist loadfile tests/unit tests/integration tests/acceptance

unit: setup ## fast tests of single modules
	@$(PY) -m pytest tests/unit

integration: setup ## tests against a real Postgres and Redis
	@$(PY) -m pytest tests/integration

acceptance: setup ## tests of what a user sees
	@$(PY) -m pytest tests/acceptance

chaos: setup ## kill things, and look whether anything was lost
	@$(PY) -m pytest tests/chaos

test-api: setup ## 3,000 requests to each service, made from its own OpenAPI document; every answer as documented
	@$(PY) -m deploy.tools.model --optional
	@CARDLOG_TEST_API_CASES=$${CARDLOG_TEST_API_CASES:-3000} $(PY) -m pytest -s tests/acceptance/test_openapi.py

test-distributed: setup ## kill each of ten processes and the broker on Kafka, and look whether anything was lost
	@$(PY) -m deploy.tools.model --optional
	@$(PY) -m pytest tests/distributed -k mock

test-kafka: setup ## the same on Apache Kafka 4 (Java 17, Maven and Maven Central; says so where they are missing)
	@$(PY) -m deploy.tools.model --optional
	@CARDLOG_TEST_KAFKA=1 $(PY) -m pytest tests/distributed -k real

test-model: setup ## 2,000 mutated answers of a model: other users' cards arrive within 5 s throughout
	@CARDLOG_TEST_MUTATIONS=2000 $(PY) -m pytest tests/acceptance/hostile/test_hostile_model.py -k mutated

check: setup ## format, lint, types, import directions, lock files, deployments
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/yamllint --strict deploy .pre-commit-config.yaml
	@$(BIN)/hadolint deploy/Dockerfile
	@$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	@$(BIN)/kubernetes-validate --strict --quiet -k 1.31 $(MANIFESTS)
	@if grep -n '://' requirements*.lock; then \
		echo "a lock file names a registry; run make lock" >&2; exit 1; fi

format: setup ## rewrite the code in the one style
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

bench: setup ## measure (some need data: each script in tests/bench says which)
	@status=0; for each in tests/bench/[!s]*/*.py; do echo "== $$each"; PYTHONPATH=. $(PY) "$$each" || status=1; done; exit $$status

aging: setup ## grow long histories and ask whether they are remembered right (about five minutes)
	@$(PY) -m deploy.tools.model --optional
	@$(PY) -m tests.aging

model: setup ## build the offline embedding model (once)
	@$(PY) -m deploy.tools.model

lock: setup ## write the lock files again (UPGRADE=1 takes newer versions)
	@$(CACHES); $(LOCK) --extra kafka --output-file requirements-kafka.lock
	@$(CACHES); $(LOCK) --constraint requirements-kafka.lock --output-file requirements.lock
	@$(CACHES); $(LOCK) --extra kafka --group dev --group model --constraint requirements-kafka.lock \
		--output-file requirements-dev.lock
	@if grep -n '://' requirements*.lock; then echo "a lock file names a registry" >&2; exit 1; fi

clean: ## remove the environment and every cache (data stays)
	@rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
