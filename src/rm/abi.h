/* SPDX-License-Identifier: MIT */
/*
 * abi.h - the part of the ABI of NVIDIA's resource manager (RM) that gpusched uses
 *
 * Numbers, sizes and offsets are the same in all rows of branches.h, unless a column of it or a
 * comment here says otherwise. tests/check/driver_headers.sh compares them with NVIDIA's headers.
 */
#ifndef GPUSCHED_RM_ABI_H
#define GPUSCHED_RM_ABI_H

#ifdef __KERNEL__ /* for gpusched.ko and the tests' stand-in driver */
#include <linux/ioctl.h>
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#endif

#include "rm/branches.h"

#define NV_MAJOR 195
#define NV_CTL_MINOR 255
#define NV_CTL_PATH "/dev/nvidiactl"

/* Numbers of ioctls ("escapes"). Their type is 'F', and their size is that of the structure. */
#define NV_IOCTL_TYPE 'F'
#define NV_ESC_FREE 0x29
#define NV_ESC_CONTROL 0x2a
#define NV_ESC_ALLOC 0x2b
#define NV_ESC_MAP_MEMORY 0x4e
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
	uint32_t params_size; /* branches 515 and 525 return the status in this field */
	uint32_t status;      /* used since branch 535 */
};
_Static_assert(sizeof(struct nv_alloc) == 32, "NVOS21");

struct nv_map_memory { /* NVOS33, followed by the descriptor of the file to map */
	uint32_t client, device, memory, pad;
	uint64_t offset, length, address;
	uint32_t status, flags;
	int32_t fd;
	uint32_t pad2;
};
_Static_assert(sizeof(struct nv_map_memory) == 56 && offsetof(struct nv_map_memory, fd) == 48,
	       "NVOS33");
#define NV_MAP_READ_ONLY 1u

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

/* Classes of RM objects */
#define NV_CLASS_ROOT 0x41u
#define NV_CLASS_DEVICE 0x80u
#define NV_CLASS_SUBDEVICE 0x2080u

struct nv_device_params {
	uint32_t device, share, target_client, target_device, flags, pad;
	uint64_t va_space_size, va_start, va_limit;
	uint32_t va_mode, pad2;
};
_Static_assert(sizeof(struct nv_device_params) == 56, "device");

/* Controls that the root client and a subdevice accept */
#define NV_CMD_ID_INFO 0x205u
#define NV_CMD_GPU_NAME 0x20800110u
#define NV_CMD_GPU_GID 0x2080014au

#define NV_CMD_BIOS_INFO 0x20800810u /* GET_INFO_V2: has the list itself, not a pointer to it */
#define NV_BIOS_REVISION 0u
#define NV_BIOS_OEM_REVISION 1u

struct nv_bios_info {
	uint32_t n;
	struct {
		uint32_t index, data;
	} list[15];
};
struct nv_id_info {
	uint32_t gpu_id, flags, device, subdevice, sli, board, instance;
	int32_t numa;
};
/*
 * The driver's own structure has flags and then a union of 8-bit and 16-bit names; from branch 595
 * on, it has no 16-bit ones.
 */
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
		       sizeof(struct nv_gpu_gid) == 268 && sizeof(struct nv_bios_info) == 124,
	       "gpu queries");

/* Controls that a TSG accepts */
#define NV_CMD_SCHEDULE 0xa06c0101u
#define NV_CMD_SET_TIMESLICE 0xa06c0103u
#define NV_CMD_GET_TIMESLICE 0xa06c0104u
#define NV_CMD_PREEMPT 0xa06c0105u
#define NV_CMD_TSG_INFO 0xa06c0106u /* 4 bytes: the TSG's number on its GPU */
#define NV_CMD_SET_INTERLEAVE 0xa06c0107u

