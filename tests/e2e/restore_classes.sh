#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse cgroup2
# restore leaves classes, and says so; restore --classes takes back those that commands have given.
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim
mkdir "$tree/$name.$$"
config '[Classes]
Rule=comm=ruled -> be'
ln -s "$gsload" "$scratch/ruled"
start_daemon
program() { # COMMAND...: its pid in $LOAD_PID
	"$@" --seconds 600 --iterations-per-us 27.78 >/dev/null 2>&1 &
	LOAD_PID=$!
	at_end+=($!)
	wait_tsgs "pid:$LOAD_PID" 4
}
program "$scratch/ruled" be --kernel-us 4000
ruled=$LOAD_PID
program "$gsload" be --kernel-us 4000
set=$LOAD_PID
program bash -c 'echo $$ >"$1/cgroup.procs" && exec "$2" be "${@:3}"' - "$tree/$name.$$" "$gsload"
grouped=$LOAD_PID
classes() { # prints the classes of the three
	local pid
	for pid in $ruled $set $grouped; do
		compute "$pid" .class
	done | paste -sd ' '
}
classes_are() { [ "$(classes)" = "$1" ]; }

exits 0 "restore succeeds while no command has given a class" "$gpusched" restore
is "$out" "restore: every TSG has its owner's settings, and no policy runs" "it says nothing of classes then"
"$gpusched" class set "pid:$set" lc --limit 30 >/dev/null
"$gpusched" class set "cgroup:/$name.$$" be >/dev/null
check "a process and a cgroup have classes by commands" wait_for 10 classes_are "be lc be"
exits 0 "restore leaves them" "$gpusched" restore
is "$(tail -1 <<<"$out")" "restore: 2 classes stay, and the next policy acts on them: 'gpusched restore --classes'" \
	"it says so in one line"
is "$(classes)" "be lc be" "they are there still"
exits 3 "an ordinary user may not take them back" as 65534 "$gpusched" restore --classes
is "$(classes)" "be lc be" "they stay after that"
exits 0 "restore --classes takes them back" "$gpusched" restore --classes
is "$(tail -1 <<<"$out")" "restore: 2 classes are taken back" "it says how many"
check "the class by a rule alone is left" wait_for 10 classes_are "be null null"
is "$(compute "$set" .limit_pct)" null "the limit is gone with its class"
is "$("$gpusched" restore --json | jq .classes)" 0 "then there are none"

"$gpusched" class set "pid:$set" lc >/dev/null
stop_daemon
is "$("$gpusched" restore | tail -1)" "restore: 1 class stays, and the next policy acts on it: 'gpusched restore --classes'" \
	"without a daemon restore says so, too"
is "$("$gpusched" restore --classes | tail -1)" "restore: 1 class is taken back" "restore --classes takes it back"
start_daemon
check "the next daemon gives the class by the rule alone" wait_for 10 classes_are "be null null"
done_testing
