#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (default 30s each), with a limit of memory for each process: a target that holds
# more than that runs so slowly that its allocation guard or its time-out ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export GOMEMLIMIT=${GOMEMLIMIT:-512MiB}
for pkg in $("$go" list ./...); do
	dir=$("$go" list -f '{{.Dir}}' "$pkg")
	for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null | sed 's/^func //' | sort -u); do
		echo "== $pkg $target"
		"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" "$pkg"
	done
done
