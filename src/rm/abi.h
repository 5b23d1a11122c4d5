/* SPDX-License-Identifier: MIT */
/*
 * abi.h - the part of NVIDIA's RM ABI that gpusched uses
 *
 * Numbers, sizes and offsets are the same in branches 515 to 595 unless a comment says otherwise.
 */
#ifndef GPUSCHED_RM_ABI_H
#define GPUSCHED_RM_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define NV_MAJOR 195
#define NV_CTL_MINOR 255
#define NV_CTL_PATH "/dev/nvidiactl"

/* Escapes: ioctl type 'F', the size is that of the structure. */
#define NV_IOCTL_TYPE 'F'
#define NV_ESC_FREE 0x29
#define NV_ESC_CONTROL 0x2a
#define NV_ESC_ALLOC 0x2b
#define NV_ESC_CARD_INFO 200
#define NV_ESC_VERSION 210

struct nv_free { /* NVOS00 */
	uint32_t client, parent, object, status;
};
_Static_assert(sizeof(struct nv_free) == 16, "NVOS00");

struct nv_control { /* NVOS54 */
	uint32_t client, object, cmd, flags;
	uint64_t params;
	uint32_t params_size, status;
};
_Static_assert(sizeof(struct nv_control) == 32, "NVOS54");

struct nv_alloc { /* NVOS21 */
	uint32_t client, parent, handle, class_;
	uint64_t params;
	uint32_t params_size; /* 515 and 525: the status is here */
	uint32_t status;      /* 535 and later */
};
_Static_assert(sizeof(struct nv_alloc) == 32, "NVOS21");

struct nv_version {
	uint32_t cmd, reply;
	char version[64];
};
#define NV_VERSION_QUERY ((uint32_t)'2')

struct nv_card {
	uint8_t valid, pad0[3];
	uint32_t domain;
	uint8_t bus, slot, function, pad1;
	uint16_t vendor, device;
	uint32_t gpu_id;
	uint16_t irq, pad2;
	uint64_t reg, reg_size, fb, fb_size;
	uint32_t minor;
	char name[12];
};
_Static_assert(sizeof(struct nv_card) == 72 && offsetof(struct nv_card, gpu_id) == 16 &&
		       offsetof(struct nv_card, minor) == 56,
	       "card info");
#define NV_MAX_CARDS 32

/* Classes */
#define NV_CLASS_ROOT 0x41u
#define NV_CLASS_DEVICE 0x80u
#define NV_CLASS_SUBDEVICE 0x2080u

struct nv_device_params {
	uint32_t device, share, target_client, target_device, flags, pad;
	uint64_t va_space_size, va_start, va_limit;
	uint32_t va_mode, pad2;
};
_Static_assert(sizeof(struct nv_device_params) == 56, "device");

/* Controls of the root client and of a subdevice */
#define NV_CMD_ID_INFO 0x205u
#define NV_CMD_GPU_NAME 0x20800110u
#define NV_CMD_GPU_GID 0x2080014au

struct nv_id_info {
	uint32_t gpu_id, flags, device, subdevice, sli, board, instance;
	int32_t numa;
};
/* Up to branch 590 a union with 16-bit characters follows the flags: 132 bytes; then 68. */
struct nv_gpu_name {
	uint32_t flags;
	char name[128];
};
#define NV_GPU_NAME_LEN 64
#define NV_GPU_NAME_SIZE_595 68u
struct nv_gpu_gid {
	uint32_t index, flags, length;
	char data[256];
};
_Static_assert(sizeof(struct nv_id_info) == 32 && sizeof(struct nv_gpu_name) == 132 &&
		       sizeof(struct nv_gpu_gid) == 268,
	       "gpu queries");

/* Controls of a TSG */
#define NV_CMD_SCHEDULE 0xa06c0101u
#define NV_CMD_SET_TIMESLICE 0xa06c0103u
#define NV_CMD_GET_TIMESLICE 0xa06c0104u
#define NV_CMD_PREEMPT 0xa06c0105u
#define NV_CMD_SET_INTERLEAVE 0xa06c0107u

struct nv_schedule {
	uint8_t enable, skip_submit;
	uint8_t skip_enable; /* 575 and later */
};
/* The driver checks the size exactly. */
static inline uint32_t nv_schedule_size(unsigned int branch)
{
	return branch && branch < 575 ? 2 : 3;
}

struct nv_preempt {
	uint8_t wait, manual_timeout, pad[2];
	uint32_t timeout_us;
};
_Static_assert(sizeof(struct nv_preempt) == 8, "preempt");
#define NV_PREEMPT_TIMEOUT_MAX_US 1000000u

/* Controls of a subdevice that act on channels */
#define NV_CMD_DISABLE_CHANNELS 0x2080110bu
#define NV_CMD_SET_PREEMPT_MODE 0x20801210u

#define NV_DISABLE_MAX 64u
struct nv_disable_channels {
	uint8_t disable, pad0[3];
	uint32_t n;
	uint8_t only_scheduling, rewind, pad1[6];
	uint64_t event;
	uint32_t clients[NV_DISABLE_MAX], channels[NV_DISABLE_MAX];
};
_Static_assert(sizeof(struct nv_disable_channels) == 536 &&
		       offsetof(struct nv_disable_channels, event) == 16 &&
		       offsetof(struct nv_disable_channels, clients) == 24 &&
		       offsetof(struct nv_disable_channels, channels) == 280,
	       "disable channels");

#define NV_PREEMPT_FLAG_COMPUTE 1u
struct nv_preempt_mode {
	uint32_t flags, channel, graphics, compute;
	uint8_t route[16];
};
_Static_assert(sizeof(struct nv_preempt_mode) == 32, "preemption mode");

#endif /* GPUSCHED_RM_ABI_H */
