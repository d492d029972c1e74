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
# Suites that drive the built program, its engines and its databases from outside spend
# their time in processes that the race detector does not watch.
outside='/internal/(app/(crashtest|rollingtest|studiotest)|load)$'
"$go" list ./... | grep -Ev "$outside" | xargs "$go" test -race -timeout 20m
# Run without it: those, and what is done in part under the race detector, for it takes
# ten times as long there and proves nothing about races.
"$go" list ./... | grep -E "$outside|/internal/(app/prooftest|store/.*|game/player)$" | xargs "$go" test -timeout 15m
