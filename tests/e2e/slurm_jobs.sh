#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse cgroup2
# A process is of the Slurm job whose cgroup it is in, whatever its parent is. A folder of that name
# that a user owns, or that is inside a container, names no job. Nor does a container's root by the
# name and title of a step.
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim
slice=/system.slice new=
scope=$slice/gst$$_slurmstepd.scope
user=/$name.$$/system.slice/slurmstepd.scope
[ -d "$tree$slice" ] || new=$slice
mkdir -p "$tree$scope/job_77/step_extern/user/task_special" "$tree$scope/job_78/user" \
	"$tree$user/job_79" || not_ok "control groups are made"
chown -R 4711 "$tree$scope/job_78"
drop_groups() { # at the end, in place of lib.sh's: these groups have no common parent
	for group in "$scope" "/$name.$$"; do
		echo 1 >"$tree$group/cgroup.kill" 2>/dev/null
		wait_for 3 eval 'find "$tree$group" -depth -type d -exec rmdir {} + 2>/dev/null; [ ! -e "$tree$group" ]'
	done
	[ -z "$new" ] || rmdir "$tree$new"
	finish
}
start_daemon || exit 1
in_group() { # GROUP: a program there, whose parent has ended; its pid in $LOAD_PID
	bash -c 'echo $$ >"$1/cgroup.procs"; setsid "$2" be --seconds 600 --iterations-per-us 27.78 & echo $!' - \
		"$tree$1" "$gsload" 2>/dev/null >"$scratch/pid"
	LOAD_PID=$(cat "$scratch/pid")
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 4
}
job_of() { # PID: the job that list says
	"$gpusched" list "pid:$1" --wide --json | jq -rs 'flatten | .[0].job // ""'
}
in_group "$scope/job_77/step_extern/user/task_special"
job=$LOAD_PID
in_group "$scope/job_78/user"
users=$LOAD_PID
in_group "$user/job_79"
elsewhere=$LOAD_PID
check "a process without slurmstepd as an ancestor is of its cgroup's job" wait_for 30 eval '[ "$(job_of "$job")" = 77 ]'
is "$(job_of "$users")" "" "a job's folder that a user owns names no job"
is "$(job_of "$elsewhere")" "" "nor does one that is not below the host's system.slice"

# ---- by the title -----------------------------------------------------------------------------------
step=$scratch/slurmstepd
cp "$(command -v bash)" "$step"
by_title() { # COMMAND...: a program whose parent has a step's name and title; its pid in $LOAD_PID
	"$@" bash -c 'exec -a "slurmstepd: [91.0]" "$@"' - "$step" \
		-c '"$1" be --seconds 600 --iterations-per-us 27.78 & wait' "slurmstepd: [91.0]" "$gsload" >/dev/null 2>&1 &
	at_end+=("$!")
	local top=$!
	wait_for 10 eval 'LOAD_PID=$(loads_below "$top")
		[ "$LOAD_PID" ]' || not_ok "a step starts: $*"
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 4
}
loads_below() { # PID: the gsload among its descendants
	local pid
	for pid in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
		[ "$(cat "/proc/$pid/comm")" = gsload ] && echo "$pid"
		loads_below "$pid"
	done
}
by_title env
check "a step of root's names the job of its children" wait_for 30 eval '[ "$(job_of "$LOAD_PID")" = 91 ]'
by_title unshare --pid --fork
is "$(job_of "$LOAD_PID")" "" "root of a container bills no job by a step's name and title"
done_testing
