#!/usr/bin/env bash
# Measures look-ups and searches in worlds of 1,000, 100,000 and 1,000,000 cards, nothing
# kept, prints a table in Markdown, and draws the processor time of a call, client and all,
# into docs/images/curves.svg.
#
#   BENCH_DIR  keeps the stores for the next run (default: a folder in /tmp); the largest
#              takes some 4 GB and four minutes
#   CURVES     a file of an earlier run's output, to be drawn again
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} picture=docs/images/curves.svg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
raw=${CURVES:-$work/raw}
if [ -z "${CURVES:-}" ]; then
	export BENCH=1 BENCH_FRESH=1 BENCH_CARDS=1000000 GOGC=${GOGC:-400} GOMEMLIMIT=${GOMEMLIMIT:-256MiB}
	"$go" test -c -o "$work/product" ./internal/app/benchtest
	(cd internal/app/benchtest && "$work/product" -test.run - -test.timeout 60m -test.bench '^Benchmark(Search|LookUp)$' -test.benchtime "${BENCH_TIME:-400x}") | tee "$raw" >&2
fi
awk -v picture="$picture" '
function x(n) { return 60 + (log(n) / log(10) - 3) * 190 }
function y(us) { return 330 - (log(us) / log(10) - 1.5) * 120 }
/^Benchmark/ {
	name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name)
	size = name; sub(/.*\//, "", size); sub(/\/[0-9]+$/, "", name)
	for (i = 3; i < NF; i += 2) {
		if ($(i + 1) == "cpu-ms") cpu[name, size] = $i * 1000
		if ($(i + 1) == "p50-ms") half[name, size] = $i
	}
	if (!(name in seen)) { seen[name] = 1; order[++names] = name }
	sizes[size] = 1
}
END {
	split("1000 100000 1000000", at, " ")
	print "| µs of CPU a call (p50 in ms) | 1,000 cards | 100,000 | 1,000,000 |"
	print "|---|---|---|---|"
	split("#1b6ca8 #b5542b #2e8b57 #7d4fa3 #c2185b #556b2f #0f8b8d #8d6e0f", colour, " ")
	svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 380\" font-family=\"sans-serif\" font-size=\"12\">\n"
	svg = svg "<rect width=\"860\" height=\"380\" fill=\"white\"/><text x=\"60\" y=\"24\" font-size=\"14\">µs of CPU by call, client and server, nothing kept</text>\n"
	split("100 1000 10000", lines, " ")
	for (i = 1; i <= 3; i++) svg = svg sprintf("<path d=\"M60 %.1fH630\" stroke=\"#ddd\"/><text x=\"52\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", y(lines[i]), y(lines[i]) + 4, lines[i])
	for (i = 1; i <= 3; i++) svg = svg sprintf("<text x=\"%.1f\" y=\"360\" text-anchor=\"middle\">%d cards</text>\n", x(at[i]), at[i])
	for (n = 1; n <= names; n++) {
		name = order[n]; row = "| " name " |"; path = ""
		for (i = 1; i <= 3; i++) {
			if (!((name, at[i]) in cpu)) { row = row " – |"; continue }
			row = row sprintf(" %.0f (%.2f) |", cpu[name, at[i]], half[name, at[i]])
			path = path sprintf("%s%.1f %.1f", path == "" ? "M" : "L", x(at[i]), y(cpu[name, at[i]]))
			svg = svg sprintf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x(at[i]), y(cpu[name, at[i]]), colour[n])
		}
		print row
		svg = svg sprintf("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour[n])
		svg = svg sprintf("<path d=\"M660 %dH684\" stroke=\"%s\" stroke-width=\"3\"/><text x=\"692\" y=\"%d\">%s</text>\n", 40 + 22 * n, colour[n], 44 + 22 * n, name)
	}
	print svg "</svg>" > picture
}' "$raw"
