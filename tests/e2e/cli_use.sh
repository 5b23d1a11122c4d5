#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# What is meant to make the command line pleasant: times with units, options anywhere, targets, lists.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"
load be --seconds 10m
be=$LOAD_PID
check "a program whose seconds are minutes is listed" wait_tsgs pid:$be 4
wait_for 5 slice_is $be 2048

# ---- times -------------------------------------------------------------------------------------------

exits 0 "a timeslice of 0.3ms" "$gpusched" set pid:$be timeslice=0.3ms
check "is 300 us" slice_is $be 300
exits 0 "suspend --for 1h30m" "$gpusched" suspend pid:$be --for 1h30m
now_ns=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
is "$(list_json pid:$be "(.[0].suspended_until_ns - $now_ns) / 1e9 | . > 5300 and . < 5400.5")" true \
	"lasts 90 minutes"
exits 0 "resume" "$gpusched" resume pid:$be
exits 0 "clear" "$gpusched" set pid:$be clear
exits 2 "a time without sense" "$gpusched" suspend pid:$be --for 1s1h
like "$out" "write 20us, 500ms, 5s or 1h30m" "is answered with what to write"
config "HoldLimit=1m
Class=slow suspend_limit_ms=2s deadline_us=1.5ms"
exits 0 "so may those of the configuration" "$gpuschedd" --check-config --config "$scratch/gpusched.conf"
exits 0 "and those of policies" "$gpusched" policy start lcbe -o be_slice_us=0.1ms
is "$("$gpusched" policy get --json | jq '.running.options[] | select(.name == "be_slice_us").value')" 100 \
	"in the option's own unit"
exits 0 "policy stop" "$gpusched" policy stop

# ---- targets -----------------------------------------------------------------------------------------

is "$(list_json uid:$(id -u) length) $(list_json user:$(id -un) length)" "4 4" "targets by user"
is "$(list_json "pid:$be,gpu:0" length) $(list_json "user:$(id -un),comm:gs*,pid:$be" length)" "4 4" \
	"parts with commas: all hold"
exits 1 "one of them does not" "$gpusched" list "pid:$be,uid:12345"
exits 1 "and nothing is set then" "$gpusched" set "pid:$be,uid:12345" timeslice=33us
check "as before" slice_is $be 2048
exits 0 "set by parts" "$gpusched" set "user:$(id -un),gpu:0" timeslice=33us
check "is done" slice_is $be 33
exits 0 "clear" "$gpusched" set all clear

done_testing
