#!/usr/bin/env bash
# Puts the same load on SQLite, on PostgreSQL with one process, and on PostgreSQL with
# three, then restarts one of the three in the middle and kills one; prints one table in
# Markdown. PostgreSQL is a throw-away cluster that writes as one in use does.
#
#   SCALE_CARDS     cards in the world (default 2000)
#   SCALE_SECONDS   length of each run (default 20)
#   SCALE_CLIENTS   calls under way (default 32)
#   SCALE_PICTURES  folder for pictures of latency over time, as docs/images
#   SCALE_DIR       keeps the stores for the next run (default: a folder thrown away)
#   PG_BIN          folder of PostgreSQL's programs
#   LOREGATE        the program (default: built from here)
set -euo pipefail
cd "$(dirname "$0")/.."
cards=${SCALE_CARDS:-2000} seconds=${SCALE_SECONDS:-20} clients=${SCALE_CLIENTS:-32}
work=$(mktemp -d)
chmod 755 "$work"
keep=${SCALE_DIR:-$work}
mkdir -p "$keep"
keep=$(cd "$keep" && pwd)
pids=() cluster=''

stop() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	[ -z "$cluster" ] || kill -INT "$cluster" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$work"
}
trap stop EXIT

loregate=${LOREGATE:-$work/loregate}
[ -n "${LOREGATE:-}" ] || "${GO:-go}" build -trimpath -ldflags '-s -w' -o "$loregate" ./cmd/loregate
export LOREGATE_LOG_LEVEL=error LOREGATE_PROPOSALS_KEY_MINUTE=100000000 LOREGATE_PROPOSALS_WORLD_MINUTE=100000000 LOREGATE_PROPOSALS_TOKENS_DAY=1000000000
for limit in CALLS CALLS_BURST RESOURCES LISTS LIST_PAGES TOOL_LISTS WRITES AUTH; do export "LOREGATE_LIMITS_$limit=-1"; done

# as_server runs a program as who may run PostgreSQL, which refuses root.
as_server() {
	if [ "$(id -u)" != 0 ]; then "$@"; return; fi
	setpriv --reuid postgres --regid postgres --clear-groups "$@"
}

start_postgres() {
	local bin=${PG_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)}
	bin=${bin:-$(dirname "$(command -v initdb)")}
	local data=$keep/cluster
	if [ ! -d "$data/data" ]; then
		mkdir -p "$data" && chmod 755 "$keep"
		[ "$(id -u)" != 0 ] || chown postgres "$data"
		(cd / && as_server "$bin/initdb" -D "$data/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >"$work/initdb.log")
	fi
	# exec: the process to stop is the server itself.
	(cd / && if [ "$(id -u)" = 0 ]; then exec setpriv --reuid postgres --regid postgres --clear-groups "$bin/postgres" -D "$data/data" -k "$data" -c listen_addresses= -c max_connections=200 -c shared_buffers="${SCALE_BUFFERS:-1GB}" -c max_wal_size=4GB
	else exec "$bin/postgres" -D "$data/data" -k "$data" -c listen_addresses= -c max_connections=200 -c shared_buffers="${SCALE_BUFFERS:-1GB}" -c max_wal_size=4GB; fi) >"$work/postgres.log" 2>&1 &
	cluster=$!
	for _ in $(seq 100); do
		if "$bin/psql" -qh "$data" -U postgres -c 'SELECT 1' >/dev/null 2>&1; then break; fi
		sleep 0.2
	done
	"$bin/psql" -qh "$data" -U postgres -tAc "SELECT 1 FROM pg_database WHERE datname = 'loregate'" | grep -q 1 ||
		"$bin/psql" -qh "$data" -U postgres -c 'CREATE DATABASE loregate'
	database="postgres://postgres@/loregate?host=$data"
}

# prepare makes the world and a key where they are not there.
prepare() {
	"$loregate" world list 2>/dev/null | grep -q '^scale\b' || "$loregate" world create scale >/dev/null
	LOREGATE_KEY=$("$loregate" key create scale --role admin | cut -f1)
	export LOREGATE_KEY
}

# serve N ADDRESS starts server N and waits until it is ready.
serve() {
	"$loregate" serve --addr "$2" 2>>"$work/serve.log" &
	pids[$1]=$!
	for _ in $(seq 300); do
		if curl -fs "http://$2/readyz" >/dev/null 2>&1; then return; fi
		sleep 0.1
	done
	echo "server $1 does not answer" >&2
	tail "$work/serve.log" >&2
	exit 1
}

# leave N ends server N as an operator would.
leave() {
	kill "${pids[$1]}"
	wait "${pids[$1]}" || true
	unset "pids[$1]"
}

memory() { awk '/^VmHWM/ {printf "%s%.0f", sep, $2 / 1024}' sep="$2" "/proc/$1/status" 2>/dev/null || true; }

# drive NAME WATCHERS SLUG URL… prints a row.
drive() {
	local name=$1 watchers=$2 slug=$3 args=()
	shift 3
	for url in "$@"; do args+=(--url "http://$url"); done
	[ -z "${SCALE_PICTURES:-}" ] || { mkdir -p "$SCALE_PICTURES"; args+=(--picture "$SCALE_PICTURES/$slug.svg" --title "$name, $cards cards, $clients clients"); }
	"$loregate" bench "${args[@]}" --world scale --keep --role admin --cards "$cards" --clients "$clients" --duration "${seconds}s" --watchers "$watchers" --row "$name" 2>>"$work/bench.log" ||
		{ tail -n 5 "$work/bench.log" >&2; exit 1; }
}

fill() { # once, so that no run measures it
	"$loregate" bench --url "http://$1" --world scale --keep --role admin --cards "$cards" --clients 1 --duration 1s --watchers 0 --row fill >/dev/null 2>>"$work/bench.log" ||
		{ tail -n 5 "$work/bench.log" >&2; exit 1; }
}

a=127.0.0.1:8471 b=127.0.0.1:8472 c=127.0.0.1:8473
echo "$(date -u +%F), commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown), $(nproc) cores, $cards cards, $clients clients, $seconds s a run, load $(cut -d' ' -f1-3 /proc/loadavg)"
echo
"$loregate" bench --world - --row head

export LOREGATE_DATA=$keep/data
prepare
serve 1 $a
fill $a
drive 'SQLite, one process' 3 sqlite $a
used="SQLite $(memory "${pids[1]}" '')"
leave 1

start_postgres
export LOREGATE_DATA=$keep/files LOREGATE_DATABASE=$database
prepare
serve 1 $a
fill $a
drive 'PostgreSQL, one process' 3 postgres-one $a
used="$used, PostgreSQL $(memory "${pids[1]}" '')"
serve 2 $b
serve 3 $c
drive 'PostgreSQL, three processes' 3 postgres-three $a $b $c
used="$used, of three $(for n in 1 2 3; do memory "${pids[$n]}" ' '; done)"

third=$((seconds / 3))
(sleep "$third"; exec kill "${pids[2]}") &
helper=$!
drive '… one restarted' 0 postgres-restart $a $b $c &
load=$!
wait "$helper"
wait "${pids[2]}" || true
serve 2 $b
wait "$load"

(sleep "$third"; exec kill -9 "${pids[3]}") &
helper=$!
drive '… one killed' 0 postgres-kill $a $b $c &
load=$!
wait "$helper"
wait "${pids[3]}" 2>/dev/null || true
serve 3 $c
wait "$load"

echo
echo "Memory of serve at most, MB: $used. Load at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
LOREGATE_LOG_LEVEL=error "$loregate" audit verify 2>&1 | tail -n 2
