#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Records which program has the GPU, by the driver's default and under a policy; at most 60 s.
#
#   bench/hw/timeline.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. Two best-effort programs beside a server whose request is 20
# kernels of 50 us. OUTDIR gets default.pftrace and rr.pftrace, their sums (NAME.jsonl), the difference of these sums
# from the daemon's account (sums.txt), log.txt and raw.tar.gz. `gpusched trace plot` draws the recordings, without a GPU.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 55 raw "$@"

held() { # prints for how many us each process held the GPU, by the daemon's account
	gs list --json | "$jq" -c 'select(.kind == "compute") | [.pid, (.gpu_time_ns // 0) / 1000]'
}

# recorded NAME: records 3 s of both programs; the account is read just before and just after
recorded() {
	local name=$1 recorder
	"$gpusched" trace record -o "$out/$name.pftrace" >"$raw/$name.record" 2>&1 &
	recorder=$!
	sleep 0.3
	held >"$raw/$name.before"
	sleep 3
	held >"$raw/$name.after"
	sleep 0.3
	kill -INT $recorder
	wait_for 5 eval "! kill -0 $recorder" || kill -9 $recorder
	gs trace export "$out/$name.pftrace" --json >"$out/$name.jsonl"
	{
		echo "$name: pid, us in the account within 3 s, us in the recording within 3.6 s"
		"$jq" -rn --slurpfile a "$raw/$name.before" --slurpfile b "$raw/$name.after" --slurpfile t "$out/$name.jsonl" \
			'$b[] as $e | [$e[0], ($e[1] - ([$a[] | select(.[0] == $e[0])][0][1] // 0) | floor),
			([$t[] | select(.pid == $e[0])][0].gpu_time_us)] | @tsv'
		cat "$raw/$name.record"
	} >>"$out/sums.txt"
	ls -l "$out/$name.pftrace"
}

timeline() {
	calibrate || return 1
	daemon_start || return 1
	be_start timeline
	gs class set "pid:$pid" be
	be_start timeline2
	gs class set "pid:$pid" be
	"$gsload" lc --seconds 0 --warmup 0 --ready --iterations-per-us "$iterations" "${twenty[@]}" >"$raw/timeline.lc.json" 2>&1 &
	pids+=($!)
	gs class set "pid:$!" lc
	wait_for 20 grep -q ready "$raw/timeline.lc.json"
	sleep 1.5
	recorded default
	gs policy start rr || return 1
	sleep 1.5
	recorded rr
}

step timeline 50 timeline
cat "$out/sums.txt"
tar -C "$out" -czf "$out/raw.tar.gz" raw && rm -f "$raw"/*
