# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh - helpers of the attacks: an ordinary user attacks, and other users must not notice
#
# By default the attacks are small, so that all of them take some minutes; FULL=1 runs them at full size.
# All attacks have the same limits on their effect on others:
#   - no turn of the daemon's loop takes more than a second, and its heartbeat is never older than that
#   - when the daemon is killed, all other users' TSGs are restored within two seconds
#
#   . "$(dirname "$0")/lib.sh"
#   enter_sim
#   start_daemon
#   victim
#   watch_loop
#   attack dups 19800; a=$ATTACKER
#   loop_turned "many descriptors"
#   kill_restores "many descriptors" $VICTIM

. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

attacker_uid=65534
# shellcheck disable=SC2034 # e2e/lib.sh uses it
before_daemon=(nice -n -5) # as in the daemon's unit
steady="--iterations-per-us 27.78" # a fixed value, since calibration is wrong on a busy machine

# size SHORT FULL: prints FULL with FULL=1, else SHORT
size() {
	[ "${FULL:-}" = 1 ] && echo "$2" || echo "$1"
}

# "${as_attacker[@]}" COMMAND...: an array and not a function, so that $! is the command's PID
as_attacker=(setpriv --reuid $attacker_uid --regid $attacker_uid --clear-groups)

# Opens descriptor 9, from which the attackers read their orders.
words_open() {
	[ -p "$scratch/words" ] && return
	chmod 711 "$scratch"
	mkfifo "$scratch/words"
	exec 9<>"$scratch/words"
}

# attack VERB WORDS...: starts the helper as the attacker, and waits until it is ready. Sets $ATTACKER to its PID and
# $ATTACK_OUT to its output file.
attacks_begun=0
attack() {
	attack_begin "$@"
	attack_ready
}

attack_begin() {
	words_open
	attacks_begun=$((attacks_begun + 1))
	ATTACK_OUT=$scratch/attack.$attacks_begun
	"${as_attacker[@]}" "$helper" "$@" <"$scratch/words" 9<&- >"$ATTACK_OUT" 2>&1 &
	ATTACKER=$!
	at_end+=("$ATTACKER")
}

attack_ready() {
	wait_for 60 grep -qE "^(ready|mapped)" "$ATTACK_OUT" ||
		not_ok "the attacker is ready" "$(cat "$ATTACK_OUT")"
}

# attack_many N VERB WORDS...: starts N attackers at once; their PIDs are in ${ATTACKERS[@]}
attack_many() {
	local n=$1 i first=$((attacks_begun + 1))
	ATTACKERS=()
	shift
	for ((i = 0; i < n; i++)); do
		attack_begin "$@"
		ATTACKERS+=("$ATTACKER")
	done
	for ((i = first; i <= attacks_begun; i++)); do
		ATTACK_OUT=$scratch/attack.$i
		attack_ready || return
	done
}

end_attack() { # PID...
	kill -9 "$@" 2>/dev/null
	wait "$@" 2>/dev/null
	return 0
}

# victim [GSLOAD'S ARGUMENTS]: starts a program as root, and waits until it works; $VICTIM is its PID
victim() {
	# shellcheck disable=SC2086 # two words
	load "${1:-be}" --seconds 0 --warmup 0 $steady "${@:2}"
	VICTIM=$LOAD_PID
	wait_for 30 eval '[ "$(sim_slice '$VICTIM')" != null ]' || not_ok "a victim runs"
}

# new_slice: starts a program ($VICTIM), and measures how long it waits for the policy's slice ($MS)
new_slice() {
	victim
	took wait_for 120 slice_is $VICTIM 1
}

# no_attack_yet: runs new_slice without an attack, since a busy machine and a monitor of thousands of
# TSGs delay it, too. Sets $ALLOWED to 2000 ms plus four times the measured time.
no_attack_yet() {
	new_slice
	diag "a program waits for its slice without an attack: $MS ms"
	ALLOWED=$((2000 + 4 * MS))
	end_load $VICTIM KILL
}

now_ms() {
	echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

# took COMMAND...: runs it; $MS is the milliseconds that it took
took() {
	local from
	from=$(now_ms)
	"$@"
	local rc=$?
	MS=$(($(now_ms) - from))
	return $rc
}

# measure_begin VERB: starts a measuring helper; measure_end VERB: ends it, and sets $MEASURED to its result
measure_begin() { # VERB
	"$helper" "$1" >"$scratch/measured.$1" &
	declare -g "measure_$1=$!"
	at_end+=($!)
}

measure_end() { # VERB
	local pid=measure_$1
	kill "${!pid}"
	wait "${!pid}"
	MEASURED=$(cat "$scratch/measured.$1")
}

watch_loop() {
	measure_begin beat
}

# own_turn NAME: checks the longest iteration of the daemon's loop, without waits for a processor
own_turn() {
	le "$("$gpusched" stats --json | jq .service.longest_turn_own_us)" 500000 "$1: the loop's own turns were short, in us"
}

# loop_turned NAME: checks the iterations of the daemon's loop since watch_loop
loop_turned() {
	local turn cpu own
	measure_end beat
	le "$MEASURED" 1250 "$1: the heartbeat was fresh, in ms"
	read -r turn cpu own < <("$gpusched" stats --json |
		jq -r '.service | "\(.longest_turn_us) \(.longest_turn_cpu_us) \(.longest_turn_own_us)"')
	le "$turn" 1000000 "$1: every turn of the loop was short, in us"
	le "$own" 500000 "$1: the loop's own turns were short, in us"
	diag "$1: the longest turn: $turn us; the most CPU time of one: $cpu us; without waits for a processor: $own us"
}

pings() { # NAME: checks that root is answered; of three pings, the middle one counts
	local all=()
	for _ in 1 2 3; do
		took curl -sf -o /dev/null --max-time 30 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/ping
		all+=("$MS")
	done
	MS=$(printf '%s\n' "${all[@]}" | sort -n | sed -n 2p)
	le "$MS" 1000 "$1: root is answered, in ms"
}

# Looks at all processes with one request: many requests would take most of the measured time on a busy
# machine.
all_restored() { # PID...
	local IFS=,
	[ "$(sim_state ". as {tsgs: \$all} | [$*] | all(. as \$pid | \$all | map(select(.pid == \$pid)) |
		(map(select(.engine == 1))[0].timeslice_us == 2048) and (map(.disabled_channels) | add == 0))")" = true ]
}

# kill_restores NAME PID...: kills the daemon, and checks that these processes are restored within two
# seconds
kill_restores() {
	local what=$1
	shift
	kill_daemon
	took wait_for 60 all_restored "$@" || not_ok "$what: restored at all"
	le $MS 2000 "$what: others are restored, in ms"
}

# set_obeyed NAME PID US: checks that root's own `set` reaches RM
set_obeyed() {
	took timeout 60 "$gpusched" set "pid:$2" "timeslice=${3}us" >/dev/null 2>&1
	took_set=$MS
	is "$(sim_slice "$2")" "$3" "$1: root's set is obeyed"
	le $took_set 2000 "$1: at once, in ms"
}
