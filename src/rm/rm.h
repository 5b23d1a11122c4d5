/* SPDX-License-Identifier: MIT */
/*
 * rm.h - calls of the NVIDIA resource manager (RM) on an open file; the driver; its GPUs
 *
 * way.h has operations on other programs' TSGs. No policy, no state. Thread safe.
 */
#ifndef GPUSCHED_RM_RM_H
#define GPUSCHED_RM_RM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"

/* RM status codes that we name (the driver's nvstatuscodes; gs_rm_status_name() knows more). */
#define GS_NV_OK 0x00u
#define GS_NV_INSUFFICIENT_PERMISSIONS 0x1bu
#define GS_NV_INVALID_ARGUMENT 0x1fu
#define GS_NV_INVALID_CLIENT 0x23u
#define GS_NV_NOT_SUPPORTED 0x56u
#define GS_NV_INVALID_OBJECT_HANDLE 0x33u
#define GS_NV_OBJECT_NOT_FOUND 0x57u

/* "NV_ERR_INVALID_CLIENT"; NULL for an unknown number. */
const char *gs_rm_status_name(uint32_t status);

/*
 * Raw calls on a descriptor. *ret_status is RM's own answer. Returns 0, or -errno of an ioctl that
 * brought no answer.
 */
int gs_rm_control(int fd, uint32_t client, uint32_t object, uint32_t cmd, void *params,
		  uint32_t size, uint32_t *ret_status);
int gs_rm_alloc(int fd, uint32_t client, uint32_t parent, uint32_t *inout_handle, uint32_t class_,
		void *params, uint32_t size, uint32_t *ret_status);
int gs_rm_free(int fd, uint32_t client, uint32_t parent, uint32_t object, uint32_t *ret_status);

/* RM has no such object, or no such client. */
static inline bool gs_rm_is_denial(uint32_t status)
{
	return status == GS_NV_OBJECT_NOT_FOUND || status == GS_NV_INVALID_OBJECT_HANDLE ||
	       status == GS_NV_INVALID_CLIENT;
}
/*
 * Asks RM whether it has @client, of any process. We ask as @own, a client of ours on @fd. Returns
 * 1 or 0; a negative errno: the call failed, or this driver does not tell.
 */
int gs_rm_client_exists(int fd, uint32_t own, uint32_t client);
/* gs_rm_client_exists() with a client made for this question. */
int gs_rm_client_known(uint32_t client);

/*
 * A descriptor of the driver's control file; the caller closes it. -ENODEV: the file there is not
 * the driver's.
 */
int gs_rm_open_control(void);
int gs_rm_open_gpu(unsigned int minor);
/* Driver branch (580, ...) and full version string. -ENODEV: there is no driver; others. */
int gs_rm_driver(unsigned int *ret_branch, char *ret_version, size_t size, struct gs_error *err);
/* False: the layout of this branch's structures is not known, but guessed. */
bool gs_rm_branch_known(unsigned int branch);

/* ---- GPUs ---------------------------------------------------------------------------------- */

struct gs_gpu {
	unsigned int index; /* in the order of nvidia-smi: by PCI address */
	unsigned int minor; /* /dev/nvidiaMINOR */
	uint32_t gpu_id, dev_instance, sub_instance;
	char pci[20];  /* 00000000:3B:00.0 */
	char uuid[48]; /* GPU-...; "": unknown */
	char name[80]; /* "": unknown */
	/* The version of its VBIOS, as nvidia-smi prints it; "": unknown */
	char vbios[20];
};

/* Reads all GPUs. The caller frees the array. -ENODEV: no driver. */
int gs_gpus_read(struct gs_gpu **ret, size_t *ret_n, struct gs_error *err);
/* @selector: index, UUID or the start of one, PCI id. NULL if no GPU matches, or several do. */
const struct gs_gpu *gs_gpu_find(const struct gs_gpu *gpus, size_t n, const char *selector);

#endif /* GPUSCHED_RM_RM_H */
