#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A policy that a person made permanent starts with the daemon, from a checked copy.
. "$(dirname "$0")/lib.sh"
enter_sim
another_boot() { # restarts the daemon without the files of its run directory, as after a boot
	stop_daemon
	rm -f "$GPUSCHED_SIM"/run/*.json "$GPUSCHED_SIM"/run/policy-*
	start_daemon || not_ok "the daemon starts again"
}
start_daemon || not_ok "a daemon starts"
cp "$build/policies/lcbe.bpf.o" "$scratch/mine.bpf.o"
check "a permanent policy starts" "$gpusched" policy start "$scratch/mine.bpf.o" -o be_slice_us=77 --permanent
echo nonsense >"$scratch/mine.bpf.o"
is "$(find "$GPUSCHED_SIM/state" -type f ! -name "*.db*" -perm 600 -user root | wc -l)" 2 "its copy and its options are root's alone"
another_boot
is "$(policy_now)" lcbe "the policy starts with the next daemon, whatever its file contains by then"
is "$("$gpusched" policy get --json | jq '.running.options[] | select(.name == "be_slice_us").value')" 77 "its options are in force"

check "the permanent policy can be stopped until the next boot" "$gpusched" policy stop
stop_daemon
start_daemon || not_ok "the daemon starts again"
is "$(policy_now)" null "a restart keeps the stop"
another_boot
is "$(policy_now)" lcbe "a boot does not keep the stop"

check "another policy is made permanent" "$gpusched" policy start none --permanent
another_boot
is "$(policy_now)" none "the other policy has taken its place"
is "$(find "$GPUSCHED_SIM/state" -name '*.bpf.o' | wc -l)" 1 "the other policy's copy has taken its place, too"

config '[Policy]
Policy=lcbe'
another_boot
is "$(policy_now)" lcbe "the configuration's policy overrides the permanent one"
exits 1 "no policy can be made permanent while the configuration names one" "$gpusched" policy start none --permanent
like "$out" "configuration says Policy=lcbe" "the refusal has the reason"
config ''
another_boot
is "$(policy_now)" none "without the configuration's policy the permanent one starts"
check "policy stop --permanent succeeds" "$gpusched" policy stop --permanent
another_boot
is "$(policy_now) $(find "$GPUSCHED_SIM/state" -type f ! -name "*.db*" | wc -l)" "null 0" "no policy is permanent any more"
exits 0 "policy stop --permanent succeeds without a policy" "$gpusched" policy stop --permanent
like "$out" "^no policy ran" "policy stop says that no policy ran"

# ---- a permanent policy that cannot start does not stop the daemon
check "a policy is made permanent again" "$gpusched" policy start none --permanent
stop_daemon
for object in "$GPUSCHED_SIM"/state/*.bpf.o; do echo nonsense >"$object"; done
rm -f "$GPUSCHED_SIM/run/saved.json"
start_daemon && ok "a daemon starts without the damaged policy" || not_ok "a daemon starts without the damaged policy"
check "the log says that the permanent policy does not start" grep -q "permanent policy does not start" "$scratch/daemon.log"
done_testing
