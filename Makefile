# Everything one does with a checkout. `make` alone lists the targets.
#
# Variables: ARGS (passed on to run, bench, bench-memory, suite, differ, clients), QUICK=1 (a bench of
# under a minute), FUZZ_SECONDS (per fuzz target), CI=true (a judge that cannot run is a failure).

.DEFAULT_GOAL := help
.PHONY: help run release test check bench bench-memory bench-latency fuzz docs suite differ clients install

CARGO ?= cargo
PYTHON ?= python3
ARGS ?=
FUZZ_SECONDS ?= 60

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start the server, e.g. make run ARGS="--port 7000"
	$(CARGO) run --release -- $(ARGS)

release: ## build target/release/redae
	$(CARGO) build --release --locked

test: ## every test: cargo's, real client libraries, the differ, Redis's own suite
	$(PYTHON) tests/run

check: ## the quick look before a commit: format, lints, layers, unit tests
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets --locked -- -D warnings
	$(CARGO) test --locked --lib --bins --test tidy

bench: release ## redis-benchmark, redae beside Redis, into bench/results/ (QUICK=1: under a minute)
	$(PYTHON) bench/compare.py $(if $(QUICK),--quick) $(ARGS)

bench-memory: release ## bytes per stored item, redae beside Redis (QUICK=1: a tenth of the data)
	$(PYTHON) bench/memory.py $(if $(QUICK),--quick) $(ARGS)

bench-latency: release ## the longest PING while a database grows to 5,000,000 keys, beside Redis
	$(PYTHON) bench/latency.py $(ARGS)

fuzz: ## every fuzz target for FUZZ_SECONDS (60); needs cargo-fuzz and a nightly toolchain
	@command -v cargo-fuzz >/dev/null || \
	  { echo "cargo-fuzz is missing: cargo install cargo-fuzz"; exit 1; }
	@rustup toolchain list 2>/dev/null | grep -q '^nightly' || \
	  { echo "a nightly toolchain is missing: rustup toolchain install nightly"; exit 1; }
	@set -e; for target in $$($(CARGO) +nightly fuzz list); do \
	  echo "fuzz $$target, $(FUZZ_SECONDS) s"; \
	  $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS); \
	done

docs: ## regenerate docs/commands.md from the command table
	REDAE_UPDATE_DOCS=1 $(CARGO) test --locked --test docs

suite: release ## Redis's own Tcl suite against redae (ARGS="--all" for every unit)
	$(PYTHON) tests/redis-suite/run $(ARGS)

differ: release ## random commands on redae and a real Redis, replies compared (ARGS="--seconds 600")
	$(PYTHON) tests/differ/run $(ARGS)

clients: release ## scenarios with redis-py, ioredis and node-redis
	$(PYTHON) tests/clients/run $(ARGS)

install: ## cargo install into ~/.cargo/bin
	$(CARGO) install --path . --locked
