# SPDX-License-Identifier: MIT
"""park_train.py torch|jax MIB [STEPS|"" [PAUSE_S]] - a training whose losses show whether its memory stayed intact

Trains a network whose weights fill MIB of GPU memory. Each step trains WIDE of its layers in turn, so
that a step depends on the weights that earlier steps left. Prints {"ready":true}, then
{"step":N,"sum":LOSS} for each step. The numbers are the same in each run on one machine, unless its
memory was changed. Rests for PAUSE_S (0) after a step. Ends after STEPS, or on SIGTERM. Uses nothing of gpusched.
"""
import json
import os
import subprocess
import sys
import time

SIDE = 4096  # a layer is SIDE x SIDE floats, 64 MiB
BATCH = 256
WIDE = 8
RATE = 0.5


def torch_step(layers):
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # gives the same results in each run
    import torch

    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    inputs = torch.randn(BATCH, SIDE, device="cuda")
    weights = [torch.randn(SIDE, SIDE, device="cuda") / SIDE**0.5 for _ in range(layers)]
    for w in weights:
        w.requires_grad_()

    def step(chosen):
        h = inputs
        for i in chosen:
            h = torch.tanh(h @ weights[i])
        loss = ((h - inputs) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for i in chosen:
                weights[i] -= RATE * weights[i].grad
                weights[i].grad = None
        return loss.item()

    return step


def share_of_memory(mib):
    total = subprocess.run(
        ["nvidia-smi", "-i", "0", "--query-gpu=memory.total", "--format=csv,noheader,nounits"],
        capture_output=True, text=True, check=True).stdout
    return min(0.9, (mib + 3072) / float(total))  # with room for the gradients of a step


def jax_step(layers, mib):
    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = "%.4f" % share_of_memory(mib)
    os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0"
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(1), layers + 1)
    inputs = jax.random.normal(keys[0], (BATCH, SIDE))
    weights = [jax.random.normal(k, (SIDE, SIDE)) / SIDE**0.5 for k in keys[1:]]

    def loss_of(some):
        h = inputs
        for w in some:
            h = jnp.tanh(h @ w)
        return ((h - inputs) ** 2).mean()

    @jax.jit
    def trained(some):
        loss, grads = jax.value_and_grad(loss_of)(some)
        return loss, [w - RATE * g for w, g in zip(some, grads)]

    def step(chosen):
        loss, new = trained([weights[i] for i in chosen])
        for i, w in zip(chosen, new):
            weights[i] = w
        return float(loss)

    return step


def main():
    framework, mib = sys.argv[1], int(sys.argv[2])
    steps = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else 1 << 62
    pause = float(sys.argv[4]) if len(sys.argv) > 4 else 0
    layers = max(WIDE, mib // 64)
    step = torch_step(layers) if framework == "torch" else jax_step(layers, mib)
    print(json.dumps({"ready": True}), flush=True)
    for n in range(steps):
        loss = step([(n * WIDE + i) % layers for i in range(WIDE)])
        print(json.dumps({"step": n, "sum": loss}), flush=True)
        time.sleep(pause)


main()
