#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# alone: yes
# needs: root bpf fuse
# A user watches files that the daemon opens and reads, with an inotify descriptor that stands in
# millions of epoll sets. Each open(), read() and close() of such a file walks them all, whoever makes
# it. The daemon's loop must make none.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || not_ok "a daemon starts"
victim
check "the victim has the policy's slice" wait_for 20 slice_is $VICTIM 1
as_attacker=(setpriv --reuid 65532 --regid 65532 --clear-groups)
theirs() { # their program, whose files the daemon reads
	"${as_attacker[@]}" "$gsload" be --seconds 0 --warmup 0 $steady >/dev/null 2>&1 &
	THEIRS=$!
	at_end+=("$THEIRS")
	wait_tsgs "pid:$THEIRS" 4
}
theirs || not_ok "the attacker's program is listed"
cgroup=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/$THEIRS/cgroup)
files=(/proc/$THEIRS/{status,cgroup,stat,comm,cmdline,maps,uid_map,mountinfo,environ,task,fd,ns}
	/proc/$THEIRS/task/$THEIRS/{stat,status} /proc/$DAEMON_PID/task/$DAEMON_PID/schedstat /proc/$DAEMON_PID/mountinfo /proc/meminfo
	/etc/passwd "$GPUSCHED_SIM/run" "$GPUSCHED_SIM"/run/* "$GPUSCHED_SIM/kmsg" "$cgroup"/{memory.max,memory.current,cgroup.events})
[ -z "${ONLY:-}" ] || eval "files=($ONLY)"
watch_loop
attack_begin watches 1300 "$(size 800 2000)" "${files[@]}"
check "the descriptor is in a million sets" wait_for 90 grep -qE "^ready [0-9]{7}" "$ATTACK_OUT"
diag "$(grep "^not watched" "$ATTACK_OUT")"
diag "$(grep -c "^not watched" "$ATTACK_OUT") of ${#files[@]} files cannot be watched"
for i in 1 2 3; do
	"${as_attacker[@]}" timeout 20 "$gpusched" list "pid:$THEIRS" >/dev/null 2>&1
	"${as_attacker[@]}" timeout 20 "$gpusched" class get "pid:$THEIRS" >/dev/null 2>&1
	"${as_attacker[@]}" timeout 20 "$gpusched" list user:nobody >/dev/null 2>&1
	"${as_attacker[@]}" timeout 20 "$gpusched" park "pid:$THEIRS" >/dev/null 2>&1
	"${as_attacker[@]}" timeout 20 "$gpusched" unpark "pid:$THEIRS" >/dev/null 2>&1
	theirs
	check "root's list is answered: $i" timeout 20 "$gpusched" list pid:$VICTIM
done
pings "watched files"
is "$(sim_slice $VICTIM)" 800 "the policy still acts"
loop_turned "watched files"
end_attack "$ATTACKER"
kill_restores "watched files" $VICTIM
done_testing
