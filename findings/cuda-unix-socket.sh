#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One would guess: cuInit() needs the driver's device files. A sandbox that refuses Unix sockets (seccomp, as systemd's
# RestrictAddressFamilies= and containers do) does not matter to a program that talks to nobody.
#
# What happens: if socket(AF_UNIX) is refused, cuInit() answers CUDA_ERROR_OPERATING_SYSTEM (304), whatever the errno of the
# refusal. If sockets are refused only after cuInit(), the program can make a context and use memory as ever.
#
# Why it matters: the error names neither a socket nor a permission. A service that is hardened so finds no GPU; a helper that
# drops its rights has to do so after cuInit(), not before.
#
# Needs a GPU and Python: exits 77 without them. Uses nothing of gpusched.
set -euo pipefail
command -v python3 >/dev/null && nvidia-smi -L >/dev/null 2>&1 && [ "$(uname -m)" = x86_64 ] || {
	echo "no GPU or no Python here, or another processor than x86-64"
	exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/init.py" <<'PY'
import ctypes, struct, sys

SOCKET, AF_UNIX = 41, 1  # x86-64
libc = ctypes.CDLL(None, use_errno=True)


def refuse_unix_sockets(errno):
    rows = [
        (0x20, 0, 0, 0),  # the call's number
        (0x15, 0, 3, SOCKET),
        (0x20, 0, 0, 16),  # its first argument
        (0x15, 0, 1, AF_UNIX),
        (0x06, 0, 0, 0x00050000 | errno),
        (0x06, 0, 0, 0x7FFF0000),  # allowed
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *r) for r in rows))
    prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, prog, 0, 0):
        sys.exit("no seccomp here")


order, errno = sys.argv[1], int(sys.argv[2])
if order == "before":
    refuse_unix_sockets(errno)
cuda = ctypes.CDLL("libcuda.so.1")
status = cuda.cuInit(0)
if order == "after":
    refuse_unix_sockets(errno)
if not status:
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    status = cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
    status = status or cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20))
    status = status or cuda.cuMemsetD8_v2(memory, ctypes.c_ubyte(1), ctypes.c_size_t(1 << 20))
    status = status or cuda.cuCtxSynchronize()
print(status)
PY
init() { python3 "$dir/init.py" "$@"; }
never=$(init never 0)
denied=$(init before 1) # EPERM
unsupported=$(init before 97) # EAFNOSUPPORT
after=$(init after 1)
echo "driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
echo "sockets allowed: $never"
echo "AF_UNIX refused before cuInit(), EPERM: $denied; EAFNOSUPPORT: $unsupported"
echo "AF_UNIX refused after cuInit(): $after"
[ "$never $denied $unsupported $after" = "0 304 304 0" ] || {
	echo "this has changed"
	exit 1
}
