#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# alone: yes
# A user holds the lock of a process's memory while gpusched would set or remove probes, for which every
# fork() of the machine would wait. No fork() may wait. This test fails if another program sets or removes
# uprobes at the same time.
. "$(dirname "$0")/lib.sh"
enter_sim
words_open
sleep 3 # the kernel may still be removing the probes of an earlier test
chmod 755 "$scratch"
mount -t tmpfs -o mode=755 none /mnt
library=$scratch/libcuda.so.1
cp "$build/simcuda/libcuda.so.1" "$library"
chown $attacker_uid "$library"

# held NAME LIBRARY|fork COMMAND...: runs a command that would set or remove a probe, while an attacker holds the memory
# lock of a process: one that maps LIBRARY, or one that maps no library and has begun a fork().
in_front=() # command words before the attacker's
held() {
	local what=$1 library=$2 at=/mnt/$attacks_begun uid=$attacker_uid
	shift 2
	mkdir $at
	chown $uid $at
	[ ${#in_front[@]} = 0 ] || uid=0
	attacks_begun=$((attacks_begun + 1))
	ATTACK_OUT=$scratch/attack.$attacks_begun
	mkfifo "$ATTACK_OUT.words"
	exec 8<>"$ATTACK_OUT.words"
	"${in_front[@]}" "$helper" stall $at $uid "$library" "$(size 2500 8000)" <&8 8<&- 9<&- >"$ATTACK_OUT" 2>&1 &
	local program=$!
	at_end+=($program)
	attack_ready
	measure_begin forks
	echo >&8
	check "$what: the lock is held" wait_for 10 grep -q ^ready "$ATTACK_OUT"
	sleep 0.4 # the attacker's fork(), if there is one, now waits for the lock
	"$@" >"$scratch/said" 2>&1
	sleep "$(size 2.5 8)"
	measure_end forks
	le "$MEASURED" 1000 "$what: the longest fork(), in ms"
	end_attack $program
	umount -l $at 2>/dev/null
}

pins() {
	find "$GPUSCHED_SIM/bpf/gpusched-launch" -mindepth 2 2>/dev/null | wc -l
}
counting() {
	"$gpusched" observe launches --json | jq "$1"
}
no_pins() { [ "$(pins)" = 0 ]; }
turn_on=(timeout 20 "$gpusched" observe launches on)
turn_off=("$gpusched" observe launches off)

# ---- a file system that root serves, and lets users into ---------------------------------------------

mknod -m 600 "$scratch/fuse" c 10 229 # only root may open it, as on a machine without udev
mount --bind "$scratch/fuse" /dev/fuse
start_daemon || exit 1
held "when launches begin to be counted" "$build/simcuda/libcuda.so.1" "${turn_on[@]}"
like "$(cat "$scratch/said")" "into the FUSE at /mnt/" "it is refused, with the reason"
"${turn_off[@]}" >/dev/null
held "when launches begin to be counted, and no process maps the library" fork "${turn_on[@]}"
held "when another process maps it" "$library" attack library of "$library"
is "$(counting '.libraries | map(select(.processes > 0)) | length')" 0 "a user's library is left alone"

# ---- a file system that a user serves ------------------------------------------------------------------

chmod 666 "$scratch/fuse"
in_front=("${as_attacker[@]}" unshare -Urm)
if "${in_front[@]}" true 2>/dev/null; then
	"${turn_off[@]}" >/dev/null
	held "by a FUSE of the user's own" fork "${turn_on[@]}"
	like "$(cat "$scratch/said")" "/dev/fuse is open to them" "it is refused, with the reason"
	like "$("$gpusched" doctor)" "uprobes +users may serve files" "doctor says so"
	like "$("$gpusched" observe launches)" "cannot be turned on: users may" "so does observe launches"
	like "$("$gpusched" observe launches on 2>&1 | tr -s "\n " " ")" "set CountLaunches=trusted" "the caller learns how to allow it"
	like "$("$gpusched" policy start "$top/tests/policy/work.bpf.c" --json | jq -r .launches_refused)" "users may serve" \
		"a policy that wants launches"
	"$gpusched" policy stop >/dev/null
else
	skip_optional "a FUSE of the user's own" "no user namespaces for users"
fi
in_front=()
stop_daemon

# ---- probes that are set already ------------------------------------------------------------------------

config $'[Daemon]\nCountLaunches=yes trusted'
start_daemon || exit 1
is "$(counting .on)" true "where users are trusted launches are counted"
ge "$(pins)" 1 "their probes are pinned"
unset GPUSCHED_CONFIG
held "when the daemon is killed" fork kill_daemon
ge "$(pins)" 1 "the probes are still there"
held "when it starts again" fork start_daemon
ge "$(pins)" 1 "also when they may not be removed"
load be --seconds 1 $steady --linger 60
held "when counting begins with the old probes" fork "${turn_on[@]}"
is "$(counting .on)" true "they count"
end_load $LOAD_PID
held "when it ends" fork "${turn_off[@]}"
chmod 600 "$scratch/fuse"
if [ "$("$gpusched" observe launches --json | jq .refused)" = null ]; then
	"${turn_off[@]}" >/dev/null
	check "where no user could do harm they go" wait_for 10 no_pins
fi
done_testing
