# Pointsman. `make help` lists the targets.
# Every target sets up .venv first; it is made anew only when requirements.lock changes.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PINS := $(VENV)/.pins-$(shell cksum < requirements.lock | cut -d' ' -f1)
STAMP := $(VENV)/.install-$(shell cat requirements.lock pyproject.toml | cksum | cut -d' ' -f1)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Compiled modules are kept, whatever the shell says: the tests start hundreds of processes, each of which would compile all of them.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup run test test-long sim verilog bench reproduce soak soak-programs soak-everything soak-c soak-active soak-arrays fuzz fuzz-soak fuzz-commands check docs clean formal mutants fpga bitstream soc soak-channels bitstream-soc soak-source soak-flood

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv with the pinned packages

$(PINS):
	@echo "set-up: $(VENV) with $$($(PYTHON) --version) and the packages of requirements.lock (once; about a minute)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --requirement requirements.lock
	@touch $@

$(STAMP): $(PINS)
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
	@echo "set-up: compiling the compiler's kernels (once for a version; half a minute)"
	@$(BIN)/python -m pointsman.warm
	@echo "set-up: done"

run: $(STAMP) ## the main job: compile the matrix multiplication, load it into the RTL, run it, check it, report
	@$(BIN)/pointsman run examples/matmul/matmul.py --mesh 4x4 --json build/matmul-4x4.json

TESTS := pytest --numprocesses auto --maxprocesses 4 --dist worksteal

test: $(STAMP) ## all tests but the long and the slow ones, a process a core
	@$(BIN)/python -m $(TESTS) -m "not long and not slow"

test-long: $(STAMP) ## tests of five seconds and more: reduced sets of proofs and soaks, whole applications (CI runs them, too)
	@$(BIN)/python -m $(TESTS) -m "long and not slow"

sim: $(STAMP) ## the RTL test benches (cocotb on Verilator)
	@$(BIN)/python -m cosim.benches

formal: $(STAMP) ## prove the properties of the RTL (sby and Yices; about ten minutes of CPU time), then list them
	@$(BIN)/python -m cosim.formal
	@$(BIN)/python -m cosim.formal --table
	@$(BIN)/python -m cosim.formal --block tdm_switch
	@$(BIN)/python -m cosim.formal --block tdm_switch --table
	@$(BIN)/python -m cosim.formal --block packet_router
	@$(BIN)/python -m cosim.formal --block packet_router --table
	@$(BIN)/python -m cosim.formal --block host
	@$(BIN)/python -m cosim.formal --block host --table

mutants: $(STAMP) ## put faults into a copy of the RTL and see the proofs find them
	@$(BIN)/python -m cosim.formal --mutants
	@$(BIN)/python -m cosim.formal --block tdm_switch --mutants
	@$(BIN)/python -m cosim.formal --block packet_router --mutants
	@$(BIN)/python -m cosim.formal --block host --mutants

verilog: $(STAMP) ## Verilog of a 4x4 mesh with its memory map, into build/
	@$(BIN)/pointsman verilog numesh --mesh 4x4 -o build/numesh-4x4.v

REPRODUCE ?=

reproduce: $(STAMP) ## claims of the papers beside our figures (hours; goes on where it was stopped; REPRODUCE=--quick: minutes)
	@nice $(BIN)/python benchmarks/claims/reproduce.py $(REPRODUCE)

bench: $(STAMP) ## all measurements, into benchmarks/results/
	@$(BIN)/python benchmarks/run_all.py

fpga: $(STAMP) ## area and clock of the node on an ECP5, into docs/fpga.md (long; can be stopped and started again)
	@$(BIN)/python benchmarks/fpga.py --page docs/fpga.md > build/fpga.json

BOARD ?= ulx3s

bitstream: $(STAMP) ## a 2x2 mesh for the ULX3S-85F board, build/fpga/exchange.bit, or BOARD=tang-nano-20k, exchange.fs
	@$(BIN)/python examples/fpga/board.py --board $(BOARD) --folder build/fpga

bitstream-soc: $(STAMP) ## 2x2 RISC-V nodes with a COP program in C for the ULX3S-85F, simulated first: build/soc-ulx3s/matmul/matmul.bit
	@$(BIN)/python examples/soc/ulx3s.py matmul --folder build/soc-ulx3s

soc: $(STAMP) ## COP programs in C on 2x2 RISC-V nodes, the whole RTL in Verilator: answers, words and cycles by category
	@$(BIN)/python examples/soc/soc.py matmul
	@$(BIN)/python examples/soc/soc.py halo

soak: $(STAMP) ## the slow tests, then 10^9 node-cycles of random programs (can be stopped and started again)
	@$(BIN)/python -m pytest -m slow
	@nice $(BIN)/python tests/sim/cosim/soak.py

PROGRAMS ?= 10000
CHANGES ?= 1000000

