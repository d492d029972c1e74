#!/usr/bin/env bash
# Measures this tree beside an older commit, and prints the costs of both and their ratios. Both programs are built, and
# take turns in one run; each fills a store of its own. A cost of more than 1.1 times the older one, and a bar that is
# missed, are marked, and the status is 1.
#
#   BASE         the older commit: by default that of the last version in CHANGELOG.md
#   BENCH_SIZE   cards in the world (default: 20000)
#   BENCH_TIME   rounds (default: 5x)
#   BENCH_ONLY   a pattern of benchmarks (default: ^Benchmark(Start|Bars)$)
#   BENCH_DIR    keeps the programs and stores for the next run
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
base=${BASE:-$(sed -n 's/^## .*, commit \([0-9a-f]*\)$/\1/p' CHANGELOG.md | head -n 1)}
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null; rm -rf "$work"' EXIT
export BENCH=1 BENCH_DIR=${BENCH_DIR:-$work/stores} BENCH_SIZE=${BENCH_SIZE:-20000} BENCH_FRESH=
mkdir -p "$BENCH_DIR"
old=$BENCH_DIR/loregate-$base
build=(-trimpath -ldflags '-s -w')
if [ ! -x "$old" ]; then
	git worktree add --quiet --detach "$work/base" "$base"
	(cd "$work/base" && "$go" build "${build[@]}" -o "$old" ./cmd/loregate)
fi
"$go" build "${build[@]}" -o "$work/new" ./cmd/loregate
"$go" test -c -o "$work/bench" ./internal/app/benchtest
rm -rf "$BENCH_DIR"/bars-new-*
echo "$(date -u +%F), $(git rev-parse --short HEAD) beside $base, $BENCH_SIZE cards, $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "binary: $(stat -c %s "$old") and $(stat -c %s "$work/new") bytes"
(cd internal/app/benchtest && BENCH_SERVERS=old=$old,new=$work/new "$work/bench" -test.run - -test.timeout 90m \
	-test.bench "${BENCH_ONLY:-^Benchmark(Start|Bars)\$}" -test.benchtime "${BENCH_TIME:-5x}") | tee "$work/out" | awk '
/^(---|panic|FAIL)/ { print > "/dev/stderr"; failed = 1 }
/^Benchmark/ {
	sub(/^Benchmark/, "", $1); sub(/-[0-9]+$/, "", $1)
	delete figure
	for (i = 3; i < NF; i += 2) figure[$(i + 1)] = $i
	for (unit in figure) {
		if (unit !~ /^new-/ || unit ~ /p99/) continue
		name = substr(unit, 5)
		ratio = figure[unit] / (figure["old-" name] + 1e-9)
		echo = ("bare-" name) in figure ? sprintf(", %.1f × the echo", figure[unit] / figure["bare-" name]) : ""
		printf "%-42s %10.4g %10.4g  %.2f%s%s\n", $1 " " name, figure["old-" name], figure[unit], ratio, echo,
			ratio > 1.1 ? "  DEARER" : ""
		if (ratio > 1.1) failed = 1
	}
}
END { exit failed }'
