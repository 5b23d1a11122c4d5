#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# needs: root bpf fuse
# All screens say the same, first half: no GPU, alone, lc and be, lc and normal, nobody told.
. "$(dirname "$0")/lib.sh"
enter_sim
. "$top/tests/e2e/helper/screens_lib.sh"
config ''

# ---- no GPU: each screen says so, in the same words

: >"$scratch/nothing"
mount --bind "$scratch/nothing" /dev/nvidiactl
exits 3 "no GPU: history exits with 3" "$gpusched" history
for screen in "status" "list" "top --batch" "advise" "stats"; do
	# shellcheck disable=SC2086
	exits 3 "no GPU: $screen exits with 3" "$gpusched" $screen
	said=${said:-$out}
	is "${out#*: }" "${said#*: }" "no GPU: $screen says the same as status"
done
umount /dev/nvidiactl

start_daemon || exit 1
service() { # CLASS: a turn every 100 ms
	run_load "$1" lc lc --kernel-us 2000 --tokens 4 --period-us 100000 --arrivals closed --warmup 0 --seconds 0
	wait_tsgs "pid:$lc" 4
}

load be --seconds 0 --iterations-per-us 27.78
one=$LOAD_PID
wait_tsgs "pid:$one" 4
same_everywhere "alone" class=None

"$gpusched" policy start lcbe >/dev/null
"$gpusched" class set "pid:$one" be >/dev/null
service lc
same_everywhere "lc and be" class=lc class=be policy=lcbe

"$gpusched" policy start auto >/dev/null
"$gpusched" class set "pid:$one" normal >/dev/null
same_everywhere "lc and normal" class=lc class=normal class-idle policy=auto
remedy=$(jq -r '.findings[] | select(.finding == "class-idle").do' "$shots/status.json")
like "$remedy" "'sudo gpusched class set class:normal be'" "the remedy says how normal makes room"
remedy=${remedy#*sudo gpusched}
# shellcheck disable=SC2086
check "the remedy can be typed" "$gpusched" ${remedy%\'}
is "$("$gpusched" list "pid:$one" --json | jq -rs '.[0].class')" be "then it has class be"

end_load "$lc"
"$gpusched" policy stop >/dev/null
"$gpusched" class clear "pid:$one" >/dev/null
load be --seconds 0 --iterations-per-us 27.78
two=$LOAD_PID
wait_tsgs "pid:$two" 4
same_everywhere "nobody told" moving class=None classless-wait
done_testing
