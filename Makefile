# make demo   a small benchmark, its figure and table in out/demo
# make test   the test suite
# make lint   ruff (rules and layout) and mypy
# make clean  removes the virtual environment and the outputs, not Aesara's compile cache
#
# All of them run in a virtual environment of their own, VENV, which is made when it is missing.

VENV ?= .venv
# What is installed beside the core; tests of what is missing are skipped. Others: jax, mpi, dask.
EXTRAS ?= benchmarks,dev
SUPPORTED = import sys; sys.exit(not (3, 9) <= sys.version_info < (3, 13))
# The first interpreter that this package's dependencies have wheels for.
PYTHON ?= $(shell for name in python3 python3.12 python3.11 python3.10 python3.9; do \
	"$$name" -c '$(SUPPORTED)' 2>/dev/null && { echo "$$name"; break; }; done)
IN_VENV = $(VENV)/bin/python

.PHONY: demo test lint clean

demo: $(VENV)/.demo
	$(IN_VENV) -m benchmarks demo --output out/demo

test: $(VENV)/.installed
	$(IN_VENV) -m pytest -q

lint: $(VENV)/.installed
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy

clean:
	rm -rf $(VENV) out build *.egg-info .mypy_cache .pytest_cache .ruff_cache

# The demo needs little beside the core, so that a newcomer does not wait for the tools of a developer.
$(VENV)/.demo: setup.py
	$(call install,demo)

$(VENV)/.installed: setup.py
	$(call install,$(EXTRAS))

define install
	@"$(PYTHON)" -c '$(SUPPORTED)' 2>/dev/null || { \
	  echo "This package needs Python 3.9 to 3.12, and '$(PYTHON)' is not one. Say make PYTHON=/path/to/python3.12" >&2; \
	  exit 1; }
	@echo "Installing into $(VENV) (about a minute)"
	@test -x $(IN_VENV) || "$(PYTHON)" -m venv $(VENV)
	@$(IN_VENV) -m pip install -qq --disable-pip-version-check -e ".[$(1)]"
	@touch $@
endef
