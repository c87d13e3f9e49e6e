# Every verb sets up what it needs; `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .peers
TOOLS := .venvs/tools
OLDEST := .venvs/oldest
FUZZ := .venvs/fuzz
TARGETS ?= preflib sniffed table order jsonl xlsx xlsx-part parquet large analysis checkpoint counts claim
OLDEST_PYTHON ?= python3.11
LOLIB ?= ../shared/data/lolib
PYTHONS ?= python3.11 python3.12 python3.13 /usr/bin/python3

# From a lock file: every file has a hash, and nothing is built, for that would fetch tools without one.
LOCKED := -m pip install --quiet --require-hashes --only-binary :all: -r
ITSELF := -m pip install --quiet --no-deps --no-build-isolation --editable .
PIN = $(TOOLS)/bin/uv pip compile --quiet --upgrade --generate-hashes --no-strip-extras --no-emit-index-url --no-emit-find-links \
  --custom-compile-command "make lock" --python-version 3.11
# Two processes; each starts with one half of the tests, in order, and then takes from what the other has left.
TWO := -n 2 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo check test test-oldest test-pythons adversary forgery soak fuzz gpu lint docs bench peers lolib lock sbom clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 15

demo: $(VENV)/.demo ## analyse a generated example and write the results to holdrank-demo/
	@$(BIN)/holdrank demo --out holdrank-demo

check: $(VENV)/.test lint ## style, types and the quick tests: about a minute, for use while you work
	$(BIN)/python -m pytest $(TWO) -m "not slow"

test: $(VENV)/.test $(VENV)/.browser lint ## all tests, with types, style, coverage and documentation
	@$(BIN)/python tools/pythons.py --this $(PYTHONS)
	$(BIN)/python -m pytest $(TWO) --cov --cov-report=term:skip-covered

test-oldest: $(OLDEST)/.ready ## all tests except those of pages, with the oldest versions that pyproject.toml allows, on Python 3.11
	$(OLDEST)/bin/python -m pytest $(TWO) --ignore=tests/browser --ignore=tests/test_docs.py \
	  -W default::DeprecationWarning -W default::ResourceWarning -W default::pytest.PytestUnraisableExceptionWarning

test-pythons: ## all tests except the browser's on each installed Python: 3.11, 3.12, 3.13 and the system's own (PYTHONS=)
	@here=$$($(PYTHON) tools/pythons.py $(PYTHONS)) || { echo "none is here; set PYTHONS=..."; exit 2; }; passed=; failed=; \
	for version in $$(echo "$$here" | cut -d' ' -f1); do \
	  python=$$(echo "$$here" | sed -n "s|^$$version ||p"); echo "Python $$version ($$python)"; \
	  if $(MAKE) --no-print-directory PYTHON="$$python" VENV=.venvs/$$version .venvs/$$version/.test && \
	    .venvs/$$version/bin/python -m pytest $(TWO) --ignore=tests/browser; \
	  then passed="$$passed $$version"; else failed="$$failed $$version"; fi; \
	done; echo "passed on Python:$${passed:- none}; failed on:$${failed:- none}"; test -z "$$failed"

adversary: $(VENV)/.test ## try every change of a few ballots against certified bounds, on 300 profiles of each type
	HOLDRANK_PROFILES=300 $(BIN)/python -m pytest $(TWO) tests/attacks/test_adversary.py

forgery: $(VENV)/.test ## change every number of 500 results and of their records; none may be proved
	HOLDRANK_RESULTS=100 $(BIN)/python -m pytest $(TWO) tests/proofs/test_forged_results.py tests/proofs/test_verify.py

soak: $(VENV)/.test $(PEERS)/.ready ## compare all engines on random votes for half an hour; SECONDS=, SEED= (of the first profile)
	$(BIN)/python tests/soak.py --seconds $(or $(SECONDS),1800) --seed $(or $(SEED),1)

fuzz: $(FUZZ)/.ready ## fuzz every reader for SECONDS each (60), then measure hostile files
	for target in $(TARGETS); do \
	  $(FUZZ)/bin/python tests/fuzz/run.py $$target --runs 1000000 --seconds $(or $(SECONDS),60) || exit 1; done
	$(FUZZ)/bin/python tests/fuzz/bounds.py

gpu: $(VENV)/.test ## the tests that need a GPU; skipped where torch finds none
	$(BIN)/python -m pip install --quiet --editable '.[gpu]'
	$(BIN)/python -m pytest -m gpu tests/gpu

lint: $(VENV)/.test ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.test ## build the documentation to docs/_build/html
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(VENV)/.test ## time reading, counting, distances and merging
	$(BIN)/python -m pytest benchmarks -o addopts="" -o python_files="bench_*.py" --benchmark-columns=median,iqr,ops

peers: $(VENV)/.test $(PEERS)/.ready ## run other packages on the same data and print ratios
	$(BIN)/python benchmarks/peers.py

lolib: $(VENV)/.test ## solve the linear ordering problems in LOLIB=folder, SECONDS (60) each, and print which are proved
	$(BIN)/python benchmarks/lolib.py "$(LOLIB)" --seconds $(or $(SECONDS),60)

lock: $(TOOLS)/.ready ## pin the newest versions that pyproject.toml allows, and the oldest, to requirements/
	$(PIN) --universal --group test --group contract --group lint --group docs --group build --extra io --extra plot --extra studio \
	  --extra cluster --output-file requirements/dev.txt pyproject.toml
	$(PIN) --resolution lowest-direct --group test --group build --extra io --extra plot --extra studio \
	  --extra cluster --output-file requirements/oldest.txt pyproject.toml
	$(PIN) --universal --output-file requirements/tools.txt requirements/tools.in

sbom: $(VENV)/.test $(TOOLS)/.ready ## list the locked packages, with licences, as CycloneDX in dist/sbom.json
	$(BIN)/python tools/sbom.py requirements/dev.txt dist/sbom.json
	$(TOOLS)/bin/python tools/sbom.py --check dist/sbom.json

clean: ## remove environments and everything generated
	rm -rf $(VENV) .venvs $(PEERS) docs/_build holdrank-demo dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "holdrank needs Python 3.11 or newer; set PYTHON=..."; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.test: requirements/dev.txt pyproject.toml | $(VENV)/bin/pip
	$(BIN)/python $(LOCKED) requirements/dev.txt
	$(BIN)/python $(ITSELF)
	@touch $@

$(OLDEST)/.ready: requirements/oldest.txt pyproject.toml
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python $(LOCKED) requirements/oldest.txt
	$(OLDEST)/bin/python $(ITSELF)
	@touch $@

$(TOOLS)/.ready: requirements/tools.txt
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/python $(LOCKED) requirements/tools.txt
	@touch $@

# Journeys through the studio need a browser. It is brought along once, where that is allowed; without one they are skipped.
$(VENV)/.browser: | $(VENV)/bin/pip
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null 2>&1 && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  fast="-o Acquire::Retries=0 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20"; export DEBIAN_FRONTEND=noninteractive; \
	  (apt-get $$fast install -y -qq --no-install-recommends chromium || { apt-get $$fast update -qq && \
	  apt-get $$fast install -y -qq --no-install-recommends chromium; }) >/dev/null 2>&1 || true; fi
	@touch $@

$(FUZZ)/.ready: pyproject.toml
	$(PYTHON) -m venv --clear $(FUZZ)
	$(FUZZ)/bin/python -m pip install --quiet atheris --editable '.[io]'
	@touch $@

$(PEERS)/.ready: benchmarks/peers.txt | $(VENV)/bin/pip
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/bin/python -m pip install --quiet -r benchmarks/peers.txt
	@touch $@
