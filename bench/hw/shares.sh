#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Compares the parts of a GPU's time that are promised with those that programs get; at most 5 minutes each.
#
#   bench/hw/shares.sh weights OUTDIR    four programs of weight 10, 20, 30 and 40, under `fair`; then the same with one
#                                        that launches kernel by kernel; then one with request=50% beside three others
#   bench/hw/shares.sh limits OUTDIR     a program alone with a limit of 10, 25, 50, 75 and 90 %, under `fair`; then a BE
#                                        with a limit of 25, 50 and 75 % beside an LC service, under `auto`
#   bench/hw/shares.sh budget OUTDIR     a user with a budget of GPU seconds beside another program, before and after the
#                                        budget is used up; then the other program rests, and comes back
#
# As root, on an otherwise idle GPU. OUTDIR gets weights.txt, limits.txt or budget.txt (the table, which is printed as well) and raw/.
# SECONDS_EACH=10: how long each is measured, after WARMUP=4. `gpusched sim shell -- bench/hw/shares.sh limits OUTDIR` tries
# it on a simulated GPU.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
part=${1:-}
case $part in
weights | limits | budget) ;;
*)
	echo "usage: $0 weights|limits|budget OUTDIR" >&2
	exit 2
	;;
esac
begin 280 "raw-$part" "${@:2}"
seconds=${SECONDS_EACH:-10} warmup=${WARMUP:-4}
export GPUSCHED_CONFIG=$raw/conf
: >"$GPUSCHED_CONFIG"
calibrate || exit 1
table=$out/$part.txt
: >"$table"

row() { # FORMAT ARGUMENTS...
	# shellcheck disable=SC2059
	printf "$@" | tee -a "$table"
}

program() { # NAME OPTIONS-OF-RUN -- ARGUMENTS: starts a program that is always busy; sets $pid
	local name=$1 how=()
	shift
	while [ "$1" != -- ]; do
		how+=("$1")
		shift
	done
	as_be=("$gpusched" run --class be "${how[@]}" --)
	be_start "$name" --warmup "$warmup" "${@:2}"
}

# held PID...: prints in one line the ns for which each program has held the GPU so far
held() {
	gs list --json >"$raw/list.jsonl" 2>>"$raw/list.log"
	for pid in "$@"; do
		"$jq" -rs --argjson pid "$pid" \
			'flatten | map(select(.pid == $pid and .kind == "compute")) | map(.gpu_time_ns // 0) | add // 0' "$raw/list.jsonl"
	done | paste -sd' '
}

# shares NAMES PROMISED PID...: prints a row for each program: its part of the GPU time that these programs hold
# together during $seconds
shares() {
	local -a names promised first last
	local i all=0
	read -ra names <<<"$1"
	read -ra promised <<<"$2"
	shift 2
	sleep "$warmup"
	read -ra first <<<"$(held "$@")"
	sleep "$seconds"
	read -ra last <<<"$(held "$@")"
	for i in "${!names[@]}"; do
		all=$((all + last[i] - first[i]))
	done
	[ "$all" -gt 0 ] || {
		say "nothing is known of GPU time: see daemon.log"
		return 1
	}
	for i in "${!names[@]}"; do
		row '%-22s %9s %9s\n' "${names[$i]}" "${promised[$i]}" \
			"$(awk -v a="$((last[i] - first[i]))" -v all="$all" 'BEGIN { printf "%.1f", 100 * a / all }')"
	done
}

# together TITLE PROMISED "NAME OPTIONS-OF-RUN -- ARGUMENTS"...: runs these programs at the same time, under fair
together() {
	local title=$1 promised=$2 names='' list=() words
	shift 2
	[ $SECONDS -lt "$budget" ] || { say "$title: skipped, the time is used up"; return; }
	say "$title"
	daemon_start && gs policy start fair >>"$raw/policy.log" 2>&1 || { say "$title: failed, see daemon.log"; return; }
	for words in "$@"; do
		# shellcheck disable=SC2086
		program $words
		list+=("$pid")
		names+="${words%% *} "
	done
	row '\n%s\n%-22s %9s %9s\n' "$title" PROGRAM 'PROMISED%' 'HELD%'
	shares "$names" "$promised" "${list[@]}"
	gs list --wide >"$raw/wide.txt" 2>&1
	gs policy get --json >>"$raw/policy.log" 2>&1
	settle
}

# work NAME OPTIONS-OF-RUN -- : prints the program's kernels per second, after the warm-up
work() {
	program "$@"
	sleep $((warmup + seconds))
	be_end "$1" "$pid"
	be_rate "$1"
}

