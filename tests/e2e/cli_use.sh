#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Comforts of the command line: times with units, options anywhere, targets, lists.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"
load be --seconds 10m
be=$LOAD_PID
check "gsload takes a time with a unit" wait_tsgs pid:$be 4
wait_for 5 slice_is $be 2048

# ---- times -------------------------------------------------------------------------------------------

exits 0 "set takes a timeslice of 0.3ms" "$gpusched" set pid:$be timeslice=0.3ms
check "the RM has a timeslice of 300 us" slice_is $be 300
exits 0 "suspend takes --for 1h30m" "$gpusched" suspend pid:$be --for 1h30m
now_ns=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
is "$(list_json pid:$be "(.[0].suspended_until_ns - $now_ns) / 1e9 | . > 5300 and . < 5400.5")" true \
	"the suspension lasts 90 minutes"
exits 0 "resume ends the suspension" "$gpusched" resume pid:$be
exits 0 "set clear succeeds" "$gpusched" set pid:$be clear
exits 2 "a time in the wrong order of units is refused" "$gpusched" suspend pid:$be --for 1s1h
like "$out" "write 20us, 500ms, 5s or 1h30m" "the error says what to write"
config "[Policy]
HoldLimit=1m
[Classes]
Class=slow suspend_limit_ms=2s deadline_us=1.5ms"
exits 0 "the configuration takes times with units, too" "$gpuschedd" --check-config --config "$scratch/gpusched.conf"
exits 0 "an option of a policy takes milliseconds, too" "$gpusched" policy start lcbe -o be_slice_us=0.1ms
is "$("$gpusched" policy get --json | jq '.running.options[] | select(.name == "be_slice_us").value')" 100 \
	"the option is shown in its own unit"
like "$("$gpusched" policy get)" "^policy lcbe runs.*options +lc_slice_us=1000000 be_slice_us=1" "policy get names the options"
is "$("$gpusched" policy get --json | jq -c .running.callbacks)" "$("$gpusched" policy show lcbe --json | jq -c .callbacks)" \
	"policy get and policy show print the same object"
exits 0 "policy stop succeeds" "$gpusched" policy stop
like "$("$gpusched" policy get)" "^no policy runs.*ended +lcbe \(stopped\): stopped by a person" "policy get says who ended the policy"

# ---- targets -----------------------------------------------------------------------------------------

is "$(list_json uid:$(id -u) length) $(list_json user:$(id -un) length)" "4 4" "targets by user"
is "$(list_json "pid:$be,gpu:0" length) $(list_json "user:$(id -un),comm:gs*,pid:$be" length)" "4 4" \
	"a target with commas means TSGs that match all its parts"
exits 1 "a target with one part that does not match finds nothing" "$gpusched" list "pid:$be,uid:12345"
exits 1 "set with that target fails" "$gpusched" set "pid:$be,uid:12345" timeslice=33us
check "the slice is unchanged" slice_is $be 2048
exits 0 "set takes a target with several parts" "$gpusched" set "user:$(id -un),gpu:0" timeslice=33us
check "the slice is set by that target" slice_is $be 33
exits 0 "set all clear succeeds" "$gpusched" set all clear

# ---- options before the verb ---------------------------------------------------------------------------

exits 0 "an option may stand before the verb" "$gpusched" --json list pid:$be
is "$(jq -s length <<<"$out")" 4 "an option before the verb is the verb's"
exits 0 "an option with a value may stand before the verb" "$gpusched" --for 200ms suspend pid:$be
check "the option with a value is the verb's" wait_for 10 eval "[ \$(sim_disabled $be) = 0 ]"
is "$("$gpusched" --class be run -- echo -n --json)" "--json" "run leaves its command's options to the command"

# ---- list ----------------------------------------------------------------------------------------------

rows_of() { "$gpusched" list pid:$be "$@" | grep -cE "(^| )$be "; }
is "$(rows_of) $(rows_of --wide) $(rows_of --all)" "1 1 4" "list shows processes, --wide TSGs that compute, --all all TSGs"
is "$("$gpusched" list pid:$be --columns pid,kind,slice | head -1 | xargs)" "PID KIND SLICE" "--columns has these columns"
exits 2 "an unknown column is refused" "$gpusched" list --columns pid,nonsense
like "$out" "no column is named 'nonsense': id, gpu, pid" "the error names all columns"
exits 2 "an unknown column to sort by is refused" "$gpusched" list --sort nonsense
exits 2 "stats has columns only with --by" "$gpusched" stats --wide
copy=$(list_json pid:$be 'map(select(.kind == "copy"))[0].id')
like "$("$gpusched" list tsg:$copy)" " copy " "a copy TSG that is named is shown"
like "$("$gpusched" list "gpu:0,tsg:$copy")" " copy " "a copy TSG that a part of the target names is shown"
"$gpusched" list --watch pid:$be >"$scratch/watched" &
watch=$!
at_end+=($watch)
heads() {
	[ "$(grep -c ' STATE' "$scratch/watched")" -ge "$1" ]
}
check "list --watch lists again" wait_for 20 heads 3
kill -INT $watch
wait $watch
is "$?" 0 "SIGINT ends list --watch with success"

# ---- policies ------------------------------------------------------------------------------------------

