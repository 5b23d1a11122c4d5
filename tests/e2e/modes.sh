#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# CILP is the only preemption mode that gpusched sets by itself: a policy that wishes CTA is
# overruled. A person may set CTA, but not for a process with work on two GPUs.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2

modes() { # PID: the modes in force, as the simulated RM knows them through list
	list_json "pid:$1" '[.[] | select(.kind == "compute") | .is.preempt_mode] | unique | join(",")'
}
reason() { # PID
	list_json "pid:$1" '[.[] | select(.kind == "compute") | .reason // "-"] | first'
}
counter() { "$gpusched" stats --json | jq ".engine.$1"; }

load be --seconds 600 --iterations-per-us 27
one=$LOAD_PID
load be --seconds 600 --iterations-per-us 27 --gpus 2
both=$LOAD_PID
start_daemon || not_ok "a daemon starts"
check "a program on two GPUs is listed" wait_tsgs "pid:$both" 8
check "a program on one GPU is listed" wait_tsgs "pid:$one" 4

# ---- a policy
check "a policy that wishes CTA starts" "$gpusched" policy start "$top/tests/policy/wishes_cta.bpf.c"
check "list says that a policy sets no mode but CILP" wait_for 10 eval '[[ $(reason '"$one"') =~ "no mode but CILP" ]]'
is "$(modes "$one") $(modes "$both")" "cilp cilp" "no program is in CTA mode"
ge "$(counter refused_mode)" 3 "the wishes are counted"

# ---- a person
check "a person sets CTA on the program on one GPU" "$gpusched" set "pid:$one" preempt_mode=cta
is "$(modes "$one")" cta "in spite of the policy that program is in CTA mode"
exits 3 "a person's CTA is refused for the program on two GPUs" "$gpusched" set "pid:$both" preempt_mode=cta
like "$out" "work on two GPUs" "the answer says why"
exits 3 "WFI is refused as well" "$gpusched" set "pid:$both" preempt_mode=wfi
exits 0 "CILP is not" "$gpusched" set "pid:$both" preempt_mode=cilp
is "$(modes "$both")" cilp "the program on two GPUs is in CILP mode"
ge "$(counter refused_span)" 2 "the refusals are counted"
check "the policy stops" "$gpusched" policy stop
is "$(modes "$one")" cta "the person's mode stays"
check "restore succeeds" "$gpusched" restore
check "all have their own settings" restored
stop_daemon
done_testing
