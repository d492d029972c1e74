#!/usr/bin/env bash
# Everything that must pass: formatting, vet, staticcheck, and all tests with the race
# detector. Prints the closing lines that go test prints. With the argument ready it looks
# and compiles, and runs no test: a machine can do that while it fetches the engines. Then
# CHECKED=1 leaves out the checks.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
# Compilers and tests collect garbage as rarely as the product does: with the default, collecting took 10 to 27% of
# their processor time.
export GOGC=${GOGC:-400}
# Vet has looked already, and nobody debugs these programs: that is a minute of linking.
# Many tests wait for a program that they started: one package more than there are cores fills the gaps.
quick=(-vet=off -ldflags=-w -p "$(($(getconf _NPROCESSORS_ONLN) + 1))")
# SQLite's code, which is translated C and guards its memory by locks of its own, is not
# watched: watching it makes every test of the embedded store take six times as long.
watched=(-race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false)

# check looks at the sources. Vet and staticcheck read them as the race detector does: so most tests are compiled once
# for them and for the run.
check() {
	ugly=$(gofmt -l cmd internal packaging)
	if [ -n "$ugly" ]; then
		echo "gofmt would change:" $ugly >&2
		exit 1
	fi
	"$go" vet "${watched[@]}" ./...
	staticcheck=$("$go" tool -n staticcheck)
	GOFLAGS="$("$go" env GOFLAGS) ${watched[*]}" "$staticcheck" ./...
	# The module that writes the packages of a release.
	(cd packaging && "$go" vet . && "$go" test .)
}
[ -n "${CHECKED:-}" ] || check
if [ "${1:-}" = ready ]; then
	"$go" build ./...
	exec "$go" build "${watched[@]}" ./...
fi
# These the race detector has little to say of: suites that drive the built program, its
# engines, its databases and its pages from outside, the proofs and judgements, which are long and for one
# caller at a time, and functions of texts, rules and scenes that nothing runs at once.
calm='/(cmd/loregate|internal/(archtest|housekeeping|game/(player|rule)|app/(capacitytest|consoletest|crashtest|failovertest|fronttest|rollingtest|studiotest|modeltest|prooftest|judgetest|storytest|vaulttest)|loadtest|exchange(/[a-z]+)?|markup|claim|meaning|ruleset/fifth|safety|studio/(blender|build|builder|phrase|plant|scene|sentence|spec|texture)))$'
"$go" list ./... | grep -Ev "$calm" | xargs "$go" test "${quick[@]}" "${watched[@]}" -timeout 20m
# Run without it: those, and what is done in part under it.
"$go" list ./... | grep -E "$calm|/internal/(store/(memory|postgres|sqlite)|search|world/(lore|play))$" | xargs "$go" test "${quick[@]}" -timeout 15m
