#!/bin/bash
# SPDX-License-Identifier: MIT
# bench/torch_load.py: SIGUSR1 restarts its list of gaps and does not end it, whichever threads
# PyTorch starts. A stand-in module named torch has only what one request uses.
. "$(dirname "$0")/lib.sh"

mkdir "$scratch/modules"
: >"$scratch/modules/torchvision.py"
cat >"$scratch/modules/torch.py" <<'END'
import threading
import time
import types

# PyTorch's libraries start threads, too
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
zeros = lambda *_, **__: types.SimpleNamespace(copy_=lambda _: time.sleep(0.01))
empty_like = zeros
cuda = types.SimpleNamespace(synchronize=lambda: None)
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(benchmark=False))
END

requests() {
	grep -c '"us"' "$scratch/out"
}

more() { # THAN
	[ "$(requests)" -gt "$1" ]
}

PYTHONPATH=$scratch/modules python3 "$top/bench/torch_load.py" memory --loop >"$scratch/out" 2>&1 &
load=$!
check "the load makes requests" wait_for 20 more 10
for i in {1..10}; do
	kill -USR1 $load
	sleep 0.02
done
check "the load goes on after SIGUSR1" wait_for 10 more $(($(requests) + 20))
kill -TERM $load
wait $load
is $? 0 "SIGTERM ends the load with success"
done_testing
