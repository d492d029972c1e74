#!/usr/bin/env bash
# Builds the files of a release into dist/: archives, Debian packages, container images, bundles
# and extension folders for MCP clients, an entry for the MCP registry, bills of materials and
# checksums, of the version in the file VERSION. The same commit gives the same bytes.
#
#   DIST_DIR      folder of the files, default dist; what is in it is removed
#   DIST_URL      address below which the files will be published, https://…/
#   DIST_NAME     reverse domain name of the publisher in the MCP registry
#   DIST_TARGETS  such as linux/amd64,darwin/arm64; default all
set -euo pipefail
cd "$(dirname "$0")/.."
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
out=$(realpath -m "${DIST_DIR:-dist}")
cd packaging
"${GO:-go}" run . -version "$(cat ../VERSION)" -out "$out" -url "${DIST_URL:-}" -namespace "${DIST_NAME:-org.example}" -targets "${DIST_TARGETS:-}"
cd "$out"
sha256sum --check --quiet SHA256SUMS
ls -l
