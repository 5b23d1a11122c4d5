#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse cgroup2
# asan: release
# The target cgroup:PATH works wherever cgroup2 is mounted (here as in a hybrid hierarchy). It means
# the processes that are in the cgroup now. A class that is set for a cgroup also covers later
# processes.
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim
a=/$name.$$.a b=/$name.$$.b
mkdir "$tree$a" "$tree$b" "$tree$a/inner" || not_ok "control groups are made"
drop_groups() { # at the end, in place of lib.sh's: these groups have no common parent
	for group in "$a/inner" "$a" "$b"; do
		echo 1 >"$tree$group/cgroup.kill" 2>/dev/null
		wait_for 3 rmdir "$tree$group"
	done
	finish
}
config '[Policy]
Policy=lcbe'
start_daemon
in_group() { # GROUP: starts a program there, its pid is $LOAD_PID
	bash -c 'echo $$ >"$1/cgroup.procs" && exec "$2" be --seconds 600 --iterations-per-us 27.78' - "$tree$1" "$gsload" >/dev/null 2>&1 &
	LOAD_PID=$!
	at_end+=($!)
	wait_tsgs "pid:$LOAD_PID" 4
}
pids_of() { # TARGET
	list_json "$1" 'map(.pid) | unique | map(tostring) | join(" ")'
}
class_of() { # PID
	list_json "pid:$1" 'map(select(.kind == "compute")) | .[0].class'
}

in_group "$a/inner"
one=$LOAD_PID
is "$(pids_of "cgroup:$a")" "$one" "a target cgroup includes the processes in the cgroups below it"
is "$(pids_of "cgroup:$tree$a/inner")" "$one" "the path of a target may begin with the mount point"
exits 1 "a path that is no cgroup is refused" "$gpusched" set cgroup:/there/is/none timeslice=300us

# ---- a process that moves
echo $one >"$tree$b/cgroup.procs"
is "$(pids_of "cgroup:$b")" "$one" "a process that has moved is in its new cgroup"
is "$(pids_of "cgroup:$a")" "" "the process is no longer in its old cgroup"
exits 1 "suspend of the old cgroup finds no process" "$gpusched" suspend "cgroup:$a"
is "$(sim_disabled $one)" 0 "the channels of the moved process are enabled"
is "$(list_json "pid:$one" '.[0].cgroup_id')" "$(stat -c %i "$tree$b")" "the record has the new cgroup"

# ---- a process that comes later
check "an empty cgroup may be given a class" "$gpusched" class set "cgroup:$a" be
like "$("$gpusched" class list)" "be .*$a" "class list has the cgroup's class"
in_group "$a/inner"
two=$LOAD_PID
is "$(class_of $two)" be "a program that comes later is of that class"
check "the newcomer has the slice of its class" wait_for 5 slice_is $two 1
is "$(class_of $one)" null "a program in another cgroup is not of that class"
like "$("$gpusched" class explain pid:$two)" "class set for cgroup $a" "class explain says why"
like "$("$gpusched" class set "cgroup:$b" lc)" "1 process, and those that come" "class set says which processes it covers"
is "$(class_of $one)" lc "a program that is in the cgroup already is of that class"

# ---- a process's own class beside its cgroup's
check "a process is given a class of its own" "$gpusched" class set "pid:$two" lc
like "$("$gpusched" class set "cgroup:$a" normal)" "^class set: 0 processes, and those that come; 1 keeps a class of its own$" \
	"class set counts the processes that keep another class"
is "$(class_of $two)" lc "a process keeps a class of its own"
is "$("$gpusched" class set "cgroup:$a" be --json | jq -c '[.processes, .kept, .failed]')" "[0,1,0]" "class set has the same counts in JSON"
"$gpusched" class explain "pid:$two" >"$scratch/explained"
like "$(sed 1,/^outranks/d "$scratch/explained" | wc -l)" "^0$" "class explain ends with the classes that lost"
like "$(cat "$scratch/explained")" "outranks class be: class set for cgroup $a" "the loser is the class of the cgroup"
like "$("$gpusched" class clear "cgroup:$a")" "^class clear: 0 processes; 1 keeps a class of its own$" \
	"class clear of a cgroup takes back the cgroup's class alone"
is "$(class_of $two)" lc "a process's own class stays"
exits 1 "class clear of a cgroup that has no class fails" "$gpusched" class clear "cgroup:$a"
is "$(class_of $two)" lc "the failed class clear clears no other class"
is "$("$gpusched" class clear "pid:$two")" "class clear: 1 process" "class clear takes back a process's own class"
is "$("$gpusched" class clear "pid:$two")" "class clear: 0 processes" "a second class clear finds nothing to take back"
check "the cgroup has a class again" "$gpusched" class set "cgroup:$a" be
is "$(class_of $two)" be "the process has the cgroup's class"
check "class clear of the cgroup succeeds" "$gpusched" class clear "cgroup:$a"
is "$(class_of $two)" null "class clear takes the cgroup's class back"
check "the slice is taken back, too" wait_for 5 slice_is $two 2048
in_group "$a"
is "$(class_of "$LOAD_PID")" null "a program that comes now has no class"
"$gpusched" class clear "cgroup:$b" >/dev/null
stop_daemon
like "$("$gpusched" class set "cgroup:$a" be)" "not those that come" "without a daemon class set says that it does not cover later programs"
done_testing