soak-programs: $(STAMP) ## random programs through their phases, PROGRAMS=10000 and CHANGES=1000000 (can be stopped and started again)
	@nice $(BIN)/python tests/sim/cosim/soak_programs.py --cases $(PROGRAMS) --changes $(CHANGES)

soak-everything: $(STAMP) ## random programs over all operators on every target, PROGRAMS=10000 on each (can be stopped and started again)
	@nice $(BIN)/python tests/sim/cosim/soak_everything.py --cases $(PROGRAMS) --table build/soak-everything.json

soak-c: $(STAMP) ## random programs in C on the host, under sanitizers, PROGRAMS=10000 (can be stopped and started again)
	@nice $(BIN)/python tests/sim/cosim/c_driver/soak_c.py --cases $(PROGRAMS)

MESSAGES ?= 10000000

soak-active: $(STAMP) ## random Split-C and functional programs (PROGRAMS=10000 each), then a full 8x8 network, MESSAGES=10000000 (can be stopped and started again)
	@nice $(BIN)/python -m tests.sw.pointsman.runtime.soak_active --programs $(PROGRAMS) --messages $(MESSAGES)

FLOOD ?= packet
SECONDS ?= 800

soak-flood: $(STAMP) ## a full 8x8 network of compiled RTL, FLOOD=packet (tdm, numesh), MESSAGES=10000000, in pieces of SECONDS=800 (can be stopped and started again)
	@nice $(BIN)/python -m tests.sw.pointsman.runtime.soak_active --kind flood --target $(FLOOD) --engine verilated --messages $(MESSAGES) --seconds $(SECONDS)

ARRAY_PROGRAMS ?= 100000

soak-arrays: $(STAMP) ## random array programs, their analysis and then their runs, ARRAY_PROGRAMS=100000 (can be stopped and started again)
	@nice $(BIN)/python tests/sw/pointsman/arrays/soak_arrays.py --programs $(ARRAY_PROGRAMS)

SETS ?= 10000

soak-channels: $(STAMP) ## random sets of connections on 1 to 32 logical channels, SETS=10000, small ones beside CP-SAT (can be stopped and started again)
	@nice $(BIN)/python -m tests.sw.pointsman.connections.channels.soak_channels --sets $(SETS)

NOC_CYCLES ?= 100000000

soak-noc: $(STAMP) ## random flows on networks of pointsman noc, adversarial stalls, NOC_CYCLES=100000000 (can be stopped and started again)
	@nice $(BIN)/python tests/sw/pointsman/noc/soak_noc.py --cycles $(NOC_CYCLES)

MUTANTS ?= 100000

soak-mutants: $(STAMP) ## changed images that the judge must refuse, MUTANTS=100000 (can be stopped and started again)
	@nice $(BIN)/python tests/sim/cosim/image_mutants.py --mutants $(MUTANTS) --table build/image-mutants.json

FAULTS ?= 100

soak-source: $(STAMP) ## faults put into the compiler, which judge or runs must find, FAULTS=100 (can be stopped and started again)
	@nice $(BIN)/python tests/sim/cosim/source_mutants.py --mutants $(FAULTS) --table build/source-mutants.json

FUZZ_SECONDS ?= 60
FUZZ_INPUTS ?= 1000000
FUZZ_PINS := $(VENV)/.fuzz-$(shell cksum < requirements-fuzz.lock | cut -d' ' -f1)

$(FUZZ_PINS): $(PINS)
	@$(PIP) install --require-hashes --requirement requirements-fuzz.lock
	@touch $@

fuzz: $(STAMP) $(FUZZ_PINS) ## coverage-guided fuzzing of the language, FUZZ_SECONDS=60
	@mkdir -p build/fuzz/corpus
	@$(BIN)/python tests/fuzz/cop_atheris.py -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=1024 \
	  -artifact_prefix=build/fuzz/ -print_final_stats=1 build/fuzz/corpus

fuzz-soak: $(STAMP) ## a million random COP texts in one niced process, FUZZ_INPUTS=1000000
	@nice $(BIN)/python tests/fuzz/cop_soak.py --inputs $(FUZZ_INPUTS)

COMMANDS ?= 2500

fuzz-commands: $(STAMP) ## hostile uses of the command, COMMANDS=2500, each in a process of its own
	@nice $(BIN)/python tests/fuzz/commands_soak.py --uses $(COMMANDS)

check: $(STAMP) ## format, lint, types, contracts between the rooms of the house
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo --no-cache

docs: $(STAMP) ## the documentation, into build/docs/, warnings as errors
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs build/docs
	@echo "wrote build/docs/index.html"

clean: ## remove what was built; keeps .venv
	@rm -rf build sim_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

run verilog docs bench reproduce fpga bitstream bitstream-soc soc sim formal mutants soak-everything soak-active soak-flood: | build
build:
	@mkdir -p build
