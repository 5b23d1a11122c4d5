#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# The daemon withstands clients that forge the memory that the taps read, 10,000 TSGs, and device
# files that only look like the driver's.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"

# ---- calls that failed, whose result a client overwrites with success
load be --seconds 600
victim=$LOAD_PID
check "the victim is listed" wait_tsgs pid:$victim 4
wait_for 5 slice_is $victim 2048
compute='map(select(.kind == "compute")) | .[0]'
client=$(list_json pid:$victim "$compute.client")
tsg=$(list_json pid:$victim "$compute.tsg")
"$helper" lie "$client" "$tsg" "$((tsg + 1))" <"$scratch/fifo" >"$scratch/lie" 2>&1 &
liar=$!
at_end+=($liar)
wait_for 20 grep -q ready "$scratch/lie" || not_ok "the liar is done"
forged=$(list_json pid:$liar length)
ge "$forged" 2 "forged records of the liar's own are listed"
ge "$(list_json pid:$liar "map(select(.client == \"$client\" and .tsg == \"$tsg\")) | length")" 1 "one of them has the victim's handles"
is "$(list_json pid:$victim length)" 4 "the victim still has its four TSGs"
is "$(list_json pid:$victim "$compute | [.pid, .asked.timeslice_us] | join(\" \")")" "$victim 2048" "its compute TSG has its pid and the slice that it asked for"
out=$("$gpusched" set pid:$liar timeslice=123us 2>&1)
diag "set of the liar: $? $out"
like "$(tail -1 <<<"$out")" "^gpusched: set: [0-9]+ of [0-9]+ TSGs failed: NV_ERR" "set on the liar says what failed"
out=$("$gpusched" suspend pid:$liar 2>&1)
diag "suspend of the liar: $? $out"
is "$(sim_slice $victim) $(sim_disabled $victim)" "2048 0" "the victim's TSGs are unchanged"
check "set on the victim succeeds" "$gpusched" set pid:$victim timeslice=250us
check "the RM has the victim's new slice" slice_is $victim 250
check "restore comes to its end" timeout 20 bash -c '"$1" restore >/dev/null 2>&1; [ $? -le 4 ]' - "$gpusched"
check "the victim has its own slice again" slice_is $victim 2048
is "$(sim_state "[.tsgs[] | .disabled_channels] | add")" 0 "nothing is left suspended"
fds=$(fds_of "$DAEMON_PID")
kill -9 $liar
check "the liar's records are removed after its end" wait_for 30 eval '[ "$(list_json all length)" = 4 ]'
check "the daemon keeps no descriptor of the liar's" wait_for 10 eval '[ "$(fds_of "$DAEMON_PID")" -le $((fds + 2)) ]'

# ---- 10,000 TSGs of ten processes
: >"$scratch/crowd"
crowd=()
for _ in $(seq 10); do
	"$helper" tsgs 1000 <"$scratch/fifo" >>"$scratch/crowd" 2>&1 &
	crowd+=($!)
	at_end+=($!)
done
check "ten processes make 1,000 TSGs each" wait_for 60 eval '[ "$(grep -c ready $scratch/crowd)" = 10 ]'
check "all of them are listed" wait_for 30 eval '[ "$(list_json all length)" = 10004 ]'
limit=81920 # bench/local measures the idle daemon; here malloc also keeps what answers left
ldd "$gpuschedd" | grep -q libasan && limit=1048576
# answers that are still being sent, of 10 MB each, are not what stays
wait_for 10 eval '[ "$(rss_kb_of "$DAEMON_PID")" -le '$limit' ]'
le "$(rss_kb_of "$DAEMON_PID")" $limit "the daemon's memory stays small, KiB"
check "one process among them is set" "$gpusched" set "pid:${crowd[3]}" timeslice=300us
is "$(sim_state "[.tsgs[] | select(.timeslice_us == 300)] | length")" 1000 "the RM has 1,000 TSGs with that slice"
check "set on the victim succeeds, too" "$gpusched" set pid:$victim timeslice=260us
check "restore succeeds" "$gpusched" restore
is "$(sim_state "[.tsgs[] | select(.timeslice_us == 300 or .timeslice_us == 260)] | length")" 0 "restore puts all slices back"
kill -9 "${crowd[@]}"
wait "${crowd[@]}" 2>/dev/null
check "their records are removed after their end" wait_for 30 eval '[ "$(list_json all length)" = 4 ]'
check "the daemon answers" daemon_ready
stop_daemon

# ---- programs outside the simulator do not know these device files, and must not call into them
before=$(sim_state -c '[.controls[].calls] | add')
# Without LD_LIBRARY_PATH doctor does not load the simulated libcuda, either.
# shellcheck disable=SC2016 # the inner shell's
ordinary='mount -t bpf bpf /sys/fs/bpf && mount -t tmpfs tmpfs /run || exit 99
	unset GPUSCHED_SIM GPUSCHED_DILATE LD_LIBRARY_PATH
	timeout 20 "$@"'
for verb in list doctor "set pid:$victim timeslice=100us" restore "observe on"; do
	# shellcheck disable=SC2086 # words
	out=$(unshare -m bash -c "$ordinary" - "$gpusched" $verb 2>&1)
	code=$?
	diag "ordinary $verb: $code: $(tail -1 <<<"$out")"
	[ "$code" != 99 ] && [ "$code" != 124 ] || not_ok "an ordinary gpusched $verb comes to its end" "$out"
done
out=$(unshare -m bash -c "$ordinary" - "$gpuschedd" --foreground 2>&1)
is "$?" 3 "an ordinary daemon does not start on somebody's FUSE"
is "$(wc -l <<<"$out")" 1 "the daemon says so in one line: $out"
is "$(sim_state -c '[.controls[].calls] | add')" "$before" "no call reached the simulated RM"
is "$(sim_slice $victim)" 2048 "the victim was not set"
is "$(list_json pid:$victim length)" 4 "gpusched inside the simulator still lists the victim"
done_testing
