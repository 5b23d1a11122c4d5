# SPDX-License-Identifier: MIT
# Multiplies two 4096 x 4096 FP32 matrices again and again, waiting for each; prints the products in each second as JSON.
#   products.py SECONDS GO     begins when the file GO is there
import json
import os
import sys
import time

import torch

seconds = float(sys.argv[1])
torch.backends.cuda.matmul.allow_tf32 = False
a = torch.randn(4096, 4096, device="cuda")
b = torch.randn(4096, 4096, device="cuda")
for _ in range(20):
    torch.mm(a, b)
torch.cuda.synchronize()
print(json.dumps({"ready": True}), flush=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.005)
begun = time.monotonic()
per_s = [0] * int(seconds)
while (at := time.monotonic() - begun) < seconds:
    torch.mm(a, b)
    torch.cuda.synchronize()
    per_s[min(int(at), len(per_s) - 1)] += 1
print(json.dumps({"rate": round(sum(per_s) / seconds, 1), "per_s": per_s}), flush=True)
