#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12 6.1 trixie
# kernels on arm64: 6.12 6.12-16k 6.1
# kernels in CI: 6.1
# timeout: 300
# modules: fuse
# Checks that these kernels load the taps, every policy and the probes, and that doctor says so.
. "$(dirname "$0")/../e2e/lib.sh"
enter_sim --dilate 20 # a machine without KVM is slow
diag "kernel $(uname -r), the test began $(cut -d' ' -f1 /proc/uptime) s after the kernel"

runs() { # POLICY
	[ "$(policy_now)" = "$1" ]
}
starts() { # POLICY; on a slow machine the client may time out, though the policy starts: ignore its status
	"$gpusched" policy start "$1"
	wait_for 10 runs "$1"
}

start_daemon && ok "the daemon starts, with its taps" || not_ok "the daemon starts, with its taps"
load be --seconds 0 --iterations-per-us 27.78
check "the taps see a program that comes" wait_tsgs pid:$LOAD_PID 4
end_load $LOAD_PID
for policy in "$GPUSCHED_POLICIES"/*.bpf.o; do
	policy=$(basename "$policy" .bpf.o)
	check "policy $policy passes the verifier, and runs" starts "$policy"
done
check "one that runs can be checked besides" "$gpusched" policy check lcbe
check "launches can be counted" "$gpusched" observe launches on
exits 0 "doctor is content" "$gpusched" doctor --json
missed=$(jq -r '.checks[] | select(.ok | not) | .name' <<<"$out" | sort | paste -sd' ')
[ "$(uname -m)" = aarch64 ] && [[ $(uname -r) == 6.[0-3].* ]] && missed=${missed#gate } # tests/vm/path.sh
is "$missed" module "doctor misses the kernel module alone"
stop_daemon
done_testing
