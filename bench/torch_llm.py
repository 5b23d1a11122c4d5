#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch_llm.py - serve a language model with PyTorch alone: static cache, CUDA graphs, batching

    torch_llm.py capacity [--seconds S]       measure requests/s with requests always waiting
    torch_llm.py serve --rate R [--rate R]    serve Poisson arrivals, at one rate after the other

A decoder-only model whose weights are drawn on the GPU (18 layers, 2048 wide: 1 B parameters, bf16) answers prompts of 64 to
512 tokens with 32 to 128 tokens, at most 16 at once. Attention is PyTorch's scaled_dot_product_attention over a static cache.
A step makes one token for each active request; there is one CUDA graph per batch size (1, 2, 4, 8, 16). A further graph
reads prompts in chunks of 128 tokens, one chunk between two steps. The CPU looks at every token, as a server must.
With --plain it serves one request at a time: a prompt of one token, an answer of 64. --shape 0.8b has 16 layers (1.6 GB).
With --tensors N it first copies N tensors to the GPU, with pauses of 0.3 to 20 ms, as a server does that reads its weights.

serve prints {"ready":true}, waits for a line on its input, then prints one line per rate: times in ms, counted from the
arrival. token_ms: from one token of an answer to the next. late_ms: how long after an arrival the idle server woke; this is
the server's own delay, and the other times exclude it. Requests not done 4 s after the window are `unfinished` and count
with the time that they have waited by then. p99 is null below 100 values. The same --seed and rate give the same requests
at the same times. Times "from" and "to" are CLOCK_MONOTONIC. Ends on SIGTERM. Uses nothing of gpusched.
"""
import argparse
import collections
import json
import random
import signal
import sys
import time

import torch
import torch.nn.functional as F

SHAPES = {  # layers, width, heads, vocabulary
    "1b": (18, 2048, 16, 32000),
    "0.8b": (16, 2048, 16, 32000),
    "tiny": (2, 64, 4, 256),
}
SLOTS, LENGTH, CHUNK = 16, 768, 128
PROMPT, ANSWER = (64, 512), (32, 128)
SIZES = (1, 2, 4, 8, 16)
DRAIN_S = 4.0


def say(**what):
    print(json.dumps(what), flush=True)


class Model:
    def __init__(self, shape, device):
        self.layers, self.width, self.heads, self.vocabulary = SHAPES[shape]
        self.device = torch.device(device)
        self.dtype = torch.bfloat16 if device == "cuda" else torch.float32
        torch.manual_seed(1)
        width = self.width
        self.embed = self.draw(self.vocabulary, width)
        self.place = self.draw(LENGTH, width)
        self.blocks = [
            (self.draw(3 * width, width), self.draw(width, width), self.draw(4 * width, width), self.draw(width, 4 * width))
            for _ in range(self.layers)
        ]
        cache = (self.layers, SLOTS, self.heads, LENGTH, width // self.heads)
        self.keys = torch.zeros(cache, device=self.device, dtype=self.dtype)
        self.values = torch.zeros(cache, device=self.device, dtype=self.dtype)
        self.every = torch.arange(LENGTH, device=self.device)

    def draw(self, *shape):
        return torch.randn(shape, device=self.device, dtype=self.dtype) * 0.02

    def parameters(self):
        return sum(w.numel() for block in self.blocks for w in block) + self.embed.numel() + self.place.numel()

    def forward(self, tokens, slots, start, first):
        """Returns the hidden states of tokens (n, t), which begin at position start of each slot. first: slots are 0 to n - 1."""
        n, t = tokens.shape
        at = start[:, None] + self.every[:t]
        x = self.embed[tokens] + self.place[at]
        mask = (self.every <= at[:, :, None])[:, None]
        for layer, (qkv, out, up, down) in enumerate(self.blocks):
            q, k, v = F.linear(F.layer_norm(x, (self.width,)), qkv).view(n, t, 3, self.heads, -1).unbind(2)
            self.keys[layer][slots[:, None], :, at] = k
            self.values[layer][slots[:, None], :, at] = v
            keys = self.keys[layer][:n] if first else self.keys[layer].index_select(0, slots)
            values = self.values[layer][:n] if first else self.values[layer].index_select(0, slots)
            mixed = F.scaled_dot_product_attention(q.transpose(1, 2), keys, values, attn_mask=mask)
            x = x + F.linear(mixed.transpose(1, 2).reshape(n, t, -1), out)
            x = x + F.linear(F.gelu(F.linear(F.layer_norm(x, (self.width,)), up)), down)
        return x

    def best(self, hidden):
        return F.linear(F.layer_norm(hidden, (self.width,)), self.embed).argmax(-1)


class Step:
    """A computation over fixed buffers: a CUDA graph where there is CUDA."""

    def __init__(self, model, make):
        self.make, self.graph = make, None
        if model.device.type != "cuda":
            return
        side = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            for _ in range(3):
                make()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.out = make()

    def run(self):
        if self.graph is None:
            return self.make().tolist()
        self.graph.replay()
        return self.out.tolist()  # the CPU waits here


class Engine:
    def __init__(self, model):
        self.model = model
        device = model.device
        self.slots = torch.arange(SLOTS, device=device)
        self.tokens = torch.zeros(SLOTS, dtype=torch.long, device=device)
        self.at = torch.zeros(SLOTS, dtype=torch.long, device=device)
        self.prompt = torch.zeros(1, CHUNK, dtype=torch.long, device=device)
        self.slot = torch.zeros(1, dtype=torch.long, device=device)
        self.start = torch.zeros(1, dtype=torch.long, device=device)
        self.last = torch.zeros(1, dtype=torch.long, device=device)
        self.steps = {n: Step(model, lambda n=n: self.decode(n)) for n in SIZES}
        self.chunk = Step(model, self.read)

    def decode(self, n):
        hidden = self.model.forward(self.tokens[:n, None], self.slots[:n], self.at[:n], True)
        return self.model.best(hidden[:, 0])

    def read(self):
        hidden = self.model.forward(self.prompt, self.slot, self.start, False)
        return self.model.best(hidden.index_select(1, self.last)[:, 0])


class Request:
    def __init__(self, draw, due):
        self.due = due
        self.prompt = [draw.randrange(256) for _ in range(draw.randint(*PROMPT))]
        self.answer = draw.randint(*ANSWER)
        self.slot, self.read, self.late = None, 0, 0.0
        self.tokens, self.times = [], []


class Server:
    def __init__(self, engine):
        self.engine = engine
        self.forget()

    def forget(self):
        self.waiting = collections.deque()
        self.active = {}  # slot: request

    def admit(self):
        for slot in range(SLOTS):
            if not self.waiting:
                return
            if slot not in self.active:
                r = self.waiting.popleft()
                r.slot = slot
                self.active[slot] = r

    def give(self, r, token, now):
        """Adds a token to a request's answer; returns whether it was the last."""
        r.tokens.append(token)
        r.times.append(now)
        if len(r.times) < r.answer:
            return False
        del self.active[r.slot]
        return True

    def read_chunk(self, done):
        r = next((r for r in self.active.values() if r.read < len(r.prompt)), None)
        if r is None:
            return
        e, part = self.engine, r.prompt[r.read : r.read + CHUNK]
        e.prompt.copy_(torch.tensor([part + [0] * (CHUNK - len(part))]))
        e.slot.fill_(r.slot)
        e.start.fill_(r.read)
        e.last.fill_(len(part) - 1)
        token = e.chunk.run()[0]
        r.read += len(part)
        if r.read == len(r.prompt) and self.give(r, token, time.monotonic()):
            done.append(r)

    def step(self, done):
        ready = {s: r for s, r in self.active.items() if r.read == len(r.prompt)}
        if not ready:
            return
        e, size = self.engine, next(n for n in SIZES if n > max(ready))
        # For a slot that is not ready, the step writes cache entries that its next chunk or request overwrites.
        e.tokens[:size].copy_(torch.tensor([ready[s].tokens[-1] if s in ready else 0 for s in range(size)]))
        e.at[:size].copy_(torch.tensor([self.position(s) for s in range(size)]))
        tokens = e.steps[size].run()
        now = time.monotonic()
        for s, r in ready.items():
            if self.give(r, tokens[s], now):
                done.append(r)

    def position(self, slot):
        r = self.active.get(slot)
        return 0 if r is None else r.read if r.read < len(r.prompt) else r.read + len(r.times) - 1

    def turn(self):
        """Runs one chunk and one step; returns the requests that are done."""
        done = []
        self.admit()
        self.read_chunk(done)
        self.step(done)
        return done


