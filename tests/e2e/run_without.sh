#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# If the class cannot be given, `gpusched run` refuses, or starts the program without it if that is
# allowed. It waits for a daemon that is starting.
. "$(dirname "$0")/lib.sh"
enter_sim
user=4711
run() { # OPTIONS: as the user; standard error goes to $scratch/said
	as $user "$gpusched" run "$@" 2>"$scratch/said"
}
lines() {
	wc -l <"$scratch/said"
}
class_of_self=(sh -c "'$gpusched' class get pid:\$\$ --json")

# ---- no daemon ---------------------------------------------------------------------------------------

exits 3 "without a daemon, run --class refuses" run --class be -- true
exits 3 "for lc too" run --class lc -- true
exits 7 "--if-possible starts the program, whose exit code counts" run --class lc --if-possible -- sh -c 'exit 7'
is "$(lines)" 1 "one line says so"
like "$(cat "$scratch/said")" "^gpusched: run: sh starts without its class: no daemon answers" "the line names the reason"
exits 0 "--if-possible starts a program without its pool" run --class be --pool --if-possible -- true
is "$(lines)" 1 "one line says that both are missing"
like "$(cat "$scratch/said")" "without its pool and its class" "the line names pool and class"
exits 2 "a mistake is refused all the same" run --class be --weight 0 --if-possible -- true
exits 2 "--if-possible needs a class" run --if-possible -- true

config '[Classes]
IfPossible=yes'
chmod 755 "$scratch"
exits 0 "IfPossible=yes allows the same" run --class lc -- true
is "$(lines)" 1 "a line says so there, too"
printf 'Nonsense=1\n' >>"$GPUSCHED_CONFIG"
exits 0 "IfPossible=yes counts although the daemon refuses what follows in the file" run --class lc -- true
config '[Classes]
IfPossible=no'
exits 3 "IfPossible=no does not" run --class lc -- true

# ---- a daemon ------------------------------------------------------------------------------------------

start_daemon
exits 3 "a user may not raise a program to lc" run --class lc -- true
exits 0 "--if-possible starts it without" run --class lc --if-possible -- true
exits 2 "an unknown class is a mistake" run --class nonsense --if-possible -- true
is "$(run --class be --if-possible -- "${class_of_self[@]}" | jq -r .class)" be "--if-possible gives a class that is possible"
is "$(lines)" 0 "nothing is said then"
stop_daemon

# ---- a daemon that is starting -----------------------------------------------------------------------------

hold_lock() { # SECONDS, as a daemon does before it listens
	(
		flock 9
		exec sleep "$1"
	) 9<>"$GPUSCHED_SIM/run/lock" &
	at_end+=($!)
	sleep 0.2
}
hold_lock 2
run --class be -- "${class_of_self[@]}" >"$scratch/class" &
waiting=$!
start_daemon
wait $waiting # in this shell, whose child it is
is $? 0 "run beside a starting daemon ends well"
is "$(jq -r .class "$scratch/class")" be "the program has its class"
stop_daemon

hold_lock 30
began=$SECONDS
exits 3 "a daemon that never listens is given up" run --class be -- true
ge $((SECONDS - began)) 4 "after five seconds"
done_testing
