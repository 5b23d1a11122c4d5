#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# The same mistake has the same exit code in each verb, and output that cannot be written is an
# error. Tables show UTF-8 names as they are, and escape harmful characters once.
. "$(dirname "$0")/lib.sh"
enter_sim
none=there_is_none

exits 3 "history without any record exits with 3" "$gpusched" history
for words in "policy check $none" "policy show $none" "sim run a-alone --policy $none" \
	"sim run a-alone --policy lcbe -o $none=1" "sim run a-alone --policy lcbe -o be_slice_us=x" \
	"sim run $none" "bench --gpu sim --load $none" "bench --gpu sim --policy $none"; do
	# shellcheck disable=SC2086
	exits 2 "an unknown name is wrong usage: $words" "$gpusched" $words
done
exits 3 "a bench that can measure nothing exits with 3" "$gpusched" bench --gpu sim --load graph --quick
like "$out" "nothing of that can be measured" "the bench's last line is the reason"

start_daemon
name_of() { # PID: the table's lines of a program with an odd name
	"$gpusched" list "pid:$1"
}
cp "$gsload" "$scratch/gsläd"
printf 'a\033b' >"$scratch/name"
cp "$gsload" "$scratch/$(cat "$scratch/name")"
for program in "$scratch/gsläd" "$scratch/$(cat "$scratch/name")"; do
	"$program" be --seconds 600 --iterations-per-us 27.78 >/dev/null 2>&1 &
	at_end+=($!)
	wait_tsgs "pid:$!" 4
done
like "$(LC_ALL=C.UTF-8 name_of "${at_end[0]}")" " gsläd " "a table shows UTF-8 as it is"
like "$(LC_ALL=C name_of "${at_end[0]}")" " gsläd " "a table does so in the C locale, too"
like "$(LC_ALL=C.UTF-8 name_of "${at_end[1]}")" ' a\\x1bb ' "a table escapes a control character once"
like "$(LC_ALL=C name_of "${at_end[1]}")" ' a\\x1bb ' "a table escapes it once in the C locale, too"

for words in "list class:$none" "class get class:$none" "set class:$none timeslice=1ms" "suspend class:$none" \
	"class set pid:${at_end[0]} $none" "run --class $none -- true" "monitor class:$none -t 1s" "policy start $none"; do
	# shellcheck disable=SC2086
	exits 2 "an unknown class or policy is wrong usage: $words" "$gpusched" $words
done
for words in "list pid:4194000" "list gpu:99" "list user:$none" "list cgroup:/$none"; do
	# shellcheck disable=SC2086
	exits 1 "a target that does not exist is a failure: $words" "$gpusched" $words
done
exits 2 "an empty target is wrong usage" "$gpusched" list ""
like "$out" "the target is empty: 'all'" "the error for an empty target says what to write"

# ---- output that cannot be written ---------------------------------------------------------------------

for words in list "list --json" status stats history "policy get" "class list"; do
	exits 1 "output to a full disk is an error: $words" sh -c "$gpusched $words >/dev/full"
	exits 1 "a closed standard output is an error: $words" sh -c "$gpusched $words >&-"
done
like "$(sh -c "$gpusched list >/dev/full" 2>&1)" "No space left" "the error for a full disk has the reason"
exits 0 "a closed standard input is no error" sh -c "$gpusched list <&-"

# ---- a policy that fails ---------------------------------------------------------------------------------

"$gpusched" policy start "$top/tests/policy/fails_in_tick.bpf.c" >/dev/null 2>&1
check "a policy fails" wait_for 20 grep -q "policy fails_in_tick failed" "$scratch/daemon.log"
is "$(grep -c "failed: policy" "$scratch/daemon.log")" 0 "the log's line says only once that the policy failed"
done_testing
