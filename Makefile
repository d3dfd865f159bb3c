# Everything a contributor runs. `make help` lists it.

SHELL := /bin/bash

GO ?= go
LINT_VERSION := v2.15.0
LINT := bin/golangci-lint-$(LINT_VERSION)

# Heavy test tools live in modules of their own, so that users do not inherit them.
MODULES := $(sort $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path '*/.*/*')))
EXAMPLES := $(sort $(patsubst examples/%/main.go,%,$(wildcard examples/*/main.go)))

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The server that tests, faults and measurements run on: a name on the PATH or a path.
REDIS ?= redis-server
export HOLDFAST_SERVER := $(if $(findstring /,$(REDIS)),$(abspath $(REDIS)),$(REDIS))

.PHONY: test
test: tools ## every test, with -race and real servers: make test REDIS=valkey-server for others
	@$(GO) run ./internal/suite $(MODULES)

# What depends on the server most: the scripts, and the rules that every kind of lock keeps. Without the
# race detector: it is the server that is tried here.
.PHONY: conformance
conformance: tools ## the tests that tell most about a server: make conformance REDIS=valkey-server
	@$(GO) run ./internal/suite -race=false .:./lua
	@$(GO) run ./internal/suite -race=false -p 4 -run '^TestConformance' ".:$(addprefix ./,$(dir $(wildcard */conformance_test.go)))"

# A test that fails here and nowhere else depends on how busy the machine is.
.PHONY: stress
stress: tools ## the tests again and again on a busy machine: make stress DURATION=1h PKG=./lock RUN=TestX
	@$(GO) run ./internal/suite -stress $(or $(DURATION),10m) -timeout 30m $(if $(RUN),-run "$(RUN)") \
		".:$(or $(PKG),./redlock ./waiter ./watchdog ./lock ./locktest ./reentrant ./fair ./readwrite ./semaphore ./multi ./election ./lua ./internal/...)"

.PHONY: quick
quick: ## what runs with nothing installed; names the tests it leaves out
	@out=$$(mktemp); trap "rm $$out" EXIT; \
	$(GO) test -v ./... > $$out || { $(GO) test ./...; exit; }; \
	grep -E '^ok' $$out; \
	grep -E '^ *--- SKIP' $$out | sed 's/^ *--- SKIP: /left out: /' || echo "nothing was left out"

.PHONY: lint
lint: $(LINT) ## gofmt and golangci-lint (pinned), in which all of go vet is
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; fi
	@for m in $(MODULES); do \
		echo "golangci-lint (in $$m)"; \
		(cd $$m && $(CURDIR)/$(LINT) run --config $(CURDIR)/.golangci.yml ./...) || exit 1; \
	done

.PHONY: cover
cover: tools ## what the tests reach, by package and in total; cover.out for go tool cover
	@HOLDFAST_REQUIRE_REDIS=1 $(GO) test -count=1 -timeout=10m \
		-coverpkg=./fair/...,./lock/...,./locktest/...,./lua/...,./multi/...,./readwrite/...,./redlock/...,./reentrant/...,./semaphore/...,./waiter/...,./watchdog/... \
		-coverprofile=cover.out ./... | grep -v 'coverage: '; test $${PIPESTATUS[0]} = 0
	@$(GO) tool cover -func=cover.out | awk ' \
		/^total:/ { total = $$NF; next } \
		{ n = split($$1, p, "/"); sum[p[n-1]] += $$NF; of[p[n-1]]++ } \
		END { for (k in sum) printf "%-10s %5.1f%% of a function, on average\n", k, sum[k] / of[k]; printf "total      %s of the statements\n", total }'

.PHONY: examples
examples: ## run every example on embedded nodes
	@for e in $(EXAMPLES); do echo "== $$e"; $(GO) run ./examples/$$e || exit 1; echo; done

.PHONY: bench
bench: tools ## the toolkit beside its peers, in tables and docs/charts; BENCH='-workload many' for less
	@cd bench && $(GO) run . -results results $(BENCH) && $(GO) run . -results results -charts ../docs/charts

# Real servers, real faults: about twenty-five minutes. CELL, SEED and MUTANT narrow it down.
.PHONY: chaos
chaos: tools ## faults of all kinds against real servers, and planted bugs that must be caught (25 min)
	@cd chaos && $(GO) run . $(if $(CELL),-cell "$(CELL)") $(if $(SEED),-seed $(SEED)) $(if $(MUTANT),-mutant "$(MUTANT)")

.PHONY: soak
soak: tools ## the same faults with one seed after another: make soak DURATION=1h SEED=1
	@cd chaos && $(GO) run . -soak $(or $(DURATION),1h) -seed $(or $(SEED),1) $(if $(CELL),-cell "$(CELL)")

# Nodes in memory, and virtual time: half a second of two cores for each world.
.PHONY: simulate
simulate: ## all kinds of locks in worlds drawn by lot: make simulate WORLDS=1000 SEED=1
	@$(GO) test -count=1 -timeout=0 ./internal/simulation -run '^TestWorlds$$' -worlds $(or $(WORLDS),1000) -from $(or $(SEED),1)

# Bugs planted into the library, one after the other, that the ordinary tests must notice.
.PHONY: mutants
mutants: tools ## bugs planted one by one, which the tests must kill; MUTANT=regexp and PKG=lock narrow it down
	@cd mutants && $(GO) run . $(if $(MUTANT),-mutant "$(MUTANT)") $(if $(PKG),-pkg "$(PKG)")

# The algorithm itself, as models that spin searches to the end.
.PHONY: spec
spec: SPIN := spin
spec: tools ## search the models of the algorithm, and variants that must fail (14 min)
	@spec/run

# What `make test` needs and Go does not bring: a Redis server, and a C compiler for -race.
.PHONY: tools
tools:
	@missing=; \
	if ! command -v "$(HOLDFAST_SERVER)" > /dev/null; then \
		case "$(HOLDFAST_SERVER)" in */*) echo "$(HOLDFAST_SERVER) is no server that can be run" >&2; exit 1;; esac; \
		missing="$$missing $(HOLDFAST_SERVER)"; \
	fi; \
	command -v "$$($(GO) env CC)" > /dev/null || missing="$$missing gcc libc6-dev"; \
	[ -z "$(SPIN)" ] || command -v spin > /dev/null || missing="$$missing spin"; \
	[ -z "$$missing" ] && exit 0; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
	if ! command -v apt-get > /dev/null || ! $$sudo true 2> /dev/null; then \
		echo "missing:$$missing. Install that with your system's packages, then try again." >&2; \
		exit 1; \
	fi; \
	echo "installing:$$missing"; \
	$$sudo apt-get -o Acquire::Retries=3 update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 install -y -qq --no-install-recommends $$missing > /dev/null

.PHONY: linter
linter: $(LINT)

$(LINT):
	@mkdir -p bin
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv bin/golangci-lint $@
