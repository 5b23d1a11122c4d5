# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# turmoil.sh - random actions for e2e/turmoil.sh (simulated GPU) and bench/hw/churn.sh (real GPU)
#
# Both scripts source this file. They provide wait_for, gone, list_json (TARGET FILTER), $gpusched,
# $gsload, and $iterations (gsload's iterations per microsecond).

programs=()
declare -A done_so_far
all_steps="start pool end kill class suspend policy stop client server"

# program ARGUMENTS...: starts `gpusched run ARGUMENTS` in the background; $program is its PID
program() {
	"$gpusched" run "$@" --iterations-per-us "$iterations" >/dev/null &
	program=$!
	at_end+=("$program")
}
one_of() { # WORD...: sets $word to a random one of its arguments
	word=${@:RANDOM % $# + 1:1}
}
some_program() { # sets $word to the PID of a random running program; fails if there is none
	local p alive=()
	for p in "${programs[@]}"; do kill -0 "$p" 2>/dev/null && alive+=("$p"); done
	programs=("${alive[@]}")
	[ ${#programs[@]} -gt 0 ] && one_of "${programs[@]}"
}
server() { list_json all '[.[] | select(.pool != null) | .pid] | first // empty'; }
clients() { list_json all '[.[] | select(.pool != null) | .pool.clients[].pid] | unique | .[]'; }

act() { # WHAT
	local what=$1 pid
	case $what in
	start)
		if [ ${#programs[@]} -ge 8 ]; then
			some_program && kill "$word"
			return
		fi
		one_of lc be be normal
		if [ "$word" = lc ]; then
			program --class lc -- "$gsload" lc --seconds 0
		else
			program --class "$word" -- "$gsload" be --seconds 0
		fi
		programs+=("$program") ;;
	pool)
		program --pool --class be -- "$gsload" be --seconds 5
		programs+=("$program") ;;
	end) some_program && kill "$word" ;;
	kill) some_program && kill -9 "$word" ;;
	class) some_program && pid=$word && one_of lc be normal && "$gpusched" class set "pid:$pid" "$word" ;;
	suspend) some_program && "$gpusched" suspend --for 300ms "pid:$word" ;;
	policy) one_of auto lcbe rr prio && "$gpusched" policy start "$word" ;;
	stop) "$gpusched" policy stop; "$gpusched" policy start auto ;;
	client) act pool; wait_for 5 eval '[ -n "$(clients)" ]' && one_of $(clients) && kill -9 "$word" ;;
	server) act pool; wait_for 5 eval '[ -n "$(server)" ]' && kill -9 "$(server)" ;;
	esac >/dev/null && done_so_far[$what]=$((${done_so_far[$what]:-0} + 1))
}

# Does each step once, so that everything that is made at first use exists.
each_step() {
	local what
	for what in $all_steps; do act start; act "$what"; done
}

uptime_s() { # used instead of bash's SECONDS, which ran ahead of the uptime on one machine
	local up
	read -r up _ </proc/uptime
	echo "${up%.*}"
}

some_steps() { # SECONDS: does random steps for so long; sets $steps_took_s to the time that they took
	local begun
	begun=$(uptime_s)
	while steps_took_s=$(($(uptime_s) - begun)) && [ $steps_took_s -lt "$1" ]; do
		one_of start start start $all_steps
		act "$word"
		sleep "0.$((RANDOM % 3))"
	done
}

steps_done() {
	local what
	for what in $all_steps; do printf '%s %s  ' "$what" "${done_so_far[$what]:-0}"; done
}

end_programs() {
	local p
	for p in "${programs[@]}"; do kill "$p" 2>/dev/null; done
	for p in "${programs[@]}"; do wait_for 15 gone "$p" || kill -9 "$p"; done
	programs=()
}

only_ours() { # only two processes are listed: service and training, and no server
	[ "$(list_json all '[.[].pid] | unique | length')" = 2 ]
}