def spread(values):
    v = sorted(values)
    at = lambda q: round(1e3 * v[min(int(q * len(v)), len(v) - 1)], 3) if v else None
    return {
        "n": len(v),
        "p50": at(0.5),
        "p90": at(0.9),
        "p99": at(0.99) if len(v) >= 100 else None,
        "max": at(1),
    }


def capacity(server, seconds):
    draw, done, begin = random.Random(0), 0, time.monotonic()
    counted_from, warm = 0, begin + seconds / 3
    while (now := time.monotonic()) < begin + seconds:
        while len(server.waiting) < 4:
            server.waiting.append(Request(draw, now))
        done += len(server.turn())
        if warm and now >= warm:
            warm, counted_from, done = 0, now, 0
    server.forget()
    say(requests_per_s=round(done / (time.monotonic() - counted_from), 3))


def arrivals(seed, rate, seconds):
    draw, at = random.Random(f"{seed} {rate}"), 0.0
    while True:
        at += draw.expovariate(rate)
        if at >= seconds:
            return
        yield at, draw.getrandbits(64)


def serve(server, rate, seconds, warmup, seed):
    coming = collections.deque(
        Request(random.Random(bits), at) for at, bits in arrivals(seed, rate, warmup + seconds)
    )
    every, done, begin = list(coming), [], time.monotonic()
    for r in every:
        r.due += begin
    while (coming or server.waiting or server.active) and time.monotonic() < begin + warmup + seconds + DRAIN_S:
        idle = not server.waiting and not server.active
        if idle and coming and coming[0].due > time.monotonic():
            time.sleep(max(0.0, coming[0].due - time.monotonic()))
            coming[0].late = max(0.0, time.monotonic() - coming[0].due)
        now = time.monotonic()
        while coming and coming[0].due <= now:
            server.waiting.append(coming.popleft())
        done += server.turn()
    end = time.monotonic()
    server.forget()
    mine = [r for r in every if r.due >= begin + warmup]
    whole = lambda r: (r.times[-1] if len(r.times) == r.answer else end) - r.due - r.late
    say(
        rate=rate,
        seed=seed,
        **{"from": round(begin + warmup, 6), "to": round(begin + warmup + seconds, 6)},
        requests=len(mine),
        unfinished=sum(len(r.times) < r.answer for r in mine),
        first_ms=spread((r.times[0] if r.times else end) - r.due - r.late for r in mine),
        token_ms=spread(b - a for r in mine for a, b in zip(r.times, r.times[1:])),
        request_ms=spread(whole(r) for r in mine),
        late_ms=spread(r.late for r in mine),
        all_request_ms=[round(1e3 * whole(r), 2) for r in mine],
        all_first_ms=[round(1e3 * ((r.times[0] if r.times else end) - r.due - r.late), 2) for r in mine],
    )


