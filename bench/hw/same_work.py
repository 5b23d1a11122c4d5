#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_work.py - do work in PyTorch, JAX or CuPy for same.py; uses nothing of gpusched

    same_work.py torch|jax|cupy

Prints {"cases": [...]} once it is warm, then obeys the lines of stdin:
    time CASE WARM ROUNDS   runs WARM rounds, then ROUNDS timed ones; prints {"us": MICROSECONDS-OF-ONE-ROUND}
    sum CASE                prints {"sum": a checksum of the result's bytes}
torch   a small network launch by launch (eager: limited by the CPU), a large one (eager_large: limited by the GPU), and
        the small one as one CUDA graph (graph)
jax     a small network, compiled
cupy    a small network launch by launch (cupy), and as one graph (cupy_graph)
"""
import gc
import hashlib
import json
import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
LAYERS, WIDTH, BATCH = 24, 512, 32


def with_torch():
    import torch

    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = False

    def network(layers, width, **how):
        pairs = [(torch.nn.Linear(width, width), torch.nn.GELU()) for _ in range(layers)]
        return torch.nn.Sequential(*[m for pair in pairs for m in pair]).to("cuda", **how).eval()

    def eager(model, x):
        def run():
            with torch.inference_mode():
                return model(x)

        return run

    small = eager(network(LAYERS, WIDTH), torch.randn(BATCH, WIDTH, device="cuda"))
    large = eager(
        network(8, 4096, dtype=torch.half), torch.randn(4096, 4096, device="cuda").half()
    )
    for _ in range(3):
        small()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        held = small()

    def replay():
        graph.replay()
        return held

    wait = lambda _: torch.cuda.synchronize()
    to_bytes = lambda out: out.float().cpu().numpy().tobytes()
    return {name: (run, wait, to_bytes) for name, run in (("eager", small), ("eager_large", large), ("graph", replay))}


def numbers():
    """Returns small whole numbers: their sums are exact, so every order of adding gives the same bytes."""
    import numpy as np

    rng = np.random.default_rng(1)
    weights = [rng.integers(-1, 2, (WIDTH, WIDTH)).astype(np.float32) for _ in range(LAYERS)]
    return np, weights, rng.integers(-8, 9, (BATCH, WIDTH)).astype(np.float32)


def with_jax():
    np, weights, x = numbers()
    import jax
    import jax.numpy as jnp

    if jax.devices()[0].platform != "gpu":
        sys.exit("JAX has no GPU")
    ws, xs = [jnp.asarray(w) for w in weights], jnp.asarray(x)

    @jax.jit
    def net(v, ws):
        for w in ws:
            v = jnp.clip(v @ w, -8, 8)
        return v

    return {"jax": (lambda: net(xs, ws), lambda out: out.block_until_ready(), lambda out: np.asarray(out).tobytes())}


def with_cupy():
    _, weights, x = numbers()
    import cupy

    ws, xs = [cupy.asarray(w) for w in weights], cupy.asarray(x)

    def net():
        v = xs
        for w in ws:
            v = cupy.clip(v @ w, -8, 8)
        return v

    to_bytes = lambda out: cupy.asnumpy(out).tobytes()
    cases = {"cupy": (net, lambda _: cupy.cuda.runtime.deviceSynchronize(), to_bytes)}
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        net()  # the libraries allocate their workspaces now, which a capture does not allow
        stream.synchronize()
        try:
            stream.begin_capture()
            held = net()
            graph = stream.end_capture()
        except Exception as e:  # a version whose matmul cannot be captured
            print(f"no graph: {e}", file=sys.stderr)
            return cases

    def replay():
        graph.launch(stream)
        return held

    cases["cupy_graph"] = (replay, lambda _: stream.synchronize(), to_bytes)
    return cases


def several(run, wait, n):
    out = None
    for _ in range(n):
        out = run()
    wait(out)
    return out


def obey(cases, words):
    run, wait, to_bytes = cases[words[1]]
    if words[0] == "sum":
        out = several(run, wait, 1)
        return {"sum": hashlib.sha256(to_bytes(out)).hexdigest()[:16]}
    several(run, wait, int(words[2]))
    t = time.perf_counter()
    several(run, wait, int(words[3]))
    return {"us": (time.perf_counter() - t) / int(words[3]) * 1e6}


def main():
    say = lambda what: print(json.dumps(what), flush=True)
    cases = {"torch": with_torch, "jax": with_jax, "cupy": with_cupy}[sys.argv[1]]()
    for run, wait, _ in cases.values():
        several(run, wait, 20)
    gc.collect()
    gc.disable()
    cpu = os.environ.get("SAME_CPU")
    if cpu:
        os.sched_setaffinity(0, {int(cpu)})  # this thread alone
    say({"cases": list(cases)})
    for line in sys.stdin:
        say(obey(cases, line.split()))


main()
