# SPDX-License-Identifier: MIT
"""gpusched_hint - the functions of include/gpusched/hint.h for Python

Copy this file, or put its folder on PYTHONPATH. Without gpusched's agent in the process (`gpusched run --agent`)
every function does nothing.

    import gpusched_hint as hint

    hint.coming()       # a request has arrived: the GPU begins to switch to this program
    ...                 # prepare, then launch
    hint.here()         # the request's work is queued
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
    """Says that a request's first launch follows within 30 ms. Returns True if the GPU begins to switch to this program."""
    return bool(_hints and _hints.coming())


def here():
    """Says that the request's first work is launched, so that the GPU need not be kept free for it any longer."""
    if _hints:
        _hints.here()


def done():
    """Says that the request is done, or was dropped."""
    if _hints:
        _hints.done()


def deadline(us):
    """Says that requests must be done within `us` microseconds of their arrival; 0: no deadline."""
    if _hints:
        _hints.deadline(us)


def yield_asked():
    """Returns whether this program was preempted or suspended since its last self_preempt()."""
    return bool(_hints and _hints.yield_asked())


def self_preempt():
    """Takes the GPU from this program's own work, once. Returns 0, or a negative errno."""
    return _hints.self_preempt() if _hints else -19


def lead_us():
    """Returns how many us a switch takes: call coming() so long before the launch. 0 without an agent."""
    return _hints.lead_us() if _hints and _hints.size >= ctypes.sizeof(_Hints) else 0


def state():
    """Returns the result of the last coming(): "on", or why the GPU did not switch."""
    return _hints.state().decode() if _hints else "off: no agent (gpusched run --agent)"
