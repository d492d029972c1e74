#!/usr/bin/env bash
# Restarts the processes of loregate@.service one after the other, each when the one before
# takes calls again and the balancer has seen it: for an upgrade, or new settings. No call
# is lost.
#
#   SETTLE  seconds that the balancer takes to see it (default 3: what deploy/Caddyfile says
#           as interval and timeout)
#
#   restart.sh [PORT…]      default 8421 8422 8423
set -euo pipefail
settle=${SETTLE:-3}
[ $# -gt 0 ] || set -- 8421 8422 8423
for port in "$@"; do
	systemctl restart "loregate@$port"
	for ((tries = 0; ; tries++)); do
		curl -fsS -o /dev/null "http://127.0.0.1:$port/readyz" 2>/dev/null && break
		if [ "$tries" -ge 600 ]; then
			echo "loregate@$port does not become ready; the others run on. See journalctl -u loregate@$port" >&2
			exit 1
		fi
		sleep 0.1
	done
	echo "loregate@$port is ready"
	sleep "$settle"
done
