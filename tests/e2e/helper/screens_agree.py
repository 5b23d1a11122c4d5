#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what all screens say of one situation: names, units, values, verdicts.

screens_agree.py DIRECTORY WORD... reads what screens_lib.sh printed. A WORD is a finding that
status must have, or KEY=VALUE of one of its programs. Each difference is one line; there must be none.
"""
import json
import re
import sys

POINTS = 1.0  # percentage points by which shares of the same window may differ
SHARE = 0.01  # part by which sums and fixed values may differ
SHIFTED = 0.1  # part by which rates and means may: windows that the screens ask for one after another are shifted
HEADS = ("PID", "USER", "NAME", "CLASS", "SLICE", "MEMORY", "STATE", "USED", "HAD GPU", "WAITED",
         "GPU TIME", "USUALLY", "ALONE WORKS", "LAUNCHES", "REASON", "LOOKS LIKE", "LOSES",
         "WHAT HELPS", "GPU")
UNITS = {"%": "percent", "us": "time", "ms": "time", "s": "time", "min": "time", "h": "time",
         "MiB": "memory", "GiB": "memory", "KiB": "memory"}
LUMP = 6.0  # points by which time alone may differ: a turn of half a second counts when it ends
at = sys.argv[1]
words = sys.argv[2:]
moving = "moving" in words  # programs are paused and let go many times a second
different = []
compared = 0


def read(name):
    with open(f"{at}/{name}") as f:
        return f.read()


def rows(name):
    return [json.loads(line) for line in read(name).splitlines()]


def differ(what, **values):
    different.append(what + ": " + ", ".join(f"{k} says {v!r}" for k, v in values.items()))


def same(what, points=0.0, share=SHARE, **values):
    """All values are equal, or all unknown; numbers nearly so."""
    global compared
    compared += 1
    all_of = list(values.values())
    if all(v == all_of[0] for v in all_of):
        return
    if any(not isinstance(v, (int, float)) or isinstance(v, bool) for v in all_of):
        differ(what, **values)
        return
    most = max(abs(v) for v in all_of)
    if max(all_of) - min(all_of) > (points or max(most * share, 0.1)):
        differ(what, **values)


def between(what, before, after, **values):
    """Each sum lies between what it was before and after, give or take SHARE."""
    global compared
    for name, v in values.items():
        compared += 1
        if v is None or before is None or after is None:
            if not v == before == after:
                differ(what, before=before, after=after, **{name: v})
        elif not before * (1 - SHARE) - 1 <= v <= after * (1 + SHARE) + 1:
            differ(what, before=before, after=after, **{name: v})


# ---- tables -------------------------------------------------------------------------------------


def table(name):
    """The rows of the table with the heading PID: dictionaries by heading."""
    lines = read(name).splitlines()
    head = next((i for i, l in enumerate(lines) if re.search(r"\bPID\b", l)), None)
    if head is None:
        return []
    wide = "".join(" " if ord(c) < 128 else "x" for c in lines[head])
    assert not wide.strip(), "headings are ASCII"
    body = []
    for line in lines[head + 1:]:
        if not re.match(r"(. +)? *\d+ ", line):
            break
        body.append(line)
    found = []
    for h in sorted(HEADS, key=len, reverse=True):
        for m in re.finditer(rf"(?<!\S){re.escape(h)}(?!\S)", lines[head]):
            if not any(a < m.end() and m.start() < b for a, b, _ in found):
                found.append((m.start(), m.end(), h))
    found.sort()
    known = "".join(lines[head][a:b] for a, b, _ in found).replace(" ", "")
    if known != lines[head].replace(" ", ""):
        differ("headings", **{name: lines[head]})
    all_lines = [lines[head]] + body
    cuts = [0]
    for (_, end, h), (begin, _, _) in zip(found, found[1:]):
        gaps = [p for p in range(end, begin) if all(p >= len(l) or l[p] == " " for l in all_lines)]
        cuts.append((gaps[-1] if h == "SLICE" else gaps[0]) if gaps else end)
    cuts.append(None)
    return [{h: line[a:b].strip() for (_, _, h), a, b in zip(found, cuts, cuts[1:])} for line in body]


def by_pid(name):
    return {int(r["PID"].split()[-1]): r for r in table(name)}


def unit_of(cell):
    m = re.match(r"[<>~ ]*[\d.]+ ?([A-Za-z%]*)", cell)
    return UNITS.get(m.group(1), m.group(1)) if m else None


def shown_percent(v):
    """A cell such as '> 7.5 %' as a number; None for '-'."""
    m = re.match(r"[<>~ ]*([\d.]+) %", v)
    return float(m.group(1)) if m else None


def compare_tables(texts):
    units = {}
    for screen, programs in texts.items():
        for cells in programs.values():
            for head, cell in cells.items():
                if unit_of(cell) and head not in ("NAME", "USER", "PID", "STATE", "CLASS"):
                    units.setdefault(head, {}).setdefault(unit_of(cell), screen)
    for head, of in units.items():
        if len(of) > 1:
            differ(f"unit of {head}", **{screen: unit for unit, screen in of.items()})
    for pid in set().union(*texts.values()):
        where = {s: t[pid] for s, t in texts.items() if pid in t}
        for head in HEADS:
            cells = {s: c[head] for s, c in where.items() if head in c}
            if head == "HAD GPU":
                cells.pop("advise", None)  # it watches for a time of its own
            if head == "STATE":  # list names the person, and until when
                cells = {s: re.sub(r"paused by (?!the policy).*", "paused by a person", c)
                         for s, c in cells.items()}
            if len(cells) < 2 or head in ("PID", "GPU TIME") or (moving and head == "STATE"):
                continue
            if all(shown_percent(c) is not None for c in cells.values()):
                same(f"{head} of {pid}", points=POINTS, **{s: shown_percent(c) for s, c in cells.items()})
            else:
                same(f"{head} of {pid}", **cells)


# ---- programs -----------------------------------------------------------------------------------

status = json.loads(read("status.json"))
top = json.loads(read("top.json"))
advise = json.loads(read("advise.json"))
listed = {r["id"]: r for r in rows("list.json") if r["kind"] == "compute"}
shown = {t["id"]: t for g in status["gpus"] for t in g["tsgs"]}
topped = {t["id"]: t for g in top["gpus"] for t in g["tsgs"]}
history = {r["pid"]: r for r in rows("history.json") if r["ended_s"] is None}
before = {r["pid"]: r for r in rows("before.json")}
after = {r["pid"]: r for r in rows("after.json")}
advised = {r["pid"]: r for r in advise["programs"]}
metrics = {}
for line in read("metrics").splitlines():
    m = re.match(r"(\w+)(\{.*\})? (\S+)$", line)
    if m:
        metrics.setdefault(m.group(1), []).append((dict(re.findall(r'(\w+)="([^"]*)"', m.group(2) or "")),
                                                   float(m.group(3))))


def metric(name, **labels):
    return sum(v for l, v in metrics.get("gpusched_" + name, []) if labels.items() <= l.items())


same("programs", status=sorted(shown), list=sorted(listed), top=sorted(topped))
for i in set(shown) & set(listed) & set(topped):
    s, l, t = shown[i], listed[i], topped[i]
    name = f"process {s['pid']}"
    for key in ("pid", "uid", "comm", "class", "suspended_by", "held", "overruled", "reason", "memory_bytes",
                "idle_since_ns"):
        if moving and key in ("suspended_by", "held", "reason"):
            continue
        same(f"{key} of {name}", status=s[key], list=l.get(key), top=t[key])
    same(f"slice of {name}", status=s["timeslice_us"], list=l["is"]["timeslice_us"], top=t["timeslice_us"])
    window = l["window_10s"] or {}
    for key in ("held_pct", "waited_pct", "wait_share_pct", "alone_pct", "work_estimated_pct",
                "slice_ended_pct", "turns_per_s", "mean_turn_us"):
        points = LUMP if key in ("alone_pct", "work_estimated_pct") else POINTS * key.endswith("pct")
        same(f"{key} of {name}", share=SHIFTED, points=points, status=s[key], list=window.get(key), top=t[key])
    for key in ("p50_us", "p90_us", "p99_us", "n", "slo_us"):
        share = 0 if key == "slo_us" else SHIFTED if key == "n" else SHARE
        same(f"requests.{key} of {name}", share=share, **{w: (o.get("requests") or {}).get(key)
                                             for w, o in (("status", s), ("list", l), ("top", t))})
for pid in {s["pid"] for s in shown.values()}:
    mine = [l for l in listed.values() if l["pid"] == pid]
    for key in ("comm", "class", "uid"):
        of = {"list": mine[0][key]}
        for where, book in (("history", history), ("stats", after), ("advise", advised)):
            if pid in book:
                of[where] = book[pid][key]
        if key == "class" and of["list"] in str(of.get("history")).split(","):
            del of["history"]  # it has the classes of before, too
        if key == "class" and of["list"] is None:
            of.pop("history", None)
        same(f"{key} of process {pid}", **of)
    if pid not in before or pid not in after:
        continue
    b, a = before[pid], after[pid]
    turns = [l["turns"] or {} for l in mine]
    ns = [l["gpu_time_ns"] for l in mine]
    between(f"GPU time of process {pid}", b["gpu_time_ms"], a["gpu_time_ms"],
            list=None if None in ns else sum(ns) / 1e6)
    between(f"turns of process {pid}", b["turns"], a["turns"],
            list=sum(t["turns"] for t in turns) if all(turns) else None)
    between(f"waits of process {pid}", b["waits"], a["waits"],
            list=sum(t["waits"] for t in turns) if all(t.get("waits") for t in turns) else None)
    if pid not in history:
        differ(f"process {pid}", history="nothing")
        continue
    for key in ("gpu_time_ms", "turns", "waits", "wait_ms", "slice_ended", "suspended_ms",
                "request_wait_ms", "parked_ms", "contended_ms", "requests", "requests_ms", "slo_missed"):
        between(f"{key} of process {pid}", b[key], a[key], history=history[pid][key])

# ---- GPUs and sums by class -----------------------------------------------------------------------

for s, t in zip(status["gpus"], top["gpus"]):
    for key in ("held_pct", "idle_pct", "lost_pct", "open_pct"):
        same(f"{key} of GPU {s['gpu']}", points=POINTS, status=s[key], top=t[key])
    for key in ("used_bytes", "total_bytes", "free_bytes"):
        same(f"memory.{key} of GPU {s['gpu']}", status=s["memory"][key], top=t["memory"][key])
    same(f"memory used of GPU {s['gpu']}", status=s["memory"]["used_bytes"],
         metrics=metric("gpu_memory_used_bytes", gpu=str(s["gpu"])))
for c in {s["class"] for s in shown.values()}:
    of = [s for s in shown.values() if s["class"] == c and s["held_pct"] is not None]
    if not of:
        continue
    label = c or ""
    same(f"share of class {c}", points=POINTS, status=sum(s["held_pct"] for s in of),
         metrics=100 * metric("gpu_share", **{"class": label}))
    same(f"memory of class {c}", status=sum(s["memory_bytes"] or 0 for s in of),
         metrics=metric("memory_bytes", **{"class": label}))
paused = sum(s["suspended_by"] is not None for s in shown.values())
if not moving:
    same("paused programs", status=paused, metrics=metric("tsgs_suspended"))
same("policy", status=status["policy"], top=top["policy"], advise=advise["gpus"][0]["policy"])

# ---- verdicts -------------------------------------------------------------------------------------


def found(o, but=()):
    return sorted((f["finding"], f["level"], 0 if moving else f["pid"] or 0)
                  for f in o["findings"] if f["finding"] not in but)


same("findings", status=found(status), top=found(top))
# while advise counts launches, waits are seen
but = ("waits-unseen",) if advise["launches"] else ()
same("findings", status=found(status, but), advise=found(advise, but))
counts = {}
for name, _, _ in found(status):
    counts[name] = counts.get(name, 0) + 1
of_metrics = {l["finding"]: int(v) for l, v in metrics.get("gpusched_findings", []) if v}
same("counts of findings", status=counts, metrics=of_metrics)
wrong = [f for f in status["findings"] if f["level"] == "wrong"]
text = " ".join(read("status.txt").split())
same("all is well", json=status["ok"], findings=not wrong, text="nothing is wrong" in text,
     exit_code=read("status.code").strip() == "0")
for screen in ("status.txt", "top.txt", "advise.txt"):
    same("lines that say wrong", findings=len(wrong), **{screen: len(re.findall("^wrong: ", read(screen), re.M))})
idle_advice = "nothing has to be done" in read("advise.txt")
if idle_advice and any("gpusched policy start" in f["do"] for f in status["findings"]):
    differ("verdicts", status="start a policy", advise="nothing has to be done")
# a service is told to do one thing, on whatever screen
for pid, o in advised.items():
    says = [s.get("policy_says") or {} for s in shown.values() if s["pid"] == pid]
    told = not any(s.get("not_held") == "REQUESTS_NOT_TOLD" for s in says)
    same(f"process {pid} tells of its requests", status=told, advise=not o["untold"])

# ---- texts ----------------------------------------------------------------------------------------

texts = {s: by_pid(s + ".txt") for s in ("status", "list", "top", "advise", "status-columns", "list-columns",
                                         "history-columns")}
for pid, cells in texts["status"].items():
    of = [s for s in shown.values() if s["pid"] == pid]
    percent = shown_percent(cells.get("HAD GPU", cells.get("USED", "")))
    if percent is not None and of and all(s["alone_pct"] is None for s in of):
        same(f"USED of {pid}", points=POINTS, text=percent, json=sum(s["held_pct"] or 0 for s in of))
of_status = {s["pid"] for s in shown.values()}
for screen, programs in texts.items():
    if screen != "history-columns":  # a new program is not in the history yet
        same(f"programs without a row in {screen}", is_=sorted(of_status - set(programs)), should=[])
    elif of_status and not programs:
        differ("programs", history=[])
compare_tables(texts)
for screen in ("status.txt", "top.txt"):
    same(f"{screen} says of which time it is", said=re.search(r"last (9|10|11)(\.\d)? s", read(screen)) is not None,
         has_figures=any(s["held_pct"] is not None for s in shown.values()))

# ---- the situation --------------------------------------------------------------------------------

for word in words:
    if word == "moving":
        continue
    key, _, value = word.partition("=")
    has = any(str(s.get(key)) == value for s in shown.values()) or \
        (key == "policy" and value == str(status["policy"])) or \
        any(f["finding"] == word for f in status["findings"])
    if not has:
        differ("situation", wanted=word, findings=counts)
print("\n".join(different) if different else f"{compared} compared")
sys.exit(bool(different))
