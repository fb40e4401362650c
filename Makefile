# make setup     .venv with rayeval and everything that demo and tests need
# make demo      the sample handbook, end to end, with real models that install from packages
# make check     ruff, mypy --strict, import contracts
# make test      the quick suite; the other test-… are the rest (.ci/run names all)
# make bench     ratios against peers, each in one run (docs/benchmarks.md)
# make docs      docs/configuration.md from the settings' own descriptions

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false

.PHONY: setup demo check test test-slow test-ray test-pages test-adapters test-vllm bench docs clean

setup: $(VENV)/ready

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rayeval needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: setup
	$(BIN)/rayeval run configs/quickstart.yaml --runs runs

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: setup
	$(BIN)/pytest -q -n auto --maxprocesses 8

test-slow: setup
	$(BIN)/pytest -q -m 'slow and not ray'

test-ray: setup
	$(BIN)/pytest -q -m ray

test-pages: setup
	command -v chromium || { apt-get update -qq && apt-get install -qqy --no-install-recommends chromium fonts-nanum; }
	$(BIN)/pytest -q -m pages

# The real LangChain and LlamaIndex, in an environment of their own: they pin much else.
test-adapters: $(VENV)-adapters/ready
	$(VENV)-adapters/bin/python -c 'import langchain_core.documents, llama_index.core.schema'
	$(VENV)-adapters/bin/python -m pytest -q tests/live/test_live_adapters.py

$(VENV)-adapters/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-adapters
	$(VENV)-adapters/bin/python -m pip install --quiet --constraint constraints.txt --editable . \
	  'langchain-core>=1,<2' 'llama-index-core>=0.13,<1' 'pytest>=9,<10' 'hypothesis>=6.140,<7'
	touch $@

# A real model on this machine's CPU, in an environment of its own that is kept in the user's cache.
test-vllm:
	folder=$$(PYTHON=$(PYTHON) tests/vllm/setup.sh) && \
	RAYEVAL_VLLM=$$folder PYTHONPATH=. VLLM_CPU_KVCACHE_SPACE=1 \
	$$folder/env/bin/python -m pytest -q -m vllm tests/vllm

bench: setup
	$(BIN)/python tests/bench/run.py

docs: setup
	$(BIN)/python docs/make_configuration.py

clean:
	rm -rf $(VENV) $(VENV)-adapters runs .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
