#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures on a real GPU how well policies keep weights and limits, and what that costs; at most 5 minutes.
#
#   bench/hw/rules.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. OUTDIR gets rules.txt, raw/ and log.txt. TIME=N:
# seconds of each measurement (10). STEPS="weights limits" runs only those steps:
#   weights    `fair`, four busy programs with weights 10, 20, 30, 40: the percentage of all work each does
#   limits     `fair`, a busy program with a limit of 10, 25, 50, 75, 90 %: its work in percent of its
#              work without a limit, over all and in its slowest and fastest second
#   lc         a service with 100 us requests, one at a time: alone, then beside a BE without and with a
#              limit of 25 %, under `auto`
#   cpu        the daemon's CPU time beside eight BE under `fair`, in percent of a processor
#   trainings  `fair`, two PyTorch trainings: in one the CPU waits for the GPU after each step, in the
#              other after every tenth
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 300 raw "$@"
T=${TIME:-10}
table=$out/rules.txt
: >"$table"

now() { awk '{ print $1 }' /proc/uptime; }

# busy NAME [RUN-OPTIONS...]: starts a program that is always busy, and prints every 20 ms what it did
busy() {
	as_be=("$gpusched" run --class be "${@:2}" --)
	be_start "$1" --lines
}

# counted NAME FROM TO, after the program's end: prints kernels per second in that time, then the kernels of its slowest and
# of its fastest whole second
counted() {
	"$jq" -Rnr --argjson from "$2" --argjson to "$3" '[inputs | fromjson?] | map(select(.n and .t >= $from and .t < $to)) |
		((map(.n) | add // 0) / ($to - $from)) as $all |
		(group_by(.t - $from | floor) | map(map(.n) | add)) as $each |
		"\($all) \($each[:-1] | min // 0) \($each[:-1] | max // 0)"' "$raw/$1.be.json"
}

alone() {
	local from to
	[ -z "${alone_rate:-}" ] || return 0
	busy alone
	sleep 2
	from=$(now)
	sleep 4
	to=$(now)
	be_end alone "$pid"
	alone_rate=$(counted alone "$from" "$to" | cut -d' ' -f1)
	echo "alone: $alone_rate kernels/s" >>"$table"
}

weights() {
	local w from to i=0 rates=() programs=()
	daemon_start && gs policy start fair || return 1
	for w in 10 20 30 40; do
		busy "weight.$w" --weight "$w"
		programs+=("$pid")
	done
	sleep 3
	from=$(now)
	sleep "$T"
	to=$(now)
	gs list --json >"$raw/weights.list.jsonl"
	for w in 10 20 30 40; do be_end "weight.$w" "${programs[i++]}"; done
	for w in 10 20 30 40; do rates+=("$(counted "weight.$w" "$from" "$to" | cut -d' ' -f1)"); done
	printf '%s\n' "${rates[@]}" | awk '{ r[NR] = $1; s += $1 } END {
		for (i = 1; i <= NR; i++) printf "weight %d: %.1f %% of the work\n", 10 * i, 100 * r[i] / s
		printf "all four: %.1f kernels/s\n", s }' >>"$table"
}

limits() {
	local limit from to
	daemon_start && gs policy start fair || return 1
	alone || return 1
	for limit in 10 25 50 75 90; do
		busy "limit.$limit" --limit "$limit"
		sleep 3
		from=$(now)
		sleep "$T"
		to=$(now)
		be_end "limit.$limit" "$pid"
		counted "limit.$limit" "$from" "$to" | awk -v l="$limit" -v a="$alone_rate" '{
			printf "limit %d: %.1f %% of alone, %.1f to %.1f in a second\n", l, 100 * $1 / a, 100 * $2 / a, 100 * $3 / a }' >>"$table"
	done
}

lc_beside() {
	local how from to
	daemon_start && gs policy start auto || return 1
	as_lc=("$gpusched" run --no-agent --class lc --)
	for how in alone without with; do
		case $how in
		without) busy "lc.$how" ;;
		with) busy "lc.$how" --limit 25 ;;
		esac
		sleep 3
		from=$(now)
		lc "lc.$how" "$T" "${closed[@]}"
		to=$(now)
		[ $how = alone ] || {
			be_end "lc.$how" "$pid"
			counted "lc.$how" "$from" "$to" | awk -v h="$how" '{ printf "BE %s a limit of 25 %%: %.1f kernels/s\n", h, $1 }' >>"$table"
		}
		"$jq" -rs --arg how "$how" 'last | "LC, BE \($how): p50 \(.p50_us), p99 \(.p99_us) us"' "$raw/lc.$how.lc.json" >>"$table"
	done
}

cpu() {
	local i before after
	daemon_start && gs policy start fair || return 1
	for ((i = 0; i < 8; i++)); do busy "cpu.$i"; done
	sleep 3
	before=$(awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$daemon/stat")
	sleep "$T"
	after=$(awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$daemon/stat")
	awk -v a="$before" -v b="$after" -v t="$T" -v hz="$(getconf CLK_TCK)" \
		'BEGIN { printf "the daemon beside eight BE under fair: %.2f %% of a processor\n", 100 * (b - a) / hz / t }' >>"$table"
}

train() { # PROGRAM NAME: starts a training; NAME.json gets a line per step
	"$gpusched" run --class be -- python3 "$top/bench/torch_load.py" "$1" >"$raw/$2.json" 2>"$raw/$2.err" &
	pid=$!
	pids+=($pid)
	wait_for 60 grep -q ready "$raw/$2.json"
}

steps() { # NAME FROM TO: prints the training's steps per second in that time
	"$jq" -s --argjson from "$2" --argjson to "$3" \
		'map(select(.us and .t >= $from and .t < $to)) | length / ($to - $from) * 100 | round / 100' "$raw/$1.json"
}

trainings() {
	local from to program policy
	daemon_start || return 1
	for program in ahead train; do
		train $program "alone.$program" || return 1
		sleep 1
		from=$(now)
		sleep 5
		echo "$program alone: $(steps "alone.$program" "$from" "$(now)") steps/s" >>"$table"
		be_end "alone.$program" "$pid"
	done
	train ahead both.ahead && train train both.train || return 1
	for policy in default fair; do
		[ $policy = default ] || gs policy start fair
		sleep 3
		from=$(now)
		sleep "$T"
		to=$(now)
		echo "$policy: ahead $(steps both.ahead "$from" "$to"), train $(steps both.train "$from" "$to") steps/s" >>"$table"
	done
	gs list --wide >"$raw/trainings.list" 2>&1
}

calibrate || exit 1
for step in ${STEPS:-weights limits lc cpu trainings}; do
	case $step in
	lc) step lc $((6 * T)) lc_beside ;;
	*) step "$step" $((8 * T)) "$step" ;;
	esac
done
cat "$table"