is "$("$gpusched" policy list | awk 'length > 80')" "" "policy list fits 80 columns"
like "$("$gpusched" policy list)" "lcbe +latency-critical work first" "policy list says what a policy does"
is "$("$gpusched" policy list | awk 'NR > 1 && NF < 4')" "" "policy list says what every policy does"
like "$("$gpusched" policy show lcbe)" "be_slice_us +1 +1 +100000000 +timeslice of a be TSG" "policy show has the options"
like "$("$gpusched" policy show hold)" "acts on +classes lc be" "policy show says on which classes it acts"
is "$("$gpusched" policy show lcbe --json | jq -r '"\(.name) \(.options | length)"')" "lcbe 4" "policy show --json has the options"
exits 2 "policy show refuses an unknown name" "$gpusched" policy show there_is_none
exits 0 "policy start starts a policy" "$gpusched" policy start none
exits 1 "policy start --no-replace fails if a policy runs" "$gpusched" policy start lcbe --no-replace
is "$(policy_now)" none "the first policy still runs"
exits 0 "policy start without it succeeds" "$gpusched" policy start lcbe
is "$(policy_now)" lcbe "policy start replaces the first policy"
exits 2 "there is no policy switch" "$gpusched" policy switch none
like "$("$gpusched" policy get)" "^policy lcbe runs.*options +lc_slice_us=1000000 be_slice_us=1" "policy get names the options, too"
is "$("$gpusched" policy get --json | jq -c .running.callbacks)" "$("$gpusched" policy show lcbe --json | jq -c .callbacks)" \
	"policy get and policy show print the same object"
exits 0 "policy stop succeeds" "$gpusched" policy stop
like "$("$gpusched" policy get)" "^no policy runs.*ended +lcbe \(stopped\): stopped by a person" "policy get says who ended the policy"

# ---- counters ------------------------------------------------------------------------------------------

is "$("$gpusched" stats | grep -c '[{]')" 0 "stats has lines for people, not JSON"
like "$("$gpusched" stats)" "gpu_time.0.held_ns +[-0-9]" "stats has lines of each GPU, too"
is "$("$gpusched" stats | grep -c '^ago')" 0 "stats has no line that only programs need"
curl -s --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics >"$scratch/metrics"
names=$("$gpusched" stats --json | jq -r '. as $o | ("taps", "engine", "account", "service") as $g |
	($o[$g] // {}) | keys[] | select(startswith("longest_turn") | not) |
	"\($g)_\(sub("_ns$"; "_seconds"))_total"')
names+=$'\nservice_longest_turn_seconds\nservice_longest_turn_cpu_seconds\nservice_longest_turn_own_seconds' # gauges
ge "$(wc -l <<<"$names")" 40 "stats has counters"
is "$(while read -r name; do grep -q "^gpusched_$name [0-9]" "$scratch/metrics" || echo "$name"; done <<<"$names")" "" \
	"/metrics has each of these counters"

# ---- colours, completion, doctor -----------------------------------------------------------------------

on_terminal() {
	python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))' env TERM=xterm "$@"
}
is "$(on_terminal "$gpusched" policy list | grep -c $'\e\[')" 1 "headings are bold on a terminal"
is "$(on_terminal NO_COLOR=1 "$gpusched" policy list | grep -c $'\e\[')" 0 "headings are not bold with NO_COLOR"
is "$("$gpusched" policy list | grep -c $'\e\[')" 0 "headings are not bold outside a terminal"
is "$(on_terminal "$gpusched" list pid:0 | grep -c $'\e\[31mgpusched:')" 1 "an error is red on a terminal"

complete_line() { # WORDS...: what bash offers for the last one
	PATH="$build:$PATH" bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }
		_gpusched; printf "%s\n" "${COMPREPLY[@]}"' "$top/completions/gpusched" "$@"
}
like "$(complete_line gpusched policy start lcbe -o be_s | paste -sd ' ')" "^be_slice_us= be_slice_multi_us=$" \
	"completion offers the options of a policy"
like "$(complete_line gpusched list --wa)" "^--watch$" "completion offers the options of a verb"
widest() { # length of the longest line of standard input, without colours
	sed $'s/\e\\[[0-9;]*m//g; s/\r//' | awk 'length > n { n = length } END { print n + 0 }'
}
le "$(on_terminal sh -c 'stty cols 60; exec "$0" doctor' "$gpusched" | widest)" 60 "doctor is as wide as the terminal"
ge "$("$gpusched" doctor | widest)" 61 "without a terminal each text is one line"
le "$(for verb in $("$gpusched" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort -u); do
	"$gpusched" help "$verb"
done | widest)" 80 "help is 80 columns wide"
of_80() { on_terminal sh -c 'stty cols 80; exec "$@"' sh "$gpusched" "$@"; }
like "$(of_80 list --wide)" "RUNLIST.*CHANNELS" "list --wide has its added columns on 80 columns"
le "$(for words in "list --wide" "observe status" "observe launches" "sim run auto-trees"; do
	# shellcheck disable=SC2086
	of_80 $words
done | widest)" 80 "list --wide and other long outputs fit 80 columns"
is "$("$gpusched" doctor | grep -A1 -E '^[^ ]+ +module ' | sed -E 's/^([^ ]+ +module).*/\1/; s/(do: nothing).*/\1/' | xargs)" \
	"- module do: nothing" "doctor has - for what nobody needs"
is "$(on_terminal "$gpusched" doctor | grep -E 'module ' | grep -c $'\e\[31m')" 0 "this is not red"
is "$("$gpusched" doctor --json | jq -c '.checks[] | select(.name == "module").ok')" false "doctor --json has false for it"
exits 0 "doctor --gpu succeeds with a GPU" "$gpusched" doctor --gpu
if [ ! -e /proc/driver/nvidia/version ]; then
	exits 3 "doctor --gpu without a GPU exits with 3" env -u GPUSCHED_SIM "$gpusched" doctor --gpu
	like "$out" "no GPU can be used here" "doctor --gpu says that no GPU can be used"
fi

done_testing
