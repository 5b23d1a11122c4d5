/* SPDX-License-Identifier: MIT */
#include "sim/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

int sim_memfd_map(int fd, size_t size, void **ret)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *p;

	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return -ENOTSUP;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!size || (uint64_t)st.st_size < size)
		return -EINVAL;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	return 0;
}
