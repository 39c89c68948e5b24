# Two commands, each from nothing: `make demo` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# uv takes a third of pip's time; where it cannot reach packages that pip can, pip does.
define install
UV_HTTP_TIMEOUT=10 $(BIN)/uv pip install --quiet --python $(VENV) $(1) 2>/dev/null || $(PIP) --no-compile $(1)
endef

.PHONY: demo test quick types collected docs man bench package programs clean

demo: $(VENV)/installed
	$(BIN)/evenhand demo --report demo.html

# Numbers must not depend on the processor, so what computes them is tested once more with
# the linear algebra of another one.
# Each of several test processes computes on one core, and takes whole files, since
# tests of a file share what they made. There are two more than there are cores, because
# tests of browsers, servers and databases mostly wait.
SPREAD = -n $$(($$(nproc) + 2)) --dist loadfile --no-loadscope-reorder
test: export PYTHONDONTWRITEBYTECODE :=
test: export OPENBLAS_NUM_THREADS := 1
test: export POLARS_MAX_THREADS := 1
test: types collected programs
	$(BIN)/python -m pytest $(SPREAD)
	$(BIN)/python -m tests.kernels $(SPREAD) src tests/golden tests/models

# What a patch needs: lint, types, every module's examples, every stored answer, and the
# tests named with T=tests/ranking.
quick: export OPENBLAS_NUM_THREADS := 1
quick: export POLARS_MAX_THREADS := 1
quick: types
	$(BIN)/python -m pytest $(SPREAD) src tests/golden tests/test_api.py tests/test_language.py tests/test_package.py $(T)

types: $(VENV)/installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

# Tests are collected once before, so that no two processes compile them.
collected: $(VENV)/installed-spark
	-$(BIN)/python -m pytest --collect-only --quiet >/dev/null

docs: $(VENV)/installed-docs
	$(BIN)/zensical build --strict

man: $(VENV)/installed
	mkdir -p dist
	$(BIN)/python -m docs.make_man dist/evenhand.1

bench: .venv-bench/installed
	.venv-bench/bin/python -m bench.speed --out docs

# The wheel in empty environments: each Python here, lowest and newest dependencies.
package: man
	PYTHON=$(PYTHON) .ci/package

# The report is tested in a browser, and counting on Spark and PostgreSQL. Root gets
# Debian's, and no server is started; the others' tests say that they were skipped. It is
# done while pip works, but not while the line at the end waits for apt.
MAKEFLAGS += --jobs=2
programs: | $(BIN)/pip
	@[ "$$(id -u)" -ne 0 ] || { \
	  wanted=""; \
	  command -v chromium >/dev/null || wanted="$$wanted chromium"; \
	  command -v java >/dev/null || wanted="$$wanted default-jre-headless"; \
	  ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || { \
	    wanted="$$wanted postgresql"; \
	    mkdir -p /etc/postgresql-common; \
	    [ -e /etc/postgresql-common/createcluster.conf ] || \
	      echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf; }; \
	  [ -z "$$wanted" ] || { apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq --no-install-recommends \
	      -o Dpkg::Options::=--force-confold $$wanted >/dev/null; }; } || \
	  echo "Not all programs could be installed; the tests that need them are skipped." >&2

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/installed: pyproject.toml | $(BIN)/pip
	$(call install,--editable .)
	touch $@

$(VENV)/installed-test: pyproject.toml | $(BIN)/pip
	$(call install,--editable '.[test]')
	touch $(VENV)/installed $@

# Spark is large: it is installed while types are checked.
$(VENV)/installed-spark: $(VENV)/installed-test
	$(call install,--editable '.[spark]')
	touch $@

$(VENV)/installed-docs: pyproject.toml | $(BIN)/pip
	$(call install,--editable '.[docs]')
	touch $(VENV)/installed $@

.venv-bench/installed: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[bench]'
	touch $@

# Debian ships venv as a package of its own; root may install it, others are told to.
$(BIN)/pip:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  apt-get update && apt-get install --yes python3-venv && \
	  $(PYTHON) -m venv $(VENV); } || { rm -rf $(VENV); \
	  echo "Python's venv module is missing: install the package python3-venv." >&2; \
	  exit 1; }
	-$(PIP) --upgrade pip uv
