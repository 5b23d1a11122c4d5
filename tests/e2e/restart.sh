#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: yes
# People's settings are in force again after a daemon's restart and after its crash. They are not
# set again after a second crash within a minute, after restore, or for TSGs that have ended.
. "$(dirname "$0")/lib.sh"
enter_sim
trusting
load be --seconds 600
set=$LOAD_PID
load be --seconds 600
kept=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $kept)\" -ge 4 ] && [ \"\$(sim_tsgs $set)\" -ge 4 ]"
suspended() { [ "$(sim_disabled $kept)" -gt 0 ]; }
runs() { [ "$(sim_disabled $kept)" = 0 ]; }
saved() { jq -r "$1" "$GPUSCHED_SIM/run/saved.json"; }
compute() { # PID KEY
	list_json pid:$1 "map(select(.kind == \"compute\"))[0].$2"
}
past() { # FILTER: what the daemon says about the daemon before it
	curl -s --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/ping | jq -c ".past | $1"
}
crash() { # kills the daemon, and waits until the guardian has restored everything
	kill_daemon
	wait_for 10 restored
}

# ---- a crash
start_daemon || not_ok "a daemon starts"
"$gpusched" set pid:$set timeslice=300us interleave=low >/dev/null
"$gpusched" suspend pid:$kept --for 100s >/dev/null
"$gpusched" observe launches on >/dev/null
cp "$build/policies/none.bpf.o" "$scratch/mine.bpf.o"
check "a policy starts from a path" "$gpusched" policy start "$scratch/mine.bpf.o"
echo nonsense >"$scratch/mine.bpf.o"
until_ns=$(compute $kept suspended_until_ns)
is "$(compute $kept suspended_by_uid)" 0 "list says who suspended"
like "$("$gpusched" list pid:$kept)" 'paused by root until [0-9:]{8}' "list says until when"
is "$(stat -c '%a %u' "$GPUSCHED_SIM/run/saved.json")" "600 0" "people's settings are kept in a file of root's"
check "everything is restored after SIGKILL" crash
is "$(sim_slice $set) $(sim_disabled $kept)" "2048 0" "slices are the owners' again, and no channel is disabled"
is "$("$gpusched" list pid:$set --json | jq -s 'flatten | map(select(.manual.timeslice_us)) | length')" 0 \
	"no setting by a person is in the table while no daemon runs"
start_daemon || not_ok "the next one starts"
check "the next daemon sets the slice again" wait_for 5 slice_is $set 300
is "$(compute $set is.interleave) $(compute $set reapplied)" "low true" "the next daemon sets the level, and says so"
like "$("$gpusched" list --wide pid:$set)" '300 us \(set again\)' "list says that the slice was set again"
check "the suspension is there again" wait_for 5 suspended
is "$(compute $kept "suspended_until_ns - $until_ns | . >= -1e9 and . < 1e9")" true "the suspension ends at the same time"
is "$(compute $kept suspended_by_uid)" 0 "the suspension is by the same person"
is "$("$gpusched" observe launches --json | jq -c '[.on, .asked]')" "[true,true]" "launches are counted again"
is "$(policy_now)" none "the policy runs again, though its file has changed"
like "$(grep before "$scratch/daemon.log")" "the daemon before died: .* TSGs were put back" "the log says that the guardian restored"
like "$(grep before "$scratch/daemon.log")" "settings of before the crash: 8 TSGs have them again" "the log says what is set again"
like "$("$gpusched" doctor | grep daemon)" "the one before crashed: 8 TSGs put back, 8 set again" "doctor says both"
is "$(past '[.crashed, .reapplied]')" "[true,8]" "ping says both"

# ---- a second crash soon after: the settings themselves may have caused it
check "everything is restored after a second crash within 60 s" crash
start_daemon || not_ok "a daemon starts after it"
is "$(sim_slice $set) $(sim_disabled $kept)" "2048 0" "nothing is set again after two crashes"
is "$(policy_now) $("$gpusched" observe launches --json | jq .asked)" "null false" "no policy runs, and no launches are counted"
like "$(grep twice "$scratch/daemon.log")" "crashed twice within 60 s.*policy" "the log says why"

# ---- an orderly restart
"$gpusched" set pid:$set timeslice=400us >/dev/null
"$gpusched" suspend pid:$kept >/dev/null
stop_daemon
is "$(sim_slice $set) $(sim_disabled $kept)" "2048 0" "an orderly end puts everything back"
start_daemon || not_ok "it starts again"
check "an orderly restart sets the slice again" wait_for 5 slice_is $set 400
check "an orderly restart suspends the program again, too" wait_for 5 suspended
is "$(past .crashed)" false "the restart is no crash"

# ---- what root sets without a daemon replaces what was kept
stop_daemon
check "root resumes the program without a daemon" "$gpusched" resume pid:$kept
check "another slice is set without a daemon" "$gpusched" set pid:$set timeslice=500us
start_daemon || not_ok "it starts again"
check "the next daemon keeps the slice that was set last" wait_for 5 slice_is $set 500
check "the resumed program runs" runs

# ---- TSGs that have ended, and restore
"$gpusched" suspend pid:$kept >/dev/null
"$gpusched" set pid:$kept interleave=low >/dev/null
stop_daemon
end_load $kept
kept=$set
start_daemon || not_ok "it starts again"
is "$(past '[.reapplied, .ended]')" "[4,4]" "settings of ended TSGs are counted and forgotten"
"$gpusched" restore >/dev/null
stop_daemon
start_daemon || not_ok "it starts again"
is "$(sim_slice $set) $(past .reapplied)" "2048 0" "nothing is set again after restore"
"$gpusched" set pid:$set timeslice=300us >/dev/null
stop_daemon
"$gpusched" restore >/dev/null
start_daemon || not_ok "it starts again"
is "$(sim_slice $set) $(past .reapplied)" "2048 0" "nothing is set again after a restore without a daemon"

# ---- a file from another boot, and a damaged file
"$gpusched" set pid:$set timeslice=300us >/dev/null
stop_daemon
saved '.boot = "another"' >"$scratch/saved"
cp "$scratch/saved" "$GPUSCHED_SIM/run/saved.json"
start_daemon || not_ok "it starts again"
is "$(sim_slice $set) $(past .reapplied)" "2048 0" "nothing is set again after a reboot"
stop_daemon
echo '{"version":1' >"$GPUSCHED_SIM/run/saved.json"
start_daemon && ok "a damaged file keeps no daemon from starting" || not_ok "a damaged file keeps no daemon from starting"
check "the damaged file is logged" grep -q "saved.json: nothing is reapplied" "$scratch/daemon.log"
stop_daemon

# ---- the configuration's policy, which a person has stopped
config '[Policy]
Policy=none'
start_daemon || not_ok "it starts again"
is "$(policy_now)" none "the configuration's policy starts"
"$gpusched" policy stop >/dev/null
stop_daemon
start_daemon || not_ok "it starts again"
is "$(policy_now)" null "the configuration's policy does not start after a person stopped it"
stop_daemon
config '[Policy]
Policy=lcbe'
start_daemon || not_ok "it starts again"
is "$(policy_now)" lcbe "another policy in the configuration starts"
done_testing
