# The two commands a newcomer needs are `make demo` and `make test`; everything else is listed by `make help`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
STAMP_DOCS := $(VENV)/.installed-docs
# Apart from .venv: `make test` must not come to need what is installed here.
VENV_ALL := .venv-all
STAMP_ALL := $(VENV_ALL)/.installed
# Ray is measured as its users have it; in .venv it would hide what happens without it.
VENV_RAY := .venv-ray
STAMP_RAY := $(VENV_RAY)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup compiled demo test test-thorough test-all check format bench table replies coverage oracle docs mutants clean

help:  ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

# PIP_CONSTRAINT and not -c: the build backend is pinned too. uv is quicker than pip, and knows nothing of
# pip's configuration (an index of one's own, say): where it cannot install, pip does.
$(STAMP): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (about a minute, once)"
	@$(PYTHON) -m venv $(VENV)
	@export PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1; \
	{ $(BIN)/python -m pip install --quiet uv 2> /dev/null && $(BIN)/uv pip install --quiet --compile-bytecode \
		--python $(BIN)/python --constraint constraints.txt --build-constraint constraints.txt --editable '.[dev]'; } \
	|| $(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(STAMP)

setup: $(STAMP)  ## make .venv with pinned versions

# Where bytecode is not kept (PYTHONDONTWRITEBYTECODE), every start would compile all of the source again: 0.3 s of CPU,
# and a report its templates: 0.5 s.
compiled: $(STAMP)
	@$(BIN)/python -m compileall -q src
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -c 'from mixseek.reports.pages.html import compile_templates; compile_templates()'

demo: compiled  ## judge the bundled samples offline, without any key, and show the result
	@$(BIN)/mixseek demo

# Bytecode is kept: to rewrite the asserts of every test file is half of the time that collecting takes.
# Two more than there are cores: many tests wait for an endpoint or for another process. CI says THOROUGH=1: those of
# test-thorough are then in the same run, so that ten thousand cases are collected once.
test: compiled  ## run the tests, but for those of test-thorough
	@PYTHONDONTWRITEBYTECODE= TIMES_BEFORE=$(if $(THOROUGH),,"6:26 before; aim 4:00") \
		$(BIN)/python -m pytest -n $$(( $$(nproc) + 2 )) --dist worksteal \
		$(if $(THOROUGH),-m 'not optin' --hypothesis-profile patient)

$(STAMP_ALL): pyproject.toml constraints.txt
	@echo "setting up $(VENV_ALL) with every extra (about 1.4 GB, once)"
	@$(PYTHON) -m venv $(VENV_ALL)
	@PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(VENV_ALL)/bin/python -m pip install --quiet --editable '.[dev,docs,embedded,frames,providers,ray,otel]'
	@touch $(STAMP_ALL)

# Killed at each write, grown to each length, simulated: a good part of the time that all tests take. CI runs them, too.
test-thorough: compiled  ## the tests that play every moment of a kill and every length of a text, and many examples
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $$(( $$(nproc) + 2 )) --dist worksteal -m '(thorough or many) and not optin' \
		--hypothesis-profile patient

test-all: $(STAMP_ALL) compiled  ## every test, also those that need extras and a real model (fetched once, 93 MB)
	@$(VENV_ALL)/bin/python -m pytest -n auto --dist loadgroup -m '' --hypothesis-profile thorough

check: $(STAMP)  ## format, lint, types, import layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(STAMP)  ## rewrite the files as `make check` wants them
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: compiled  ## speed and size, as ratios in one run
	@PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet openai || echo "no openai SDK to compare with"
	@PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --no-deps --upgrade --target .cache/peers lm_eval || echo "no lm-eval to compare with"
	@$(BIN)/python -m bench
	@$(MAKE) --silent $(STAMP_RAY) && $(VENV_RAY)/bin/python -m bench.cluster

$(STAMP_RAY): $(STAMP)
	@echo "setting up $(VENV_RAY) to measure a cluster (about 560 MB, once)"
	@$(PYTHON) -m venv $(VENV_RAY)
	@PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(VENV_RAY)/bin/python -m pip install --quiet --editable '.[ray]'
	@touch $(STAMP_RAY)

table: $(STAMP)  ## accuracy and ledger of the rules on the data beside the project, when it is there
	@$(BIN)/python -m bench.accuracy

replies: $(STAMP)  ## what becomes of replies of real judges, on the data beside the project, when it is there
	@$(BIN)/python -m bench.replies

coverage: $(STAMP)  ## how often intervals hold the truth, in simulations; beside truescore, ppi-python and judgy if installed
	@$(BIN)/python -m bench.coverage
	@$(BIN)/python -m bench.cards
	@$(BIN)/python -m bench.boards
	@$(BIN)/python -m bench.gates
	@$(BIN)/python -m bench.cascades
	@$(BIN)/python -m bench.drift

oracle: $(STAMP)  ## values of independent libraries, reproduced by `mixseek stats`, when the data is there
	@$(BIN)/python -m bench.oracle

mutants: compiled  ## break forty lines of src one at a time, and name those that no test near them notices
	@$(BIN)/python -m bench.mutants

$(STAMP_DOCS): $(STAMP)
	@PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $(STAMP_DOCS)

# A link that leads nowhere fails. The generated pages are part of the repository, so that they can be read without a site.
docs: $(STAMP_DOCS)  ## regenerate the reference pages, and build the site from docs/ into site/
	@$(BIN)/python -m scripts.write_cli_reference
	@$(BIN)/python -m scripts.write_settings_reference
	@$(BIN)/python -m scripts.write_api_reference
	@rm -rf site
	@$(BIN)/zensical build --clean --strict

clean:  ## remove what was built
	@rm -rf $(VENV) $(VENV_ALL) $(VENV_RAY) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache site demo-workspace
