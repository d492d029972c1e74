#!/bin/sh
# Writes a small store with the program of an earlier commit, for the tests of upgrades:
#
#     scripts/old-store.sh COMMIT
#
# The store goes to internal/app/upgradetest/testdata/format-N-COMMIT.db.gz, N being the
# format that the program writes. A commit whose store is there need not be done again.
set -eu

commit=$(git rev-parse --short "$1")
to=$(git rev-parse --show-toplevel)/internal/app/upgradetest/testdata
work=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	git worktree remove --force "$work/tree" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
git worktree add --quiet --detach "$work/tree" "$commit"
(cd "$work/tree" && go build -o "$work/loregate" ./cmd/loregate)

export LOREGATE_DATA="$work/data" LOREGATE_ADDR=127.0.0.1:18457
"$work/loregate" world create main >/dev/null
key=$("$work/loregate" key create writer --role admin | cut -f1)
"$work/loregate" serve >/dev/null 2>"$work/log" &
server=$!
for _ in $(seq 100); do
	curl -sf -o /dev/null "http://$LOREGATE_ADDR/readyz" && break
	sleep 0.1
done

call() { # METHOD PATH BODY
	curl -sf -o /dev/null -X "$1" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' -d "$3" "http://$LOREGATE_ADDR/api/mcp/$2"
}
for n in 1 2 3 4 5 6 7 8; do
	call POST cards "{\"name\": \"Harbour $n\", \"content\": \"A quay of [[Harbour $((n % 8 + 1))]] with {{Harbour 1}} and salt $n\"}"
	call PATCH "cards/Harbour%20$n" "{\"content\": \"The tide of [[Harbour 1]] is $n\"}"
done
call POST cards '{"name": "Harbour 1+GM", "content": "the keeper is a ghost"}'
call PUT "cards/Harbour%202/rename" '{"new_name": "Old Mole"}'
call DELETE "cards/Harbour%203" '{}'
kill "$server" && wait "$server" || true
server=
"$work/loregate" backup "$work/copy.db" >/dev/null
format=$(od -An -j60 -N4 -tu1 "$work/copy.db" | awk '{print (($1*256+$2)*256+$3)*256+$4}')
mkdir -p "$to"
gzip -9n <"$work/copy.db" >"$to/format-$format-$commit.db.gz"
ls -l "$to/format-$format-$commit.db.gz"