struct nv_schedule {
	uint8_t enable, skip_submit;
	uint8_t skip_enable; /* since branch 575 */
};
/* Size of struct nv_schedule in @branch: the driver refuses any other size. */
static inline uint32_t nv_schedule_size(unsigned int branch)
{
	return nv_branch(branch)->schedule;
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

/* ---- a subdevice's samples of how busy its engines were --------------------------------------*/

#define NV_CMD_USAGE 0x20802096u
#define NV_USAGE_ENGINES 2u /* value of the field @type */
#define NV_USAGE_SAMPLES 72u
struct nv_usage {
	uint8_t type, pad[3];
	uint32_t size; /* size of the samples after the header */
	uint32_t count, tracker;
};
_Static_assert(sizeof(struct nv_usage) == 16, "usage");

/*
 * Size of one engine's entry in a sample. A sample consists of a time (8 bytes) and one entry each
 * for memory, the graphics engine, and other engines. An entry begins with the busy share of time,
 * in hundredths of a percent.
 */
static inline uint32_t nv_usage_engine_size(unsigned int branch)
{
	return nv_branch(branch)->engine;
}
/* Size of a sample in bytes. 0: unknown, or the branch has another number of samples. */
static inline uint32_t nv_usage_sample_size(unsigned int branch)
{
	uint32_t engines = branch ? nv_branch(branch)->engines : 0;

	return engines ? 8 + engines * nv_usage_engine_size(branch) : 0;
}
/* Offset of the graphics engine's entry in a sample: after the time and the entry for memory. */
static inline uint32_t nv_usage_graphics_at(unsigned int branch)
{
	return 8 + nv_usage_engine_size(branch);
}

/* ---- a GPU's memory: controls of a subdevice -------------------------------------------------*/

/*
 * From ctrl2080gpu.h and ctrl2080fb.h; the same in all tags from 515 to 595. RM translates pids to
 * the caller's pid namespace (gpu_rmapi.c: _gpuConvertPid): in PIDS since 535.113, in PID_INFO
 * since 570. Earlier drivers use the initial namespace.
 */
#define NV_CMD_PIDS 0x2080018du
#define NV_CMD_PID_INFO 0x2080018eu
#define NV_CMD_FB_INFO 0x20801303u /* GET_INFO_V2: has the list itself, not a pointer to it */

/* Lists processes that have an object of class @id. All processes on a GPU have a subdevice. */
#define NV_PIDS_OF_CLASS 0u
#define NV_PIDS_MAX 950u
struct nv_pids {
	uint32_t by, id, n, pids[NV_PIDS_MAX];
};
_Static_assert(sizeof(struct nv_pids) == 3812, "pids");

#define NV_PID_INFO_MEMORY 0u
#define NV_PID_INFO_MAX 200u
struct nv_pid_info {
	uint32_t pid, index, status, pad;
	/* bytes; shared memory counts in full for each process */
	uint64_t own, shared_own, shared_others;
	uint64_t protected_[3]; /* the part of each of the three above in protected memory */
	uint32_t compute_instance, gpu_instance; /* MIG partition; ~0: none */
};
struct nv_pid_infos {
	uint32_t n, pad;
	struct nv_pid_info list[NV_PID_INFO_MAX];
};
_Static_assert(sizeof(struct nv_pid_info) == 72 && sizeof(struct nv_pid_infos) == 14408 &&
		       offsetof(struct nv_pid_info, own) == 16 &&
		       offsetof(struct nv_pid_info, compute_instance) == 64,
	       "memory by pid");

/* Indices for NV_CMD_FB_INFO; the values are in KiB. */
#define NV_FB_RAM 0x08u       /* all of the memory */
#define NV_FB_HEAP 0x09u      /* memory that programs can have: all but the driver's own */
#define NV_FB_HEAP_FREE 0x16u /* the free part of that heap */
#define NV_FB_MAX 0x80u
struct nv_fb_info {
	uint32_t n;
	struct {
		uint32_t index, value;
	} list[NV_FB_MAX];
};
/* Size of struct nv_fb_info in @branch: the driver refuses any other size. */
static inline uint32_t nv_fb_info_size(unsigned int branch)
{
	return 4 + 8 * nv_branch(branch)->fb;
}

/* ---- the context-switch log ------------------------------------------------------------------ */

/* The log's buffer is in system memory. NV_CMD_LOG_BIND makes a subdevice's GPU write there. */

#define NV_CLASS_MEMORY_DEVICELESS 0x90ceu
#define NV_CLASS_EVENT_BUFFER 0x90cdu

#define NV_CMD_GPU_TIME 0x20800403u
#define NV_CMD_LOG_BIND 0x20801238u
#define NV_CMD_LOG_ENABLE 0x90cd0101u
#define NV_CMD_LOG_UPDATE_GET 0x90cd0102u
#define NV_CMD_LOG_FLUSH 0x90cd0104u

#define NV_CLASS_MEMORY_LOCAL 0x40u         /* memory of a GPU; its parent is a device */
#define NV_MEMORY_NONCONTIGUOUS (1u << 27)  /* in attr */
#define NV_MEMORY_CACHED (1u << 29)         /* in attr */
#define NV_MEMORY_USER_READ_ONLY (1u << 22) /* in attr2: RM requires it for user mappings */
struct nv_memory_params {
	uint32_t unused0[6], attr, attr2, unused1[8];
	uint64_t size;
	uint32_t unused2[14];
};
_Static_assert(sizeof(struct nv_memory_params) == 128 &&
		       offsetof(struct nv_memory_params, size) == 64,
	       "memory");

struct nv_log_params {
	uint64_t header, records;
	uint32_t record_size, record_count;
	uint64_t vardata;
	uint32_t vardata_size, free_threshold;
	uint64_t event;
	uint32_t vardata_threshold, subdevice, flags, h_header, h_records, h_vardata;
};
_Static_assert(sizeof(struct nv_log_params) == 72 && offsetof(struct nv_log_params, event) == 40,
	       "event buffer");

struct nv_log_bind {
	uint32_t buffer, record_size, level, filter;
	uint8_t all_users, pad[3];
	uint32_t reason; /* why RM refused to bind the log: NV_LOG_* */
};
#define NV_LOG_GPU_TOO_OLD 1u
#define NV_LOG_NEED_ADMIN 4u
#define NV_LOG_NEED_CAPABILITY 5u
_Static_assert(sizeof(struct nv_log_bind) == 24, "log bind");

struct nv_log_enable {
	uint8_t enable, pad[3];
	uint32_t flags;
};
#define NV_LOG_KEEP_OLDEST 1u
struct nv_log_get {
	uint32_t record, vardata;
};

/* Structures that RM writes and we read. */
struct nv_log_header {
	uint32_t get, put;
	uint64_t count, dropped, vardata_dropped;
};
struct nv_log_record {
	uint16_t type, subtype;
	uint32_t vardata;
	uint8_t tag, vmid; /* tag: NV_LOG_* */
	uint16_t seqno;
	uint32_t context, pid;
	uint16_t reserved;
	uint8_t gi, ci;
	uint64_t ns; /* the GPU's time */
};
_Static_assert(sizeof(struct nv_log_record) == 32, "log record");
#define NV_LOG_START 6
#define NV_LOG_END 7

#endif /* GPUSCHED_RM_ABI_H */
