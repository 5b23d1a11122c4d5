#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hint_torch.py - the same PyTorch work with and without an agent: what comes out, and how long it takes

    hint_torch.py ROUNDS

A small network with a fixed seed, eager and as one CUDA graph. Prints one line of JSON for each: a checksum of
the result's bytes and the microseconds of one round, the least of five measurements. Knows nothing of gpusched.
"""
import hashlib
import json
import sys
import time

import torch

torch.manual_seed(1)
torch.use_deterministic_algorithms(True, warn_only=True)
torch.backends.cuda.matmul.allow_tf32 = False
ROUNDS = int(sys.argv[1])
layers = [torch.nn.Linear(512, 512) for _ in range(24)]
model = torch.nn.Sequential(*[m for pair in layers for m in (pair, torch.nn.GELU())]).cuda().eval()
x = torch.randn(32, 512, device="cuda")


def eager():
    with torch.inference_mode():
        return model(x)


def measure(name, run):
    for _ in range(20):
        out = run()
    torch.cuda.synchronize()
    best = 1e18
    for _ in range(5):
        t = time.perf_counter()
        for _ in range(ROUNDS):
            out = run()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - t) / ROUNDS * 1e6)
    digest = hashlib.sha256(out.float().cpu().numpy().tobytes()).hexdigest()[:16]
    print(json.dumps({"case": name, "sum": digest, "us": round(best, 2)}), flush=True)


measure("eager", eager)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    held = eager()


def replay():
    graph.replay()
    return held


measure("graph", replay)
