#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 600
# needs: root bpf fuse
# RM answers errors to calls that it has made, or has not made. Whatever it answers, its own state is
# the owners' after a policy's stop, restore, SIGKILL, a new daemon, or a person's resume.
# STATUSES="0x3 0x65 0x40 0x21" tries more of them.
. "$(dirname "$0")/lib.sh"
enter_sim
statuses=${STATUSES:-0x3}

config '[Classes]
Class = stop
Class = slice
Class = level'
"$gpusched" policy build "$top/tests/policy/unknown.bpf.c" --output "$scratch/unknown.bpf.o" >"$scratch/build.out" 2>&1 ||
	not_ok "the policy is built" "$(cat "$scratch/build.out")"

pids=()
for _ in stop slice level resume mode; do
	load be --seconds 1200 --iterations-per-us 27.78
	pids+=("$LOAD_PID")
done
stop=${pids[0]} slice=${pids[1]} level=${pids[2]} resume=${pids[3]} mode=${pids[4]}

# The owners' state: CUDA's slice, interleave level 1, mode CILP, all channels enabled.
owners() {
	[ "$(sim_state '[.tsgs[] | select(.timeslice_us != (if .engine == 1 then 2048 else 1024 end) or .interleave != 1
		or .disabled_channels != 0 or (.engine == 1 and .preempt_mode != 2))] | length')" = 0 ]
}

faults() { # LIST: from here on these controls fail
	echo "$*" >"$GPUSCHED_SIM/dev/faults"
}

failing() { # STATUS:HOW: all controls that change a setting fail
	faults "disable-channels=$1 set-timeslice=$1 set-interleave=$1 set-preempt-mode=$1"
}

class() { # PID CLASS
	"$gpusched" class set "pid:$1" "$2" >>"$scratch/out" 2>&1
}

failed() { # how many calls of each kind have failed
	sim_state '.controls | [(.["0x2080110b"], .["0xa06c0103"], .["0xa06c0107"]) | .failed // 0] | @json'
}

risen() { # OLD: all kinds have failures since
	jq -en --argjson a "$1" --argjson b "$(failed)" '[range(3) | $b[.] > $a[.]] | all'
}

unknown() { # PID KEY: its compute TSG's setting is shown as unknown
	[ "$(compute "$1" ".is.$2 == null and .changed")" = true ]
}

# A policy has suspended one program. Then its calls fail that suspend, set or resume the others.
by_policy() { # STATUS:HOW
	local before
	"$gpusched" policy start "$scratch/unknown.bpf.o" >"$scratch/out" 2>&1 || return 1
	class "$resume" stop
	wait_for 10 eval '[ "$(sim_disabled $resume)" -gt 0 ]' || return 1
	before=$(failed)
	failing "$1"
	class "$slice" slice # first: beside a TSG that could not be suspended no slice is made shorter
	class "$level" level
	wait_for 20 eval '[ "$(failed | jq ".[1]")" -gt "$(jq ".[1]" <<<"$before")" ]' || return 1
	class "$stop" stop
	class "$resume" normal
	wait_for 20 risen "$before"
}

back() { # NAME: all is the owners', within the time that a retry may need
	wait_for 15 owners || {
		not_ok "$1" "$(sim_state -c '[.tsgs[] | select(.engine == 1) | [.pid, .timeslice_us, .interleave, .preempt_mode, .disabled_channels]]')"
		faults none
		"$gpusched" restore >/dev/null
		return 1
	}
	ok "$1"
}

classless() {
	for pid in "${pids[@]}"; do
		class "$pid" normal
	done
}

policy_stop() {
	"$gpusched" policy stop >"$scratch/out" 2>&1
	faults none
}

restore() {
	"$gpusched" restore >"$scratch/out" 2>&1 && not_ok "$1: restore says that it could not" "$(cat "$scratch/out")"
	faults none
	# not a second restore: what is left is tried again
}

sigkill() {
	kill_daemon
	faults none
	rm -f "$GPUSCHED_SIM/run/saved.json" # the next daemon would start the policy again from it
}

restart() {
	kill -9 "$(pgrep -P "$DAEMON_PID" -x gpusched-guard)"
	sigkill
	start_daemon
}

check "five programs run" wait_for 30 eval '[ "$(sim_state "[.tsgs[] | select(.engine == 1 and .timeslice_us == 2048)] | length")" = 5 ]'
start_daemon
for status in $statuses; do
	for how in applied refused; do
		for end in policy_stop restore sigkill restart; do
			what="$status, $how, $end"
			by_policy "$status:$how" || not_ok "$what: calls fail" "$(failed) $(tail -3 "$scratch/out")"
			if [ $end = policy_stop ] && [ "$status" = 0x3 ]; then
				check "$what: the slice is shown as unknown" wait_for 5 unknown "$slice" timeslice_us
				check "$what: the suspension is shown as unknown" wait_for 5 unknown "$stop" runnable
			fi
			$end "$what"
			back "$what: RM's state is the owners'"
			classless
			# a new daemon, since after a failed call a TSG gets nothing of a policy for a minute
			[ -z "$DAEMON_PID" ] || sigkill
			start_daemon
		done
	done
done

# ---- by hand -------------------------------------------------------------------------------------

verb() { # COMMAND...: fails, and says that the setting is unknown
	"$gpusched" "$@" >"$scratch/out" 2>&1 && not_ok "$what: $1 fails"
	grep -q "unknown until a call succeeds" "$scratch/out" || not_ok "$what: $1 says that it is unknown" "$(cat "$scratch/out")"
}

by_hand() { # STATUS:HOW
	"$gpusched" suspend "pid:$resume" >/dev/null || not_ok "$what: suspend succeeds"
	failing "$1"
	verb suspend "pid:$stop"
	verb set "pid:$slice" timeslice=777
	verb set "pid:$level" interleave=high
	verb set "pid:$mode" preempt_mode=cta
	verb resume "pid:$resume"
}

for status in $statuses; do
	for how in applied refused; do
		what="$status, $how, by hand"
		by_hand "$status:$how"
		faults none
		for pid in "$stop" "$resume"; do
			check "$what: resume succeeds after it" "$gpusched" resume "pid:$pid"
		done
		for pid in "$slice" "$level" "$mode"; do
			check "$what: set clear succeeds after it" "$gpusched" set "pid:$pid" clear
		done
		check "$what: RM's state is the owners'" wait_for 15 owners
	done
done

# An owner's TSG that cannot be put back for long: the guardian goes on.
what="a minute of failures"
by_hand 0x65:applied
guardian=$(pgrep -P "$DAEMON_PID" -x gpusched-guard)
kill_daemon
sleep 35
check "the guardian is there after 35 s of failures" kill -0 "$guardian"
faults none
back "RM's state is the owners' once its calls succeed"
check "the guardian ends then" wait_for 10 gone "$guardian"
done_testing
