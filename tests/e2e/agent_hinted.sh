#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root fuse
# asan: release
# Hints: which arrivals of requests the agent sees, and which calls end a pre-switch.
. "$(dirname "$0")/lib.sh"
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin

# each call by which a server may learn of a request
hinted=$build/tests/e2e/hinted
as $user timeout 30 "$gpusched" run --agent --class lc --hint=auto -- "$hinted" ways >"$scratch/ways" 2>&1
for way in read readv __read_chk recv recvfrom recvmsg recvmmsg __recv_chk __recvfrom_chk accept accept4 epoll_wait \
	epoll_pwait epoll_pwait2 poll ppoll __poll_chk __ppoll_chk select pselect; do
	is "$(grep "^$way " "$scratch/ways")" "$way 1" "requests by $way are foreseen"
done
is "$(grep -E '^(none|pipe)' "$scratch/ways" | tr '\n' ' ')" "none 0 pipe:read 0 pipe:poll 0 pipe:select 0 " \
	"requests from a pipe, or by a call that the agent does not see, are not foreseen"

# a call that would wait for a pre-switch ends it; other calls do not
as $user timeout 40 "$gpusched" run --agent --class lc -- "$hinted" ends >"$scratch/ends" 2>&1
is "$(cat "$scratch/ends")" "first launch 1
second launch 0
cooperative launch 1
cooperative launch again 1
capture 1
first graph launch 1
second graph launch 0
cuGraphExecDestroy 1
launch 0
cuStreamSynchronize 0
cuMemAlloc 0
cuMemFree 1
cuMemHostRegister 1
cuMemHostUnregister 1
cuMemFreeHost 1
cuMemUnmap 1
cuMemPoolTrimTo 1
cuMemPoolDestroy 1
cuIpcCloseMemHandle 1
cuArrayDestroy 1
cuMipmappedArrayDestroy 1
cuCtxSynchronize 1
cuCtxSetLimit 1
launch after cuCtxSetLimit 1
another launch after cuCtxSetLimit 0
cuModuleUnload 1
cuModuleLoadData 1
launch after cuModuleUnload 1
cuCtxDestroy 1
without a context 0
in another context, cuCtxSynchronize 1" "a pre-switch is ended by first and cooperative launches, and by calls that may wait for the context"

# eight threads at once, each with a stream of its own
is "$(as $user timeout 40 "$gpusched" run --agent --class lc -- "$hinted" threads 2>&1)" \
	"failed 0, hints 800, launches 800, some switched 1, more than asked 0" "requests of eight threads are all hinted and launched"
agent_end
done_testing
