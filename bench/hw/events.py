#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""events.py - compare the times of requests by CUDA events with those by gpusched's account

    events.py GPUSCHED

Makes requests of one kernel each, 5 ms apart, with several kernel lengths. Prints a JSON line for each length: requests,
mean us between the events around the kernel, mean us held by the account, turns.
"""
import json
import os
import subprocess
import sys
import time

import torch


def account():
    out = subprocess.run([sys.argv[1], "list", f"pid:{os.getpid()}", "--json"], stdout=subprocess.PIPE, timeout=10, check=True)
    rows = json.loads("[" + ",".join(out.stdout.decode().strip().splitlines()) + "]")
    rows = [t for r in rows for t in (r if isinstance(r, list) else [r])]
    rows = [t for t in rows if t["kind"] == "compute"]
    return rows[0]["gpu_time_ns"], rows[0]["turns"]["turns"]


def requests(cycles, n):
    first, last, sum_ms = torch.cuda.Event(True), torch.cuda.Event(True), 0.0
    for _ in range(n):
        first.record()
        torch.cuda._sleep(cycles)
        last.record()
        last.synchronize()
        sum_ms += first.elapsed_time(last)
        time.sleep(0.005)
    return sum_ms


torch.zeros(1, device="cuda")
requests(100000, 20)
time.sleep(2)
for cycles in (100000, 200000, 400000, 1000000, 2000000):
    requests(cycles, 5)
    time.sleep(0.3)
    held, turns = account()
    n = 200
    sum_ms = requests(cycles, n)
    time.sleep(0.3)
    held2, turns2 = account()
    print(json.dumps({"cycles": cycles, "requests": n, "events_us": round(sum_ms * 1e3 / n, 2),
                      "held_us": round((held2 - held) / 1e3 / n, 2), "turns": turns2 - turns}), flush=True)
