# One entry for everything. `make help` lists the targets; each makes what it needs and a second run starts at once.
#
#   VENV=.venv        the virtual environment to use or make
#   PYTHON=python3    the interpreter to make it with (3.11 or newer; found by itself)
#   DEMO_ARGS=...     arguments for the demo; DATABASE=file.db is short for --database file.db
#   PYTEST_ARGS=...   arguments for pytest; WORKERS=... processes `make test` runs on (as many as there are processors)
#   SOAK_EXAMPLES=... lives of the state machine in a soak (1000), SOAK_STEPS=... steps of each at most (100),
#   SOAK_INVOCATIONS= calls of the memory soak (1000000); read from the environment
#   FAULTS=...        words; only the faults of `make mutations` that have one in their text or file
#   STORM_STEPS=...   steps of the storm (100000), STORM_SEED=... the seed of its first life (1)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
CORE_VENV ?= .venv-core
OLDEST_VENV ?= .venv-oldest
OTHER_VENV ?= .venv-other
FREEZE_VENV ?= .venv-freeze
DEMO_ARGS ?=
DATABASE ?=
export SOAK_EXAMPLES ?=
export SOAK_STEPS ?=
export SOAK_INVOCATIONS ?=
export STORM_STEPS ?=
export STORM_SEED ?=
PYTEST_ARGS ?=
WORKERS ?= auto
FAULTS ?=

BIN := $(VENV)/bin
RUN := $(BIN)/python

# Without a screen Qt draws into memory. On macOS and Windows neither variable is set and there is a screen.
ifeq ($(shell uname -s),Linux)
ifeq ($(strip $(DISPLAY)$(WAYLAND_DISPLAY)),)
export QT_QPA_PLATFORM ?= offscreen
HEADLESS := --tour
endif
endif

# The packages and folders that hold Python of ours.
SOURCES := agent_surface qt_binding demo_app pytest_agent_surface tests tools
# The tests that must pass where Qt is not installed.
CORE_TESTS := $(wildcard tests/core tests/conformance tests/property)

INSTALLED := $(VENV)/.installed
QT_READY := $(VENV)/.qt-ready
CORE_INSTALLED := $(CORE_VENV)/.installed
OLDEST_INSTALLED := $(OLDEST_VENV)/.installed
OTHER_INSTALLED := $(OTHER_VENV)/.installed
# Tests are spread over processes; one that has nothing left takes some from another.
SPREAD := -n $(WORKERS) --dist worksteal
# What passed without Qt on the same interpreter is not run a second time with it.
PASSED_WITHOUT_QT := build/passed-without-qt.txt

##@ Using it

.PHONY: demo
demo: $(QT_READY) ## start the demo application (without a screen: play its tour and end)
	$(RUN) -m demo_app $(HEADLESS) $(if $(DATABASE),--database "$(DATABASE)") $(DEMO_ARGS)

.PHONY: screenshots
screenshots: $(QT_READY) ## draw the documentation's pictures anew, and every window in every look (build/screenshots)
	$(RUN) -m tools.screenshots docs/pictures --everything build/screenshots

.PHONY: contract
contract: $(INSTALLED) ## write the demo's committed contract anew from its source
	$(RUN) -m agent_surface snapshot

##@ Testing it

.PHONY: test
test: test-core test-rest ## run every test: first the core without Qt, then what is left

.PHONY: test-rest
test-rest: $(QT_READY)
	$(RUN) -m pytest $(SPREAD) -p tools.passed_tests --leave-out-passed $(PASSED_WITHOUT_QT) $(PYTEST_ARGS)

.PHONY: test-all
test-all: $(QT_READY) ## run every test in the one environment
	$(RUN) -m pytest $(SPREAD) $(PYTEST_ARGS)

.PHONY: test-core
test-core: $(CORE_INSTALLED) ## run the core's tests in an environment that has no Qt
	@if $(CORE_VENV)/bin/python -c 'import PySide6' 2>/dev/null; then echo '$(CORE_VENV) has PySide6: it proves nothing.'; exit 1; fi
	$(CORE_VENV)/bin/python -m pytest -p tools.passed_tests --write-passed $(PASSED_WITHOUT_QT) $(SPREAD) $(CORE_TESTS) $(PYTEST_ARGS)

.PHONY: test-oldest
test-oldest: $(OLDEST_INSTALLED) ## run every test with the oldest releases of the dependencies
	$(OLDEST_VENV)/bin/python -m pytest $(SPREAD) $(PYTEST_ARGS)

.PHONY: test-other-python
test-other-python: $(OTHER_INSTALLED) ## run the tests of the windows on a Python from the other side of 3.12, with its PySide6
	$(OTHER_VENV)/bin/python -m pytest $(SPREAD) tests/qt tests/demo $(PYTEST_ARGS)

