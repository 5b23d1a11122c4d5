#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse cgroup2
# Terminals keep all their tabs in one scope of the user's manager. Where such a scope holds a shell
# that leads a session, each command that is typed is a job. A user's service, a container without
# root and what systemd-run has started stay one job each.
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --dilate 4
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
app=/$name.$$/user@4711.service/app.slice
kitty=$app/app-kitty-1.scope
tab="$app/app-org.kde.konsole-1.scope/tab(7).scope"
service=$app/training.service
libpod=$app/libpod-$id.scope/container
unit=$app/training.scope run=$app/run-r1.scope
for group in "$kitty" "$tab" "$service" "$libpod" "$unit" "$run"; do
	mkdir -p "$tree$group" || not_ok "control groups are made"
done
config '[Policy]
Policy=auto
[Classes]
Rule=comm=gsload -> be'
start_daemon || exit 1

work=("$gsload" be --seconds 0 --iterations-per-us 27.78)
# in_group GROUP LEAD SCRIPT: a shell runs the script there with the load as its arguments; LEAD:
# setsid if it leads a session, as a terminal starts it.
in_group() {
	bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$tree$1" $2 bash -c "$3" - "${work[@]}" \
		>/dev/null 2>&1 &
	at_end+=($!)
}
loads() { # GROUP: the pids of the loads there
	for pid in $(cat "$tree$1/cgroup.procs"); do [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != gsload ] || echo "$pid"; done
}
jobs_of() { # GROUP: its jobs, in auto's map
	for pid in $(loads "$1"); do
		"$gpusched" policy map auto_tsgs "$(list_json "pid:$pid" '[.[] | select(.kind == "compute")][0].id')" --json |
			jq -r .value.job
	done | sort -u
}
typed='set -m; "$@" & "$@" & wait'
orphans='setsid "$@" & setsid "$@" & sleep 0.2; exec sleep 1000'

in_group "$kitty" setsid "$typed"
in_group "$kitty" setsid "$typed"
in_group "$tab" setsid "$typed"
in_group "$service" setsid "setsid bash -c '\"\$@\" &' - \"\$@\"; setsid bash -c '\"\$@\" &' - \"\$@\"; exec sleep 1000"
in_group "$libpod" setsid "$typed"
in_group "$unit" "" "$typed"
in_group "$run" "" "$orphans"
check "all programs are listed" wait_for 40 eval '[ "$(list_json "comm:gsload" "[.[] | select(.kind == \"compute\")] | length")" = 14 ]'
counts() { # GROUP PROGRAMS JOBS
	[ "$(loads "$1" | wc -l) $(jobs_of "$1" | wc -l)" = "$2 $3" ]
}
check "what is typed into two windows of a terminal with one scope are four jobs" wait_for 20 counts "$kitty" 4 4
check "so are the commands of a tab with a scope of its own" wait_for 20 counts "$tab" 2 2
check "a user's service whose workers have lost their parents is one job" wait_for 20 counts "$service" 2 1
is "$(jobs_of "$service")" "$(stat -c %i "$tree$service")" "the job's id is that of the service's control group"
check "a container without root that runs a shell is one job" wait_for 20 counts "$libpod" 2 1
check "systemd-run --scope with --unit is one job" wait_for 20 counts "$unit" 2 1
check "systemd-run --scope without --unit is one job" wait_for 20 counts "$run" 2 1
is "$(jobs_of "$run")" "$(stat -c %i "$tree$run")" "the job's id is that of the scope's control group"
done_testing
