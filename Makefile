# `make run` serves the demo; `make test` checks a change, `make test-all` everything. All make what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Compiled code is kept: tests start a hundred programs, and each would compile Assay anew.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: run wheel image client backup restore test test-all figures pictures lint lint-scripts check-scripts postgresql bench soak lock clean

# The locked files name every package, so nothing is resolved: a release of today cannot break yesterday's lock.
$(VENV)/installed: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.txt
	cp requirements.txt $@

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.txt
	cp requirements-dev.txt $@

# Compressing the static files takes seconds, so it is done again only when they change.
var/static-collected: $(VENV)/installed $(shell find static -type f)
	@$(BIN)/python manage.py collectstatic --noinput --verbosity 0
	@mkdir -p $(@D) && touch $@

run: $(VENV)/installed var/static-collected
	@$(BIN)/python assay.py demo

# The package that runs without this folder, in dist/: `uvx --from dist/*.whl assay demo`. And an image of it.
wheel: $(VENV)/installed-dev
	rm -rf dist
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

image: wheel
	docker build --tag assay .

# Rows of the Python client, from docs/openapi.yaml.
client: $(VENV)/installed-dev
	$(BIN)/python client/make_rows.py

# The whole database into a file, while people work: `make backup OUT=/srv/backups/monday.tar`.
backup: $(VENV)/installed
	@$(BIN)/python manage.py backup $(OUT)

# And back, with web and worker processes stopped: `make restore FROM=/srv/backups/monday.tar`, on a database that is not
# empty with REPLACE=1; a backup that this installation did not sign with ELSEWHERE=1.
restore: $(VENV)/installed
	@$(BIN)/python manage.py restore $(FROM) $(if $(filter 1,$(REPLACE)),--replace) $(if $(filter 1,$(ELSEWHERE)),--from-elsewhere)
	@$(BIN)/python manage.py migrate --verbosity 0

lint: $(VENV)/installed-dev lint-scripts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	find templates -name '*.html' | xargs $(BIN)/djade --check --target-version 5.2
	$(BIN)/mypy .
	$(BIN)/mypy --config-file client/pyproject.toml client/assay_client
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	HTTPS=1 DATABASE_URL=sqlite:///$(CURDIR)/var/check.sqlite3 $(BIN)/python manage.py check --deploy --fail-level WARNING

# Only the linters of static/js and docs/openapi.yaml need Node: what Assay serves is static/js as it is.
lint-scripts:
	@if command -v node >/dev/null && command -v npm >/dev/null; then $(MAKE) --no-print-directory check-scripts; \
	else echo "Node was not found, so static/js and docs/openapi.yaml are not linted; on Debian: apt-get install nodejs npm"; test "$$CI" != true; fi

check-scripts: node_modules/installed
	node_modules/.bin/eslint --max-warnings 0 static/js
	node_modules/.bin/tsc --project .
	node_modules/.bin/spectral lint --quiet --fail-severity hint docs/openapi.yaml

node_modules/installed: package.json package-lock.json
	npm ci --silent
	@touch $@

# Ten minutes on two cores: linters, every test that needs no browser and is not slow, a walk through each desk in a browser,
# and on PostgreSQL, where one is found, what could go another way there.
test: $(VENV)/installed-dev
	$(BIN)/python -m tests.suite test

# The rest as well: every browser, fuzz, hostile, killed-worker and upgrade test. None runs twice on an engine.
test-all: test
	$(BIN)/python -m tests.suite rest

# Everything that could go another way on PostgreSQL.
postgresql: $(VENV)/installed-dev
	$(BIN)/python -m tests.suite postgresql

# How large the code is, and how plainly it is written.
figures:
	@$(PYTHON) tests/architecture/figures.py

# The pictures of the documents, as far as a page shows them when it opens, drawn anew from a fresh demo.
pictures: $(VENV)/installed-dev
	$(BIN)/python -m tests.browser.pictures

bench: $(VENV)/installed-dev
	$(BIN)/python -m loadtest.bench --document

# Faults and killed processes at full size: ten minutes of LLM jobs, half an hour of nugget desks, ten minutes of each size of
# judging desks with and without faults (`make soak SECONDS=180`: less), on each database that is found; then every test on
# PostgreSQL, and requests made up from the API's schema, two hundred of a kind.
soak: $(VENV)/installed-dev
	$(BIN)/python -m loadtest.soak $(if $(SECONDS),--seconds $(SECONDS)) $(if $(ASSESSORS),--assessors $(ASSESSORS))
	$(BIN)/python -m tests.suite every-postgresql
	FUZZ_EXAMPLES=200 $(BIN)/python -m pytest -n 0 tests/api/test_fuzzing.py

# Pin what requirements*.in and package.json ask for, with hashes and without the address of a registry. Needs uv and Node.
lock:
	uv pip compile --universal --generate-hashes --python-version 3.11 --no-emit-index-url -q requirements.in -o requirements.txt
	uv pip compile --universal --generate-hashes --python-version 3.11 --no-emit-index-url -q requirements-dev.in -o requirements-dev.txt
	npm install --package-lock-only
	node -e 'const f = "package-lock.json", fs = require("fs"), lock = JSON.parse(fs.readFileSync(f)); \
	  for (const part of Object.values(lock.packages)) delete part.funding; \
	  fs.writeFileSync(f, JSON.stringify(lock, null, 2) + "\n")'

clean:
	rm -rf $(VENV) node_modules .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
