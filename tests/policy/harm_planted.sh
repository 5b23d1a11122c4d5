#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 2400
# beside: yes
# harm/ finds what it should find: faults are planted in the engine or a policy, and a seed below 2,000
# shows each. Found means: a loss that the same seed does not show without the fault.
#
# F2, F4 and F6 need no planting, as long as harm.known has them: they are in the tree. F7 (park),
# F9's findings and F10 (the guardian) are not part of the model, and cannot be planted here.
. "$(dirname "$0")/../e2e/lib.sh"
harm=$build/tests/policy/harm/harm
most=${SEEDS:-2000} step=100

# The program harm with src/$1 edited by $2
planted_engine() {
	local link
	sed "$2" "$top/src/$1" >"$scratch/planted.c"
	cmp -s "$scratch/planted.c" "$top/src/$1" && return 1
	cc -std=gnu11 -O1 -D_GNU_SOURCE -I"$top/src" -I"$top/include" -I"$build" \
		-c "$scratch/planted.c" -o "$scratch/planted.o" || return 1
	link=$(ninja -C "$build" -t commands tests/policy/harm/harm | tail -1)
	(cd "$build" && eval "${link/ -o tests\/policy\/harm\/harm/ -o $scratch/harm -Wl,-z,muldefs $scratch/planted.o}")
}
# A policy: $1, edited by $2
planted_policy() {
	sed "$2" "$1" >"$scratch/planted.bpf.c"
	! cmp -s "$scratch/planted.bpf.c" "$1" &&
		cc -std=gnu11 -O1 -fPIC -shared -DGPUSCHED_NATIVE -I"$top/include" -I"$top/policies" -x c \
			"$scratch/planted.bpf.c" -o "$scratch/planted.native.so"
}
# The policy rr with its turns edited by $1
planted_rr() {
	rm -rf "$scratch/policies"
	cp -r "$top/policies" "$scratch"
	sed -i "$1" "$scratch/policies/rr/turns.h"
	! cmp -s "$scratch/policies/rr/turns.h" "$top/policies/rr/turns.h" &&
		cc -std=gnu11 -O1 -fPIC -shared -DGPUSCHED_NATIVE -I"$top/include" -I"$scratch/policies" -x c \
			"$scratch/policies/rr.bpf.c" -o "$scratch/planted.native.so"
}
losses() { # PROGRAM FIRST POLICY: what it lost, without the policy's name
	"$1" "$2" $step "$3" 2>/dev/null | awk '$1 == "harm" { print $3, $4, $7 }' | sort -u
}
# found FAULT PROGRAM POLICY PROGRAM-WITHOUT POLICY-WITHOUT [LOSS]: some loss, or one of this form
found() {
	local first new=""
	for ((first = 1; first < most && ${#new} == 0; first += step)); do
		new=$(comm -23 <(losses "$2" $first "$3") <(losses "$4" $first "$5") | grep -m1 -E "${6:-.}")
	done
	check "$1 is found (${new:-not in $most seeds})" test -n "$new"
}

check "F1 is planted: every answer that is an error counts as a refusal" planted_engine rm/ops.c \
	's/return op_refuses(step.*/return true;/'
found "F1" "$scratch/harm" "$build/policies/rr.native.so" "$harm" "$build/policies/rr.native.so"
check "F3 is planted: the engine sets any mode" planted_engine engine/core_mode.c \
	's/return mode == GPUSCHED_PREEMPT_CILP.*/return true;/'
check "F3 is planted: a policy sets CTA mode and changes nothing else" planted_policy "$top/tests/policy/wishes.bpf.c" \
	's/gpusched_want_\(runnable\|timeslice\|interleave\)(.*/(void)r;/;s/gpusched_want_preempt_mode(.*/gpusched_want_preempt_mode(t, 1);/'
found "F3" "$scratch/harm" "$scratch/planted.native.so" "$harm" "$build/policies/none.native.so"
check "F5 is planted: processes of a job have turns of their own" planted_rr \
	's/gpusched_job_of(t, gpusched_job(t))/GPUSCHED_JOB_PROCESS | t->pid/'
found "F5" "$harm" "$scratch/planted.native.so" "$harm" "$build/policies/rr.native.so" '^(both|spin|turns)'
check "F8 is planted: calls may take all the time" planted_engine engine/core_budget.c \
	's/^#define \(GPU\|HOST\)_PART .*/#define \1_PART 1/'
check "F8 is planted: turns do not wait for that" planted_rr 's/^#define EPOCH_A_CALL_NS .*/#define EPOCH_A_CALL_NS 0/'
found "F8" "$scratch/harm" "$scratch/planted.native.so" "$harm" "$build/policies/rr.native.so" locks
for fault in F2 F4 F6; do
	check "$fault is in the tree and found, or mended: then plant it here" grep -q " $fault:" "$top/tests/policy/harm.known"
done
done_testing
