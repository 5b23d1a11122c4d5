#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# The supervisor of a pool tests a doubtful server with a probe program. Only the pool's user says
# that the probe is a member. So if the probe holds a TSG whose id on the GPU is not the server's,
# that TSG is listed as the probe's own.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || { skip_optional "a probe with a TSG" "there is no python3"; done_testing; }
enter_sim
mount -t tmpfs -o mode=755 none /opt || not_ok "a folder of root's for the programs of MPS"
cp "$build"/simmps/* "$gpusched" /opt
export PATH=/opt:$PATH GPUSCHED_POOL_IDLE=1s
unset XDG_RUNTIME_DIR
be="$gsload be --seconds 60 --warmup 0 --ready --iterations-per-us 27"
$be >"$scratch/early" &
early=$!
at_end+=($early)
wait_for 20 grep -q ready "$scratch/early"
# in place of the probe: a program that holds the TSG of an adopted program, as a client its
# server's
cat >/opt/gsload <<P
#!/usr/bin/env python3
import ctypes, os, time
fds = "/proc/$early/fd/"
it = os.pidfd_open($early)
for n in os.listdir(fds):
    if "nvidiactl" in os.readlink(fds + n):
        ctypes.CDLL(None).syscall(438, it, int(n), 0)
open("$scratch/probe.new", "w").write(str(os.getpid()))
os.rename("$scratch/probe.new", "$scratch/probe")
time.sleep(8)
P
chmod +x /opt/gsload
start_daemon
check "a TSG from before the start is adopted" wait_tsgs "pid:$early" 1

/opt/gpusched run --pool --class be -- $be >"$scratch/pool" 2>&1 &
a=$!
at_end+=($a)
check "a program of a pool works" wait_for 20 grep -q ready "$scratch/pool" || diag "$(cat "$scratch/pool")"
/opt/gpusched run --pool --class be -- false
check "the supervisor starts the probe after another program failed" wait_for 10 test -s "$scratch/probe"
kill -9 $early
compute_of_probe() { list_json "pid:$(cat "$scratch/probe")" 'map(select(.kind == "compute")) | length'; }
check "the probe's TSG, which has another id than the server's, is listed" wait_for 6 eval '[ "$(compute_of_probe)" = 1 ]'
is "$("$gpusched" stats --json | jq .service.pool_handles)" 0 "the probe's TSG is not counted as a handle of the server's TSG"
kill $a
wait_for 20 gone $a
stop_daemon
done_testing
