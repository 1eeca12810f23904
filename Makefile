# Two commands matter: `make demo` and `make test`. Both set up .venv on their own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Commands under test start many processes: without compiled files each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo check test coverage lint format docs dist screens bench tools clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Wordsight needs Python 3.11 or newer, but $(PYTHON) is older: try make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A stamp per set of packages: a second run compares two dates and goes straight on.
$(VENV)/.run-stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Wordsight into $(VENV) ..." >&2
	$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.dev-stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Wordsight and its test tools into $(VENV) ..." >&2
	$(PIP_INSTALL) --editable '.[dev,docs,postgres,dask,speech,voices]'
	@touch $@ $(VENV)/.run-stamp

demo: $(VENV)/.run-stamp ## Set up and run the main job on a small video made on the spot
	@$(BIN)/wordsight demo

test: $(VENV)/.dev-stamp ## Set up and run every test
	@tests/install-browser.sh
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev-stamp ## Lint, types, the size of the house and every test that is not slow (two minutes)
	@$(MAKE) --no-print-directory lint
	$(BIN)/python tools/house.py --strict
	$(BIN)/python -m pytest -n 2 -m "not slow" tests

coverage: $(VENV)/.dev-stamp ## Run every test and report which lines they reach, into build/coverage
	$(BIN)/python -m pytest -n 2 --cov=wordsight --cov-report=term:skip-covered --cov-report=html:build/coverage --cov-report=xml:build/coverage.xml

lint: $(VENV)/.dev-stamp ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev-stamp ## Rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev-stamp ## Run the notebooks, and build the documentation site into build/site
	$(BIN)/python -m docs.make_notebooks
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "Open build/site/index.html"

# The wheel must work where nothing but Python is: installed into an empty environment, run in an empty folder.
dist: $(VENV)/.dev-stamp ## Build wheel and sdist into dist/, install the wheel elsewhere and run its demo
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; $(PYTHON) -m venv "$$folder/venv"; \
	  "$$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl; \
	  cd "$$folder" && venv/bin/wordsight demo

screens: $(VENV)/.dev-stamp ## Make the journeys through the studio on wide and narrow screens, light and dark
	@tests/install-browser.sh
	set -e; for screen in wide-light wide-dark phone-light phone-dark; do \
	  echo "Screen $$screen"; WORDSIGHT_SCREEN=$$screen $(BIN)/python -m pytest -n 2 tests/studio -k browser; done

bench: $(VENV)/.dev-stamp ## Measure speed and memory (minutes)
	$(BIN)/python -m benchmarks

# They want older packages than ours, so that they have an environment of their own.
tools: ## Have FiftyOne, Label Studio, CVAT and Datumaro read what is exported for them
	$(PYTHON) -m venv build/tools
	build/tools/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[postgres,parquet]' \
	  cvat-sdk datasets datumaro fiftyone hypothesis label-studio-sdk psutil pycocotools pympi-ling pytest pytest-timeout
	build/tools/bin/python -m pytest tests/library/test_exchange.py -rs

clean: ## Remove everything that make built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
