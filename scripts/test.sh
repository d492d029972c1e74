#!/usr/bin/env bash
# Everything that must pass: formatting, vet, staticcheck, and all tests with the race
# detector. Prints the closing lines that go test prints. A red phase does not keep the next one
# from running. With the argument ready it looks and compiles, and runs no test: a machine can do that while it fetches
# the engines. CHECKED=1 leaves out the checks. SKIPPED_TO names a folder where the tests are listed that lacked an
# optional program; ONLY_SKIPPED names that folder when the programs are there: these tests run, and no others.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
# Compilers and tests collect garbage as rarely as the product does: with the default, collecting took 10 to 27% of
# their processor time.
export GOGC=${GOGC:-400}
# Vet has looked already. Many tests wait for a program that they started: one package more than there are cores fills
# the gaps.
quick=(-vet=off -p "$(($(getconf _NPROCESSORS_ONLN) + 1))")
# SQLite's code, which is translated C and guards its memory by locks of its own, is not
# watched: watching it makes every test of the embedded store take six times as long.
watched=(-race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false)

# check looks at the sources. Vet and staticcheck read them as the race detector does: so most tests are compiled once
# for them and for the run.
check() {
	ugly=$(gofmt -l cmd internal packaging)
	if [ -n "$ugly" ]; then
		echo "gofmt would change:" $ugly >&2
		failed=1
	fi
	"$go" vet "${watched[@]}" ./... || failed=1
	staticcheck=$("$go" tool -n staticcheck)
	GOFLAGS="$("$go" env GOFLAGS) ${watched[*]}" "$staticcheck" ./... || failed=1
	# The module that writes the packages of a release.
	(cd packaging && "$go" vet . && "$go" test .) || failed=1
}
failed=0
[ -n "${CHECKED:-}" ] || check
if [ "${1:-}" = ready ]; then
	"$go" build ./...
	"$go" build "${watched[@]}" ./...
	exit "$failed"
fi
# Nobody debugs the tests, and the programs that they build. Without symbols, linking takes a quarter less time.
export GOFLAGS="$("$go" env GOFLAGS) '-ldflags=-s -w'"
# The race detector has nothing to say of these: suites that drive the built program, its engines, its databases and its
# pages from outside; proofs, judgements and stories, which are long and for one caller at a time; and packages that
# start no goroutine, and whose tests share nothing between goroutines. Where their code runs at once with other code,
# it is under the detector as part of internal/app, mcpd, httpd, gametest, scaletest and world/play.
calm=(
	cmd/loregate
	internal/app/{archive,bench,bounds,campaign,capacity,client,console,crash,dist,failover,front,judge,model}test
	internal/app/{proof,proposal,rolling,story,studio,upgrade,vault,world}test
	internal/{archive,archtest,blob/s3,campaign,claim,disk,embed,fault,front,housekeeping,loadtest,markup,meaning}
	internal/{decoded,marked,member,prompt,proposal/kind,rules,safety,sample,secrecy,slicesx,stem,surface,telemetry,witness}
	'internal/exchange(/[a-z]+)?' 'internal/ruleset(/[a-z]+)?'
	internal/game/{page,player,rule,view}
	internal/store/{finder,words}
	internal/studio/{blender,build,builder,gltf,gltf/gltftest,godot,godot4,native,noise,phrase,plant,scene,sentence}
	internal/studio/{spec,terrain,texture}
	internal/world{,/command,/faction,/lore,/market}
)
calm="^loregate/($(IFS='|' && echo "${calm[*]}"))\$"
# go test begins packages in the order in which it is given them. The longest come first, and no core is idle while one
# of them ends.
watched_first='store/postgres app/scaletest app/gametest canon store/sqlite app'
calm_first='app/prooftest app/crashtest app/boundstest app/studiotest cmd/loregate app/consoletest app/rollingtest
app/judgetest app/failovertest app/modeltest'
longest_first() { # the packages that come first; the list is the input
	awk -v first=" $(echo $1) " '{
		name = $0
		sub("^loregate/(internal/)?", "", name)
		place = index(first, " " name " ")
		print (place ? place : 9999), $0
	}' | sort -s -n -k 1,1 | cut -d ' ' -f 2
}
# run tests the packages of its input: a name for the list of what is skipped, and flags.
run() {
	local phase=$1 only
	shift
	if [ -z "${ONLY_SKIPPED:-}" ]; then
		SKIPPED_TESTS=${SKIPPED_TO:+$SKIPPED_TO/$phase} xargs "$go" test "${quick[@]}" "$@"
		return
	fi
	# A test within a listed test is left out.
	only=$(LC_ALL=C sort -u "$ONLY_SKIPPED/$phase" | awk -F '\t' '
		$1 == dir && index($2, kept "/") == 1 { next }
		{ patterns[$1] = patterns[$1] ($1 == dir ? "|" : "") $2; dir = $1; kept = $2 }
		END { for (dir in patterns) print dir "\t" patterns[dir] }') || return
	while IFS= read -r package; do
		awk -F '\t' -v end="${package#loregate}" 'substr($1, length($1) - length(end) + 1) == end {
			print $2; print $1
		}' <<<"$only"
	done | xargs -d '\n' -r -n 2 -P "$(($(getconf _NPROCESSORS_ONLN) + 1))" "$go" test "${quick[@]}" "$@" -run
}
packages=$("$go" list ./...)
grep -Ev "$calm" <<<"$packages" | longest_first "$watched_first" | run watched "${watched[@]}" -timeout 20m || failed=1
# The race detector sees a part of these tests, or none. Without it they run whole.
tests='Store StoreElsewhere HiddenLeavesNoTrace HostileQueries FrequentTermsMatchScan GramsMatchScan LongListsMatchScan
ReadAndActAllocations RandomCommandsMoveNoOtherClock RandomCommandsKeepInvariants RewardsAreGivenOnce
TradesKeepTheirSums MadeThingsAreLimited'
whole='store/(postgres|placed)' # where the database is
[ -n "${ONLY_SKIPPED:-}" ] || whole+='|store/(sqlite|memory)|search|world/play'
grep -E "/($whole)\$" <<<"$packages" | xargs "$go" test "${quick[@]}" -timeout 25m \
	-run "^Test($(echo $tests | tr ' ' '|'))\$/^(interference|search|model)\$" || failed=1
grep -E "$calm" <<<"$packages" | longest_first "$calm_first" | run calm -timeout 25m || failed=1
exit "$failed"
