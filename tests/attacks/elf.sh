#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# In a user's libcuda, all sections refer to the same symbol table, so that reading all of them would take
# an hour.
. "$(dirname "$0")/lib.sh"
enter_sim
words_open
trusting
start_daemon || exit 1
check "launches are counted" "$gpusched" observe launches on
library=$scratch/libcuda.so.1
"$helper" elf "$library" 65000 4194288
chmod 755 "$scratch"
chown $attacker_uid "$library"
watch_loop
attack library of "$library"
sleep "$(size 4 30)"
pings "a library that is dear to read"
le "$(rss_kb_of "$DAEMON_PID")" 500000 "the daemon's memory, in kB"
loop_turned "a library that is dear to read"
victim
set_obeyed "beside it" $VICTIM 300
kill_restores "a library that is dear to read" $VICTIM
done_testing
