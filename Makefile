# `make demo` and `make test` do everything on a fresh machine with Python 3.11, Java 17 and Maven.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests of everything fetch those of 3.6.2, too, when they come to them.
KAFKA_VERSIONS := 4.4.0 4.3.1 3.9.1
FIDELITY_STEPS ?= 1000000
# As many as there are faults times moments.
CHAOS_RUNS ?= 250
CHAOS_SEED ?= 1
CHAOS_WORKERS ?= 4
SIMULATION_RUNS ?= 20000
SIMULATION_SEED ?= 1
MUTANTS ?= 300
DIST ?= dist
# On two cores: two workers begin with what runs on Kafka, which waits for JVMs half of the time, and
# two with the rest, of which much waits for deadlines (tests/units.py). A fifth worker filled what
# was idle, but the same tests then took a third more processor seconds, and were done later.
# PYTEST_ARGS comes last: `-n 0` runs the tests in pytest's own process, as --pdb wants it.
WORKERS ?= 4
PARALLEL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Without byte code each start of a command takes 0.30 s instead of 0.16, and tests start a thousand.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv jars packages ahead collected image-files class-archives demo demo-kafka test test-all test-quick test-containers lint format bench binary wheelhouse image dist docs rebuild release-check model-check fidelity simulation chaos mutants completions schemas clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Parts of test-all:"
	@$(PYTHON) -m tests.night --list

venv: $(VENV)/.complete ## .venv with everything the tests need

# It comes last in a venv, and so is there when that is whole.
$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

# Of all that pyproject.toml says, what an installation depends on: this file stays as it is, and so
# old, where none of that has changed.
$(VENV)/.project: pyproject.toml | $(BIN)/pip
	@$(PYTHON) -c 'import tomllib; told = tomllib.load(open("$<", "rb")); print(told["build-system"], told["project"], told["tool"]["hatch"])' > $@.new
	@cmp -s $@.new $@ || cp $@.new $@

# Enough for the demo. A new pip would cost it seconds.
$(VENV)/.core: $(VENV)/.project
	$(BIN)/python -m pip install --quiet --editable '.[demo]'
	@touch $@

# What is imported gets its byte code then, by several workers at once; most is not.
$(VENV)/.complete: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[test,lint]'
	@touch $@

# By any Python: .ci/run has no .venv yet.
jars: ## Kafka's jars in .cache, by Maven
	$(PYTHON) -m tests.real.jars $(KAFKA_VERSIONS)

demo: $(VENV)/.core ## The main job end to end in seconds, on an emulated cluster
	$(BIN)/python -m examples.demo

demo-kafka: venv ## The main job end to end on a real cluster
	$(BIN)/python -m examples.demo_kafka

packages: ## As root on Debian: the programs that the tests need
	.ci/install-packages

test: venv jars ## Every rule and story once, on real Kafka and in containers too (tests/runs.py)
	$(BIN)/python -m pytest --releases each $(PARALLEL) $(PYTEST_ARGS)

# Resumes: a part that passed on this commit is not run again, but by AGAIN=1 or by its name in PARTS.
test-all: packages venv jars ahead ## Everything, in parts, for a night: what is left of them on this commit; it takes hours
	$(BIN)/python -m tests.night $(if $(AGAIN),--again) $(PARTS)

test-quick: venv ## The tests that need no Java and little time
	$(BIN)/python -m pytest -m 'not real and not slow' $(PARALLEL) $(PYTEST_ARGS)

test-containers: venv jars ## Real Kafka in containers: Docker's, or as root those of a private dockerd
	$(BIN)/python -m pytest -m containers tests/containers $(PYTEST_ARGS)

lint: venv ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: venv ## Rewrite the sources as ruff has them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: venv ## The site of the documents, in dist/docs; a broken link fails
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs $(DIST)/docs

# It has a venv of its own: what lies in it goes into the file.
BINARY_VENV := .cache/binary

$(BINARY_VENV)/.complete: pyproject.toml .ci/dist/requirements.txt
	$(PYTHON) -m venv --clear $(BINARY_VENV)
	$(BINARY_VENV)/bin/python -m pip install --quiet --upgrade pip
	$(BINARY_VENV)/bin/python -m pip install --quiet -r .ci/dist/requirements.txt
	touch $@

