# Shoal: the commands a user needs. Each says what it does and how long it took.
#   make test    build and run every test from a clean checkout
#   make build   the library and mpiexec, into build/release
#   make clean   removes what the others made
# Tools come from pip into .venv; a C compiler must be there.

PYTHON ?= python3
VENV := .venv
JOBS := $(shell nproc 2>/dev/null || echo 2)

.PHONY: build test clean

$(VENV)/ready: tools/requirements.txt
	@echo "== making $(VENV) with cmake and ninja"
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check -r tools/requirements.txt
	@touch $@

build: $(VENV)/ready
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PYTHON) tools/run_tests.py --build-only --jobs $(JOBS)

test: $(VENV)/ready
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PYTHON) tools/run_tests.py --jobs $(JOBS)

clean:
	rm -rf build $(VENV)
