#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the exporter's user on this machine; meson install runs this. It does nothing if DESTDIR is
# set, since a package makes the user by itself.
set -eu
[ -z "${DESTDIR:-}" ] && [ "$(id -u)" = 0 ] || exit 0
conf=$MESON_INSTALL_DESTDIR_PREFIX/lib/sysusers.d/gpusched.conf
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers "$conf"
else
	echo "no systemd-sysusers here: make the user gpusched-exporter before its unit starts" >&2
fi
