#!/usr/bin/env bash
# Everything that must pass: formatting, vet, staticcheck, the tests of packages whose goroutines share memory with the
# race detector, and all others. It says what it does, goes on after a red phase, and ends with the tests that failed and
# those that were skipped, with their reasons. Tests that take long run in make proof, and all under the race detector.
#
#   CHECKED=1          leaves out formatting, vet and staticcheck
#   SKIPPED_TO=DIR     lists there the tests that lacked an optional program
#   ONLY_SKIPPED=DIR   runs the tests of that list, and no others
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} began=$SECONDS
# Compilers and tests collect garbage as rarely as the product does: with the default, collecting took 10 to 27% of
# their processor time.
export GOGC=${GOGC:-400}
# SQLite's code, which is translated C and guards its memory by locks of its own, is not
# watched: watching it makes every test of the embedded store take six times as long.
watched=(-race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false)
# The packages whose own goroutines share memory.
raced="^loregate/internal/(access|body|bound|canon|event|game|group|httpd|identity|job|lazyregexp|mcpd|media|model|op|\
outbound|remote|search|store/(group|memory|sqlite)|telemetry|usage|vector|wait|world/intent)\$"
# Packages that start programs, databases and browsers come last: each of them fills the machine.
heavy='^loregate/(cmd/loregate|internal/(app/[a-z]+test|sandbox|store/p[a-z]+|studio/(blender|godot)))$'
work=$(mktemp -d) failed=0
trap 'rm -rf "$work"' EXIT
log=$work/log skipped=${SKIPPED_TO:-$work}/list
# Two packages that wait for a program leave room for each other; a browser or an engine does not.
at_once=1
[ "${NO_ENGINES:-}" != 1 ] || at_once=2

say() { printf '== %s (after %d s)\n' "$*" $((SECONDS - began)); }

check() {
	say formatting, vet and staticcheck
	ugly=$(gofmt -l cmd internal packaging)
	if [ -n "$ugly" ]; then
		echo "FAIL gofmt would change:" $ugly | tee -a "$log"
		failed=1
	fi
	for look in "$go vet ./..." "$("$go" tool -n staticcheck) ./..."; do
		$look || { failed=1 && echo "FAIL $look" >>"$log"; }
	done
	# The module that writes the packages of a release.
	(cd packaging && "$go" vet . && "$go" test .) || { failed=1 && echo "FAIL packaging" >>"$log"; }
}

# run tests the packages of its input. It shows a line for each package, and the output of a failed one. It runs in a
# subshell, so that the log tells its failure.
run() { # what, packages at once, flags
	local what=$1 at_once=$2
	shift 2
	say "$what"
	if [ -z "${ONLY_SKIPPED:-}" ]; then
		SKIPPED_TESTS=$skipped xargs "$go" test -vet=off -p "$at_once" -timeout 20m "$@" 2>&1 |
			grep --line-buffered -v 'no test files' | tee -a "$log" || echo "FAIL $what" >>"$log"
		return
	fi
	# Each package once, with a pattern of the tests that were skipped. A test within a listed test is left out.
	while IFS= read -r package; do
		LC_ALL=C sort -u "$ONLY_SKIPPED/list" | awk -F '\t' -v end="${package#loregate}" '
			substr($1, length($1) - length(end) + 1) != end || kept != "" && index($2, kept "/") == 1 { next }
			{ kept = $2; patterns = patterns (patterns == "" ? "" : "|") $2 }
			END { if (patterns != "") print patterns "\n" "'"$package"'" }'
	done | xargs -d '\n' -r -n 2 -P "$at_once" "$go" test -vet=off -timeout 20m "$@" -run 2>&1 | tee -a "$log" || echo "FAIL $what" >>"$log"
}

[ -n "${CHECKED:-}" ] || check
# Nobody debugs the tests, and the programs that they build. Without symbols, linking takes a quarter less time.
export GOFLAGS="$("$go" env GOFLAGS) '-ldflags=-s -w'"
say compiling
"$go" build ./...
packages=$("$go" list ./...)
cores=$(getconf _NPROCESSORS_ONLN)
grep -E "$raced" <<<"$packages" | run 'packages whose goroutines share memory, with the race detector' "$cores" "${watched[@]}"
grep -Ev "$raced|$heavy" <<<"$packages" | run 'other packages' "$cores"
grep -E "$heavy" <<<"$packages" | run 'packages that start programs' "$at_once"

say finished
if [ -s "$skipped" ]; then
	echo "skipped tests, and why:"
	sort -u "$skipped" | cut -f 3 | sort | uniq -c | sort -rn
fi
if grep -E '^ *--- FAIL|^FAIL|^panic:' "$log"; then failed=1; fi
[ "$failed" -eq 0 ] && echo "all passed"
exit "$failed"
