#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# If no driver answers, a command says so and changes nothing.
. "$(dirname "$0")/lib.sh"
enter_sim
: >"$scratch/nothing"
mount --bind "$scratch/nothing" /dev/nvidiactl
before=$(pins_now)
for verb in list stats "set all timeslice=1ms" "class set pid:$$ be" "policy start lcbe"; do
	# shellcheck disable=SC2086
	exits 3 "gpusched $verb exits with 3 without a driver" "$gpusched" $verb
	is "$(pins_now)" "$before" "nothing was pinned by $verb"
done
exits 3 "a daemon does not start without a driver" timeout 10 "$gpuschedd" --foreground
is "$(pins_now)" "$before" "nothing was pinned by the daemon"
umount /dev/nvidiactl
check "list works once the driver is back" "$gpusched" list
done_testing
