#!/usr/bin/env bash
# Compares Loregate with other servers that keep notes, over stdio, by the processor time
# that each spends on a call. It installs them with npm, at the versions given here, into a
# folder that goes away. PEERS names the folder of their programs where they are there.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${PEERS:-}" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	(cd "$work" && npm init -y >/dev/null && npm install --no-audit --no-fund --silent @modelcontextprotocol/server-memory@2026.8.31 @bitbonsai/mcpvault@0.16.0)
	export PEERS=$work/node_modules/.bin
fi
BENCH_ONLY='^BenchmarkPeers$' BENCH_TIME=${BENCH_TIME:-5x} ./scripts/bench.sh
