#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# awaits: no probes on libraries that a user holds
# A user holds the lock of his memory while his libcuda would be probed: no fork() waits for that.
. "$(dirname "$0")/lib.sh"
enter_sim
words_open
chmod 755 "$scratch"
mount -t tmpfs -o mode=755 none /mnt
library=$scratch/libcuda.so.1
cp "$build/simcuda/libcuda.so.1" "$library"
chown $attacker_uid "$library"
start_daemon || exit 1

# held NAME LIBRARY COMMAND...: what makes the daemon probe it, while the lock of a process that maps it is held
held() {
	local what=$1 library=$2 at=/mnt/$attacks_begun
	shift 2
	mkdir $at
	words_open
	attacks_begun=$((attacks_begun + 1))
	ATTACK_OUT=$scratch/attack.$attacks_begun
	mkfifo "$ATTACK_OUT.words"
	exec 8<>"$ATTACK_OUT.words"
	"$helper" stall $at $attacker_uid "$library" "$(size 2500 8000)" <&8 8<&- 9<&- >"$ATTACK_OUT" 2>&1 &
	local program=$!
	at_end+=($program)
	attack_ready
	measure_begin forks
	echo >&8
	check "$what: the lock is held" wait_for 10 grep -q ^ready "$ATTACK_OUT"
	"$@"
	sleep "$(size 2.5 8)"
	measure_end forks
	le "$MEASURED" 1000 "$what: the longest fork(), in ms"
	end_attack $program
}

held "when launches begin to be counted" "$build/simcuda/libcuda.so.1" timeout 20 "$gpusched" observe launches on
held "when another process maps it" "$library" attack library of "$library"
done_testing
