#!/usr/bin/env bash
# Runs the long proofs, part by part, and writes what each showed into docs/proofs.md. A
# part that is green for the code as it is now is not run again, so that a run that was
# interrupted goes on where it was. The ordinary tests run those in small that do not take long.
#
#   PROOF_PARTS  names of parts, in place of all that are not green yet
#   PROOF_AGAIN  1 runs parts again that are green
#   CLIENTS      folder of the programs of Claude Code, Gemini CLI, Codex, mcpb, mcp-remote, the
#                Inspector, its Node, and beside them the module oidc-provider; without it the parts that need them install them with
#                npm into a temporary folder, and are skipped if that is not possible
#   REAL_VAULTS  folders of the part vaults, as scripts/vaults.sh prints them, which fetches them
#                if it is not set
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} page=docs/proofs.md logs=${PROOF_LOGS:-proof-logs}
mkdir -p "$logs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# code names the state of the sources: a part is green for a code, not for a commit.
code=$(git ls-files -s cmd internal go.mod go.sum | git hash-object --stdin | cut -c1-10)
commit=$(git rev-parse --short HEAD)
if [ -n "$(git status --porcelain -- cmd internal go.mod go.sum)" ]; then
	code=changed commit="$commit and changes"
fi

# The parts: name ! what it proves ! packages ! tests ! environment.
parts() {
	cat <<'PARTS'
cuts-embedded!500 power cuts of the embedded store lose nothing acknowledged!./internal/app/crashtest!^TestPowerCut$!CRASH_CUTS=500
cuts-controls!a lax store and a lying disk are found out by the same cuts!./internal/app/crashtest!^TestPowerCutFinds!CRASH_CUTS=500
cuts-records!500 power cuts and disk errors between the store and its records!./internal/app/crashtest!^TestPowerCutBetweenTheFiles$|^TestCrashDiskFails!CRASH_CUTS=500
cuts-postgres!500 cut connections to PostgreSQL: done once or refused!./internal/app/crashtest!^TestCrashOfConnections$!CRASH_CUTS=500
kills-embedded!300 kills of the real program on the embedded store!./internal/app/crashtest!^TestCrashKill$/embedded!CRASH_KILLS=300
kills-postgres-1!150 kills of the real program on PostgreSQL!./internal/app/crashtest!^TestCrashKill$/postgres!CRASH_KILLS=150
kills-postgres-2!150 more, from another seed!./internal/app/crashtest!^TestCrashKill$/postgres!CRASH_KILLS=150 SEED=2
kills-index!200 kills while the search index is written and merged!./internal/store/sqlite!^TestAKilledIndexIsNeverStale$!INDEX_KILLS=200
lost-pages!each page of a store with three worlds is lost in turn: worlds with whole chains go on or are named, nothing that they acknowledged is lost!./internal/app/crashtest!^TestALostPageEndsOneWorld$!LOST_PAGES=1000
kills-proposals!300 kills while proposals are judged and carried out!./internal/app/crashtest!^TestCrashProposal$!CRASH_KILLS=300
falls-postgres!20 kills of PostgreSQL, full disk, jumping clocks, a paused process!./internal/app/crashtest!^TestCrashOfTheDatabase$|^TestCrashOfADatabaseThatIsFull$|^TestCrashOfAClock$|^TestCrashPausedProcess$!CRASH_FALLS=20
steps!each step of a commit fails once, on three stores; nothing is done unrecorded!./internal/app/crashtest!^TestCrashEachStep|^TestCrashNothing|^TestCrashStartUp$|^TestCrashOneWorld!
failover!50 kills and pauses and 20 cuts of the primary, 20 kills of etcd: 20,000 writes are there once!./internal/app/failovertest!^TestFailover$!FAILOVER_KILLS=50 FAILOVER_CUTS=20 FAILOVER_ETCD=20 FAILOVER_WRITES=20000
game-night!three processes on two databases of three servers each, both primaries killed in an evening: two programs over MCP, two players, a narrator and an import go on!./internal/app/failovertest!^TestGameNight$!GAME_NIGHT=1
archive!the log of three servers under Patroni is kept by pgBackRest: the database is restored to seconds before and after its primary is killed and another one is made the primary by order!./internal/app/failovertest!^TestArchiveOfACluster$!FAILOVER_ARCHIVE=1
moves!a world moves 100 times between three databases, of SQLite and of PostgreSQL, under load and with kills: nothing is lost, doubled or shown to the wrong caller!./internal/store/placed!^TestMoveUnderLoad$!MOVES=100
processes!20,000 writes by three processes that come and go!./internal/app/crashtest!^TestCrashThreeProcesses$!CRASH_WRITES=20000
players!200 players act every five seconds for ten minutes while the server is killed and stopped: each turn is applied once, none fails!./internal/app/crashtest!^TestCrashOfPlayers$!CRASH_PLAYERS=200 CRASH_PLAY=10m
bounds!attacks on memory within the limits of deploy/loregate.service, on both stores: the process grows by at most 256 MiB and serves others!./internal/app/boundstest!.!BOUNDS=1
agents!three processes run the agents and are killed in turn: each due run is made by one!./internal/app/crashtest!^TestCrashOfAgents$!
bad-model!1,000 turns with a model that lies, stalls, floods, injects and breaks JSON are those without a model, none waits beyond patience!./internal/app/modeltest!^TestTurnsWithABadModel$!
leaks!no planted mark in any byte that a lower role gets!./internal/app/prooftest!^TestNo.*Leaks$|^TestTheDetector!PROOF_ROUNDS=200
marks!each way of writing × each mark × each act after it: no reader below the game master gets a hidden word, other secrets change no answer, and 1,000 acts of a year lose nothing marked!./internal/app/prooftest!^TestEveryWayKeepsEveryMark$|^TestAYearOfActs$|^TestGapsStayClosed$|^TestOtherFormatsKeepSecrets$|^TestAnExportIsEditedAndComesBack$!PROOF_ROUNDS=1000
marks-large!the same acts of a year in a vault of 6,500 files with 50,000 hidden words!./internal/app/prooftest!^TestAYearOfActs$/embedded!PROOF_ROUNDS=1000 PROOF_NOTES=6000
imports!390 hostile sources of all formats, ten times as large, take at most 12 times the processor time!./internal/exchange!^TestImportsTakeTimeInProportion$!IMPORT_SHAPES=1000
alike!both stores answer the same bytes!./internal/app/prooftest!^TestBothStoresAnswerAlike$!PROOF_ROUNDS=200
placed!a world in a second database answers as one in a data folder, before and after that database crashes, and two such worlds that differ in hidden things alone answer alike; its tables follow from its stream!./internal/app/prooftest!^TestPlacedWorldAnswersAlike$|^TestNonInterference$/^placed$!PROOF_ROUNDS=200
placed-failover!the same, and no planted mark shows, before and after that database's primary is killed and another one is made the primary by order: PostgreSQL on three servers under Patroni!./internal/app/prooftest!^TestPlacedWorldAnswersAlike$|^TestNonInterference$/^placed$|^TestNoMarkLeaks$/^placed$!PROOF_ROUNDS=200 PROOF_CLUSTER=1 GOFLAGS=-parallel=1
interference-embedded!two worlds that differ in hidden things alone answer alike, embedded store!./internal/app/prooftest!^TestNonInterference$/embedded!PROOF_ROUNDS=200
interference-postgres!the same on PostgreSQL!./internal/app/prooftest!^TestNonInterference$/postgres!PROOF_ROUNDS=200
interference-turns!the same in 201 rounds of random turns!./internal/app/prooftest!^TestNonInterference$/embedded!PROOF_TURNS=67
reads-cut!a call that reads, or repeats a write, while its connections to PostgreSQL are cut is refused or answers the whole; a repeated proposal gets its first answer!./internal/app/prooftest!^TestALostDatabaseIsNoAnswer$!PROOF_ROUNDS=12
kept!kept answers are those of now, in two processes that change a world at random!./internal/app/prooftest!^TestKeptAnswersAreThoseOfNow$!PROOF_ROUNDS=400
cost!each text of each operation in 67 hostile shapes, in each mode, and each good call on stored texts of ten shapes, on both stores: a text of 100 KB costs at most twelve times the processor time of one of 10 KB!./internal/app/prooftest!^TestCostGrows!COST_ALL=1
replay!the tables follow from the stream; SQLite and PostgreSQL answer 100,000 random operations as the reference store does!./internal/canon ./internal/store/sqlite ./internal/store/postgres!^TestTablesFollow|^TestStore$!STORE_STEPS=100000
games!1,000 games with a mark in every secret, 50 of them over MCP, one in a browser!./internal/app/gametest!.!GAME_SECRETS=1000 GAME_SECRETS_MCP=50 GAMETEST_FULL=1
balance!at 6 to 10 seats the humans' side wins 45 to 55% of 500 games, at most 8% are draws!./internal/game/player!^TestNeitherSideWinsTooOften$!GAMES=500
stories!players of five wishes play 100 turns each in the sample world and two worlds of others, with and without a model; no line comes twice, nothing is given twice, the dead are silent!./internal/app/storytest!^TestStories$!STORY_TURNS=100
vaults!three vaults of others come back into git: nothing differs but 50 edits and an accepted proposal, players see no hidden line!./internal/app/vaulttest!^TestAVaultComesBackIntoGit$!LARGE_VAULTS=3
packages!two builds give the same bytes; the clients' own programs take the bundle and the extensions!./internal/app/disttest!^TestClientsTakeThePackages$!
clients!each real client keeps its tools in ten starts beside 20,000 cards, proposes, and signs in by the address alone!./internal/app/clienttest!^TestClientsKeep|^TestClientsPropose|^TestClientsSignIn!CLIENT_STARTS=10 CLIENT_CARDS=20000
issuer!a person signs in by a certified OpenID provider, through its own pages, and joins a world!./internal/app/consoletest!^TestARealIssuer$!
tasks!real clients with a scripted model solve tasks in words that no tool's name has!./internal/app/clienttest!^TestClientsSolveTasks$!CLIENT_TASKS=1000
long!every test that the ordinary run leaves out!long!.!
race!all tests of the ordinary run under the race detector!./...!.!PROOF= GOFLAGS=-race
scenes!all example scenes, built by a run in Blender, are the same when it is repeated!./internal/app/studiotest!^TestRunsOfScenesAreRepeatable$!ALL_SCENES=1
PARTS
}

