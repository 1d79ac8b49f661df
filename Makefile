# Every target sets itself up in .venv, and does so again only when pyproject.toml changes.
# uv is used when it is on PATH, otherwise venv and pip.
#
#   make test ARGS="-k intervals"       pass arguments on to pytest
#   make demo PYTHON=python3.12         choose the Python that .venv is made from

RECENT := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c '$(RECENT)' 2>/dev/null && echo $$p && break; done)
ARGS ?=
MODEL ?= smollm2-135m

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check bench bench-coverage bench-compare bench-reading bench-readers bench-diagnose bench-identical bench-ray bench-throughput bench-audit bench-corpus accuracy fuzz faults redaction e2e rollouts clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' Makefile

demo: .venv/.run ## diagnose the shipped rollouts and say where the report is
	.venv/bin/blade demo

test: .venv/.dev ## run the tests (ARGS="..." goes to pytest)
	.venv/bin/pytest -n 2 $(ARGS)

check: .venv/.dev ## check formatting, lint and types
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy

bench: bench-coverage bench-compare bench-reading bench-throughput ## run the benchmarks below

bench-coverage: .venv/.bench ## measure how often the intervals cover the truth
	.venv/bin/python measure/bench/coverage.py

bench-compare: .venv/.bench ## measure how often comparisons are wrong
	.venv/bin/python measure/bench/compare.py

bench-reading: .venv/.bench ## measure reading speed and memory
	.venv/bin/python measure/bench/reading.py

bench-readers: .venv/.run ## measure reading other formats beside their own software, where it is installed
	.venv/bin/python measure/bench/readers.py $(ARGS)

bench-diagnose: .venv/.bench ## measure the whole of diagnose beside a plain loop of orjson
	.venv/bin/python measure/bench/diagnose.py $(ARGS)

bench-identical: .venv/.dev ## compare diagnoses made by one process, two and a Ray cluster byte for byte (ARGS="DIR...")
	.venv/bin/python measure/bench/identical.py $(ARGS)

bench-ray: .venv/.dev ## measure what a Ray cluster of one and of two workers costs and gains beside the plain engine
	.venv/bin/python measure/bench/on_ray.py $(ARGS)

bench-throughput: .venv/.bench ## measure how the runner keeps up with the bare SDK, and its memory
	.venv/bin/python measure/bench/throughput.py

bench-audit: .venv/.dev ## measure how many lies in reports are caught, and how often truth is called one
	.venv/bin/python measure/bench/audit.py $(ARGS)

bench-corpus: .venv/.dev ## measure the checks on reports and findings written before anybody ran them there (ARGS="--list")
	.venv/bin/python measure/bench/corpus.py $(ARGS)

fuzz: .venv/.dev ## diagnose damaged files and look for crashes and silent losses (ARGS="--minutes 120 --seed 7")
	.venv/bin/python measure/bench/fuzz.py $(ARGS)

faults: .venv/.dev ## run against a misbehaving server, ended again and again (ARGS="--minutes 120 --seed 7")
	.venv/bin/python measure/bench/faults.py $(ARGS)

redaction: .venv/.run ## measure how many published forms of secrets are removed, and false removals (ARGS="--data DIR --misses")
	.venv/bin/python measure/bench/redaction.py $(ARGS)

accuracy: .venv/.run ## put known faults into made-up runs and measure how many the diagnosis finds (ARGS="--trials 5"; on rows nobody here made: ARGS="--data DIR")
	.venv/bin/python measure/accuracy/run.py $(ARGS)

e2e: .venv/.dev .venv/.local ## run the whole path on a small real model, a kill and a weak analyst included (MODEL=qwen2.5-coder-1.5b)
	MODEL=$(MODEL) .venv/bin/pytest -x $(ARGS) measure/e2e/whole_path.py

rollouts: .venv/.local ## make the benchmarks' rollouts again with small real models (hours; ARGS="--model smollm2-135m")
	.venv/bin/python scripts/make_rollouts.py $(ARGS)

clean: ## remove caches and build output; .venv and reports stay
	rm -rf build dist .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find blade measure tests -type d -name __pycache__ -prune -exec rm -rf {} +

# `uv pip install --group` is younger than uv itself, so an old uv counts as none.
HAS_UV = uv pip install --help 2>/dev/null | grep -q -e --group

# Some distributions ship venv without ensurepip: there, the outer pip brings the inner one.
.venv/bin/python:
	@"$(PYTHON)" -c '$(RECENT)' 2>/dev/null || { \
		echo "BLADE needs Python 3.11 or newer; found '$(PYTHON)'. Name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Setting up .venv" >&2
	@rm -rf .venv
	@if $(HAS_UV); then uv venv --quiet --seed --python "$(PYTHON)" .venv; \
	else "$(PYTHON)" -m venv .venv >/dev/null 2>&1 || { "$(PYTHON)" -m venv --clear --without-pip .venv && \
		"$(PYTHON)" -m pip --quiet --python .venv/bin/python install pip; }; fi

# Installs the package and the dependency groups given, then leaves its stamp.
define install
@echo "Installing blade $(1)" >&2
@if $(HAS_UV); then uv pip install --quiet --python .venv/bin/python --editable . $(1); \
else .venv/bin/python -m pip install --quiet --upgrade 'pip>=25.1' && \
	.venv/bin/python -m pip install --quiet --editable . $(1); fi
@touch .venv/.run $@
endef

.venv/.run: pyproject.toml | .venv/bin/python
	$(call install,)

.venv/.dev: pyproject.toml | .venv/bin/python
	$(call install,--group dev)

.venv/.local: pyproject.toml | .venv/bin/python
	$(call install,--group local)

.venv/.bench: pyproject.toml | .venv/bin/python
	$(call install,--group bench)
