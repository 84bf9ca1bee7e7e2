# Every target works alone on a fresh clone with Python 3.11 or newer (with venv and pip) and make.

BASE_PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3 python; do \
	$$name -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$name && break; done)
VENV := .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --disable-pip-version-check --no-input --quiet
STAMP := $(VENV)/.installed
UV := uv==0.13.9
LOCK_FLAGS ?=
SESSIONS ?= $(firstword $(wildcard ../shared/sessions) examples)
OTHERS ?= ../shared/suite

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo check lint types contracts shape test test-slow docs bench-core bench bench-peers lock clean

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(STAMP) ## show what selfgc does, without a key
	@$(PYTHON) tools/demo.py

check: lint types contracts shape ## lint, format, strict types, import contracts, shape

test: check ## check, then all tests but the slow ones, with the coverage gate
	@rm -f .coverage.json
	@$(PYTHON) -m pytest -q -n 2 -m "not slow" --cov --cov-report=json:.coverage.json --cov-report=
	@$(PYTHON) tools/coverage_gate.py .coverage.json

test-slow: $(STAMP) ## the long property runs
	@$(PYTHON) -m pytest -q -n 2 -m slow

docs: $(STAMP) ## check the links of the docs, and that every command is described
	@$(PYTHON) tools/check_docs.py

bench-core: $(STAMP) ## figures of the core over recorded sessions; SESSIONS=FOLDER names others
	@$(PYTHON) -m selfgc.bench.core $(SESSIONS) $(if $(wildcard $(OTHERS)),--others $(OTHERS)) --out docs/figures/core.json

bench: $(STAMP) ## judge our planner, baselines and ablations over recorded sessions; SESSIONS=FOLDER names others
	@$(VENV)/bin/selfgc bench run --suite $(SESSIONS) $(if $(wildcard $(OTHERS)),--others $(OTHERS)) --subjects own --out build/bench

bench-peers: $(STAMP) ## the same with the real peers, each installed in an environment of its own
	@$(VENV)/bin/selfgc bench run --suite $(SESSIONS) $(if $(wildcard $(OTHERS)),--others $(OTHERS)) --subjects all --out build/bench

lint: $(STAMP)
	@$(PYTHON) -m ruff check --quiet --output-format concise
	@$(PYTHON) -m ruff format --check --quiet

types: $(STAMP)
	@$(PYTHON) -m mypy --no-error-summary

contracts: $(STAMP)
	@$(VENV)/bin/lint-imports --no-logo

shape: $(STAMP)
	@$(PYTHON) tools/shape.py src/selfgc tests

lock: ## write requirements/*.txt anew; LOCK_FLAGS=--upgrade takes newer versions
	@$(BASE_PYTHON) -m venv --clear build/lock
	@build/lock/bin/python -m pip --disable-pip-version-check --no-input --quiet install '$(UV)'
	@build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command 'make lock' $(LOCK_FLAGS) pyproject.toml --output-file requirements/core.txt
	@build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command 'make lock' $(LOCK_FLAGS) pyproject.toml --extra dev requirements/build.in \
		--constraint requirements/core.txt --output-file requirements/dev.txt

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): requirements/dev.txt pyproject.toml
	@test -n '$(BASE_PYTHON)' || { echo 'Python 3.11 or newer with venv and pip is needed; found none.' \
		'Install it, or name it: make BASE_PYTHON=/path/to/python3.11'; exit 1; }
	@$(PYTHON) -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || $(BASE_PYTHON) -m venv --clear $(VENV)
	@echo 'installing the pinned dependencies into $(VENV) ...'
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@
