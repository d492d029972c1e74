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
# Nobody debugs the tests, and the programs that they build. Without symbols, linking takes a quarter less time.
export GOFLAGS="$("$go" env GOFLAGS) '-ldflags=-s -w'"
# The race detector has nothing to say of these: suites that drive the built program, its engines, its databases and its
# pages from outside; proofs, judgements and stories, which are long and for one caller at a time; and packages that
# start no goroutine, and whose tests share nothing between goroutines. Where their code runs at once with other code,
# it is under the detector as part of internal/app, mcpd, httpd, gametest, scaletest and world/play.
calm=(
	cmd/loregate
	internal/app/{archive,bench,campaign,capacity,client,console,crash,dist,failover,front,judge,model,proposal,proof}test
	internal/app/{rolling,story,studio,upgrade,vault,world}test
	internal/{archive,archtest,blob/s3,campaign,claim,disk,embed,fault,front,housekeeping,loadtest,markup,meaning}
	internal/{member,prompt,proposal/kind,rules,safety,sample,slicesx,stem,surface,telemetry,witness}
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
calm_first='app/prooftest app/crashtest app/studiotest cmd/loregate app/consoletest app/rollingtest app/judgetest
app/failovertest app/modeltest'
longest_first() { # the packages that come first; the list is the input
	awk -v first=" $(echo $1) " '{
		name = $0
		sub("^loregate/(internal/)?", "", name)
		place = index(first, " " name " ")
		print (place ? place : 9999), $0
	}' | sort -s -n -k 1,1 | cut -d ' ' -f 2
}
"$go" list ./... | grep -Ev "$calm" | longest_first "$watched_first" |
	xargs "$go" test "${quick[@]}" "${watched[@]}" -timeout 20m
# The race detector sees a part of these tests, or none. Without it they run whole.
tests='Store StoreElsewhere HiddenLeavesNoTrace HostileQueries FrequentTermsMatchScan GramsMatchScan LongListsMatchScan
ReadAndActAllocations RandomCommandsMoveNoOtherClock RandomCommandsKeepInvariants RewardsAreGivenOnce
TradesKeepTheirSums MadeThingsAreLimited'
"$go" test "${quick[@]}" -timeout 15m -run "^Test($(echo $tests | tr ' ' '|'))\$/^(interference|search|model)\$" \
	./internal/store/{postgres,placed,sqlite,memory} ./internal/search ./internal/world/play
"$go" list ./... | grep -E "$calm" | longest_first "$calm_first" | xargs "$go" test "${quick[@]}" -timeout 15m
