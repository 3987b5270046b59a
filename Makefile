# Shoal: the commands a user needs. Each says what it does and how long it took.
#   make demo    install Shoal and mpi4py into .venv and show what it is for, in about a minute
#   make test    build and run every test from a clean checkout
#   make bench   compare with MPICH, Open MPI and Intel MPI from PyPI; BENCH="--quick" for a short look
#   make build   the library and mpiexec, into build/release
#   make clean   removes what the others made
# Tools come from pip into .venv; python3 with its venv module and a C compiler must be there.

PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
JOBS := $(shell nproc 2>/dev/null || echo 2)
BENCH ?=

# What tells at the end how long a target took: $(call timed,name,command).
timed = @begin=$$(date +%s); PATH="$(BIN):$$PATH" sh -c '$(2)'; status=$$?; \
        echo "== $(1): $$(( $$(date +%s) - begin )) s"; exit $$status

.PHONY: demo build test bench install clean

$(VENV)/ready: tools/requirements.txt
	@echo "== making $(VENV) with cmake, ninja and pytest"
	@$(PYTHON) -c "import ensurepip, venv" || { echo "== $(PYTHON) has no venv; on Debian: apt install python3-venv"; exit 1; }
	@command -v cc >/dev/null || { echo "== there is no C compiler; on Debian: apt install gcc"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -r tools/requirements.txt
	@touch $@

install: $(VENV)/ready
	@echo "== building Shoal and installing it into $(VENV), with mpi4py and numpy"
	$(call timed,install,python -m pip install --quiet --disable-pip-version-check --no-build-isolation \
	    --config-settings=build-dir=build/wheel .[demo])

demo: install
	$(call timed,demo,shoal demo)
	@echo "== to go on: . $(VENV)/bin/activate, then mpiexec -n 4 python examples/hello.py"

build: $(VENV)/ready
	$(call timed,build,$(PYTHON) tools/run_tests.py --only release --build-only --jobs $(JOBS))

test: $(VENV)/ready
	$(call timed,test,$(PYTHON) tools/run_tests.py --jobs $(JOBS))

bench: $(VENV)/ready
	$(call timed,bench,$(PYTHON) bench/run.py $(BENCH))

clean:
	rm -rf build $(VENV) mandelbrot.png