.PHONY: test-x11
test-x11: $(QT_READY) ## run the tests that need a window manager, on an X11 screen of their own
	tools/x11_screen.sh $(RUN) -m pytest tests/qt/x11 -m window_manager $(PYTEST_ARGS)

.PHONY: coverage
coverage: $(QT_READY) ## run every test and report the lines and branches none of them reached
	$(RUN) -m pytest --cov --cov-report=term --cov-report=html:build/coverage $(PYTEST_ARGS)

.PHONY: coverage-core
coverage-core: $(INSTALLED) ## the same for the core alone, by its own tests
	$(RUN) -m pytest tests/core --cov --cov-config=tools/core_coverage.toml --cov-report=term-missing $(PYTEST_ARGS)

.PHONY: soak
soak: $(INSTALLED) ## run the core for long: the state machine, then a million calls (SOAK_EXAMPLES, SOAK_STEPS, SOAK_INVOCATIONS)
	$(RUN) -m tests.soak

.PHONY: soak-qt
soak-qt: $(QT_READY) ## run the binding for long: a storm of windows, components and calls (STORM_STEPS, STORM_SEED)
	$(RUN) -m tests.qt.storm

.PHONY: mutations
mutations: $(QT_READY) ## plant small faults in a copy, one at a time, and see whether the tests notice
	$(RUN) -m tools.mutations $(FAULTS)

.PHONY: bench
bench: $(QT_READY) ## measure; the figures go to build/bench.json
	mkdir -p build
	$(RUN) -m tests.benchmarks --output build/bench.json

##@ Checking it

.PHONY: check
check: check-format check-lint check-types check-imports check-dependencies check-dead-code check-spelling check-contract check-dist ## everything a machine can judge without running the tests

.PHONY: check-format
check-format: $(INSTALLED)
	$(BIN)/ruff format --check .

.PHONY: check-lint
check-lint: $(INSTALLED)
	$(BIN)/ruff check .

.PHONY: check-types
check-types: $(INSTALLED)
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(RUN) --warnings

# The cache keeps what an import meant before a module moved.
.PHONY: check-imports
check-imports: $(INSTALLED)
	$(BIN)/lint-imports --no-cache

.PHONY: check-dependencies
check-dependencies: $(INSTALLED)
	$(BIN)/deptry .

.PHONY: check-dead-code
check-dead-code: $(INSTALLED)
	$(RUN) tools/dead_code.py

.PHONY: check-spelling
check-spelling: $(INSTALLED)
	$(BIN)/codespell

.PHONY: check-contract
check-contract: $(QT_READY)
	$(RUN) -m agent_surface check

.PHONY: check-dist
check-dist: dist $(QT_READY)
	$(RUN) tools/check_dist.py dist

.PHONY: requirements
requirements: $(INSTALLED) ## print which test proves which required behaviour
	$(RUN) -m tests.requirements

.PHONY: format
format: $(INSTALLED) ## lay out the source as the checks want it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

##@ Shipping it

.PHONY: dist
dist: $(INSTALLED) ## build the wheel and the source archive into dist/
	rm -rf dist
	$(RUN) -m build --no-isolation --outdir dist . >/dev/null
	@ls dist

# Takes a minute or two and another environment, so neither the tests nor the checks include it.
.PHONY: freeze
freeze: $(QT_READY) ## build the demo with PyInstaller and play its tour frozen
	tools/make_venv.sh $(FREEZE_VENV) . --group freeze
	$(FREEZE_VENV)/bin/python tools/freeze.py build/freeze

.PHONY: clean
clean: ## remove everything made here, the environments too
	rm -rf $(VENV) $(CORE_VENV) $(OLDEST_VENV) $(OTHER_VENV) $(FREEZE_VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ------------------------------------------------------------------------------------------------------ environments

$(INSTALLED): pyproject.toml tools/make_venv.sh
	tools/make_venv.sh $(VENV) --editable '.' --group dev
	@touch $@

$(QT_READY): $(INSTALLED) tools/qt_system_libraries.py
	$(RUN) tools/qt_system_libraries.py --install
	@touch $@

# The way to have the core without Qt: the distribution without its dependencies, and the core's own dependencies.
$(CORE_INSTALLED): pyproject.toml tools/make_venv.sh
	tools/make_venv.sh $(CORE_VENV) --group test-core
	tools/make_venv.sh $(CORE_VENV) --no-deps --editable .
	@touch $@

$(OTHER_INSTALLED): pyproject.toml tools/make_venv.sh tools/other_python.sh
	PYTHON=$$(tools/other_python.sh $(RUN)) tools/make_venv.sh $(OTHER_VENV) --editable . --group test
	@touch $@

$(OLDEST_INSTALLED): pyproject.toml tools/make_venv.sh tools/oldest.txt
	tools/make_venv.sh $(OLDEST_VENV) --editable . --group test-oldest --constraint tools/oldest.txt
	@touch $@