# row gives a part's row of the page.
row() { grep -s "^| $1 |" "$page" || true; }

# install_clients sets CLIENTS.
install_clients() {
	if [ -n "${CLIENTS:-}" ]; then return; fi
	(cd "$work" && npm init -y >/dev/null && npm install --no-audit --no-fund --silent @anthropic-ai/claude-code @google/gemini-cli @openai/codex @anthropic-ai/mcpb mcp-remote @modelcontextprotocol/inspector@2 oidc-provider@9 node@22) || return 1
	export CLIENTS=$work/node_modules/.bin
}

# record replaces a part's row: name, what it proves, verdict and figures, seconds.
record() {
	local name=$1 proves=$2 verdict=$3 took=$4
	grep -sv "^| $name |" "$page" >"$work/page" || true
	echo "| $name | $proves | $verdict | $took s | $commit | $code | $(date -u +%F) |" >>"$work/page"
	cat "$work/page" >"$page"
}

# figures gives the last line that each test logged.
figures() {
	sed -n 's/^ *[a-z_]*_test\.go:[0-9]*: //p' "$1" | grep -E '[0-9]' | grep -v '^SKIP' | awk '!seen[$0]++' | tail -n 6 | cut -c1-200 | paste -sd';' | sed 's/;/; /g; s/|/\//g'
}

