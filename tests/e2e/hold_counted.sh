#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Policy hold suspends best effort for a service without an agent, whose launches are counted. A
# service with contexts on two GPUs causes holds only on the GPU that serves its requests.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
config '[Policy]
Policy = hold'
trusting
holds_are_on() {
	[ "$(compute $training .suspended_by)" = request ]
}

start_daemon || exit 1
"$gpusched" observe launches on
run_load be training be --kernel-us 1000 --block-us 100 --seconds 600
wait_tsgs pid:$training 1
run_load lc service lc --kernel-us 1200 --tokens 32 --arrivals poisson --period-us 200000 --warmup 1 --seconds 600
check "best effort is suspended for a request that is seen by its launches" wait_for 15 holds_are_on
check "list says that launches show the requests, and how long a pause ends one" eval \
	'[ "$(compute $service .requests_by)" = launches ] && [ "$(compute $service .quiet_us)" -ge 1000 ]'
check "best effort is resumed at the request's end" wait_for 5 eval '! holds_are_on'
check "holds go on" wait_for 10 eval '[ "$(counter holds)" -ge 5 ]'
end_load $service
run_load lc busy lc --kernel-us 1200 --tokens 32 --arrivals closed --period-us 1 --warmup 1 --seconds 600
check "best effort is suspended for a service that is busy from its start on" wait_for 15 holds_are_on
end_load $busy
run_load lc service lc --kernel-us 1200 --tokens 32 --arrivals poisson --period-us 200000 --warmup 1 --seconds 600
check "best effort is suspended for a third service" wait_for 15 holds_are_on
"$gpusched" observe launches off
check "once counting ends, no request is open" wait_for 5 eval \
	'[ "$(compute $service .requests_by)" = null ] && ! holds_are_on'
end_load $service

# ---- two GPUs, and a service that works on the first
run_load be other be --gpu 1 --kernel-us 1000 --block-us 100 --seconds 600
"$gpusched" run --agent --class lc -- "$gsload" lc --gpus 2 --kernel-us 1200 --tokens 32 --arrivals poisson \
	--period-us 150000 --seconds 600 --iterations-per-us 27.78 >"$scratch/both.out" 2>&1 &
both=$!
at_end+=($both)
check "best effort is suspended on the GPU where a service with two GPUs works" wait_for 15 holds_are_on
held_ms() { # PID: how long it was suspended for requests, in ms
	"$gpusched" stats --by process --json | jq -s "flatten | map(select(.pid == $1))[0].request_wait_ms | floor"
}
apart() { # the BE on the other GPU was not suspended for 1.5 s
	local before
	before=$(held_ms $other)
	sleep 1.5
	[ "$(held_ms $other)" = "$before" ]
}
check "best effort on the other GPU is left alone, after some requests have shown their GPU" wait_for 12 apart
before=$(held_ms $training)
check "meanwhile holds go on where the requests work" wait_for 5 eval '[ "$(held_ms $training)" -gt "$before" ]'
done_testing
