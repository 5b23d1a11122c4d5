#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A policy that a person made permanent starts with the daemon, from a checked copy.
. "$(dirname "$0")/lib.sh"
enter_sim
another_boot() { # nothing of the run directory outlives one
	stop_daemon
	rm -f "$GPUSCHED_SIM"/run/*.json "$GPUSCHED_SIM"/run/policy-*
	start_daemon || not_ok "it starts again"
}
start_daemon || not_ok "a daemon starts"
cp "$build/policies/lcbe.bpf.o" "$scratch/mine.bpf.o"
check "a permanent policy starts" "$gpusched" policy start "$scratch/mine.bpf.o" -o be_slice_us=77 --permanent
echo nonsense >"$scratch/mine.bpf.o"
is "$(find "$GPUSCHED_SIM/state" -type f ! -name "*.db*" -perm 600 -user root | wc -l)" 2 "its copy and its options are root's alone"
another_boot
is "$(policy_now)" lcbe "it starts with the next daemon, whatever is at its path"
is "$("$gpusched" policy get --json | jq '.running.options[] | select(.name == "be_slice_us").value')" 77 "its options are in force"

check "for this time it may be stopped" "$gpusched" policy stop
stop_daemon
start_daemon || not_ok "it starts again"
is "$(policy_now)" null "a restart keeps the stop"
another_boot
is "$(policy_now)" lcbe "a boot does not keep the stop"

check "another one is started" "$gpusched" policy start none --permanent
another_boot
is "$(policy_now)" none "the other one takes its place"
is "$(find "$GPUSCHED_SIM/state" -name '*.bpf.o' | wc -l)" 1 "its copy, too"

config '[Policy]
Policy=lcbe'
another_boot
is "$(policy_now)" lcbe "the configuration's stands above it"
exits 1 "none can be made permanent beside it" "$gpusched" policy start none --permanent
like "$out" "configuration says Policy=lcbe" "the refusal has the reason"
config ''
another_boot
is "$(policy_now)" none "without it the permanent one starts"
check "it is stopped for good" "$gpusched" policy stop --permanent
another_boot
is "$(policy_now) $(find "$GPUSCHED_SIM/state" -type f ! -name "*.db*" | wc -l)" "null 0" "no policy is permanent any more"
exits 0 "to stop none is no mistake" "$gpusched" policy stop --permanent
like "$out" "^no policy ran" "policy stop says that there is none"

# ---- what cannot start keeps no daemon from starting
check "a permanent one again" "$gpusched" policy start none --permanent
stop_daemon
for object in "$GPUSCHED_SIM"/state/*.bpf.o; do echo nonsense >"$object"; done
rm -f "$GPUSCHED_SIM/run/saved.json"
start_daemon && ok "a daemon starts without it" || not_ok "a daemon starts without it"
check "the daemon says so" grep -q "permanent policy does not start" "$scratch/daemon.log"
done_testing
