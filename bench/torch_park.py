# SPDX-License-Identifier: MIT
"""torch_park.py MIB [STEPS] - a PyTorch program whose results show whether its memory is what it was

Holds MIB of GPU memory, all of it integers that each step computes anew from their old values. Prints
{"ready":true}, then {"step":N,"sum":SUM} for each step: the same numbers in each run, whatever
happens in between. Ends after STEPS, or on SIGTERM. Knows nothing of gpusched.
"""
import json
import sys
import time

import torch

PIECE = 64 << 20  # bytes: what a step needs besides


def main():
    mib = int(sys.argv[1])
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 62
    per_piece = PIECE // 4
    pieces = [torch.arange(i, i + per_piece, dtype=torch.int32, device="cuda") for i in range(max(1, mib // 64))]
    print(json.dumps({"ready": True}), flush=True)
    for step in range(steps):
        total = 0
        for piece in pieces:
            piece.mul_(1664525).add_(1013904223)  # wraps round
            total += int(piece.sum(dtype=torch.int64))
        print(json.dumps({"step": step, "sum": total}), flush=True)
        time.sleep(0.05)


main()
