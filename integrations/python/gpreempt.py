# SPDX-License-Identifier: MIT
"""GPU queues with priorities that take the GPU from each other: libgpreempt, by ctypes.

    from gpreempt import GPUScheduler, HIGH, LOW

    with GPUScheduler() as gpu:
        infer = gpu.kernel(HIGH, ptx, "infer")
        train = gpu.kernel(LOW, ptx, "train")
        gpu.submit(train, (1024, 1, 1), (256, 1, 1), [c_void_p(weights)])    # in one thread
        gpu.submit(infer, (64, 1, 1), (256, 1, 1), [c_void_p(batch)])        # in another
        gpu.wait(HIGH)

submit() also takes a function with a stream (an int) as its argument, for copies, graphs and other
libraries' calls. The function runs with the queue's context current. There is one queue for each
priority, made when it is first used. Any thread may call; submit() waits for the queue's turn, and
releases Python's lock meanwhile. gpusched/gpreempt.h says what a priority means, and
docs/gpreempt.md when to use CUDA's stream priorities instead. Failures raise OSError.
"""
import ctypes
import threading
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

LOW, NORMAL, HIGH = 0, 1, 2

_U64 = ("submitted done late held held_us busy_us inversions preempted suspended suspended_us "
        "passed refused expired uncontrolled").split()


class _Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("device", c_int), ("patience_us", c_uint32),
                ("suspend_us", c_uint32)]


class _QueueOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("weight", c_uint32), ("depth", c_uint32),
                ("deadline_us", c_uint64), ("context_flags", c_uint32), ("context", c_void_p)]


class _Launch(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("function", c_void_p), ("grid", c_uint * 3),
                ("block", c_uint * 3), ("shared_bytes", c_uint), ("parameters", POINTER(c_void_p))]


class _Stats(ctypes.Structure):
    _fields_ = [("size", c_size_t)] + [(name, c_uint64) for name in _U64]


_Work = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)


def _load():
    lib = ctypes.CDLL("libgpreempt.so.0")
    lib.gpreempt_error.restype = lib.gpreempt_control.restype = lib.gpreempt_alone.restype = c_char_p
    lib.gpreempt_queue_context.restype = lib.gpreempt_queue_stream.restype = c_void_p
    lib.gpreempt_submit.argtypes = [c_void_p, _Work, c_void_p, c_uint]
    lib.gpreempt_preempt.argtypes = [c_void_p, c_uint64]
    lib.gpreempt_control.argtypes = lib.gpreempt_alone.argtypes = lib.gpreempt_end.argtypes = [c_void_p]
    lib.gpreempt_end.restype = None
    return lib


class Kernel:
    """A kernel of one queue."""

    def __init__(self, priority, function):
        self.priority, self.function = priority, function


class GPUScheduler:
    """Queues on one GPU, one for each priority."""

    def __init__(self, device=0, patience_us=0, suspend_us=0):
        self._lib, self._queues, self._lock = _load(), {}, threading.Lock()
        self._handle = c_void_p()
        options = _Options(ctypes.sizeof(_Options), device, patience_us, suspend_us)
        self._check(self._lib.gpreempt_init(byref(options), byref(self._handle)))

    def _check(self, result):
        if result:
            raise OSError(abs(result), self._lib.gpreempt_error().decode())

    def close(self):
        """Waits for all work of all queues, and ends the queues."""
        handle, self._handle, self._queues = self._handle, None, {}
        if handle:
            self._lib.gpreempt_end(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def queue(self, priority, weight=0, depth=0, deadline_us=0, context=None):
        """Returns the queue of a priority. The options apply only when the queue is first used."""
        with self._lock:
            if priority not in self._queues:
                q = c_void_p()
                o = _QueueOptions(ctypes.sizeof(_QueueOptions), weight, depth, deadline_us, 0, context)
                self._check(self._lib.gpreempt_create_queue(self._handle, priority, byref(o), byref(q)))
                self._queues[priority] = q
            return self._queues[priority]

    def kernel(self, priority, image, name):
        """Loads a kernel of a module (PTX or cubin), for submit()."""
        function, text = c_void_p(), image if isinstance(image, bytes) else image.encode()
        self._check(self._lib.gpreempt_load_kernel(self.queue(priority), text, name.encode(),
                                                   byref(function)))
        return Kernel(priority, function)

    def submit(self, work, grid=(1, 1, 1), block=(1, 1, 1), args=(), shared_bytes=0, priority=LOW):
        """Waits for the queue's turn and launches @work, a Kernel with its ctypes @args; or calls
        @work with the stream of @priority's queue. Does not wait for the GPU."""
        if isinstance(work, Kernel):
            where = (c_void_p * len(args))(*[ctypes.addressof(a) for a in args])
            launch = _Launch(ctypes.sizeof(_Launch), work.function, (c_uint * 3)(*grid),
                             (c_uint * 3)(*block), shared_bytes, where)
            self._check(self._lib.gpreempt_launch_kernel(self.queue(work.priority), byref(launch), 0))
            return
        raised = []

        def call(stream, _):
            try:
                work(stream)
                return 0
            except BaseException as e:  # submit() raises it: exceptions cannot pass through C
                raised.append(e)
                return -1

        result = self._lib.gpreempt_submit(self.queue(priority), _Work(call), None, 0)
        if raised:
            raise raised[0]
        self._check(result)

    def wait(self, priority):
        """Waits until all work of the queue is done."""
        self._check(self._lib.gpreempt_synchronize(self.queue(priority)))

    def set_priority(self, priority, other):
        """Gives the queue of @priority the priority @other, with that priority's timeslice."""
        self._check(self._lib.gpreempt_context_set_priority(self.queue(priority), other))

    def preempt(self, priority, for_us=0):
        """Takes the GPU from the queue for @for_us; 0: until resume()."""
        self._check(self._lib.gpreempt_preempt(self.queue(priority), for_us))

    def resume(self, priority):
        self._check(self._lib.gpreempt_resume(self.queue(priority)))

    def stats(self, priority):
        s = _Stats(ctypes.sizeof(_Stats))
        self._check(self._lib.gpreempt_stats(self.queue(priority), byref(s)))
        return {name: getattr(s, name) for name in _U64}

    @property
    def control(self):
        """Returns which way calls for TSGs go: "daemon", "agent", or why there is no way."""
        return self._lib.gpreempt_control(self._handle).decode()

    @property
    def alone(self):
        """Returns why priorities do not apply between processes, or None if they do."""
        why = self._lib.gpreempt_alone(self._handle)
        return why.decode() if why else None
