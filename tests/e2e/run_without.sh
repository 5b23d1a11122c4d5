#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# If `gpusched run` cannot give the class, it refuses, or starts the program without a class if that
# is allowed. It waits for a daemon that is starting.
. "$(dirname "$0")/lib.sh"
enter_sim
user=4711
run() { # OPTIONS: `gpusched run` as the user; its standard error is in $scratch/said
	as $user "$gpusched" run "$@" 2>"$scratch/said"
}
lines() {
	wc -l <"$scratch/said"
}
class_of_self=(sh -c "'$gpusched' class get pid:\$\$ --json")

# ---- no daemon ---------------------------------------------------------------------------------------

exits 3 "without a daemon, run --class refuses" run --class be -- true
exits 3 "without a daemon, run --class lc refuses" run --class lc -- true
exits 7 "--if-possible starts the program, whose exit code counts" run --class lc --if-possible -- sh -c 'exit 7'
is "$(lines)" 1 "run says so in one line"
like "$(cat "$scratch/said")" "^gpusched: run: sh starts without its class: no daemon answers" "the line names the reason"
exits 0 "--if-possible starts a program without its pool" run --class be --pool --if-possible -- true
is "$(lines)" 1 "run says in one line that both are missing"
like "$(cat "$scratch/said")" "without its pool and its class" "the line names pool and class"
exits 2 "a wrong weight is refused in spite of --if-possible" run --class be --weight 0 --if-possible -- true
exits 2 "--if-possible needs a class" run --if-possible -- true

config '[Classes]
IfPossible=yes'
chmod 755 "$scratch"
exits 0 "IfPossible=yes in the configuration allows the same" run --class lc -- true
is "$(lines)" 1 "run says so in one line, too"
printf 'Nonsense=1\n' >>"$GPUSCHED_CONFIG"
exits 0 "IfPossible=yes counts although a later line of the file is wrong" run --class lc -- true
config '[Classes]
IfPossible=no'
exits 3 "run refuses with IfPossible=no" run --class lc -- true

# ---- a daemon ------------------------------------------------------------------------------------------

start_daemon
exits 3 "a user may not raise a program to lc" run --class lc -- true
exits 0 "--if-possible starts the program without that class" run --class lc --if-possible -- true
exits 2 "an unknown class is refused in spite of --if-possible" run --class nonsense --if-possible -- true
is "$(run --class be --if-possible -- "${class_of_self[@]}" | jq -r .class)" be "--if-possible gives a class that is possible"
is "$(lines)" 0 "run says nothing if it gave the class"
stop_daemon

# ---- a daemon that is starting -----------------------------------------------------------------------------

hold_lock() { # SECONDS: holds the daemon's lock, as a daemon does before it listens
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
is $? 0 "run succeeds while a daemon is starting"
is "$(jq -r .class "$scratch/class")" be "the program has its class"
stop_daemon

hold_lock 30
began=$SECONDS
exits 3 "run gives up if the daemon never listens" run --class be -- true
ge $((SECONDS - began)) 4 "run gives up after at least 4 s"
done_testing
