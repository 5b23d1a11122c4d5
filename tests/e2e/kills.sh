#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 480
# needs: root bpf fuse
# The daemon gets SIGKILL at random moments, 12 times (KILLS), with the table kept and with it
# deleted. All settings that it had changed are restored, as the simulated RM itself shows.
. "$(dirname "$0")/lib.sh"
enter_sim
RANDOM=7
kills=${KILLS:-12}

config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
load be --seconds 600
a=$LOAD_PID
load be --seconds 600
b=$LOAD_PID
wait_for 20 eval 'slice_is $a 2048 && slice_is $b 2048' || not_ok "two programs run"

# By curl, since the gpusched command would act by itself once the daemon is dead.
ask() { # VERB ARGUMENTS
	curl -s --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" -d "$2" "http://gpusched/v1/$1" >>"$scratch/answers"
}

bad=0
changed=0
suspended=0
late=0
for ((i = 0; i < kills; i++)); do
	"$gpuschedd" --foreground >>"$scratch/daemon.log" 2>&1 &
	DAEMON_PID=$!
	if [ $((i % 4)) != 0 ]; then
		wait_for 5 eval '! restored'
		# In the middle of something: a suspend, a resume, a set.
		case $((i % 4)) in
		1) ask suspend "{\"target\":\"pid:$a\"}" & ;;
		2) ask set "{\"target\":\"pid:$b\",\"timeslice_us\":77}" & ;;
		esac
	fi
	sleep 0.$(printf '%02d' $((RANDOM % 25)))
	restored || changed=$((changed + 1))
	[ "$(sim_disabled $a)" != 0 ] && suspended=$((suspended + 1))
	kill -9 $DAEMON_PID
	wait $DAEMON_PID 2>/dev/null
	[ $((i % 10)) = 9 ] && rm -rf "$GPUSCHED_SIM/bpf/gpusched"
	from=$EPOCHREALTIME
	if ! wait_for 4 restored; then
		bad=$((bad + 1))
		diag "kill $i: not restored: $(sim_state -c '[.tsgs[] | select(.engine == 1) | [.pid, .timeslice_us, .disabled_channels]]')"
		"$gpusched" restore >/dev/null 2>&1
	fi
	awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { exit !(b - a > 2.1) }' && late=$((late + 1))
	jobs=$(jobs -rp | grep -vx "$a\|$b")
	# shellcheck disable=SC2086 # several
	[ -n "$jobs" ] && wait $jobs 2>/dev/null
done
DAEMON_PID=
is "$bad" 0 "after each of $kills kills every timeslice is CUDA's, and no channel is disabled"
is "$late" 0 "each restore took at most 2.1 s"
ge "$changed" $((kills / 3)) "a third of the kills came while settings were changed"
ge "$suspended" $((kills / 12)) "some kills came while a program was suspended"
ge "$(grep -o '"changed":[1-9]' "$scratch/answers" | wc -l)" $((kills / 12)) "some requests were answered before the kill"

start_daemon && ok "a daemon starts again" || not_ok "a daemon starts again"
check "the policy is in force again" wait_for 10 eval '! restored'
stop_daemon
check "an orderly stop restores as well" wait_for 4 restored
work=$(sim_work $a)
sleep 0.3
ge "$(sim_work $a)" "$((work + 1))" "the program that was suspended so often makes progress"
is "$(sim_files $a)" "$(sim_files $b)" "no process keeps a borrowed descriptor of the programs"
done_testing
