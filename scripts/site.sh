#!/usr/bin/env bash
# Makes a site of the docs, with a search, for any web server: they are imported as a vault into a store that is
# thrown away, and exported. The argument is the folder to write to, by default bin/site.
set -euo pipefail
cd "$(dirname "$0")/.."
to=${1:-bin/site}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LOREGATE_DATA=$work/data LOREGATE_WORLD=docs LOREGATE_LOG_LEVEL=error
"${GO:-go}" build -o "$work/loregate" ./cmd/loregate
"$work/loregate" world create docs --title Loregate >"$work/log" 2>&1
# Nothing in the docs is hidden from their readers, although much of them is about secrets.
"$work/loregate" import markdown docs --all-files >>"$work/log" 2>&1
rm -rf "$to"
"$work/loregate" export site "$to" --as gm
