/* SPDX-License-Identifier: MIT */
/* gpusched_os.h - the hooks' lines in kernel-open: a nop each while nobody listens */
#ifndef GPUSCHED_OS_H
#define GPUSCHED_OS_H

#ifdef CONFIG_BPF_GPU_SCHED

#include <linux/jump_label.h>

DECLARE_STATIC_KEY_FALSE(gpusched_listened);

int gpusched_os_enter(const void *file, unsigned int nr, void *arg, unsigned long size);
void gpusched_os_exit(const void *file, unsigned int nr, void *arg, unsigned long size);
void gpusched_os_close(const void *file);

/* In a switch: an ioctl that is not to reach RM leaves it. */
#define GPUSCHED_ENTER_OR_BREAK(status, file, nr, arg, size) \
	if (static_branch_unlikely(&gpusched_listened) && \
	    ((status) = gpusched_os_enter(file, nr, arg, size)) != 0) \
	break
#define gpusched_ioctl_exit(file, nr, arg, size) \
	do { \
		if (static_branch_unlikely(&gpusched_listened)) \
			gpusched_os_exit(file, nr, arg, size); \
	} while (0)
#define gpusched_close(file) \
	do { \
		if (static_branch_unlikely(&gpusched_listened)) \
			gpusched_os_close(file); \
	} while (0)

#else

#define GPUSCHED_ENTER_OR_BREAK(status, file, nr, arg, size) ((void)0)
#define gpusched_ioctl_exit(file, nr, arg, size) ((void)0)
#define gpusched_close(file) ((void)0)

#endif /* CONFIG_BPF_GPU_SCHED */
#endif /* GPUSCHED_OS_H */
