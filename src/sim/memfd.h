/* SPDX-License-Identifier: MIT */
/*
 * memfd.h - maps memory that a client of the simulated driver shares
 */
#ifndef GPUSCHED_SIM_MEMFD_H
#define GPUSCHED_SIM_MEMFD_H

#include <stddef.h>

/*
 * Maps the first @size bytes of a client's memfd, to read and to write. The memfd must be sealed
 * against shrinking; otherwise the client could kill us by SIGBUS. 0; -ENOTSUP: not a memfd, or not
 * sealed; -EINVAL: too small; -errno. The caller keeps the descriptor and must munmap() the memory.
 */
int sim_memfd_map(int fd, size_t size, void **ret);

#endif /* GPUSCHED_SIM_MEMFD_H */
