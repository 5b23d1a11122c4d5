# SPDX-License-Identifier: MIT
"""torch_gang.py - programs of PyTorch whose processes on several GPUs wait for each other through NCCL

    torch_gang.py train [--seed N] [--steps N]   data parallel training of 400M parameters, a rank on each GPU
    torch_gang.py serve [--rate R] [--seed N]    a tensor-parallel server: 16 layers, two all-reduces a layer, a CUDA graph
                                                 a token, 32 tokens a request, Poisson arrivals
    torch_gang.py alloc                          allocates and frees 2 MiB in a loop (--gpu N), one process

Rank 0 prints {"ready":true} once all are warm, then a line per step or request: {"t":S,"us":US,"n":STEP,"loss":X}, where t is
CLOCK_MONOTONIC at the end, and a request's us counts from its arrival. Ends on SIGTERM, or after --seconds. Losses depend on
the seed alone. A rank's pid is in {"rank":N,"pid":PID}. Uses nothing of gpusched. NVLink multicast stays off.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time

os.environ.update(NCCL_NVLS_ENABLE="0", TORCH_SYMM_MEM_DISABLE_MULTICAST="1", NVSHMEM_DISABLE_NVLS="1")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def say(**what):
    print(json.dumps(what), flush=True)


def launch(args):
    """Starts a rank per GPU; ends when one ends, with its status."""
    port = str(random.SystemRandom().randint(20000, 40000))
    ranks = []
    for rank in range(args.gpus):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(args.gpus), MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=port)
        ranks.append(subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "--rank", str(rank)], env=env))
    signal.signal(signal.SIGTERM, lambda *_: [p.terminate() for p in ranks])
    status = None
    while status is None:
        time.sleep(0.05)
        for p in ranks:
            if p.poll() is not None:
                status = p.returncode
    deadline = time.monotonic() + 5
    for p in ranks:
        try:
            p.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            p.kill()
    sys.exit(0 if status in (0, -signal.SIGTERM) else 1)


def train(args, torch, dist):
    torch.manual_seed(args.seed)
    width = 4096
    layers = []
    for _ in range(24):
        layers += [torch.nn.Linear(width, width, bias=False), torch.nn.GELU()]
    model = torch.nn.Sequential(*layers).cuda().bfloat16()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[args.rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = torch.randn(2048, width, generator=torch.Generator().manual_seed(args.seed + args.rank)).cuda().bfloat16()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(data).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    for _ in range(5):
        step()
    dist.barrier()
    if args.rank == 0:
        say(ready=True)
    end = time.monotonic() + args.seconds
    n = 0
    while time.monotonic() < end and (not args.steps or n < args.steps):
        begun = time.monotonic()
        loss = step()
        n += 1
        if args.rank == 0:
            now = time.monotonic()
            say(t=round(now, 6), us=round((now - begun) * 1e6), n=n, loss=loss)


def serve(args, torch, dist):
    torch.manual_seed(1)
    width, part = 4096, 4096 * 4 // args.gpus
    weights = [(torch.randn(width, part, device="cuda", dtype=torch.half) * 0.01,
                torch.randn(part, width, device="cuda", dtype=torch.half) * 0.01) for _ in range(32)]
    x = torch.randn(1, width, device="cuda", dtype=torch.half)

    def token():
        y = x
        for up, down in weights:
            y = torch.relu(y @ up) @ down
            dist.all_reduce(y)
            y = y / y.norm()
        return y

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.inference_mode():
        for _ in range(3):
            token()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.inference_mode(), torch.cuda.graph(graph, stream=stream):
        token()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    begin = torch.tensor([time.monotonic() + 1.0], dtype=torch.float64, device="cuda")
    dist.broadcast(begin, 0)  # both ranks read the same clock
    arrival = begin.item()
    if args.rank == 0:
        say(ready=True)
    end = arrival + args.seconds
    gaps = random.Random(args.seed)
    n = 0
    while True:
        arrival += gaps.expovariate(args.rate)
        if arrival > end:
            return
        time.sleep(max(0, arrival - time.monotonic()))
        for _ in range(args.tokens):
            graph.replay()
            torch.cuda.synchronize()
        n += 1
        if args.rank == 0:
            now = time.monotonic()
            say(t=round(now, 6), us=round((now - arrival) * 1e6), n=n)


def alloc(args, torch):
    torch.cuda.set_device(args.gpu)
    torch.zeros(1, device="cuda")
    say(ready=True)
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        begun = time.monotonic()
        block = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
        del block
        torch.cuda.empty_cache()  # a cudaMalloc and a cudaFree each time
        now = time.monotonic()
        say(t=round(now, 6), us=round((now - begun) * 1e6))
        time.sleep(0.001)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mode", choices=("train", "serve", "alloc"))
    p.add_argument("--gpus", type=int, default=2)
    p.add_argument("--gpu", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=0)
    p.add_argument("--rate", type=float, default=4)
    p.add_argument("--tokens", type=int, default=32)
    p.add_argument("--seconds", type=float, default=3600)
    p.add_argument("--rank", type=int, default=-1, help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.mode != "alloc" and args.rank < 0:
        launch(args)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    import torch
    if args.mode == "alloc":
        alloc(args, torch)
        return
    import torch.distributed as dist
    torch.cuda.set_device(args.rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", args.rank))
    say(rank=args.rank, pid=os.getpid())
    (train if args.mode == "train" else serve)(args, torch, dist)
    os._exit(0)


if __name__ == "__main__":
    main()
