#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One would guess: cudaHostRegister() pins any memory of the process. Two processes that map one file MAP_SHARED
# and register it share a flag that kernels of both can poll, whatever file system the file is on.
#
# What happens: it depends on the file system. A file of tmpfs (/dev/shm) can be registered. A file of a disk's file system
# answers cudaErrorInvalidValue (1), not an error about the file. Linux refuses long-term pins for writing of pages that
# a file system writes back (since 6.5), and libcuda passes that on as an invalid argument. MAP_PRIVATE of the same
# file works, but then nothing is shared.
#
# Why it matters: programs that share pinned buffers between processes through files (data loaders, caches of keys and
# values, counters polled by kernels) work in a container whose /tmp is tmpfs, and fail on the host, with an error that
# points at their arguments.
#
# Needs a GPU and nvcc: exits 77 without them. Uses nothing of gpusched.
set -euo pipefail
command -v nvcc >/dev/null && nvidia-smi -L >/dev/null 2>&1 || { echo "no GPU or no nvcc here"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir" "/dev/shm/${dir##*/}"' EXIT
cat >"$dir/pin.cu" <<'C'
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int flags = argc > 2 ? MAP_PRIVATE : MAP_SHARED;
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, fd, 0);
	*(volatile int *)p = 1;
	cudaError_t err = cudaHostRegister(p, 4096, cudaHostRegisterMapped);
	printf("%s\n", cudaGetErrorName(err));
	return 0;
}
C
nvcc -o "$dir/pin" "$dir/pin.cu"
disk=
for d in "$dir" /var/tmp "$HOME" /; do
	case $(stat -f -c %T "$d") in
	tmpfs | ramfs) ;;
	*) disk=$d/${dir##*/}.disk && break ;;
	esac
done
[ -n "$disk" ] || { echo "no file system of a disk here"; exit 77; }
shared=$("$dir/pin" "$disk")
private=$("$dir/pin" "$disk" private)
memory=$("$dir/pin" "/dev/shm/${dir##*/}")
rm -f "$disk"
echo "kernel $(uname -r), driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
echo "MAP_SHARED, $(stat -f -c %T "$(dirname "$disk")"): $shared"
echo "MAP_PRIVATE, the same file system: $private"
echo "MAP_SHARED, /dev/shm: $memory"
[ "$shared" = cudaErrorInvalidValue ] && [ "$private" = cudaSuccess ] && [ "$memory" = cudaSuccess ] || {
	echo "this has changed"
	exit 1
}
