#!/bin/sh
# The packages for Debian and Red Hat run it when they were installed: systemd makes the user of the service, and reads its unit.
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers trapeze.conf || true
fi
if [ -d /run/systemd/system ]; then # systemd runs
	systemctl daemon-reload || true
fi
