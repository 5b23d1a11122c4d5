#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hint_arrays.py - the same JAX or CuPy work with and without an agent: what comes out, how long it takes

    hint_arrays.py jax|cupy ROUNDS

A few layers of small whole numbers, so that every order of adding gives the same bytes. Prints one line of JSON for
each way to run them (JAX: compiled; CuPy: launch by launch, and as one graph): a checksum of the result's bytes and
the microseconds of one round, the least of five measurements. Knows nothing of gpusched.
"""
import hashlib
import json
import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np

WHICH, ROUNDS = sys.argv[1], int(sys.argv[2])
LAYERS, WIDTH, BATCH = 24, 512, 32
rng = np.random.default_rng(1)
weights = [rng.integers(-1, 2, (WIDTH, WIDTH)).astype(np.float32) for _ in range(LAYERS)]
x = rng.integers(-8, 9, (BATCH, WIDTH)).astype(np.float32)


def measure(name, run, wait, to_numpy):
    for _ in range(20):
        out = run()
    wait(out)
    best = 1e18
    for _ in range(5):
        t = time.perf_counter()
        for _ in range(ROUNDS):
            out = run()
        wait(out)
        best = min(best, (time.perf_counter() - t) / ROUNDS * 1e6)
    digest = hashlib.sha256(to_numpy(out).tobytes()).hexdigest()[:16]
    print(json.dumps({"case": name, "sum": digest, "us": round(best, 2)}), flush=True)


def with_jax():
    import jax
    import jax.numpy as jnp

    ws = [jnp.asarray(w) for w in weights]
    xs = jnp.asarray(x)

    @jax.jit
    def net(v, ws):
        for w in ws:
            v = jnp.clip(v @ w, -8, 8)
        return v

    if jax.devices()[0].platform != "gpu":
        sys.exit("JAX has no GPU")
    measure("jax", lambda: net(xs, ws), lambda out: out.block_until_ready(), np.asarray)


def with_cupy():
    import cupy

    ws = [cupy.asarray(w) for w in weights]
    xs = cupy.asarray(x)

    def net():
        v = xs
        for w in ws:
            v = cupy.clip(v @ w, -8, 8)
        return v

    def wait(_):
        cupy.cuda.runtime.deviceSynchronize()

    measure("cupy", net, wait, cupy.asnumpy)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        net()  # libraries' workspaces are made before the capture
        stream.synchronize()
        try:
            stream.begin_capture()
            out = net()
            graph = stream.end_capture()
        except Exception as e:  # a version whose matmul cannot be captured
            print(f"no graph: {e}", file=sys.stderr)
            return

        def replay():
            graph.launch(stream)
            return out

        measure("cupy_graph", replay, lambda _: stream.synchronize(), cupy.asnumpy)


if WHICH == "jax":
    with_jax()
else:
    with_cupy()
