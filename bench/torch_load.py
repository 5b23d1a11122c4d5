# SPDX-License-Identifier: MIT
"""torch_load.py - a PyTorch program that serves or trains until it is told to end

    torch_load.py graph      a ResNet-50 answers one image at a time, as one CUDA graph
    torch_load.py eager      the same, as some hundred launches
    torch_load.py decoder    a decoder of 8 layers generates 16 tokens a request
    torch_load.py resnet152 | vgg19 | densenet201 | bert
                             these answer one input at a time, eager
    torch_load.py memory     a request copies 8 GiB within the GPU's memory
    torch_load.py train      a transformer is trained; the CPU waits for the loss of each step
    torch_load.py ahead      the same, and the CPU waits for the loss of each tenth step
    torch_load.py ddp        the same by two processes, which average their gradients by gloo

Prints {"ready":true} once it is warm, then one line per request or step: {"t":SECONDS,"us":MICROSECONDS},
t by CLOCK_MONOTONIC at its end. Between requests it waits an exponential gap: about 40 requests/s, of the decoder 15. --seed N
says which gaps; SIGUSR1 begins them anew. --loop: without gaps. Ends on SIGTERM. Knows nothing of gpusched.
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

# Before there is a thread: each takes over what is blocked, and a thread that does not block the
# signal would be chosen for it while the main thread works, and end the program.
ANEW = {signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, ANEW)

import torch  # noqa: E402 - it starts threads
import torchvision  # noqa: E402


def say(**what):
    print(json.dumps(what), flush=True)


def vision(name, graph=False):
    """A function that answers one request with a model of torchvision."""
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
    """A function that answers one request: 16 tokens, one after the other, each looked at by the CPU."""
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
    """A function that answers one request: the shapes of BERT base, 128 tokens."""
    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda().half()
    tokens = torch.randn(1, 128, 768, device="cuda", dtype=torch.half)
    model.train()  # no fused layers

    def answer():
        with torch.no_grad():
            return float(model(tokens)[0, 0, 0])

    return answer


def memory():
    """A function that copies 1 GiB eight times; its limit is the memory's bandwidth."""
    a = torch.zeros(1 << 28, device="cuda")
    b = torch.empty_like(a)

    def answer():
        for _ in range(8):
            b.copy_(a)
        torch.cuda.synchronize()

    return answer


def transformer(wrap=lambda model: model, wait_every=1):
    """A function that makes one step of training: 8 layers, 8 sequences of 1024 tokens."""
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
    """The same in two processes on one GPU; the second is this program once more, and ends with the first."""
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
    """Exponential gaps of a seed, from the first again after SIGUSR1."""

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
