/* SPDX-License-Identifier: MIT */
/* nv-linux.h - what the miniature driver has of kernel-open */
#ifndef NV_LINUX_H
#define NV_LINUX_H

typedef unsigned int NV_STATUS;
#define NV_OK 0
#define NV_ESC_CARD_INFO 200

typedef struct {
	int rm; /* RM's part of an open file */
} nv_file_private_t;
typedef struct {
	nv_file_private_t nvfp;
} nv_linux_file_private_t;

NV_STATUS rm_ioctl(void *stack, void *state, nv_file_private_t *file, int nr, void *arg,
		   unsigned long size);
void rm_cleanup_file_private(void *stack, void *state, nv_file_private_t *file);

#endif /* NV_LINUX_H */
