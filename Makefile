# make test is everything that must pass. The other targets are explained in README.md.
GO ?= go
SEED ?= 1

.PHONY: test quick run build bench bench-scale conformance fuzz crash docs

test:
	./scripts/test.sh

quick:
	$(GO) test ./...

run:
	$(GO) run ./cmd/loregate serve --sample

build:
	$(GO) build -trimpath -ldflags "-s -w" -o bin/loregate ./cmd/loregate

bench:
	./scripts/bench.sh

bench-scale:
	./scripts/bench-scale.sh

conformance:
	./scripts/conformance.sh

fuzz:
	./scripts/fuzz.sh

crash:
	CRASH_KILLS=300 CRASH_CUTS=500 CRASH_FALLS=20 CRASH_WRITES=20000 $(GO) test -count=1 -timeout 180m -run 'Crash|PowerCut' -v ./internal/app/...

docs:
	$(GO) test ./internal/app -run 'Golden|Reference' -update
