#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse cgroup2
# Attributes of a cgroup give a weight, a limit and a request to all its processes together. A
# user's attributes in a cgroup below do not replace root's. A limit that a command gave to a
# program stays one limit for all its processes, whatever cgroups they are in.
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
anew() { # GROUP NAME VALUE [COMMAND...]: the same, and the daemon reads the attributes again
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
now() { # PID PARTS: has these within some seconds
	wait_for 5 eval '[ "$(parts "'"$1"'")" = "'"$2"'" ]'
}

give "$a" limit 30
give "$a" request 20
give "$a" weight 300
in_group "$a/own"
one=$LOAD_PID
check "a program has the grants of the cgroup above its own" now "$one" "300 30 20"
anew "$a/own" limit 90 as $u
anew "$a/own" weight 900 as $u
anew "$a/own" request 90 as $u
"$gpusched" class explain "pid:$one" >"$scratch/explained"
is "$(parts "$one")" "300 30 20" "its owner's attributes below replace none of them"
like "$(tr -s ' \n' ' ' <"$scratch/explained")" "limit 30 %: user.gpusched.limit of cgroup $a; user.gpusched.limit of cgroup $a/own passed over" \
	"class explain says which limit holds and which was passed over"
exits 3 "the owner's set limit= is refused" as $u "$gpusched" set "pid:$one" limit=90
like "$out" "cgroup of process $one has a limit" "the refusal names the cgroup's limit"
exits 0 "the owner may set the class again" as $u "$gpusched" class set "pid:$one" be
is "$(parts "$one")" "300 30 20" "the weight stays the cgroup's"
exits 0 "root's class set takes a limit and a weight" "$gpusched" class set "pid:$one" be --limit 40 --weight 50
is "$(parts "$one")" "50 40 20" "root's command comes before the attributes"
exits 0 "class clear succeeds" "$gpusched" class clear "pid:$one"
anew "$a" limit ""
check "without root's limit the owner's limit holds" now "$one" "300 90 20"
anew "$a" request "30 %"
check "a request that is no number does not count" now "$one" "300 90 null"
like "$("$gpusched" class explain "pid:$one" --json | jq -r .request_why)" "of cgroup $a is no number" "class explain says that the request is no number"
exits 0 "the program gets a class with a limit" "$gpusched" class set "pid:$one" capped
is "$(parts "$one")" "300 50 null" "a class's limit comes before the owner's attribute"
end_load $one

# ---- one limit, however many cgroups --------------------------------------------------------------
exits 0 "the policy fair starts" "$gpusched" policy start fair
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
is "$(compute "$x" .limit_pct) $(compute "$y" .limit_pct)" "30 30" "both children have the program's limit"
both() { # work of both children in 3 s, in percent of the work of a program that is alone on its GPU
	local before of
	before=$(($(sim_work "$x") + $(sim_work "$y"))) of=$(sim_work "$alone")
	sleep 3
	of=$((($(sim_work "$alone") - of) / 100))
	echo $((($(sim_work "$x") + $(sim_work "$y") - before) / (of > 0 ? of : 1)))
}
for try in 1 2 3 4; do # the policy must first learn from the log
	got=$(both)
	[ "$got" -gt 40 ] || break
done
le "$got" 40 "the children have the limit together: $got"
ge "$got" 20 "the children use most of the limit: $got"
done_testing
