# SPDX-License-Identifier: MIT
"""Inference beside training, in two processes of one user: start one of each.

    PYTHONPATH=../../integrations/python python3 two_processes.py train work.ptx &
    PYTHONPATH=../../integrations/python python3 two_processes.py infer work.ptx
"""
import sys
import time
from ctypes import c_uint32

from gpreempt import HIGH, LOW, GPUScheduler


def train(gpu, ptx):
    work = gpu.kernel(LOW, ptx, "work")
    while True:  # waits while there is inference, here or in another process
        gpu.submit(work, (1024, 1, 1), (256, 1, 1), [c_uint32(60000)])


def infer(gpu, ptx):
    work = gpu.kernel(HIGH, ptx, "work")
    for i in range(50):
        time.sleep(0.01)
        begun = time.monotonic()
        gpu.submit(work, (1024, 1, 1), (256, 1, 1), [c_uint32(3000)])
        gpu.wait(HIGH)
        print(f"request {i}: {(time.monotonic() - begun) * 1e6:.0f} us", flush=True)


with GPUScheduler() as scheduler, open(sys.argv[2], encoding="ascii") as f:
    {"train": train, "infer": infer}[sys.argv[1]](scheduler, f.read())
