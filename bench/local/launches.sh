#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What counting costs a launch, on the simulated GPU: not counted, counted, and with a policy that has
# work_submit. As root. The stand-in libcuda's launch functions begin with a 5-byte no-operation, which
# new kernels probe without a trap; a real libcuda's do not.
#
#   bench/local/launches.sh [BUILD] >launches.json
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
if [ -z "${GPUSCHED_SIM:-}" ]; then
	exec timeout 120 "$build/gpusched" sim shell -- bash "$0" "$build"
fi
export GPUSCHED_POLICIES=$build/policies
"$build/gpuschedd" --foreground >/dev/null 2>&1 &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait $daemon 2>/dev/null' EXIT
for _ in $(seq 50); do
	[ -S "$GPUSCHED_SIM/run/api" ] && break
	sleep 0.1
done
run() { # CASE
	local threads
	for threads in 1 2; do
		"$build/launchcost" $threads | jq -c --arg case "$1" '{case: $case} + .'
	done
}
gpusched=$build/gpusched
run off
"$gpusched" observe launches on >/dev/null || exit 1
run counted
"$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000000 >/dev/null || exit 1
run work_submit
"$gpusched" policy stop >/dev/null
"$gpusched" observe launches off >/dev/null
sleep 3
run off-again
