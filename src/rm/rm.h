/* SPDX-License-Identifier: MIT */
/*
 * rm.h - calls the NVIDIA resource manager (RM), and reads the driver's version and its GPUs
 *
 * Stateless and thread safe. way.h has the operations on other programs' TSGs.
 */
#ifndef GPUSCHED_RM_RM_H
#define GPUSCHED_RM_RM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"

/* RM status codes that our code checks, from nvstatuscodes.h. gs_rm_status_name() knows all. */
#define GS_NV_OK 0x00u
#define GS_NV_INSUFFICIENT_PERMISSIONS 0x1bu
#define GS_NV_INVALID_ARGUMENT 0x1fu
#define GS_NV_INVALID_CLIENT 0x23u
#define GS_NV_INVALID_COMMAND 0x24u
#define GS_NV_NOT_SUPPORTED 0x56u
#define GS_NV_INVALID_OBJECT_HANDLE 0x33u
#define GS_NV_OBJECT_NOT_FOUND 0x57u

/* The name of a status, such as "NV_ERR_INVALID_CLIENT"; NULL: the number is unknown. */
const char *gs_rm_status_name(uint32_t status);

/*
 * Raw calls on a descriptor. Return 0 if RM answered, with its status in *ret_status, which may be
 * an error. Return -errno if the ioctl failed before RM answered.
 */
int gs_rm_call_control(int fd, uint32_t client, uint32_t object, uint32_t cmd, void *params,
		       uint32_t size, uint32_t *ret_status);
int gs_rm_call_alloc(int fd, uint32_t client, uint32_t parent, uint32_t *inout_handle,
		     uint32_t class_, void *params, uint32_t size, uint32_t *ret_status);
int gs_rm_call_free(int fd, uint32_t client, uint32_t parent, uint32_t object,
		    uint32_t *ret_status);

/* True if the status says that RM has no such object or no such client. */
static inline bool gs_rm_is_denial(uint32_t status)
{
	return status == GS_NV_OBJECT_NOT_FOUND || status == GS_NV_INVALID_OBJECT_HANDLE ||
	       status == GS_NV_INVALID_CLIENT;
}
/*
 * Asks RM whether any process has a client with the handle @client. @own is our own client on @fd,
 * through which we ask. Returns 1 or 0, or -errno if the call failed or the driver cannot tell.
 */
int gs_rm_client_exists(int fd, uint32_t own, uint32_t client);
/* Like gs_rm_client_exists(), through a client that this function makes and frees. */
int gs_rm_client_known(uint32_t client);

/*
 * Opens the driver's control file; the caller closes the descriptor. -ENODEV: the file at that path
 * is not the driver's.
 */
int gs_rm_driver_open_control(void);
/* Opens /dev/nvidiaMINOR in the same way. */
int gs_rm_driver_open_gpu(unsigned int minor);
/*
 * Reads the driver's branch (such as 580) and its full version. -ENODEV: no driver answers. -EACCES
 * or -EPERM: its file may not be opened.
 */
int gs_rm_driver(unsigned int *ret_branch, char *ret_version, size_t size, struct gs_error *err);
/* False: the layout of this branch's structures was never checked, and can only be guessed. */
bool gs_rm_driver_branch_known(unsigned int branch);
/*
 * Writes the numbers of the tested branches: "535, 550 or 570" with ", " and " or ". @between NULL:
 * only the first and the last.
 */
void gs_rm_driver_branches_text(char *ret, size_t size, const char *between,
				const char *before_last);
/*
 * True if SUSPEND with argument 1 was tried on a GPU with this branch: no call waits, and the TSG
 * leaves at once.
 */
bool gs_rm_driver_branch_leaves(unsigned int branch);

/* ---- GPUs ---------------------------------------------------------------------------------- */

struct gs_gpu {
	unsigned int index; /* in the order of nvidia-smi: by PCI address */
	unsigned int minor; /* /dev/nvidiaMINOR */
	uint32_t gpu_id, dev_instance, sub_instance;
	char pci[20];  /* 00000000:3B:00.0 */
	char uuid[48]; /* GPU-...; "": unknown */
	char name[80]; /* "": unknown */
	/* version of the VBIOS, as nvidia-smi prints it; "": unknown */
	char vbios[20];
};

/* Reads all GPUs. The caller frees the array. -ENODEV: no driver. */
int gs_gpus_read(struct gs_gpu **ret, size_t *ret_n, struct gs_error *err);
/*
 * Finds a GPU by @selector: its index, its UUID or the start of that, or its PCI id. NULL: no GPU
 * matches, or several do.
 */
const struct gs_gpu *gs_gpu_find(const struct gs_gpu *gpus, size_t n, const char *selector);

#endif /* GPUSCHED_RM_RM_H */
