#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched advise on the simulated GPU: it tells kinds of programs apart, and the commands that it
# prints work as it says.
# timeout: 180
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 3
fixed="--iterations-per-us 27.777 --seconds 1000 --warmup 0"
config ''
trusting

kind() { # PID: prints that program's kind in $advice
	jq -r ".programs[] | select(.pid == $1) | .kind" <<<"$advice"
}
commands() { # PID
	jq -r ".programs[] | select(.pid == $1) | .do[]" <<<"$advice"
}
advise() {
	advice=$("$gpusched" advise --for 3s --json)
}

exits 2 "a word that is no time is refused" "$gpusched" advise --for soon
load be $fixed
wait_tsgs "pid:$LOAD_PID" 1
exits 0 "advise succeeds without a daemon" "$gpusched" advise --for 100ms
like "$out" 'nothing is known of these programs.*no daemon reads its log' "without a daemon advise says that nothing is known, and why"
end_load $LOAD_PID
start_daemon
exits 0 "advise succeeds without programs" "$gpusched" advise --for 100ms
like "$out" 'no program uses a GPU' "advise says that no program uses a GPU"

load be $fixed
be=$LOAD_PID
wait_tsgs "pid:$be" 1
advise
like "$(kind $be)" '^(not enough seen|idle)$' "advise gives no kind to a program that is alone"
is "$(commands $be)" "" "advise proposes no command for a program that is alone"

load lc $fixed --arrivals closed
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
advise
diag "$advice"
is "$(kind $be)" batch "a BE is seen beside an LC"
is "$(kind $lc)" "whole turns" "the LC is seen beside the BE"
is "$(jq -r ".programs[] | select(.pid == $lc) | [.may_wait_us, .loses_to[0]] | @json" <<<"$advice")" "[2048,$be]" \
	"the LC's requests may wait for a slice of the BE"
is "$(commands $lc)" "gpusched class set pid:$lc lc" "advise prints the command that gives the LC its class"
exits 0 "advise succeeds for another user" setpriv --reuid 65534 --clear-groups "$gpusched" advise --for 200ms --json
is "$(jq -c '[.programs[] | .kind, .means, .held_pct] | unique' <<<"$out")" '[null,"not yours to see","unknown"]' \
	"another user sees that the programs are not that user's to see, not that they are idle"
like "$(jq -r '.gpus[0].do[0]' <<<"$advice")" '^gpusched policy start (lcbe|auto)$' "the GPU's command starts a policy"
choice() {
	jq -r '.gpus[0].choice' <<<"$advice"
}
like "$(choice)" 'row A.: class lc, class be, policy auto$' "where thread blocks are not known, the line names row A"
while read -r command; do
	"$gpusched" ${command#gpusched } >/dev/null || not_ok "the printed command succeeds: $command"
done < <(jq -r '(.programs[], .gpus[]).do[]' <<<"$advice")
advise
is "$(jq -r '[(.programs[], .gpus[]).do[]] | length' <<<"$advice")" 0 "after these commands advise proposes no more"
is "$(kind $lc), $(kind $be)" "whole turns, batch" "they are known under the policy, too"

load be $fixed
second=$LOAD_PID
wait_tsgs "pid:$second" 1
exits 0 "auto starts" "$gpusched" policy start auto
like "$("$gpusched" advise --for 3s --why)" "class set pid:$second be.*a class is surer" \
	"for a program whose class auto guesses, advise proposes to set the class"
"$gpusched" class set "pid:$second" be >/dev/null
advise
is "$(kind $be), $(kind $second)" "batch, batch" "the kind of a program that a policy suspends between its turns is known, too"
end_load $second
end_load $lc

load lc $fixed --arrivals closed --period-us 5000 --kernels 500 --kernel-us 4 --gap-us 14
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
advise
diag "$advice"
is "$(kind $lc)" "launch-bound" "a service that launches little at a time is launch-bound"
like "$(jq -r ".programs[] | select(.pid == $lc) | .means" <<<"$advice")" '^(share|CUDA graphs)$' "a launch-bound service needs other means"
like "$(jq -r ".programs[] | select(.pid == $lc) | .do[]" <<<"$advice")" "; first install nvidia-cuda-mps-control" \
	"advise says that MPS is not installed"
is "$("$gpusched" observe launches --json | jq .asked)" false "launches are counted no longer than it watches"
like "$(choice)" 'row C.: run --share for all$' "the line for a launch-bound service is a shared server"
end_load $lc
end_load $be

# Short thread blocks: in CTA mode, set by hand here, such a program leaves the GPU sooner.
load be $fixed --block-us 20
be=$LOAD_PID
wait_tsgs "pid:$be" 1
load lc $fixed --arrivals closed
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
"$gpusched" set "pid:$be" preempt_mode=cta >/dev/null
advise
diag "$advice"
like "$(choice)" 'short thread blocks .row A.: run --share' \
	"beside short thread blocks the line names the shared server"
words=$("$gpusched" advise --for 1s)
like "$(head -1 <<<"$words")" '^GPU 0: a service beside batch work with short' "the verdict is the first line"
like "$words" "^[^%]*\$" "the default has no table"
like "$("$gpusched" advise --for 1s --why)" "LOOKS LIKE.*pid:$lc|LOOKS LIKE.*$lc " "--why has a row for each program"
done_testing
