#!/bin/sh
# Makes the user that the service runs as.
set -e
if ! getent passwd loregate >/dev/null; then
	adduser --system --group --quiet --no-create-home --home /var/lib/loregate loregate
fi
