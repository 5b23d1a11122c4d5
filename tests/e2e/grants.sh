#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse cgroup2
# Attributes of cgroups give a weight, a limit and a request to all their processes together; a
# user's attributes below do not replace root's. A part that a command gave to a program stays one
# part, whatever cgroups the program makes.
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --gpus 2
a=/$name.$$.a b=/$name.$$.b
mkdir "$tree$a" "$tree$a/own" "$tree$b" "$tree$b/x" "$tree$b/y" || not_ok "control groups are made"
drop_groups() { # at the end, in place of lib.sh's: these groups have no common parent
	for group in "$a/own" "$a" "$b/x" "$b/y" "$b"; do
		echo 1 >"$tree$group/cgroup.kill" 2>/dev/null
		wait_for 3 rmdir "$tree$group"
	done
	finish
}
u=65534
chown $u "$tree$a/own"
config '[Classes]
DefaultClass=be
Class=capped limit=50'
start_daemon

give() { # GROUP NAME VALUE [COMMAND...]: writes an attribute, "" takes it away
	"${@:4}" /usr/bin/python3 -c 'import os, sys
path, name, value = sys.argv[1:]
os.setxattr(path, "user.gpusched." + name, value.encode()) if value else os.removexattr(path, "user.gpusched." + name)' \
		"$tree$1" "$2" "$3"
}
anew() { # GROUP NAME VALUE [COMMAND...]: the same, and the daemon reads it again
	give "$@" && kill -HUP "$DAEMON_PID"
}
busy='exec "$1" be --seconds 600 --iterations-per-us 27.78 >/dev/null 2>&1'
in_group() { # GROUP: starts a user's program there, its pid is $LOAD_PID
	bash -c 'echo $$ >"$2/cgroup.procs" && exec setpriv --reuid "$3" --regid "$3" --clear-groups bash -c "$4" - "$1"' \
		- "$gsload" "$tree$1" $u "$busy" &
	LOAD_PID=$!
	at_end+=($!)
	wait_tsgs "pid:$LOAD_PID" 1
}
parts() { # PID: weight, limit, request
	compute "$1" '"\(.weight) \(.limit_pct) \(.request_pct)"'
}
now() { # PID PARTS: within some seconds
	wait_for 5 eval '[ "$(parts "'"$1"'")" = "'"$2"'" ]'
}

give "$a" limit 30
give "$a" request 20
give "$a" weight 300
in_group "$a/own"
one=$LOAD_PID
check "a program has what the cgroup above it has" now "$one" "300 30 20"
anew "$a/own" limit 90 as $u
anew "$a/own" weight 900 as $u
anew "$a/own" request 90 as $u
"$gpusched" class explain "pid:$one" >"$scratch/explained"
is "$(parts "$one")" "300 30 20" "what its owner writes below replaces none of it"
like "$(tr -s ' \n' ' ' <"$scratch/explained")" "limit 30 %: user.gpusched.limit of cgroup $a; user.gpusched.limit of cgroup $a/own passed over" \
	"class explain says what holds and what was passed over"
exits 3 "the owner's command gives it no other limit" as $u "$gpusched" set "pid:$one" limit=90
like "$out" "cgroup of process $one has a limit" "the message says why"
exits 0 "the owner may name its class again" as $u "$gpusched" class set "pid:$one" be
is "$(parts "$one")" "300 30 20" "the weight stays the cgroup's"
exits 0 "root's command comes first" "$gpusched" class set "pid:$one" be --limit 40 --weight 50
is "$(parts "$one")" "50 40 20" "it does"
exits 0 "class clear" "$gpusched" class clear "pid:$one"
anew "$a" limit ""
check "without root's limit the owner's own one holds" now "$one" "300 90 20"
anew "$a" request "30 %"
check "a request that is no number is none" now "$one" "300 90 null"
like "$("$gpusched" class explain "pid:$one" --json | jq -r .request_why)" "of cgroup $a is no number" "class explain says so"
exits 0 "a class with a limit" "$gpusched" class set "pid:$one" capped
is "$(parts "$one")" "300 50 null" "a class's limit comes before the owner's attribute"
end_load $one

# ---- one part, however many cgroups ---------------------------------------------------------------
exits 0 "policy start fair" "$gpusched" policy start fair
CUDA_VISIBLE_DEVICES=0 in_group ""
alone=$LOAD_PID
# Root limits a program, which makes a child in each of two cgroups and leaves it to init.
CUDA_VISIBLE_DEVICES=1 "$gpusched" run --class be --limit 30 -- bash -c '
	for group in x y; do
		setsid bash -c "echo \$\$ >\"\$2/cgroup.procs\"; $3" - "$1" "$2/$group" "$3" &
		echo $! >"$4/$group"
	done' - "$gsload" "$tree$b" "$busy" "$scratch"
for group in x y; do
	wait_for 5 test -s "$scratch/$group" && at_end+=("$(cat "$scratch/$group")")
done
x=$(cat "$scratch/x") y=$(cat "$scratch/y")
wait_tsgs "pid:$x" 1 && wait_tsgs "pid:$y" 1
is "$(compute "$x" .limit_pct) $(compute "$y" .limit_pct)" "30 30" "its children have its limit"
both() { # what both of them work, in percent of what one does alone; over 3 s
	local before of
	before=$(($(sim_work "$x") + $(sim_work "$y"))) of=$(sim_work "$alone")
	sleep 3
	of=$((($(sim_work "$alone") - of) / 100))
	echo $((($(sim_work "$x") + $(sim_work "$y") - before) / (of > 0 ? of : 1)))
}
for try in 1 2 3 4; do # the policy begins with what the log tells
	got=$(both)
	[ "$got" -gt 40 ] || break
done
le "$got" 40 "they have it together: $got"
ge "$got" 20 "they have all of it: $got"
done_testing
