#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# paired: yes
# The policy auto in real time on the simulated GPU (slowed), through the taps, the account, the
# engine and the simulated driver, with classes and without.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 4
exec 2>"$scratch/stderr"

# program CLASS ARGUMENTS...: gsload of that class ("-": of none); its pid in $program
program() {
	local -a options=()
	[ "$1" = - ] || options=(--no-agent --class "$1")
	{ "$gpusched" run "${options[@]}" -- "$gsload" "${@:2}" --seconds 0 --iterations-per-us 27.78 & } >/dev/null
	program=$!
	at_end+=("$program")
	wait_for 10 eval "[ \"\$(sim_work $program)\" != 0 ]" || diag "$program does not work"
}
suspended() { [ "$(sim_disabled "$1")" != 0 ]; }
working() { # PID: it makes progress
	local before
	before=$(sim_work "$1")
	wait_for 10 eval "[ \"\$(sim_work $1)\" -gt $before ]"
}
runlist() { "$gpusched" policy map auto_runlists --json | jq -s "[.[].value | select(.tsgs > 0)][0] | $1"; }
role_is() { # PID ROLE
	local id
	id=$(list_json "pid:$1" '[.[] | select(.kind == "compute")][0].id')
	[ "$("$gpusched" policy map auto_tsgs "$id" --json | jq .value.role)" = "$2" ]
}

policy() { "$gpusched" stats --json | jq -r .policy; }
GPUSCHED_CONFIG=$top/integrations/gpusched.conf start_daemon || exit 1
is "$(policy)" auto "the sample configuration starts auto"
stop_daemon
start_daemon || exit 1
is "$(policy)" null "without a configuration there is no policy"
stop_daemon
trusting # an inversion is detected from launches
start_daemon || exit 1
exits 0 "auto starts" "$gpusched" policy start auto

# ---- with classes
program be be
first=$program
check "a program that is alone keeps its slice" slice_is "$first" 2048
program lc lc --arrivals closed --period-us 5000
lc=$program
check "beside LC a BE has the shortest slice" wait_for 10 slice_is "$first" 1
check "the LC has a long slice" wait_for 5 slice_is "$lc" 200000
says() { "$gpusched" status --json | jq -c ".gpus[].tsgs[] | select(.pid == $1).policy_says | [.means, .not_held]"; }
check "status says by which means LC is served, and why it has no holds" wait_for 10 eval \
	'[ "$(says "$lc")" = "[\"SHORT_SLICES\",\"REQUESTS_NOT_TOLD\"]" ]'
like "$("$gpusched" status --wide | tr '\n' ' ')" "policy auto of tsg [0-9]+ .*means short slices, not paused +requests not told" \
	"status --wide says so in a line"
like "$(status_lines)" "note: nobody is paused for requests of process $lc .*do: start it by 'gpusched run --class lc'" \
	"status says what would make holds possible"
like "$("$gpusched" advise --for 100ms | tr '\n' ' ')" "nobody is paused for requests of process $lc: .*do: start it by 'gpusched run --class lc'" \
	"advise says the same"
mkfifo "$scratch/go"
"$gpusched" run --agent --class lc -- "$helper" cuda serve 1 <"$scratch/go" >"$scratch/serve" 2>&1 &
waits=$!
at_end+=("$waits")
exec 7>"$scratch/go"
check "a service with an agent is up, and has had no request" wait_for 20 eval '[ "$(says "$waits")" = "[\"SHORT_SLICES\",\"REQUESTS_NOT_TOLD\"]" ]'
is "$(status_lines | grep -E "requests of process ($waits|$lc) " | grep -oE "process [0-9]+" | sort -u)" "process $lc" \
	"status asks for no agent where there is one"
exec 7>&-
kill $waits
wait_for 10 gone $waits
program be be
second=$program
check "of two BE the first runs, and the second is suspended" wait_for 10 eval 'suspended $second && ! suspended $first'
check "then the second runs, and the first is suspended" wait_for 10 eval 'suspended $first && ! suspended $second'
check "both BE make progress" eval 'working $first && working $second'
check "the policy counts the turns" eval '[ "$(runlist .number)" -gt 2 ]'
check "the policy knows the share of time that switches cost" wait_for 10 eval '[ "$(runlist .slice.lost_permille)" -gt 0 ]'
check "switches cost a quarter at most" wait_for 10 eval '[ "$(runlist .slice.lost_permille)" -le 250 ]'
check "LC is never suspended" eval '! suspended $lc'

exits 0 "a person suspends one" "$gpusched" suspend "pid:$second"
check "the other BE has all turns" wait_for 10 eval '[ "$(runlist .ready)" = 1 ]'
check "the other BE makes progress" working "$first"
exits 0 "a person resumes it" "$gpusched" resume "pid:$second"
check "both BE take turns again" wait_for 10 eval '[ "$(runlist .ready)" = 2 ]'

# ---- inversion: no setting helps where a person lets BE kernels run to their end (WFI)
end_load "$second"
exits 0 "launches are counted" "$gpusched" observe launches on
program be be --kernel-us 20000
second=$program
is "$(runlist .inversions)" 0 "no inversion so far"
exits 0 "a person sets WFI" "$gpusched" set "pid:$second" preempt_mode=wfi
check "it is counted that LC waits while BE runs" wait_for 20 eval '[ "$(runlist .inversions)" -gt 0 ]'
check "the policy's message about the inversion is in the log" wait_for 5 grep -q "inversion: lc waits" "$scratch"/*log*
like "$("$gpusched" policy get)" "said  *[0-9]* s ago: inversion: lc waits" "policy get has the policy's message"
like "$("$gpusched" status --wide)" "auto, [0-9]* s ago: inversion: lc waits" "status has the policy's message"
exits 0 "launches are no longer counted" "$gpusched" observe launches off

end_load "$second"
end_load "$lc"
check "without LC the BE has its owner's slice again" wait_for 10 slice_is "$first" 2048
check "the BE runs" eval '! suspended $first'
end_load "$first"

# ---- without classes
program - be
training=$program
program - lc --arrivals closed --period-us 5000
service=$program
check "status says that auto acts on neither of two programs without a class at first" wait_for 5 eval \
	'"$gpusched" status | grep -q "policy auto acts on none of the 2 programs without a class"'
check "the policy finds that one of them is a service" wait_for 20 role_is "$service" 1
check "the policy finds that the other one is a training" wait_for 20 role_is "$training" 2
check "they get the slices that classes would give them" wait_for 10 eval 'slice_is $training 1 && slice_is $service 200000'
status=$("$gpusched" status)
like "$status" "policy auto acts on 2 of the 2 programs without a class" "status says that auto acts on both"
is "$("$gpusched" status --json | jq -c "[.gpus[].tsgs[] | {(.pid | tostring): .timeslice_us}] | add | [.\"$training\", .\"$service\"]")" "[1,200000]" \
	"status --json says which slices they have"
is "$(awk 'length > 100' <<<"$status")" "" "the status fits 100 columns"
end_load "$service"
check "alone again, the training has its own slice" wait_for 40 slice_is "$training" 2048

end_load "$training"
check "the policy keeps nothing about ended programs" wait_for 5 eval '[ -z "$(for m in tsgs users jobs gangs processes; do "$gpusched" policy map auto_$m; done)" ]'

exits 0 "auto stops" "$gpusched" policy stop
check "everything is as its owner asked" wait_for 5 restored
done_testing
