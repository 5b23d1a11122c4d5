#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# paired: yes
# The jobs of one user under auto: each command of a shell with job control is one job, however many
# processes it has; so is each `gpusched run`.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 4
config '[Policy]
Policy=auto
[Classes]
Rule=comm=gsload -> be'
start_daemon || exit 1

work=("$gsload" be --seconds 0 --iterations-per-us 27.78)
children() { pgrep -P "$1" -x gsload; }
job_of() { # PID: its job, in auto's map
	"$gpusched" policy map auto_tsgs "$(list_json "pid:$1" '[.[] | select(.kind == "compute")][0].id')" --json |
		jq -r .value.job
}
jobs_of() { for pid in "$@"; do job_of "$pid"; done | sort -u; }
works() { wait_for 20 eval "[ \"\$(sim_work $1)\" != 0 ]"; }
sum() { local all=0 pid; for pid in "$@"; do all=$((all + $(sim_work "$pid"))); done; echo $all; }

setsid bash -c 'set -m
	(for i in 1 2 3 4 5 6; do "$@" & done; wait) &
	"$@" &
	wait' - "${work[@]}" >/dev/null 2>&1 &
login=$!
at_end+=("$login")
check "all seven programs are listed" wait_for 30 eval '[ "$(list_json "comm:gsload" "[.[] | select(.kind == \"compute\")] | length")" = 7 ]'
one=$(children "$login")
mapfile -t six < <(for pid in $(pgrep -P "$login"); do children "$pid"; done)
at_end+=("$one" "${six[@]}")
is "$(wc -w <<<"$one") ${#six[@]}" "1 6" "the shell has a job of one program and a job of six"
check "the tree of six is one job" wait_for 10 eval '[ "$(jobs_of "${six[@]}" | wc -l)" = 1 ]'
check "the single program is another job" wait_for 10 eval '[ "$(jobs_of "$one" "${six[@]}" | wc -l)" = 2 ]'
check "all seven programs make progress" eval 'for pid in $one "${six[@]}"; do works $pid; done'

before_one=$(sum "$one")
before_six=$(sum "${six[@]}")
sleep 8
of_one=$(($(sum "$one") - before_one))
of_six=$(($(sum "${six[@]}") - before_six))
diag "one: $of_one, six: $of_six"
le "$((of_six * 10))" "$((of_one * 20))" "the job of six has at most twice the work of the job of one"
le "$((of_one * 10))" "$((of_six * 20))" "the job of one has at most twice the work of the job of six"

# ---- run, class set
"$gpusched" run --class be -- bash -c '"$@" & "$@" & wait' - "${work[@]}" >/dev/null 2>&1 &
launcher=$!
at_end+=("$launcher")
check "both programs of a run have started" wait_for 20 eval '[ "$(children $launcher | wc -l)" = 2 ]'
mapfile -t run < <(children "$launcher")
at_end+=("${run[@]}")
check "both programs of the run make progress" eval 'works ${run[0]} && works ${run[1]}'
check "both programs of the run are one job" wait_for 10 eval '[ "$(jobs_of "${run[@]}")" = "$(jobs_of "${run[0]}")" ]'
check "the run is none of the other jobs" wait_for 10 eval '[ "$(jobs_of "${run[0]}" "$one" "${six[0]}" | wc -l)" = 3 ]'
exits 0 "class set gives one of the six a class" "$gpusched" class set "pid:${six[0]}" be
check "the program with its own class is a job by itself" wait_for 10 eval '[ "$(jobs_of "${six[0]}" "${six[1]}" "$one" "${run[0]}" | wc -l)" = 4 ]'
exits 0 "class clear takes the class back" "$gpusched" class clear "pid:${six[0]}"
check "the program is in the job of six again" wait_for 10 eval '[ "$(jobs_of "${six[@]}" | wc -l)" = 1 ]'

for pid in "$one" "${six[@]}" "${run[@]}"; do kill -9 "$pid"; done
check "auto's maps keep nothing about ended programs" wait_for 10 eval '[ -z "$(for m in tsgs users jobs gangs processes; do "$gpusched" policy map auto_$m; done)" ]'
done_testing
