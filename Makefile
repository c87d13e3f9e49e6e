# Every verb sets up what it needs; `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .peers

.DEFAULT_GOAL := help
.PHONY: help demo test adversary gpu lint docs bench peers clean

help: ## list the verbs
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: $(VENV)/.demo ## analyse a generated example and write the results to holdrank-demo/
	@$(BIN)/holdrank demo --out holdrank-demo

test: $(VENV)/.test $(VENV)/.browser lint ## all tests, with types, style, coverage and documentation
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered

adversary: $(VENV)/.test ## try every change of a few ballots against certified bounds, on 300 profiles of each kind
	HOLDRANK_PROFILES=300 $(BIN)/python -m pytest -n 2 tests/properties/test_adversary.py

gpu: $(VENV)/.test ## the tests that need a GPU; they are skipped where torch sees none
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

clean: ## remove environments and everything generated
	rm -rf $(VENV) $(PEERS) docs/_build holdrank-demo dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "holdrank needs Python 3.11 or newer; set PYTHON=..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/python -m pip install --quiet --editable '.[fast,io,studio]' --group test --group lint --group docs
	@touch $@

# Journeys through the studio need a browser. It is brought along once, where that is allowed; without one they are skipped.
$(VENV)/.browser: | $(VENV)/bin/pip
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null 2>&1 && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  fast="-o Acquire::Retries=0 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20"; export DEBIAN_FRONTEND=noninteractive; \
	  (apt-get $$fast install -y -qq --no-install-recommends chromium || { apt-get $$fast update -qq && \
	  apt-get $$fast install -y -qq --no-install-recommends chromium; }) >/dev/null 2>&1 || true; fi
	@touch $@

$(PEERS)/.ready: benchmarks/peers.txt | $(VENV)/bin/pip
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/bin/python -m pip install --quiet -r benchmarks/peers.txt
	@touch $@
