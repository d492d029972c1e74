#!/usr/bin/env bash
# Runs several Loregate processes on one database with Caddy in front, on one machine and
# without systemd: to try it, or to develop. deploy/loregate@.service is for keeping it.
#
#   three.sh start | restart | stop
#
# restart stops and starts one process after the other, each when the one before is ready
# and Caddy has seen it: no call is lost.
#
#   LOREGATE_DATABASE  the database, as postgres:///loregate?host=/var/run/postgresql
#   LOREGATE_DATA      folder of files, the same for all (default ./loregate-data)
#   LOREGATE           the program (default ./loregate)
#   PORTS              of the processes (default "8421 8422 8423")
#   CADDY_SITE         where clients call (default http://127.0.0.1:8420)
#   RUN                folder of pids and logs (default ./loregate-run)
#   SETTLE             seconds that Caddy takes to see that one is ready (default 3: what
#                      deploy/Caddyfile says as interval and timeout)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${LOREGATE:-./loregate}
ports=${PORTS:-8421 8422 8423}
site=${CADDY_SITE:-http://127.0.0.1:8420}
run=${RUN:-./loregate-run}
: "${LOREGATE_DATABASE:?name the database, as postgres:///loregate?host=/var/run/postgresql}"
export LOREGATE_DATABASE LOREGATE_DATA=${LOREGATE_DATA:-./loregate-data}
export LOREGATE_BEHIND_PROXY=true LOREGATE_PUBLIC_URL=${LOREGATE_PUBLIC_URL:-$site}
# Clients of MCP that can only send a fixed header send their key.
export LOREGATE_ALLOW_KEY_AS_BEARER=${LOREGATE_ALLOW_KEY_AS_BEARER:-yes}
# Longer than Caddy takes to see that a process stops: deploy/Caddyfile.
export LOREGATE_DRAIN_NOTICE=${LOREGATE_DRAIN_NOTICE:-5s}

lives() { [ -s "$run/$1.pid" ] && kill -0 "$(cat "$run/$1.pid")" 2>/dev/null; }

begin() { # name, command…: keeps its pid and its log
	local name=$1
	shift
	nohup "$@" >>"$run/$name.log" 2>&1 </dev/null &
	echo $! >"$run/$name.pid"
}

finish() { # name
	lives "$1" || return 0
	kill "$(cat "$run/$1.pid")"
	while lives "$1"; do sleep 0.1; done
	rm -f "$run/$1.pid"
}

await() { # name, url
	until curl -fsS -o /dev/null "$2" 2>/dev/null; do
		if ! lives "$1"; then
			tail -n 5 "$run/$1.log" >&2
			exit 1
		fi
		sleep 0.1
	done
}

serve() { # port
	lives "$1" || begin "$1" "$program" serve --addr "127.0.0.1:$1"
	await "$1" "http://127.0.0.1:$1/readyz"
	echo "127.0.0.1:$1 is ready"
}

front() {
	local upstreams=
	for port in $ports; do upstreams+="127.0.0.1:$port "; done
	lives caddy || CADDY_ADMIN=off CADDY_SITE=$site CADDY_UPSTREAMS=${upstreams% } \
		begin caddy "${CADDY:-caddy}" run --config "$here/Caddyfile" --adapter caddyfile
	await caddy "$site/readyz"
	echo "$site is ready"
}

mkdir -p "$run"
case ${1:-} in
start)
	for port in $ports; do serve "$port"; done
	front
	;;
restart)
	for port in $ports; do
		finish "$port"
		serve "$port"
		sleep "${SETTLE:-3}"
	done
	;;
stop)
	finish caddy
	for port in $ports; do finish "$port"; done
	;;
*)
	echo "usage: three.sh start | restart | stop" >&2
	exit 2
	;;
esac
