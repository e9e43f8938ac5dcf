# The commands of this project; `make` alone lists them. Each does all it needs, and nothing here needs more than Go, git
# and make: what else a target uses it installs from Debian's packages, or says how.

# The toolchain that go.mod names, whichever Go is installed and whatever its settings say.
export GOTOOLCHAIN = go1.27.3

GO         ?= go
TESTFLAGS  ?=
FUZZTIME   ?= 10s
SPAN       ?= 5m

# The tools, pinned. They are run from the module proxy and are no dependency of this module.
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
GOSEC       = github.com/securego/gosec/v2/cmd/gosec@v2.30.0
# Rules of gosec that are answered for all of the code; any other finding is answered by a #nosec on its line.
# G115: numbers are converted after they were bounded, bitmaps and counts all. G404: dice are for load, jitter and ports;
# what must not be guessed comes of crypto/rand. G304: the paths are the operator's own. internal/ and store/storetest are
# for tests.
GOSECFLAGS  = -quiet -exclude=G115,G404,G304 -exclude-dir=internal -exclude-dir=store/storetest
# The vulnerability database as a Go module, so that no other host is needed. To take a newer one:
# go list -m golang.org/x/vulndb@latest
VULNDB      = golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018

# Runs what follows with a Postgres and a Redis of its own, and ends them.
with_services = tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT INT TERM && \
	$(GO) build -o "$$tmp/run" ./internal/services/run && "$$tmp/run" --

.DEFAULT_GOAL := help
.PHONY: help demo build test test-deps race benchmarks bench drain fuzz million model soak h2spec slowhttp reload-soak sale-kills outages lint clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## watch a sale go through a waiting room (KEEP=1: go on serving, for a browser)
	./foyer demo $(if $(KEEP),--keep)

build: ## build ./foyer
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o foyer ./cmd/foyer

test: test-deps ## run all tests on a Postgres and a Redis started for them (RACE=1, TESTFLAGS='-run …')
	@$(if $(RACE),internal/services/install.sh gcc)
	@$(with_services) $(if $(RACE),env CGO_ENABLED=1) $(GO) test $(if $(RACE),-race) -timeout 20m $(TESTFLAGS) ./...

test-deps: ## install what the tests need: Debian's postgresql, redis-server, nginx, nodejs and chromium
	@internal/services/install.sh

race: ## run all tests with the race detector
	@$(MAKE) --no-print-directory test RACE=1

benchmarks: test-deps ## run each Go benchmark once, so that none rots
	@$(with_services) $(GO) test -run '^$$' -bench . -benchtime 1x ./...

bench: build test-deps ## the strategies side by side, with and without a gate, on this machine
	./foyer bench

fuzz: ## run each fuzz test for FUZZTIME (10s)
	@set -e; for dir in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -r -n1 dirname | sort -u); do \
		for name in $$($(GO) test -list '^Fuzz' $$dir | grep '^Fuzz'); do \
			echo "$$dir $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$dir; \
		done; \
	done

model: test-deps ## 2,000 random walks of 300 steps over the oracle, the memory and Redis, and three planted faults
	$(GO) test -count=1 -v -timeout 30m ./store/redisstore -run 'Agrees|Model' -seeds 2000 -steps 300 -parallel 16
	$(GO) test -count=1 -timeout 30m ./admission -run Model -seeds 500

drain: test-deps ## how long a full line takes to empty, against the ideal: exactly, and over HTTP with 1,000 queued
	$(GO) test -count=1 -v ./admission -run Drain -drain-whole
	$(GO) test -count=1 -v ./internal/soak -run Drain -queued 1000 -drain-limit 1.3 -drain-capacity 100

million: test-deps ## a million in line: bytes and time of a tick, commands a second, a burst of 100,000
	$(GO) test -run '^$$' -bench 'Million' -benchtime 50x -timeout 20m ./store/redisstore

soak: test-deps ## 5,000 visitors for five minutes while replicas, Redis and links break (SPAN=5m)
	$(GO) test -count=1 -v -timeout 20m ./internal/soak -run Soak -span $(SPAN) -guests 5000 -most-idle 0.02

h2spec: build ## the conformance tests of HTTP/2 on TLS, compared with Go's own server
	$(GO) run ./internal/probe h2spec

slowhttp: build ## slowhttptest in its three modes while others visit (Debian's slowhttptest)
	@internal/services/install.sh slowhttptest
	$(GO) run ./internal/probe slowhttp

reload-soak: test-deps ## two replicas reloaded every second for a minute while people ask
	@$(with_services) $(GO) test -count=1 -v -run TestReload_EverySecondOnTwoReplicas ./internal/e2e -reload-for 1m

sale-kills: test-deps ## a sale of 650 to 3,000 buyers in line, on each store, while foyer is killed with -9 twenty times
	@$(with_services) $(GO) test -count=1 -v -timeout 20m -run TestSale_SurvivesKillsAtRandom ./internal/e2e \
		-sale-kills 20 -sale-buyers 3000 -sale-gate 20 -sale-pace 2s

outages: test-deps ## Redis and Postgres each cut, slow and frozen under load: who waits, who buys, what it costs
	@$(with_services) $(GO) test -count=1 -v -run TestOutage_ ./internal/e2e -outage-span 10s

lint: ## gofmt, go vet, staticcheck, gosec and govulncheck (TIDY=1: and whether go.mod is tidy)
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .); [ -z "$$unformatted" ] || { echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(if $(TIDY),$(GO) mod tidy -diff)
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(GOSEC) $(GOSECFLAGS) ./...
	@$(GO) mod download $(VULNDB)
	$(GO) run $(GOVULNCHECK) -db "file://$$($(GO) env GOMODCACHE)/$(VULNDB)/data/osv" ./...

clean: ## remove what building and running left in this folder
	rm -rf foyer foyer.db* foyer.state* bench-report.*
