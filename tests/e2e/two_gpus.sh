#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# With two GPUs each TSG's GPU is known, and calls for one GPU leave the other alone.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
start_daemon || not_ok "a daemon starts"
load be --seconds 600 --gpu 0
a=$LOAD_PID
load be --seconds 600 --gpu 1
b=$LOAD_PID
check "the program on GPU 0 is listed" wait_tsgs pid:$a 4
check "the program on GPU 1 is listed" wait_tsgs pid:$b 4
is "$(list_json pid:$a 'map(.gpu) | unique | join(",")')" 0 "the first program's TSGs are on GPU 0"
is "$(list_json pid:$b 'map(.gpu) | unique | join(",")')" 1 "the second program's TSGs are on GPU 1"
is "$(list_json all 'map(.gpu_uuid) | unique | length')" 2 "the GPUs have two UUIDs"
is "$(list_json gpu:1 'map(.pid) | unique | join(",")')" "$b" "gpu:1 selects the second program"
uuid=$(list_json gpu:0 '.[0].gpu_uuid')
is "$(list_json "gpu:$uuid" 'map(.pid) | unique | join(",")')" "$a" "a target by UUID selects the first program"
words=$("$gpusched" advise --for 500ms)
is "$(head -1 <<<"$words" | cut -d: -f1)" "GPUs 0, 1" "advise has one line for GPUs of one choice"
wait_for 5 slice_is $a 2048
wait_for 5 slice_is $b 2048
check "set takes gpu:1" "$gpusched" set gpu:1 timeslice=300us
is "$(sim_slice $a) $(sim_slice $b)" "2048 300" "set leaves the other GPU alone"
check "suspend takes gpu:0" "$gpusched" suspend gpu:0
ge "$(sim_disabled $a)" 1 "channels of GPU 0 are disabled"
is "$(sim_disabled $b)" 0 "channels of GPU 1 are not disabled"
check "restore succeeds" "$gpusched" restore
check "both programs have their own settings again" restored
load be --seconds 600 --gpus 2
c=$LOAD_PID
check "a program on both GPUs is listed" wait_tsgs pid:$c 8
is "$(list_json pid:$c 'map(.gpu) | unique | join(",")')" 0,1 "its TSGs are on both GPUs"
check "the program on both GPUs works" wait_for 10 eval '[ "$(sim_work $c)" -gt 0 ]'
check "one of its TSGs is suspended" "$gpusched" suspend gpu:1
stands() { local was; was=$(sim_work $c); sleep 1; [ "$(sim_work $c)" = "$was" ]; }
check "the program stands still on the other GPU, too" wait_for 10 stands
check "restore succeeds again" "$gpusched" restore
words=$("$gpusched" advise --for 2s)
diag "$words"
is "$(sed -n '/^to type:/,$p' <<<"$words" | sort | uniq -d)" "" "advise says no command and no line twice"
stop_daemon
done_testing
