#!/usr/bin/env bash
# Measures how well the product decides by itself, on both halves of the cases, and writes
# docs/judgement.md. Each run of the locked half adds a line to the log in that page.
#
#   JUDGE_LOCKED  folder or sealed file of the locked half (default: the seal internal/app/judgetest/cases/locked.sealed)
#   JUDGE_CORPUS  folder of the SRD in JSON (5e-bits/5e-database, src/2014/en), for the development half of the search
#                 (default: internal/app/judgetest/cases/development/srd.zip)
#   JUDGE_MODEL   model for loregate model install, for the row of a real embedder (default: an endpoint)
#   JUDGE_EMBEDDER  address of an embedding endpoint, for the same row (default: that of scripts/embedder.sh)
#   JUDGE_ONLY    pattern of tests; then the page is printed and not kept
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} page=docs/judgement.md
if [ -n "${JUDGE_LOCKED:-}" ]; then
	JUDGE_LOCKED=$(realpath "$JUDGE_LOCKED")
	export JUDGE_LOCKED
fi
if [ -n "${JUDGE_CORPUS:-}" ]; then
	JUDGE_CORPUS=$(realpath "$JUDGE_CORPUS")
	export JUDGE_CORPUS
fi

commit=$(git rev-parse --short HEAD)
[ -z "$(git status --porcelain -- cmd internal go.mod go.sum)" ] || commit="$commit and changes"
work=$(mktemp -d)
trap '[ -z "${embedder:-}" ] || kill "$embedder"; rm -rf "$work"' EXIT
if [ -n "${JUDGE_ONLY:-}" ]; then
	page=$work/page.md
	touch "$page"
fi
if [ -z "${JUDGE_MODEL:-}${JUDGE_EMBEDDER:-}" ]; then
	./scripts/embedder.sh >"$work/address" &
	embedder=$!
	while kill -0 "$embedder" 2>/dev/null && [ ! -s "$work/address" ]; do sleep 1; done
	JUDGE_EMBEDDER=$(head -n 1 "$work/address")
	export JUDGE_EMBEDDER
	if [ -z "$JUDGE_EMBEDDER" ]; then
		embedder=
		echo "judge: without an embedding endpoint, its row is not measured"
	fi
fi

JUDGE_PAGE=$(realpath "$page") JUDGE_COMMIT=$commit JUDGE_DATE=$(date -u +%F) \
	"$go" test -count=1 -timeout 60m -run "${JUDGE_ONLY:-.}" ./internal/app/judgetest
sed -n '/^| row/,/^$/p' "$page"