limits_alone() {
	local limit all rate
	say "limits of a program that is alone, under fair"
	daemon_start && gs policy start fair >>"$raw/policy.log" 2>&1 || { say "failed, see daemon.log"; return; }
	all=$(work free --)
	row '\n%s\n%-22s %9s %9s\n' "alone, under fair" PROGRAM LIMIT% WORK%
	for limit in 10 25 50 75 90; do
		[ $SECONDS -lt "$budget" ] || { say "limit $limit: skipped, the time is used up"; continue; }
		rate=$(work "l$limit" --limit "$limit" --)
		row '%-22s %9s %9s\n' busy "$limit" "$(awk -v r="${rate:-0}" -v a="$all" 'BEGIN { if (a > 0) printf "%.1f", 100 * r / a; else printf "-" }')"
	done
	settle
}

# beside NAME POLICY OPTIONS-OF-RUN...: runs an LC service beside one BE; adds a row with LC latency and BE work
beside() {
	local name=$1 policy=$2 rate=- be=
	shift 2
	[ $SECONDS -lt "$budget" ] || { say "$name: skipped, the time is used up"; return; }
	daemon_start || return
	[ "$policy" = none ] || gs policy start "$policy" >>"$raw/policy.log" 2>&1 || { say "$name: failed"; return; }
	if [ "$name" != alone ]; then
		program "be-$name" "$@" --
		be=$pid
		sleep "$warmup"
	fi
	as_lc=("$gpusched" run --no-agent --class lc --)
	lc "$name" "$seconds" "${closed[@]}"
	if [ -n "$be" ]; then
		be_end "be-$name" "$be"
		rate=$(be_rate "be-$name")
	fi
	row '%-22s %9s %9s %9s\n' "$name" \
		"$("$jq" -rs 'map(select(.p99_us)) | last | .p50_us' "$raw/$name.lc.json")" \
		"$("$jq" -rs 'map(select(.p99_us)) | last | .p99_us' "$raw/$name.lc.json")" "${rate:--}"
	settle
}

# Prints for which part of the next SECONDS each of two programs holds the GPU.
held_row() { # NAME SECONDS PID PID
	local first last begun=$EPOCHREALTIME
	read -ra first <<<"$(held "$3" "$4")"
	sleep "$2"
	read -ra last <<<"$(held "$3" "$4")"
	row '%-34s %9s %9s\n' "$1" $(awk -v s="$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" \
		-v a="$((${last[0]:-0} - ${first[0]:-0}))" -v b="$((${last[1]:-0} - ${first[1]:-0}))" \
		'BEGIN { printf "%.1f %.1f", a / s / 1e7, b / s / 1e7 }')
	gs budget | sed 's/^/  /' | tee -a "$raw/budget.log"
}

budget_of_user() {
	local nobody=65534 mine other tree=$top/bundle
	if ! setpriv --reuid $nobody --regid $nobody --clear-groups test -x "$gsload"; then
		rm -rf /tmp/gpusched-shares && cp -r "$tree" /tmp/gpusched-shares && chmod -R a+rX /tmp/gpusched-shares
		gsload=/tmp/gpusched-shares/gsload
	fi
	printf '[Budgets]\nBudget=uid=%s gpu_seconds=5 per=day\n' $nobody >"$GPUSCHED_CONFIG"
	daemon_start || return
	gs monitor --json >"$raw/monitor.jsonl" 2>&1 &
	pids+=($!)
	as_be=(setpriv --reuid $nobody --regid $nobody --clear-groups)
	be_start mine --warmup 0
	mine=$pid
	as_be=()
	be_start other --warmup 0
	other=$pid
	row '%-34s %9s %9s\n' "GPU's time held, %" USER OTHER
	held_row "budget left" 4 "$mine" "$other"
	wait_for 30 eval '"$gpusched" budget --json | "$jq" -e .used_up || "$gpusched" budget --json | "$jq" -es "flatten | .[0].used_up"' ||
		say "the budget is not used up after 30 s"
	sleep 3
	held_row "used up, the other at work" 5 "$mine" "$other"
	gs list --wide >"$raw/list.txt" 2>&1
	kill -STOP "$other"
	sleep 4
	held_row "used up, the other rests" 5 "$mine" "$other"
	kill -CONT "$other"
	sleep 4
	held_row "used up, the other is back" 5 "$mine" "$other"
	be_end mine "$mine"
	be_end other "$other"
	settle
	rm -rf /tmp/gpusched-shares
}

case $part in
budget) budget_of_user ;;
weights)
	together "weights, all busy" "10 20 30 40" "w10 --weight 10 --" "w20 --weight 20 --" "w30 --weight 30 --" "w40 --weight 40 --"
	together "weights, the first kernel by kernel" "10 20 30 40" "w10 --weight 10 -- --kernel-us 100 --in-flight 1" \
		"w20 --weight 20 --" "w30 --weight 30 --" "w40 --weight 40 --"
	together "a request beside three" "50 16.7 16.7 16.7" "promised --request 50 --" "a --" "b --" "c --"
	;;
limits)
	limits_alone
	row '\n%s\n%-22s %9s %9s %9s\n' "beside an LC service" SCHEME P50_US P99_US BE/S
	beside alone none
	beside default none
	beside auto auto
	for limit in 25 50 75; do
		beside "auto-limit-$limit" auto --limit "$limit"
	done
	;;
esac
