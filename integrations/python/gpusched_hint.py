# SPDX-License-Identifier: MIT
"""gpusched_hint - what include/gpusched/hint.h has, for Python

Copy this file, or put its folder on PYTHONPATH. Without gpusched's agent in the process (`gpusched run --agent`)
every function does nothing.

    import gpusched_hint as hint

    hint.coming()       # a request has arrived: the GPU begins to switch to this program
    ...                 # prepare, then launch
    hint.here()         # its work is queued
    ...                 # wait for the result
    hint.done()
"""
import ctypes

__all__ = ["coming", "here", "done", "deadline", "yield_asked", "self_preempt", "lead_us", "state"]


class _Hints(ctypes.Structure):
    """struct gpusched_hints"""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("coming", ctypes.CFUNCTYPE(ctypes.c_int)),
        ("here", ctypes.CFUNCTYPE(None)),
        ("done", ctypes.CFUNCTYPE(None)),
        ("deadline", ctypes.CFUNCTYPE(None, ctypes.c_uint64)),
        ("yield_asked", ctypes.CFUNCTYPE(ctypes.c_int)),
        ("self_preempt", ctypes.CFUNCTYPE(ctypes.c_int)),
        ("state", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("lead_us", ctypes.CFUNCTYPE(ctypes.c_uint32)),
    ]


try:
    _hints = _Hints.in_dll(ctypes.CDLL(None), "gpusched_hints")
except ValueError:
    _hints = None


def coming():
    """A request is coming, its first launch within 30 ms. True: the GPU is being switched to this program."""
    return bool(_hints and _hints.coming())


def here():
    """Its first work is launched: nothing need be kept for it any more."""
    if _hints:
        _hints.here()


def done():
    """It is done, or was dropped."""
    if _hints:
        _hints.done()


def deadline(us):
    """Requests want to be done within `us` microseconds of their arrival; 0: no wish."""
    if _hints:
        _hints.deadline(us)


def yield_asked():
    """Has somebody asked this program to give way since it last did?"""
    return bool(_hints and _hints.yield_asked())


def self_preempt():
    """Takes the GPU from this program's own work, once. 0, or a negative errno."""
    return _hints.self_preempt() if _hints else -19


def lead_us():
    """So many us before its launch a hint is best given, as a switch takes that long here; 0: no agent."""
    return _hints.lead_us() if _hints and _hints.size >= ctypes.sizeof(_Hints) else 0


def state():
    """What became of the last coming(): "on", or why not."""
    return _hints.state().decode() if _hints else "off: no agent (gpusched run --agent)"
