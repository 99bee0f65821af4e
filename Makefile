# Every target sets up what it needs: a virtual environment from the lock files, and Debian packages where a real
# server is wanted. Nothing outside .venv and .cache is touched, except packages installed through apt-get.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN_STAMP := $(VENV)/.run-stamp
DEV_STAMP := $(VENV)/.dev-stamp

.PHONY: run test check bench soak lock clean format

run: $(RUN_STAMP)            ## the demo depot: real sockets, a leak after 15 s, a live page
	@$(BIN)/vigia demo $(ARGS)

test: $(DEV_STAMP)           ## checks, then every test, with the real servers
	@deploy/debian-packages.sh mosquitto influxdb victoria-metrics gcc libc6-dev libmodbus-dev chromium
	@$(MAKE) --no-print-directory check
	@deploy/with-debian-packages.sh deploy/tests.sh $(BIN)/python $(ARGS)

check: $(DEV_STAMP)          ## lint, types, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: $(DEV_STAMP)          ## figures into bench/RESULTS.md
	@deploy/debian-packages.sh mosquitto influxdb
	@deploy/with-debian-packages.sh $(BIN)/python -m bench $(ARGS)

soak: $(DEV_STAMP)           ## long runs, not for every commit (VIGIA_SOAK_DEPOT_DAYS: how many days of swarm)
	@deploy/debian-packages.sh mosquitto gcc libc6-dev libmodbus-dev
	@deploy/with-debian-packages.sh $(BIN)/python -m pytest -m soak -o faulthandler_timeout=36000 $(ARGS)

format: $(DEV_STAMP)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock:                        ## renew the lock files (needs uv on the PATH)
	uv pip compile pyproject.toml --extra demo --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate --upgrade -q -o requirements.lock
	uv pip compile pyproject.toml --extra demo --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate --upgrade -q -c requirements.lock -o requirements-dev.lock
	printf 'hatchling\neditables\n' | uv pip compile - --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate -q -c requirements-dev.lock -o requirements-build.lock

clean:
	rm -rf $(VENV) .cache build dist

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (PYTHON=... to name it)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || deploy/debian-venv.sh $(PYTHON) $(VENV)

$(RUN_STAMP): requirements.lock requirements-build.lock pyproject.toml | $(BIN)/python
	@echo "setting up .venv (locked, hashed) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-build.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DEV_STAMP): requirements-dev.lock $(RUN_STAMP)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@
