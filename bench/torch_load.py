# SPDX-License-Identifier: MIT
"""torch_load.py - serve or train with PyTorch until SIGTERM

    torch_load.py graph      a ResNet-50 answers one image at a time, as one CUDA graph
    torch_load.py eager      a ResNet-50 answers one image at a time, as some hundred launches
    torch_load.py decoder    a decoder of 8 layers generates 16 tokens a request
    torch_load.py resnet152 | vgg19 | densenet201 | bert
                             each of these models answers one input at a time, eager
    torch_load.py memory     a request copies 8 GiB within the GPU's memory
    torch_load.py train      a transformer is trained; the CPU waits for the loss of each step
    torch_load.py ahead      like train, but the CPU waits for the loss of each tenth step only
    torch_load.py ddp        like train, in two processes that average their gradients by gloo

Prints {"ready":true} once it is warm, then one line per request or step: {"t":SECONDS,"us":MICROSECONDS}, where t is
CLOCK_MONOTONIC at the end. Waits an exponential gap between requests: about 40 requests/s, 15 for the decoder. --seed N
sets the random gaps; SIGUSR1 restarts their sequence. --loop leaves gaps out. Ends on SIGTERM. Uses nothing of gpusched.
"""
import argparse
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time

# Block SIGUSR1 before any thread starts, since new threads inherit the mask. The kernel would give
# the signal to a thread that does not block it, and the default action would end the program.
ANEW = {signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, ANEW)

import torch  # noqa: E402 - it starts threads
import torchvision  # noqa: E402


def say(**what):
    print(json.dumps(what), flush=True)


def vision(name, graph=False):
    """Returns a function that answers one request with a model of torchvision."""
    model = getattr(torchvision.models, name)().cuda().half().eval().to(memory_format=torch.channels_last)
    image = torch.randn(1, 3, 224, 224, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)

    def answer():
        with torch.inference_mode():
            return model(image).argmax()

    if not graph:
        return lambda: int(answer())
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            answer()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        result = answer()

    def replay():
        captured.replay()
        return int(result)

    return replay


def decoder():
    """Returns a function that answers one request: 16 tokens in turn, each of which the CPU looks at."""
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0.0, batch_first=True, norm_first=True)
    model = torch.nn.TransformerEncoder(layer, 8, enable_nested_tensor=False).cuda().half()
    embed = torch.nn.Embedding(32000, 1024).cuda().half()
    head = torch.nn.Linear(1024, 32000).cuda().half()
    model.train()  # no fused layers: many small launches, as most code has them

    def answer():
        tokens = [1]
        with torch.no_grad():
            for _ in range(16):
                hidden = model(embed(torch.tensor([tokens], device="cuda")))
                tokens.append(int(head(hidden[:, -1]).argmax()))
        return tokens

    return answer


def bert():
    """Returns a function that answers one request: the shapes of BERT base, 128 tokens."""
    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda().half()
    tokens = torch.randn(1, 128, 768, device="cuda", dtype=torch.half)
    model.train()  # no fused layers

    def answer():
        with torch.no_grad():
            return float(model(tokens)[0, 0, 0])

    return answer


def memory():
    """Returns a function that copies 1 GiB eight times; memory bandwidth is its limit."""
    a = torch.zeros(1 << 28, device="cuda")
    b = torch.empty_like(a)

    def answer():
        for _ in range(8):
            b.copy_(a)
        torch.cuda.synchronize()

    return answer


def transformer(wrap=lambda model: model, wait_every=1):
    """Returns a function that makes one step of training: 8 layers, 8 sequences of 1024 tokens."""
    layer = torch.nn.TransformerEncoderLayer(2048, 16, 8192, dropout=0.0, batch_first=True, norm_first=True)
    model = wrap(torch.nn.TransformerEncoder(layer, 8, enable_nested_tensor=False).cuda())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    tokens = torch.randn(8, 1024, 2048, device="cuda")
    steps = itertools.count(1)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens).square().mean()
        loss.backward()
        optimizer.step()
        return float(loss) if next(steps) % wait_every == 0 else None

    return step


def distributed():
    """Returns transformer()'s step for training in two processes on one GPU; starts the second one."""
    rank = int(os.environ.get("RANK", 0))
    if not rank:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            os.environ["MASTER_PORT"] = str(free.getsockname()[1])
        os.environ.update(MASTER_ADDR="127.0.0.1", WORLD_SIZE="2", RANK="0")
        subprocess.Popen([sys.executable, __file__, "ddp"], env={**os.environ, "RANK": "1"}, stdout=subprocess.DEVNULL)
    torch.distributed.init_process_group("gloo")
    return transformer(torch.nn.parallel.DistributedDataParallel)


class Gaps:
    """Exponential gaps from a seed; SIGUSR1 restarts the sequence at its first gap."""

    def __init__(self, seed, mean_ms):
        self.seed, self.mean_ms = seed, mean_ms
        self.draw = random.Random(seed)

    def wait(self):
        while signal.sigtimedwait(ANEW, self.draw.expovariate(1000 / self.mean_ms) if self.mean_ms else 0):
            self.draw = random.Random(self.seed)


def main():
    parser = argparse.ArgumentParser()
    programs = {
        "graph": (lambda: vision("resnet50", True), 25.0),
        "eager": (lambda: vision("resnet50"), 20.0),
        "resnet152": (lambda: vision("resnet152"), 25.0),
        "vgg19": (lambda: vision("vgg19"), 25.0),
        "densenet201": (lambda: vision("densenet201"), 25.0),
        "bert": (bert, 25.0),
        "memory": (memory, 25.0),
        "decoder": (decoder, 40.0),
        "train": (transformer, 0.0),
        "ahead": (lambda: transformer(wait_every=10), 0.0),
        "ddp": (distributed, 0.0),
    }
    parser.add_argument("what", choices=programs)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loop", action="store_true")
    options = parser.parse_args()
    make, gap_ms = programs[options.what]
    gaps = Gaps(options.seed, 0 if options.loop else gap_ms)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    torch.backends.cudnn.benchmark = True
    work = make()
    for _ in range(10):
        work()
    say(ready=True)
    while True:
        gaps.wait()
        begin = time.monotonic()
        work()
        end = time.monotonic()
        say(t=round(end, 6), us=round((end - begin) * 1e6, 1))


if __name__ == "__main__":
    main()
