# dowse: one command each. Nothing has to be installed beforehand but Python 3.11+, pip and make.
#
#   make demo    install into .venv, index this repository and search it
#   make test    install what tests need, run them
#   make check   format, lint, strict types, docs, tests and how many lines of the core they run: what CI runs
#   make coverage  the same lines of all of src (takes longer); writes them into the README
#   make types-elsewhere  strict types as on Windows and macOS
#   make site    the documentation site, into site/; fails on a link that leads nowhere
#   make bench-readme  every figure of the README anew (about two hours)
#   make bench   speed and quality benchmarks (long; see benchmarks/README.md)
#   make budget  what typical commands take, in instructions, against benchmarks/budget.json (needs valgrind)
#   make release-check  versions, contents, metadata, licences; builds what is released into dist/
#   make fuzz    coverage-guided fuzzing of every reader of foreign bytes (Linux; 15 minutes)
#   make docs    write the generated parts of the documentation anew

PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
DOWSE := $(BIN)/dowse

FUZZ_RUNS ?= 1200000

.PHONY: demo test check types-elsewhere coverage format docs site bench bench-readme budget release-check fuzz lock clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.developed: $(VENV)/.installed requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@touch $@

demo: $(VENV)/.installed
	$(DOWSE) index
	$(DOWSE) search "where are changed files noticed" --limit 3
	$(DOWSE) search EmbeddedStore --limit 2
	$(DOWSE) search "how are identifiers split into words" --limit 1 --explain
	$(DOWSE) status
	@echo
	@echo "In the browser: $(BIN)/pip install -e '.[web]' && $(DOWSE) serve"

test: $(VENV)/.developed
	$(BIN)/python -m pytest --numprocesses auto

check: $(VENV)/.developed
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python docs/generate_cli.py --check
	$(BIN)/python docs/generate_modules.py --check
	$(BIN)/python docs/generate_python.py --check
	$(BIN)/python docs/build_site.py
	$(BIN)/python -m pytest --numprocesses auto --cov --cov-config=tests/core_coverage.ini --cov-report=json
	$(BIN)/python tests/check_coverage.py

# What is behind "if sys.platform" on the systems that this is not.
types-elsewhere: $(VENV)/.developed
	$(BIN)/mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/win32 src
	$(BIN)/mypy --platform darwin --no-warn-unreachable --cache-dir .mypy_cache/darwin src

coverage: $(VENV)/.developed
	$(BIN)/python -m pytest --numprocesses auto --cov --cov-report=json
	$(BIN)/python tests/check_coverage.py --update

format: $(VENV)/.developed
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

docs: $(VENV)/.developed
	$(BIN)/python docs/generate_cli.py
	$(BIN)/python docs/generate_modules.py
	$(BIN)/python docs/generate_python.py

site: $(VENV)/.developed
	$(BIN)/python docs/build_site.py

bench: $(VENV)/.developed
	$(BIN)/python -m benchmarks

bench-readme: $(VENV)/.developed
	$(BIN)/python -m benchmarks quality peers speed

budget: $(VENV)/.developed
	$(BIN)/python -m benchmarks.budget

release-check: $(VENV)/.developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python release/check.py

# Not among the requirements: there are no wheels of atheris for every system.
fuzz: $(VENV)/.developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=3.0,<4'
	$(BIN)/python -m fuzz --runs $(FUZZ_RUNS)

lock: $(VENV)/.developed
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --no-header --no-emit-index-url --quiet --python-version 3.11 \
		--extra dev pyproject.toml --output-file requirements-dev.txt

clean:
	rm -rf $(VENV) .dowse dist build site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .fuzz
