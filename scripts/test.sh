#!/usr/bin/env bash
# Everything that must pass: formatting, vet, staticcheck, and all tests with the race
# detector. Prints the closing lines that go test prints.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}

ugly=$(gofmt -l cmd internal)
if [ -n "$ugly" ]; then
	echo "gofmt would change:" $ugly >&2
	exit 1
fi
"$go" vet ./...
"$go" tool staticcheck ./...
"$go" test -race -timeout 20m ./...
# What is done in part under the race detector, for it takes ten times as long there and
# proves nothing about races, is done whole without it.
"$go" test -timeout 10m ./internal/app/prooftest ./internal/app/crashtest ./internal/store/... ./internal/game/player
