#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures what counting adds to a launch, on the simulated GPU. Cases: not counted; with a probe that does nothing; counted;
# with a policy that has work_submit; and not counted again, which shows the noise. Needs root. The stand-in libcuda's
# launch functions begin with a 5-byte no-operation, where new kernels can probe without a trap; a real libcuda's do not.
#
#   bench/local/launches.sh [BUILD] >launches.json
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
if [ -z "${GPUSCHED_SIM:-}" ]; then
	exec timeout 300 "$build/gpusched" sim shell -- bash "$0" "$build"
fi
export GPUSCHED_POLICIES=$build/policies
gpusched=$build/gpusched
work=$(mktemp -d)
. "$top/bench/launchcost.sh"
printf '[Daemon]\nCountLaunches=trusted\n' >"$work/gpusched.conf" # the default refuses where users may mount FUSE
export GPUSCHED_CONFIG=$work/gpusched.conf
"$build/gpuschedd" --foreground >"$work/daemon.log" 2>&1 &
daemon=$!
trap 'launchcost_end "$work"; kill $daemon 2>/dev/null; wait $daemon 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 50); do
	[ -S "$GPUSCHED_SIM/run/api" ] && break
	sleep 0.1
done
"$gpusched" policy build "$top/tests/policy/work.bpf.c" -O "$work/work.bpf.o" >/dev/null || exit 1
launchcost_cases "$work" "$gpusched" "$work/work.bpf.o -o after=1000000000" "$build/emptyprobe"
for threads in 1 2; do
	"$build/launchcost" $threads "${ROUNDS:-20}" "${cases[@]}" || exit 1
done
