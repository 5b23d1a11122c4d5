#!/bin/bash
# SPDX-License-Identifier: MIT
# Lists what is left of gpusched on this machine, running or stored, each with the command that ends or removes it.
# Usage: tools/remains.sh [ROOT]   ROOT: a folder to search instead of / (for tests)
set -u
root=${1:-}

if [ -z "$root" ] && pids=$(pidof gpuschedd gpusched-exporter); then
	echo "still running: processes $pids: systemctl disable --now gpuschedd gpusched-exporter"
fi
[ ! -e "$root/sys/fs/bpf/gpusched" ] ||
	echo "still watching: the taps pinned in /sys/fs/bpf/gpusched: rm -r /sys/fs/bpf/gpusched"
for dir in /var/lib/gpusched /etc/gpusched; do
	[ ! -e "$root$dir" ] || echo "kept: $dir: rm -r $dir"
done
