/* SPDX-License-Identifier: MIT */
/* gpusched_os.h - defines the hooks' lines in kernel-open: one nop each while no module listens */
#ifndef GPUSCHED_OS_H
#define GPUSCHED_OS_H

#ifdef CONFIG_BPF_GPU_SCHED

#include <linux/jump_label.h>

DECLARE_STATIC_KEY_FALSE(gpusched_listened);

int gpusched_os_enter(const void *file, unsigned int nr, void *arg, unsigned long size);
int gpusched_os_exit(const void *file, unsigned int nr, void *arg, unsigned long size);
void gpusched_os_close(const void *file);

/*
 * For use in a switch: `break` leaves it with the ioctl's status. The code after the label calls
 * RM, and may run again.
 */
#define GPUSCHED_ENTER_OR_BREAK(status, file, nr, arg, size) \
	if (static_branch_unlikely(&gpusched_listened) && \
	    ((status) = gpusched_os_enter(file, nr, arg, size)) != 0) \
		break; \
	gpusched_again:
#define GPUSCHED_EXIT_OR_AGAIN(status, file, nr, arg, size) \
	if (static_branch_unlikely(&gpusched_listened)) { \
		int gpusched_r = gpusched_os_exit(file, nr, arg, size); \
\
		if (gpusched_r > 0) \
			goto gpusched_again; \
		if (gpusched_r < 0) { \
			(status) = gpusched_r; \
			break; \
		} \
	}
#define gpusched_close(file) \
	do { \
		if (static_branch_unlikely(&gpusched_listened)) \
			gpusched_os_close(file); \
	} while (0)

#else

#define GPUSCHED_ENTER_OR_BREAK(status, file, nr, arg, size) ((void)0)
#define GPUSCHED_EXIT_OR_AGAIN(status, file, nr, arg, size) ((void)0)
#define gpusched_close(file) ((void)0)

#endif /* CONFIG_BPF_GPU_SCHED */
#endif /* GPUSCHED_OS_H */
