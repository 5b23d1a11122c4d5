#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: release
# In bad surroundings (no rights, full disks, foreign files) each command prints one clear line,
# exits with the right code, and leaves nothing changed.
. "$(dirname "$0")/lib.sh"
if [ -z "${GPUSCHED_SIM:-}" ]; then
	# ---- GPUSCHED_SIM names a directory that other users may write; before any simulator runs
	mkdir -p "$scratch/eve/inner" "$scratch/open" "$scratch/mine"
	chown 4711 "$scratch/eve"
	chmod 777 "$scratch/open"
	ln -s "$scratch/mine" "$scratch/eve/link"
	for dir in eve eve/inner open; do
		for cmd in "$gpusched list" "$gpusched doctor" "$gpusched restore" "$gpuschedd --foreground"; do
			# shellcheck disable=SC2086 # words
			exits 3 "GPUSCHED_SIM=$dir is refused by ${cmd##*/}" env GPUSCHED_SIM="$scratch/$dir" $cmd
		done
		is "$(wc -l <<<"$out")" 1 "the refusal of $dir is one line"
		is "$(find "$scratch/$dir" -mindepth 1 -not -name inner -not -name link | wc -l)" 0 "nothing is made in $dir"
	done
	like "$out" "written by other users" "the error has the reason"
	exits 1 "a missing GPUSCHED_SIM is refused" env GPUSCHED_SIM="$scratch/none" "$gpusched" list
	export BEFORE=$tap_n BEFORE_BAD=$tap_bad
	rm -rf "${scratch:?}"/*
fi
enter_sim
tap_n=${BEFORE:-0} tap_bad=${BEFORE_BAD:-0}
run=$GPUSCHED_SIM/run
pins=$(pins_now)
one_line() { # NAME
	is "$(wc -l <<<"$out")" 1 "the error is one line: $1"
}
# without CAPABILITIES COMMAND...
without() {
	setpriv --inh-caps "-$1" --bounding-set "-$1" "${@:2}"
}
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "slice_is $be 2048" || not_ok "a program runs"

# ---- no BPF, no rights
caps=bpf,-sys_admin,-perfmon
exits 3 "the daemon does not start without capabilities for BPF" without $caps "$gpuschedd" --foreground
one_line "no capabilities for BPF"
exits 3 "observe on fails without capabilities for BPF" without $caps "$gpusched" observe on
one_line "observe on"
exits 3 "list fails without capabilities for BPF" without $caps "$gpusched" list
exits 3 "doctor exits with 3 without capabilities for BPF" without $caps "$gpusched" doctor
like "$out" "no +bpf +the kernel refuses" "doctor says that BPF is refused"
is "$(pins_now)" "$pins" "these commands pin nothing"
exits 3 "the daemon does not start for a user" as 4711 "$gpuschedd" --foreground
one_line "no root"
exits 3 "list fails for a user without a daemon" as 4711 "$gpusched" list
exits 3 "observe on fails for a user" as 4711 "$gpusched" observe on
exits 3 "doctor exits with 3 for a user" as 4711 "$gpusched" doctor

# in_world COMMANDS: runs them in another mount namespace
in_world() {
	unshare -m bash -c "$1" - "${@:2}"
}

# ---- no bpffs, and none can be mounted
mkdir -p "$GPUSCHED_SIM/bpf"
exits 1 "observe on fails if the folder for pins is on a tmpfs" in_world \
	'mount -t tmpfs tmpfs "$GPUSCHED_SIM/bpf" && touch "$GPUSCHED_SIM/bpf/x" && exec "$1" observe on' "$gpusched"
like "$out" "no BPF file system: mount -t bpf" "the error says what to mount"
one_line "no bpffs"

# ---- no /proc, and a /proc that hides processes of others
exits 3 "list fails for a user without a daemon, with a hidden /proc" as 4711 "$gpusched" list
check "list works for root with a hidden /proc" in_world \
	'mount -t proc -o hidepid=2 proc /proc && exec "$1" list' "$gpusched"
out=$(in_world 'mount -t tmpfs tmpfs /proc && exec timeout 20 "$1" --foreground' "$gpuschedd" 2>&1)
like "$?" '^[13]$' "the daemon does not start without /proc"
# Without /proc the sanitizers print lines of their own.
ldd "$gpuschedd" | grep -q libasan || one_line "without /proc"

# ---- full disks
full='mount -t tmpfs -o size=4k tmpfs "$GPUSCHED_SIM/run" && head -c 8192 /dev/zero >"$GPUSCHED_SIM/run/fill" 2>/dev/null;'
check "list works with a full run directory" in_world "$full"' exec "$1" list' "$gpusched"
check "set works with a full run directory" in_world "$full"' exec "$1" set pid:'$be' timeslice=2047us' "$gpusched"
check "restore works with a full run directory" in_world "$full"' exec "$1" restore' "$gpusched"
check "the daemon works with a full run directory" in_world "$full"'
	"$1" --foreground >/dev/null 2>&1 & d=$!
	for i in $(seq 100); do "$2" list >/dev/null 2>&1 && [ -S "$GPUSCHED_SIM/run/api" ] && break; sleep 0.05; done
	[ -S "$GPUSCHED_SIM/run/api" ] && "$2" set pid:'$be' timeslice=2046us
	r=$?; kill $d; wait $d; exit $r' "$gpuschedd" "$gpusched"
check "the daemon's end restores the slice" slice_is $be 2048
out=$(in_world 'mount -t tmpfs -o size=4k tmpfs "$2" && cd "$2" && head -c 4096 /dev/zero >fill && "$1" policy new mine' "$gpusched" "$scratch" 2>&1)
[ $? = 1 ] && ok "policy new fails on a full disk" || not_ok "policy new fails on a full disk" "$out"
one_line "policy new"
cp "$top/policies/none.bpf.c" "$scratch/mine.bpf.c"
# shellcheck disable=SC2016 # the inner shell's
out=$(in_world 'cp "$2/mine.bpf.c" /tmp/mine.$$ && mount -t tmpfs -o size=32k tmpfs "$2" && mv /tmp/mine.$$ "$2/mine.bpf.c" &&
	cd "$2" && { head -c 65536 /dev/zero >fill 2>/dev/null; "$1" policy build mine.bpf.c; r=$?; [ ! -e mine.bpf.o ] || exit 9; exit $r; }' \
	"$gpusched" "$scratch" 2>&1)
is "$?" 1 "policy build fails on a full disk, and leaves no half-written object"
like "$out" "No space left" "policy build says that the disk is full"
one_line "policy build"
exits 1 "list fails if its output cannot be written" bash -c '"$1" list --json >/dev/full' - "$gpusched"
one_line "output"

# ---- what is in the way
rm -f "$run/api"
mkdir -p "$run"
python3 -c '
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + ".new"); s.listen(5); os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(60)' "$run/api" &
squatter=$!
at_end+=($squatter)
wait_for 10 test -S "$run/api"
exits 1 "the daemon does not start if another program has its socket" "$gpuschedd" --foreground
like "$out" "another program listens on" "the error says that another program has the socket"
one_line "a taken socket"
check "the other program still runs" kill -0 $squatter
kill $squatter
wait $squatter 2>/dev/null
start_daemon && ok "a socket that nobody serves is replaced" || not_ok "a socket that nobody serves is replaced"
stop_daemon
mkdir "$run/api"
exits 1 "the daemon does not start if its socket's name is a directory" "$gpuschedd" --foreground
one_line "a directory in the way"
rmdir "$run/api"
rm -f "$run/lock"
ln -s "$scratch/target" "$run/lock"
exits 1 "the daemon does not start if its lock is a link" "$gpuschedd" --foreground
one_line "a link for a lock"
check "no file is made through the link" test ! -e "$scratch/target"
rm -f "$run/lock"
start_daemon
is "$(stat -c %a "$run/lock")" 600 "only root can open the lock"
exits 66 "another user cannot open the lock" as 4711 flock -n "$run/lock" true

# ---- a second daemon, here and in another pid namespace
exits 1 "a second daemon does not start" "$gpuschedd" --foreground
one_line "a second daemon"
out=$(unshare --pid --fork --mount-proc "$gpuschedd" --foreground 2>&1)
code=$?
like "$code" '^[13]$' "a daemon in another pid namespace does not start"
like "$out" "pid namespace|in charge" "the error has the reason"
exits 1 "observe off is refused while a daemon runs" "$gpusched" observe off
one_line "observe off"
is "$("$gpusched" observe status --json | jq .on)" true "the taps stay on"

# ---- policies
echo "no object" >"$scratch/bad.bpf.o"
exits 1 "policy start refuses a file that is no object" "$gpusched" policy start "$scratch/bad.bpf.o"
one_line "no object"
head -c 3000 "$(ls "$GPUSCHED_POLICIES"/lcbe*.o | head -1)" >"$scratch/cut.bpf.o"
exits 1 "policy start refuses a truncated object" "$gpusched" policy start "$scratch/cut.bpf.o"
one_line "half a policy"
exits 2 "policy start refuses an unknown name" "$gpusched" policy start there_is_none
one_line "a missing policy"
mkdir "$scratch/dir.bpf.o"
exits 1 "policy start refuses a folder" "$gpusched" policy start "$scratch/dir.bpf.o"
one_line "a folder"
mkfifo "$scratch/fifo.bpf.o"
sleep 60 >"$scratch/fifo.bpf.o" &
at_end+=($!)
exits 1 "policy start refuses a pipe" timeout 20 "$gpusched" policy start "$scratch/fifo.bpf.o"
one_line "a pipe"
check "a good policy starts after all these" "$gpusched" policy start lcbe
is "$(policy_now)" lcbe "the good policy runs"
exits 1 "a bad policy is refused while it runs" "$gpusched" policy start "$scratch/bad.bpf.o"
is "$(policy_now)" lcbe "the good policy still runs"
stop_daemon

# ---- the guardian dies, then the daemon; the next start repairs
start_daemon
"$gpusched" set pid:$be timeslice=333us >/dev/null
guard=$(pgrep -P "$DAEMON_PID" -x gpusched-guard)
kill -STOP "$DAEMON_PID"
kill -9 "$guard" "$DAEMON_PID"
wait "$DAEMON_PID" 2>/dev/null
sleep 0.5
is "$(sim_slice $be)" 333 "the slice stays changed while daemon and guardian are dead"
rm -f "$GPUSCHED_SIM/run/saved.json" # the next daemon would set the slice again from it
start_daemon
check "the next daemon restores the slice" wait_for 3 slice_is $be 2048
"$gpusched" set pid:$be timeslice=334us >/dev/null
"$gpusched" suspend pid:$be >/dev/null
kill_daemon
"$gpusched" restore >"$scratch/ra" 2>&1 & a=$!
"$gpusched" restore >"$scratch/rb" 2>&1 & b=$!
wait $a; ra=$?
wait $b; rb=$?
is "$ra $rb" "0 0" "two restores succeed at once, beside the guardian's" || diag "$(cat "$scratch"/r[ab])"
check "everything is restored" restored
"$gpusched" observe off >/dev/null
is "$(find "$GPUSCHED_SIM/bpf" -mindepth 1 -not -name '*.debug' | wc -l)" 0 "nothing stays pinned"
done_testing