# What single tests make first. .ci/run has it made while pip keeps one core busy for a minute.
ahead: image-files class-archives $(BINARY_VENV)/.complete

# Each worker would compile all tests for itself, at the same time as the others.
collected: venv
	$(BIN)/python -m pytest --releases each --collect-only --quiet >/dev/null

image-files: packages jars
	$(PYTHON) -m tests.containers.image_files

class-archives: jars
	$(PYTHON) -m tests.real.class_archive $(KAFKA_VERSIONS)

binary: $(BINARY_VENV)/.complete ## One file for Linux hosts without Python, in dist/
	$(BINARY_VENV)/bin/python -m pip install --quiet '.[keystores]'
	$(BINARY_VENV)/bin/python .ci/dist/build.py $(DIST)

# Some wheels are of one Python and one kind of machine.
FOR = $(shell $(BINARY_VENV)/bin/python -c 'import platform, sys; print("cp{0}{1}-".format(*sys.version_info) + platform.machine())')

wheelhouse: $(BINARY_VENV)/.complete ## The wheels for hosts without a network, in dist/
	rm -rf $(DIST)/wheelhouse
	$(BINARY_VENV)/bin/python -m pip wheel --quiet --wheel-dir $(DIST)/wheelhouse '.[keystores]'
	tar --create --gzip --directory $(DIST) --file $(DIST)/kafka-unclean-recovery-wheelhouse-$(FOR).tar.gz wheelhouse

VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' kafka_unclean_recovery/__init__.py)
IMAGE = kafka-unclean-recovery:$(VERSION)

# Of what is committed. IMAGE_FLAGS="--build-arg BASE=..." is for who can't pull the default base.
image: ## The container image, of HEAD, in dist/; needs a container engine
	@docker version >/dev/null 2>&1 || { echo "make image: no container engine answers: start Docker, or set DOCKER_HOST; 'make binary wheelhouse docs' makes the rest of a release" >&2; exit 1; }
	git archive HEAD | docker build --quiet --file examples/container/Dockerfile --tag $(IMAGE) $(IMAGE_FLAGS) -
	mkdir -p $(DIST)
	docker save --output $(DIST)/kafka-unclean-recovery-$(VERSION)-image.tar $(IMAGE)

dist: binary wheelhouse docs image ## All that a release has, in dist/

rebuild: ## The one file built once more, elsewhere: what differs from that in dist/
	$(PYTHON) .ci/dist/rebuild.py $(DIST)

release-check: lint test-all dist rebuild ## What keeps this tree from being a release
	$(BIN)/python .ci/dist/check_release.py $(DIST)

bench: venv jars ## Each benchmark, one JSON object a line; the table goes to docs/performance.md
	$(BIN)/python -m benchmarks --write docs/performance.md

model-check: venv ## All states of the emulated controller within bounds; ten minutes
	$(BIN)/python -m benchmarks.model_check

fidelity: venv jars ## Our controller and real ones, step by step; FIDELITY_STEPS of them
	$(BIN)/python -m tests.fidelity --version 4.4.0 --steps $(FIDELITY_STEPS)
	$(BIN)/python -m tests.fidelity --version 4.3.1 --steps $$(($(FIDELITY_STEPS) / 5))
	$(BIN)/python -m tests.fidelity --version 3.9.1 --steps $$(($(FIDELITY_STEPS) / 5))

simulation: venv ## Faults at once in each of SIMULATION_RUNS recoveries on the emulator, judged: an hour
	$(BIN)/python -m tests.simulation --runs $(SIMULATION_RUNS) --seed $(SIMULATION_SEED)

chaos: venv jars ## Faults in each of CHAOS_RUNS recoveries on real clusters, judged: half an hour
	$(BIN)/python -m tests.chaos --runs $(CHAOS_RUNS) --seed $(CHAOS_SEED) --workers $(CHAOS_WORKERS)

mutants: venv ## The code that decides, changed in MUTANTS places, one at a time: which no test sees
	$(BIN)/python -m tests.mutants --mutants $(MUTANTS)

completions: venv ## Regenerate completions and man pages from the commands
	$(BIN)/python -m completions.generate

schemas: venv ## Regenerate the JSON schemas from the types of documents/
	$(BIN)/python -m tests.generate_schemas

clean: ## Remove .venv and .cache
	rm -rf $(VENV) .cache