failed=0 green=0
while IFS='!' read -r name proves packages tests environment; do
	if [ -n "${PROOF_PARTS:-}" ]; then
		case " $PROOF_PARTS " in *" $name "*) ;; *) continue ;; esac
	fi
	if [ "$code" != changed ] && [ -z "${PROOF_AGAIN:-}" ] && row "$name" | grep -q "| green.*| $code |"; then
		echo "== $name: green already for this code"
		green=$((green + 1))
		continue
	fi
	case $name in
	clients | tasks | packages | issuer)
		install_clients || {
			echo "== $name: skipped: npm could not install the clients"
			continue
		}
		;;
	long) packages=$(grep -rlE 'programtest\.(Long|Proof)\(' --include=*_test.go ./internal ./cmd | xargs -n 1 dirname | sort -u) ;;
	vaults) if [ -z "${REAL_VAULTS:-}" ]; then REAL_VAULTS=$(./scripts/vaults.sh); export REAL_VAULTS; fi ;;
	esac
	echo "== $name: $proves"
	began=$SECONDS status=0
	# shellcheck disable=SC2086 # lists of words
	env REQUIRE_ENGINES=1 PROOF=1 $environment "$go" test -count=1 -timeout 180m -v -run "$tests" $packages >"$logs/$name.log" 2>&1 || status=$?
	passed='^--- PASS: '
	case $tests in */*) passed='^ +--- PASS: [^ /]+/' ;; esac # the test passes without the part of it that is meant
	if [ "$status" -eq 0 ] && { ! grep -qE "$passed" "$logs/$name.log" || grep -q '\[no tests to run\]' "$logs/$name.log"; }; then
		echo "FAIL: no test ran" >>"$logs/$name.log"
		status=1
	fi
	verdict=green
	if [ "$status" -ne 0 ]; then
		verdict=RED failed=$((failed + 1))
		grep -E '^ *(--- FAIL|panic|FAIL)|_test\.go' "$logs/$name.log" | tail -n 20 >&2
	else
		green=$((green + 1))
	fi
	record "$name" "$proves" "$verdict: $(figures "$logs/$name.log")" $((SECONDS - began))
done < <(parts)
echo "$green passed, $failed failed"
[ "$failed" -eq 0 ]
