#!/bin/sh
# Writes a store with marked texts with the program of a commit in which marks hid nothing but in imports, for the test
# of hide_marked:
#
#     scripts/marked-store.sh COMMIT
#
# The store goes to internal/app/upgradetest/testdata/marked-N-COMMIT.db.gz, N being the format that the program writes,
# and the vault that it imported to marked-vault beside it.
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
cp -r "$to/marked-vault" "$work/vault"
"$work/loregate" import markdown "$work/vault" >/dev/null
key=$("$work/loregate" key create writer --role admin | cut -f1)
player=$("$work/loregate" key create player --role user | cut -f1)
"$work/loregate" serve >/dev/null 2>"$work/log" &
server=$!
for _ in $(seq 100); do
	curl -sf -o /dev/null "http://$LOREGATE_ADDR/readyz" && break
	sleep 0.1
done

call() { # KEY METHOD PATH BODY
	curl -sf -o /dev/null -X "$2" -H "Authorization: Bearer $1" -H 'Content-Type: application/json' -d "$4" "http://$LOREGATE_ADDR/api/mcp/$3"
}
mark='\n\n%%The miller is dead.%%\n\nFlour is dear.\n'
call "$key" POST cards "{\"name\": \"Mill\", \"text_format\": \"markdown\", \"format\": \"markdown\", \"content\": \"The mill stands still.$mark\"}"
call "$key" PATCH cards/Mill "{\"format\": \"markdown\", \"content\": \"The mill stands still today.$mark\"}"
call "$key" POST cards '{"name": "Ford", "content": "<p>Wide.</p><!-- the bridge is trapped --><p>Cold.</p>", "fields": {"gm_notes": "trapped"}}'
call "$player" POST cards '{"name": "Diary", "text_format": "markdown", "format": "markdown", "content": "I like %%cheese%% a lot."}'
call "$key" PATCH cards/Harbour '{"format": "markdown", "content": "# Harbour\n\nThe quay is very busy today.\n\nFish is sold here, and  bread.\n\nShips come at dawn and at noon.\n"}'
kill "$server" && wait "$server" || true
server=
"$work/loregate" backup "$work/copy.db" >/dev/null
format=$(od -An -j60 -N4 -tu1 "$work/copy.db" | awk '{print (($1*256+$2)*256+$3)*256+$4}')
gzip -9n <"$work/copy.db" >"$to/marked-$format-$commit.db.gz"
ls -l "$to/marked-$format-$commit.db.gz"
