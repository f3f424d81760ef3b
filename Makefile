# One command for each chore; `make help` lists them.

# The first of these that runs and is new enough; override with `make PYTHON=...`.
PYTHON = $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
# One BLAS thread for each worker.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# What the shell, pip, Python and pytest read before tests/conftest.py can see to the rest.
unexport CDPATH MYPYPATH PIP_PREFIX PIP_TARGET PIP_USER
unexport PYTEST_ADDOPTS PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTEST_PLUGINS
unexport PYTHONDEVMODE PYTHONDONTWRITEBYTECODE PYTHONINSPECT PYTHONOPTIMIZE PYTHONSAFEPATH PYTHONWARNINGS
# As many as there are cores on the smallest machine: more only wait for each other.
WORKERS = 2
# In UTF-8, whatever the language: a library of the browser tests reads its own files in the locale's.
PYTEST := PYTHONUTF8=1 $(ONE_THREAD) $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help app test test-slow audit lint format bench bench-app docs site wheel clean chromium

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

app: $(VENV)/.app ## open the dashboard in the browser (installs it once)
	@headless=true; \
	if [ -n "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ] || [ "$$(uname)" = Darwin ]; then headless=false; fi; \
	exec $(BIN)/python -m dpsco_app --server.headless $$headless --server.showEmailPrompt false

test: $(VENV)/.test chromium lint ## lint, types, doctests and every test that is not slow
	@mkdir -p build; $(BIN)/mypy > build/mypy.txt 2>&1 & types=$$!; \
	$(PYTEST) -n $(WORKERS) --dist worksteal --durations 20 --durations-min 3 --doctest-modules dpsco_core dpsco_app tests; \
	tests=$$?; wait $$types; types=$$?; [ $$types = 0 ] || cat build/mypy.txt; exit $$((tests ? tests : types))

test-slow: $(VENV)/.test chromium ## the slow tests only; one of their judges is built from C code
	$(BIN)/python -m pip --disable-pip-version-check install -q "riskcal>=1.5.1,<2"
	$(PYTEST) -n $(WORKERS) --dist worksteal -m slow tests

audit: $(VENV)/.test ## known holes in what is installed, and the tree's own rules
	$(BIN)/python -m pip --disable-pip-version-check install -q "pip-audit>=2.9,<3"
	$(BIN)/python -m pip_audit --local --skip-editable
	$(PYTEST) -q tests/attack/test_tree.py

lint: $(VENV)/.test ## ruff: rules and format; and the size of each folder
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@echo " lines files folder"
	@find dpsco_core dpsco_app deploy tests benchmarks -name '*.py' -exec awk \
		'FNR == 1 {split(FILENAME, part, "/"); folder = part[1] (part[3] ? "/" part[2] : ""); files[folder]++} \
		{lines[folder]++} END {for (f in files) printf "%6d %5d %s\n", lines[f], files[f], f}' {} + | sort -k 3

format: $(VENV)/.test ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench ## speed, against a memory pass, BLAS and public peers
	$(BIN)/python -m benchmarks

bench-app: $(VENV)/.test chromium ## the dashboard in Chromium: first figure, sliders, page changes, dragging
	$(BIN)/python -m benchmarks.dashboard

docs: $(VENV)/.docs ## the documentation as a static site, in build/docs; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open build/docs/index.html"

# PYODIDE=FOLDER (or the address of a mirror) takes the engine from there; otherwise shared/pyodide beside a checkout, or the release.
site: $(VENV)/.app ## the live page without a server, in build/site: any host of files serves it
	$(ONE_THREAD) $(BIN)/python -m deploy.live

wheel: ## build the wheel, and run `dpsco --help` from it outside the checkout, without extras
	rm -rf build/wheel && mkdir -p build/wheel
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip --disable-pip-version-check wheel -q --no-deps -w build/wheel .
	build/wheel/venv/bin/python -m pip --disable-pip-version-check install -q build/wheel/*.whl
	cd build/wheel && venv/bin/dpsco --help > help.txt && head -n 1 help.txt

clean: ## remove everything that was built or installed
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# A stamp for each set of extras; a change of pyproject.toml installs again.
$(VENV)/.app: EXTRAS := app
$(VENV)/.test: EXTRAS := app,test
$(VENV)/.bench: EXTRAS := app,bench
$(VENV)/.docs: EXTRAS := docs
$(VENV)/.app $(VENV)/.test $(VENV)/.bench $(VENV)/.docs: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none was found on PATH." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install -q --editable ".[$(EXTRAS)]"
	@touch $@

chromium:
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
		|| command -v google-chrome >/dev/null; then exit 0; fi; \
	root=; if [ "$$(id -u)" != 0 ]; then root="sudo -n"; fi; \
	if command -v apt-get >/dev/null && $$root true 2>/dev/null; then \
		echo "Installing Chromium for the browser tests"; \
		$$root apt-get update -qq && \
		$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else \
		echo "The browser tests need Chromium: install the package chromium (or Google Chrome) so that it is on PATH." >&2; \
		exit 1; \
	fi
