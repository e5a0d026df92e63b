# Two commands need nothing but git, make and Python 3.11 with venv: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Hashes are checked, and labkit itself is built with the pinned backend, not one fetched unseen.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: help install demo test check format lock clean

help:
	@echo "make install make .venv with labkit; . .venv/bin/activate puts it on the PATH"
	@echo "make demo    walk through the whole lab on a bundled project"
	@echo "make test    check the code and run the tests"
	@echo "make check   format, lint, types and import contracts only"
	@echo "make format  format the code"
	@echo "make lock    pin the newest versions of everything"

install: $(VENV)/demo.stamp
	@echo "now: . $(BIN)/activate"

demo: $(VENV)/demo.stamp
	$(BIN)/labkit demo labkit-demo

test: check
	BIN=$(BIN) scripts/test

check: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	scripts/rooms

format: $(VENV)/test.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("labkit needs Python 3.11 or newer") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/test.stamp: requirements-dev.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements-dev.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/demo.stamp

lock:
	scripts/lock

clean:
	rm -rf $(VENV) labkit-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
