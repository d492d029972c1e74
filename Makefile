# make test is everything that must pass. The other targets are explained in README.md.
GO ?= go
SEED ?= 1

.PHONY: test quick run build bench bench-guard bench-scale conformance fuzz proof judge docs site dist pictures scenes

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

bench-guard:
	./scripts/bench-guard.sh

bench-scale:
	./scripts/bench-scale.sh

conformance:
	./scripts/conformance.sh

fuzz:
	./scripts/fuzz.sh

proof:
	./scripts/proof.sh

pictures:
	PICTURES=$(CURDIR)/docs/images/pages $(GO) test ./internal/app/consoletest -run 'GameMaster|Proposal' -count=1

scenes:
	PICTURES=$(CURDIR)/docs/studio $(GO) test ./internal/app/studiotest -run TestPictures -count=1 -timeout 4h

site:
	./scripts/site.sh

dist:
	./scripts/dist.sh

judge:
	./scripts/judge.sh

docs:
	$(GO) tool templ generate -path internal/console
	$(GO) test ./internal/app -run 'Golden|Reference' -update
	$(GO) test ./internal/archtest -run Picture -update
	$(GO) test ./internal/studio/sentence -run Page -update