def load(tensors, device):
    draw = random.Random(2)
    for _ in range(tensors):
        time.sleep(0.0003 * (20 / 0.3) ** draw.random())
        torch.ones(1 << 18).to(device)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("capacity", "serve"))
    parser.add_argument("--rate", type=float, action="append", default=[])
    parser.add_argument("--seconds", type=float, default=18)
    parser.add_argument("--warmup", type=float, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--requests", type=int, help="this many in each window, instead of --seconds")
    parser.add_argument("--tensors", type=int, default=0)
    parser.add_argument("--shape", choices=SHAPES, default="1b")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    o = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if o.plain:
        global SLOTS, SIZES, PROMPT, ANSWER
        SLOTS, SIZES, PROMPT, ANSWER = 1, (1,), (1, 1), (64, 64)
    with torch.inference_mode():
        load(o.tensors, o.device)
        model = Model(o.shape, o.device)
        server = Server(Engine(model))
        for _ in range(3):  # PyTorch sets up much at first use
            server.waiting.append(Request(random.Random(0), time.monotonic()))
            while server.waiting or server.active:
                server.turn()
        say(ready=True, parameters=model.parameters(), torch=torch.__version__)
        if o.what == "capacity":
            capacity(server, o.seconds)
            return
        sys.stdin.readline()
        for rate in o.rate:
            serve(server, rate, o.requests / rate if o.requests else o.seconds, o.warmup, o.seed)


if __name__ == "__main__":
    main()
