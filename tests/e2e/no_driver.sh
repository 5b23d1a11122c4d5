#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# Where no driver answers, a command says so and changes nothing.
. "$(dirname "$0")/lib.sh"
enter_sim
: >"$scratch/nothing"
mount --bind "$scratch/nothing" /dev/nvidiactl
before=$(pins_now)
for verb in list stats "set all timeslice=1ms" "class set pid:$$ be" "policy start lcbe"; do
	# shellcheck disable=SC2086
	exits 3 "$verb is not possible" "$gpusched" $verb
	is "$(pins_now)" "$before" "nothing was pinned by $verb"
done
exits 3 "nor does a daemon start" timeout 10 "$gpuschedd" --foreground
is "$(pins_now)" "$before" "nothing was pinned by the daemon"
umount /dev/nvidiactl
check "it works with the driver" "$gpusched" list
done_testing
