#!/usr/bin/env bash
# Restarts the processes of loregate@.service one after the other, each when the one before
# takes calls again: for an upgrade, or new settings. No call is lost.
#
#   restart.sh [PORT…]      default 8421 8422 8423
set -euo pipefail
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
done
