# Two commands, each from nothing: `make demo` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test clean

demo: $(VENV)/installed
	$(BIN)/evenhand demo

test: $(VENV)/installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/installed: pyproject.toml | $(BIN)/pip
	$(PIP) --editable .
	touch $@

$(VENV)/installed-test: pyproject.toml | $(BIN)/pip
	$(PIP) --editable '.[test]'
	touch $(VENV)/installed $@

# Debian ships venv as a package of its own; root may install it, others are told to.
$(BIN)/pip:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  apt-get update && apt-get install --yes python3-venv && \
	  $(PYTHON) -m venv $(VENV); } || { rm -rf $(VENV); \
	  echo "Python's venv module is missing: install the package python3-venv." >&2; \
	  exit 1; }
