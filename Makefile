# make demo      a small benchmark, its figure and table in out/demo
# make test      the test suite
# make lint      ruff (rules and layout), mypy, and clang-format and g++ on the C++ headers
# make sanitize  the tests of the Ops, their C++ compiled with AddressSanitizer and UndefinedBehaviorSanitizer
# make docs      the documentation with its gallery, in out/docs
# make dist      sdist and wheel in dist/, checked
# make clean     removes the virtual environment and the outputs, not Aesara's compile cache
#
# All of them run in a virtual environment of their own, VENV, which is made when it is missing.

VENV ?= .venv
# What is installed beside the core; tests of what is missing are skipped. Others: jax, mpi, dask, boosting.
EXTRAS ?= benchmarks,dev
SUPPORTED = import sys; sys.exit(not (3, 9) <= sys.version_info < (3, 16))
# The first interpreter that this package's dependencies have wheels for.
PYTHON ?= $(shell for name in python3 python3.15 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9; do \
	"$$name" -c '$(SUPPORTED)' 2>/dev/null && { echo "$$name"; break; }; done)
IN_VENV = $(VENV)/bin/python

.PHONY: demo test lint sanitize docs dist clean

demo: $(VENV)/.demo
	$(IN_VENV) -m benchmarks demo --output out/demo

test: $(VENV)/.installed $(VENV)/.library
	$(IN_VENV) -m pytest -q

lint: $(VENV)/.installed
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy
	$(VENV)/bin/clang-format --dry-run --Werror aesara_nondecomp/*/*.h aesara_nondecomp/ops/cpp/*.h aesara_nondecomp/ops/cpp/*.cpp
	$(IN_VENV) tests/ops/check_headers.py

# Python itself is not instrumented, so the sanitizer's library is loaded before it, and what Python keeps until its end
# is no leak. The compiled modules have a cache of their own.
SANITIZERS = -O1 -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g
sanitize: $(VENV)/.installed
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
	  AESARA_FLAGS="$${AESARA_FLAGS:+$$AESARA_FLAGS,}base_compiledir=$(CURDIR)/build/sanitize,gcc__cxxflags=$(SANITIZERS)" \
	  $(IN_VENV) -m pytest -q --capture=sys tests/ops tests/step/test_prefetch.py tests/step/test_checked_rows.py

# Any warning is an error, and any link within that leads nowhere.
docs: $(VENV)/.docs
	$(IN_VENV) -m sphinx -q -W --keep-going -j auto -b html docs out/docs

# The tag of a wheel that Linux's distributions share says from which version of libc on the library loads.
dist: $(VENV)/.release
	rm -rf dist
	$(IN_VENV) -m build --outdir dist/built
	if [ "$$(uname)" = Linux ]; then \
	  PATH="$(abspath $(VENV))/bin:$$PATH" $(IN_VENV) -m auditwheel repair -w dist dist/built/*.whl; \
	else mv dist/built/*.whl dist; fi
	mv dist/built/*.tar.gz dist && rm -r dist/built
	$(IN_VENV) -m twine check --strict dist/*

clean:
	rm -rf $(VENV) out build dist *.egg-info aesara_nondecomp/ops/*.so .mypy_cache .pytest_cache .ruff_cache \
	  docs/api docs/gallery docs/repository

# The demo needs little beside the core, so that a newcomer does not wait for the tools of a developer.
$(VENV)/.demo: setup.py
	$(call install,demo)

$(VENV)/.installed: setup.py
	$(call install,$(EXTRAS))

$(VENV)/.docs: setup.py
	$(call install,docs)

$(VENV)/.release: setup.py
	$(call install,release)

# The library of compiled Ops, again after a change of its sources; the installation builds it first.
$(VENV)/.library: $(wildcard aesara_nondecomp/ops/cpp/*) | $(VENV)/.installed
	@$(IN_VENV) -m pip install -qq --disable-pip-version-check --no-deps -e .
	@touch $@

define install
	@"$(PYTHON)" -c '$(SUPPORTED)' 2>/dev/null || { \
	  echo "This package needs Python 3.9 to 3.15, and '$(PYTHON)' is not one. Say make PYTHON=/path/to/python3.13" >&2; \
	  exit 1; }
	@echo "Installing into $(VENV) (about a minute)"
	@test -x $(IN_VENV) || "$(PYTHON)" -m venv $(VENV)
	@$(IN_VENV) -m pip install -qq --disable-pip-version-check -e ".[$(1)]"
	@touch $@ $(VENV)/.library
endef
