#!/usr/bin/env bash
# Measures the product and prints a table in Markdown; docs/benchmarks.md says what the
# figures mean and what they should be. Nothing is asserted. The collector is set as the
# program sets it.
#
#   BENCH_DIR    keeps the large stores for the next run (default: a folder in /tmp)
#   BENCH_CARDS  adds a size to the curves, such as 1000000
#   BENCH_PLACES makes the world of places smaller than 100,000
#   BENCH_DATABASE  a PostgreSQL server to keep the stores on, in databases of its own, as
#                postgres://postgres@/postgres?host=/run/postgresql
#   BENCH_TURNS  a file of speeches to import, gzipped JSON lines
#   BENCH_ONLY   a pattern of benchmarks, in place of all
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export BENCH=1 GOGC=${GOGC:-400} GOMEMLIMIT=${GOMEMLIMIT:-256MiB}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$go" test -c -o "$work/product" ./internal/app/benchtest
"$go" test -c -o "$work/calls" ./internal/mcpd
"$go" test -c -o "$work/rules" ./internal/game/rule

cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
memory=$(awk '/^MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo 2>/dev/null)
commit=$(git rev-parse --short HEAD)
[ -z "$(git status --porcelain -- '*.go')" ] || commit="$commit and changes"
echo "$(date -u +%F), commit $commit, $("$go" env GOVERSION), $(nproc) cores of ${cpu:-an unknown processor}, ${memory:-unknown memory}, load $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown) at the start"
echo
echo "| benchmark | figures |"
echo "|---|---|"

# table makes rows of what go test reports: "BenchmarkX-2 10 1.5 ms 7 ops/s".
table() {
	awk '/^Benchmark/ {
		sub(/^Benchmark/, "", $1); sub(/-[0-9]+$/, "", $1)
		figures = ""
		for (i = 3; i < NF; i += 2) figures = figures (i > 3 ? ", " : "") $i " " $(i + 1)
		print "| " $1 " | " figures " |"; fflush()
	} /^(---|panic|FAIL)/ { print > "/dev/stderr" }'
}
run() { # program, pattern, how often
	local at=internal/app/benchtest
	case $1 in calls) at=internal/mcpd ;; rules) at=internal/game/rule ;; esac
	(cd "$at" &&
		"$work/$1" -test.run - -test.timeout 60m -test.bench "${BENCH_ONLY:-$2}" -test.benchtime "$3") | table
}
if [ -n "${BENCH_ONLY:-}" ]; then
	run product "$BENCH_ONLY" "${BENCH_TIME:-5x}"
else
	run product '^Benchmark(GetCard|Create|Batch)$' 5x
	run product '^Benchmark(Bulk|Import)$' 3x
	run product '^Benchmark(Open|Start)$' 11x
	run product '^Benchmark(Search|LookUp)$' 1000x
	run product '^Benchmark(LocationContext|SpatialContext|NarrationContext|Turn|SearchLore|SearchLoreWhileWritten)$' 3x
	run product '^BenchmarkPage$' 1000x
	run product '^BenchmarkPaint$' 5x
	run product '^BenchmarkLivePages$' 1x
	run product '^BenchmarkParse$' 20x
	"$go" test -run - -bench '^BenchmarkLoreRelevance$' -benchtime 1x ./internal/world/lore | table
	run product '^BenchmarkCampaign$' 1000x
	run product '^BenchmarkGame(Simulate|Read|Notice)$' 3x
	run calls '^BenchmarkCall$' 5000x
	"$go" test -run - -bench '^BenchmarkNotice$' -benchtime 1x ./internal/app/scaletest | table # where PostgreSQL is
	run rules '^BenchmarkStep$' 200000x
fi
echo
echo "Load at the end: $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown)"
