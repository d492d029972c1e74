#!/usr/bin/env bash
# Copies the console's scripts that are not ours from npm packages, at pinned versions with pinned
# hashes, and bundles the islands with the packages that they import. It fails if a package holds
# other bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
to=$PWD/internal/console/assets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

vendor() { # package@version, file in the package, name here, SHA-256 of the result
	(cd "$work" && npm pack --silent "$1" >packed && tar xzf "$(cat packed)")
	sed '/sourceMappingURL/d' "$work/package/$2" >"$work/$3"
	echo "$4  $work/$3" | sha256sum --check --quiet
	mv "$work/$3" "$to/$3"
	rm -rf "$work/package"
}
vendor htmx.org@4.0.1 dist/htmx.min.js htmx.min.js a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130

cp internal/console/islands/* "$work"
(cd "$work" && npm ci --silent --ignore-scripts --no-audit --no-fund)
go run -C scripts/islands . "$work" "$to"
