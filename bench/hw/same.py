#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same.py - compare the results and the time of a program with and without a command before it

    same.py --with PREFIX [--processes N] [--seconds S] [--start S] [--raw FILE] COMMAND...

Starts N processes of COMMAND and N of PREFIX COMMAND, all at once. Each warms up and waits. Then they run one after the
other, in rounds of random order, some 10 ms each: clocks and neighbours are the same for all, and program start is not
measured. COMMAND follows the protocol of same_work.py.

Prints one line of JSON for each case of COMMAND. A process's level is the median of its times, each divided by the
median of its round. `ratio` is the median of the ratios of all pairs of levels, with PREFIX over without (Hodges and
Lehmann's estimate). `low` and `high` bound it at 95 %, by bootstrap over processes, since two processes of one program
differ by more than two measurements of one process. `sums`: the checksums of all processes, at the start and at the
end. `launches`: the fewest that an agent counted; `launches_a_round`: those of one run; both null if some process
behind PREFIX had no agent.
"""
import argparse
import json
import os
import random
import shlex
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

SECTION_US, WARM_US = 10000, 3000
BOUND = 1.01
RESAMPLES = 2000
AGENT_MAGIC, AGENT_LIST, AGENT_LAUNCHES_AT = 0x47414731, 1, 40  # src/wire/agent.h


class Process:
    def __init__(self, command, prefix, start_s):
        self.behind = bool(prefix)
        self.p = subprocess.Popen(
            prefix + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.killer = threading.Timer(start_s, self.p.kill)
        self.killer.start()

    def ready(self):
        answer = self.hear()
        self.killer.cancel()
        return answer["cases"]

    def hear(self):
        for line in self.p.stdout:
            if line.startswith("{"):
                return json.loads(line)
        sys.exit(f"same: a process has ended by {self.p.wait()}")

    def ask(self, *words):
        print(*words, file=self.p.stdin, flush=True)
        return self.hear()

    def counted(self):
        """Returns the launches that the process's agent has counted, or None if it has no agent."""
        with open(f"/proc/{self.p.pid}/maps") as f:
            if "libgpusched-agent" not in f.read():
                return None
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            s.settimeout(5)
            s.connect(f"{os.environ['XDG_RUNTIME_DIR']}/gpusched/agent-{self.p.pid}")
            s.send(struct.pack("8I", AGENT_MAGIC, AGENT_LIST, *[0] * 6))
            answer = s.recv(65536)
        except OSError as e:
            print(f"same: agent of {self.p.pid}: {e}", file=sys.stderr)
            return None
        finally:
            s.close()
        if len(answer) < AGENT_LAUNCHES_AT + 8 or struct.unpack_from("I", answer)[0] != AGENT_MAGIC:
            return None
        return struct.unpack_from("Q", answer, AGENT_LAUNCHES_AT)[0]

    def end(self):
        self.killer.cancel()
        self.p.stdin.close()
        try:
            self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()


def middle_ratio(with_, without):
    return statistics.median(a / b for a in with_ for b in without)


def interval(with_, without, rng):
    again = sorted(
        middle_ratio(rng.choices(with_, k=len(with_)), rng.choices(without, k=len(without)))
        for _ in range(RESAMPLES)
    )
    return again[int(0.025 * RESAMPLES)], again[int(0.975 * RESAMPLES) - 1]


def measure(processes, case, seconds, rng):
    """Returns the time of each process in each round, in us, and the launches that the first agent counted in one run."""
    rounds = 3
    for _ in range(3):
        us = processes[0].ask("time", case, rounds, rounds)["us"]
        rounds, warm = max(1, round(SECTION_US / us)), max(1, round(WARM_US / us))
    counted = processes[0].counted()
    end, table = time.monotonic() + seconds, []
    while time.monotonic() < end or len(table) < 3:
        row = [0.0] * len(processes)
        for i in rng.sample(range(len(processes)), len(processes)):
            row[i] = processes[i].ask("time", case, warm, rounds)["us"]
        table.append(row)
    after = processes[0].counted()
    known = counted is not None and after is not None
    return table, (after - counted) / (len(table) * (warm + rounds)) if known else None


def conclude(processes, case, table, rng):
    middles = [statistics.median(row) for row in table]
    level = [
        statistics.median(row[i] / m for row, m in zip(table, middles)) for i in range(len(processes))
    ]
    us = [statistics.median(row[i] for row in table) for i in range(len(processes))]
    pick = lambda values, behind: [v for v, p in zip(values, processes) if p.behind == behind]
    low, high = interval(pick(level, True), pick(level, False), rng)
    return {
        "case": case,
        "ratio": round(middle_ratio(pick(level, True), pick(level, False)), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "at_most_1_percent": high <= BOUND,
        "without_us": round(statistics.median(pick(us, False)), 3),
        "with_us": round(statistics.median(pick(us, True)), 3),
        "processes": len(processes),
        "rounds": len(table),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--with", dest="prefix", required=True)
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=10, help="of measuring, all cases together")
    parser.add_argument("--start", type=float, default=40, help="seconds in which all must be warm")
    parser.add_argument("--raw")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    o = parser.parse_args()
    os.environ.setdefault("SAME_CPU", str(max(os.sched_getaffinity(0))))
    os.environ.setdefault("PYTHONHASHSEED", "0")
    rng = random.Random(1)
    prefixes = [shlex.split(o.prefix), []]
    processes = [Process(o.command, prefixes[i % 2], o.start) for i in range(2 * o.processes)]
    try:
        cases = [p.ready() for p in processes][0]
        sums = {case: [p.ask("sum", case)["sum"] for p in processes] for case in cases}
        for case in cases:
            table, launches = measure(processes, case, o.seconds / len(cases), rng)
            result = conclude(processes, case, table, rng)
            all_sums = set(sums[case] + [p.ask("sum", case)["sum"] for p in processes])
            counted = [p.counted() for p in processes if p.behind]
            result["same"] = len(all_sums) == 1
            result["sums"] = sorted(all_sums)
            result["launches"] = None if None in counted else min(counted)
            result["launches_a_round"] = launches and round(launches, 2)
            result["agents_without"] = sum(p.counted() is not None for p in processes if not p.behind)
            print(json.dumps(result), flush=True)
            if o.raw:
                with open(o.raw, "a") as f:
                    json.dump({"case": case, "behind": [p.behind for p in processes], "us": table}, f)
                    f.write("\n")
    finally:
        for p in processes:
            p.end()


main()
