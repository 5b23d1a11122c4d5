/* SPDX-License-Identifier: MIT */
/*
 * rm_abi.h - defines the part of the RM ABI that the simulated RM speaks: numbers and layouts
 *
 * It is separate from src/rm on purpose: if the simulator shared a decoder with the program under
 * test, both would make the same mistakes. The numbers are those of NVIDIA's open kernel modules.
 */
#ifndef GPUSCHED_SIM_RM_ABI_H
#define GPUSCHED_SIM_RM_ABI_H

#include <stddef.h>
#include <stdint.h>

#define SIM_IOC_MAGIC 'F'

enum sim_escape {
	SIM_ESC_FREE = 0x29,
	SIM_ESC_CONTROL = 0x2a,
	SIM_ESC_ALLOC = 0x2b,
	SIM_ESC_DUP = 0x34,
	SIM_ESC_SHARE = 0x35,
	SIM_ESC_MAP = 0x4e,
	SIM_ESC_UNMAP = 0x4f,
	SIM_ESC_CARD_INFO = 200,
	SIM_ESC_REGISTER_FD = 201,
	SIM_ESC_ALLOC_EVENT = 206,
	SIM_ESC_FREE_EVENT = 207,
	SIM_ESC_CHECK_VERSION = 210,
	SIM_ESC_ATTACH_GPUS = 212,
	SIM_ESC_SYS_PARAMS = 214,
};

enum sim_nv_status {
	SIM_NV_OK = 0,
	SIM_NV_INSERT_DUPLICATE = 0x19,
	SIM_NV_NO_RESOURCES = 0x1a,
	SIM_NV_NO_PERMISSION = 0x1b,
	SIM_NV_INVALID_ADDRESS = 0x1e,
	SIM_NV_INVALID_ARGUMENT = 0x1f,
	SIM_NV_INVALID_CHANNEL = 0x21,
	SIM_NV_INVALID_CLASS = 0x22,
	SIM_NV_INVALID_CLIENT = 0x23,
	SIM_NV_INVALID_DEVICE = 0x26,
	SIM_NV_INVALID_OBJECT_HANDLE = 0x33,
	SIM_NV_INVALID_PARENT = 0x36,
	SIM_NV_INVALID_STATE = 0x40,
	SIM_NV_NO_MEMORY = 0x51,
	SIM_NV_NOT_SUPPORTED = 0x56,
	SIM_NV_NOT_FOUND = 0x57,
	SIM_NV_STATE_IN_USE = 0x63,
};

enum sim_class {
	SIM_CLASS_ROOT = 0x00,
	SIM_CLASS_ROOT_NP = 0x01, /* NV01_ROOT_NON_PRIV */
	SIM_CLASS_ROOT_CLIENT = 0x41,
	SIM_CLASS_MEM_LOCAL = 0x40,
	SIM_CLASS_MEM_SYSTEM = 0x3e,
	SIM_CLASS_EVENT = 0x79,
	SIM_CLASS_MULTICAST = 0xfd,
	SIM_CLASS_DEVICE = 0x80,
	SIM_CLASS_SUBDEVICE = 0x2080,
	SIM_CLASS_CTXSHARE = 0x9067,
	SIM_CLASS_EVENT_BUFFER = 0x90cd,
	SIM_CLASS_MEM_DEVICELESS = 0x90ce,
	SIM_CLASS_VASPACE = 0x90f1,
	SIM_CLASS_TSG = 0xa06c,
	SIM_CLASS_CHANNEL = 0xc86f,
	SIM_CLASS_MIG_GPU_INSTANCE = 0xc637,
	SIM_CLASS_MIG_COMPUTE_INSTANCE = 0xc638,
	SIM_CLASS_USERMODE = 0xc661,
	SIM_CLASS_DMA_COPY = 0xc8b5,
	SIM_CLASS_3D = 0xcb97,
	SIM_CLASS_COMPUTE = 0xcbc0,
};

/* NVOS00 */
struct sim_os_free {
	uint32_t client, parent, object, status;
};

/* NVOS21. NVOS64 is the same up to params; after it come rights, size, flags and status. */
struct sim_os_alloc {
	uint32_t client, parent, object, cls;
	uint64_t params;
	uint32_t size, status;
};

struct sim_os_alloc64 {
	uint32_t client, parent, object, cls;
	uint64_t params, rights;
	uint32_t size, flags, status, pad;
};

/* NVOS54 */
struct sim_os_control {
	uint32_t client, object, cmd, flags;
	uint64_t params;
	uint32_t size, status;
};

/* NVOS55 */
#define SIM_SHARE_TYPE_ALL 1u
struct sim_os_share {
	uint32_t client, object, target, access;
	uint16_t type, action;
	uint32_t status;
};

struct sim_os_dup {
	uint32_t client, parent, object, client_src, object_src, flags, status;
};

/* NVOS33, followed by the descriptor */
struct sim_os_map {
	uint32_t client, device, memory, pad;
	uint64_t offset, length, address;
	uint32_t status, flags;
	int32_t fd, pad2;
};

/* NVOS34 */
struct sim_os_unmap {
	uint32_t client, device, memory, pad;
	uint64_t address;
	uint32_t status, flags;
};

struct sim_card {
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

struct sim_version {
	uint32_t cmd, reply;
	char text[64];
};

_Static_assert(sizeof(struct sim_os_free) == 16, "NVOS00");
_Static_assert(sizeof(struct sim_os_alloc) == 32, "NVOS21");
_Static_assert(sizeof(struct sim_os_alloc64) == 48, "NVOS64");
_Static_assert(offsetof(struct sim_os_alloc64, status) == 40, "NVOS64 status");
_Static_assert(sizeof(struct sim_os_control) == 32, "NVOS54");
_Static_assert(sizeof(struct sim_os_dup) == 28, "NVOS55");
_Static_assert(sizeof(struct sim_os_share) == 24, "NVOS57");
_Static_assert(sizeof(struct sim_os_map) == 56, "NVOS33");
_Static_assert(sizeof(struct sim_os_unmap) == 32, "NVOS34");
_Static_assert(sizeof(struct sim_card) == 72, "card info");
_Static_assert(sizeof(struct sim_version) == 72, "version check");

/* Allocation parameters */
#define SIM_TSG_PARAMS_SIZE 20u
#define SIM_TSG_VASPACE_AT 8u
#define SIM_TSG_ENGINE_AT 12u
#define SIM_CHANNEL_ENGINE_AT 128u
#define SIM_CHANNEL_CID_AT 132u
#define SIM_CHANNEL_PARAMS_MAX 368u
#define SIM_DEVICE_PARAMS_SIZE 56u
#define SIM_MEMORY_PARAMS_MAX 128u
#define SIM_MEMORY_ATTR_AT 24u
#define SIM_MEMORY_NONCONTIGUOUS (1u << 27)
#define SIM_MEMORY_ATTR2_AT 28u
#define SIM_MEMORY_SIZE_AT 64u

/* Controls. The number contains the class; the parameters' size is in the table in rm_control.c. */
enum sim_ctrl {
	SIM_CTRL_GPU_ATTACHED_IDS = 0x201,
	SIM_CTRL_GPU_ID_INFO_V2 = 0x205,
	SIM_CTRL_EXPORT_OBJECTS = 0x3d0b,
	SIM_CTRL_IMPORT_OBJECTS = 0x3d0c,
	SIM_CTRL_GPU_PROBED_IDS = 0x214,
	SIM_CTRL_GPU_ATTACH_IDS = 0x215,
	SIM_CTRL_GPU_PCI_INFO = 0x21b,
	SIM_CTRL_CLIENT_HANDLE_INFO = 0xd02,
	SIM_CTRL_CLIENT_ACCESS_RIGHTS = 0xd03,
	SIM_CTRL_CLIENT_CHILD_HANDLE = 0xd05,

	SIM_CTRL_SUB_GPU_INFO_V2 = 0x20800102,
	SIM_CTRL_SUB_NAME_STRING = 0x20800110,
	SIM_CTRL_SUB_GID_INFO = 0x2080014a,
	SIM_CTRL_SUB_BIOS_INFO_V2 = 0x20800810,
	SIM_CTRL_SUB_PIDS = 0x2080018d,
	SIM_CTRL_SUB_PID_INFO = 0x2080018e,
	SIM_CTRL_SUB_TIME = 0x20800403,
	SIM_CTRL_SUB_DISABLE_CHANNELS = 0x2080110b,
	SIM_CTRL_SUB_TSG_UNIQUE_IDS = 0x20801123,
	SIM_CTRL_SUB_PREEMPTION_MODE = 0x20801210,
	SIM_CTRL_SUB_LOG_BIND = 0x20801238,
	SIM_CTRL_SUB_FB_INFO_V2 = 0x20801303,
	SIM_CTRL_SUB_PCI_INFO = 0x20801801,
	SIM_CTRL_SUB_USAGE = 0x20802096,

	SIM_CTRL_TSG_SCHEDULE = 0xa06c0101,
	SIM_CTRL_TSG_BIND = 0xa06c0102,
	SIM_CTRL_TSG_SET_TIMESLICE = 0xa06c0103,
	SIM_CTRL_TSG_GET_TIMESLICE = 0xa06c0104,
	SIM_CTRL_TSG_PREEMPT = 0xa06c0105,
	SIM_CTRL_TSG_GET_INFO = 0xa06c0106,
	SIM_CTRL_TSG_SET_INTERLEAVE = 0xa06c0107,
	SIM_CTRL_TSG_GET_INTERLEAVE = 0xa06c0108,
	SIM_CTRL_TSG_MAKE_REALTIME = 0xa06c0110,

	SIM_CTRL_LOG_ENABLE = 0x90cd0101,
	SIM_CTRL_LOG_UPDATE_GET = 0x90cd0102,
	SIM_CTRL_LOG_FLUSH = 0x90cd0104,

	SIM_CTRL_CHANNEL_CLASS_ENGINE = 0x906f0101,
	SIM_CTRL_CHANNEL_SCHEDULE = 0xa06f0103,
	SIM_CTRL_CHANNEL_SET_INTERLEAVE = 0xa06f0109,
	SIM_CTRL_CHANNEL_RESTART_RUNLIST = 0xa06f0111,
	SIM_CTRL_CHANNEL_CONTEXT_ID = 0xa06f0113,
	SIM_CTRL_CHANNEL_TOKEN = 0xc36f0108,
};

struct sim_ctrl_id_info {
	uint32_t gpu_id, flags, device, subdevice, sli, board, instance;
	int32_t numa;
};

struct sim_ctrl_handle_info {
	uint32_t object, index;
	uint64_t result;
};

/* Parameters of the control that names the engine of an object under a channel. */
struct sim_ctrl_class_engine {
	uint32_t object, class_engine, cls, engine;
};

struct sim_ctrl_rights {
	uint32_t object, client, rights;
};

struct sim_ctrl_child {
	uint32_t parent, cls, object;
};

struct sim_ctrl_gid {
	uint32_t index, flags, length;
	uint8_t data[256];
};

#define SIM_PIDS_MAX 950u
struct sim_ctrl_pids {
	uint32_t id_type, id, n, pids[SIM_PIDS_MAX];
};

#define SIM_PID_INFO_MAX 200u
#define SIM_NO_INSTANCE 0xffffffffu
struct sim_ctrl_pid_info {
	uint32_t n, pad;
	struct sim_held {
		uint32_t pid, index, result, pad;
		/* index 0: private, 1: shared and owned, 2: shared and duplicated */
		uint64_t bytes[3], protected_bytes[3];
		uint32_t compute_instance, gpu_instance;
	} list[SIM_PID_INFO_MAX];
};

enum { SIM_FB_RAM = 8, SIM_FB_HEAP = 9, SIM_FB_HEAP_FREE = 0x16 };

struct sim_ctrl_disable {
	uint8_t disable, pad0[3];
	uint32_t n;
	uint8_t only_scheduling, rewind, pad1[6];
	uint64_t event;
	uint32_t clients[64], channels[64];
};

struct sim_ctrl_unique_ids {
	uint32_t client, object, tsg, n;
	uint32_t cid[128], vas[128], veid[128];
};

struct sim_ctrl_mode {
	uint32_t flags, channel, gfxp, cilp;
	uint64_t route[2];
};

struct sim_ctrl_preempt {
	uint8_t wait, manual, pad[2];
	uint32_t timeout_us;
};

struct sim_ctrl_log_bind {
	uint32_t buffer, record_size, level, filter;
	uint8_t all_users, pad[3];
	uint32_t reason;
};

struct sim_ctrl_log_enable {
	uint8_t enable, pad[3];
	uint32_t flags;
};

struct sim_ctrl_log_get {
	uint32_t record, vardata;
};

/*
 * The context-switch log: parameters of its allocation, then the contents of its two pieces of
 * memory.
 */
struct sim_log_params {
	uint64_t header, records;
	uint32_t record_size, record_count;
	uint64_t vardata;
	uint32_t vardata_size, free_threshold;
	uint64_t event;
	uint32_t vardata_threshold, subdevice, flags, h_header, h_records, h_vardata;
};

struct sim_log_header {
	uint32_t get, put;
	uint64_t count, dropped, vardata_dropped;
};

#define SIM_LOG_RECORD_TYPE 2u /* FECS_CTX_SWITCH_V2 */
#define SIM_LOG_START 0x06u
#define SIM_LOG_END 0x07u
#define SIM_LOG_NO_MIG 0xffu
#define SIM_LOG_HIDDEN_MIG 0xfeu

struct sim_log_record {
	uint16_t type, subtype;
	uint32_t vardata;
	uint8_t tag, vmid;
	uint16_t seqno;
	uint32_t context_id, pid;
	uint16_t reserved;
	uint8_t gi, ci;
	uint64_t ns;
};

_Static_assert(sizeof(struct sim_log_params) == 72, "0x90cd");
_Static_assert(offsetof(struct sim_log_params, event) == 40, "0x90cd");
_Static_assert(offsetof(struct sim_log_params, h_header) == 60, "0x90cd");
_Static_assert(sizeof(struct sim_log_header) == 32, "header of the log");
_Static_assert(sizeof(struct sim_log_record) == 32, "record of the log");
_Static_assert(offsetof(struct sim_log_record, seqno) == 10, "record of the log");
_Static_assert(offsetof(struct sim_log_record, ns) == 24, "record of the log");
_Static_assert(sizeof(struct sim_ctrl_log_bind) == 24, "0x20801238");
_Static_assert(sizeof(struct sim_ctrl_id_info) == 32, "0x205");
_Static_assert(sizeof(struct sim_ctrl_handle_info) == 16, "0xd02");
_Static_assert(sizeof(struct sim_ctrl_gid) == 268, "0x2080014a");
_Static_assert(sizeof(struct sim_ctrl_pids) == 3812, "0x2080018d");
_Static_assert(sizeof(struct sim_ctrl_pid_info) == 14408, "0x2080018e");
_Static_assert(sizeof(struct sim_ctrl_disable) == 536, "0x2080110b");
_Static_assert(sizeof(struct sim_ctrl_unique_ids) == 1552, "0x20801123");
_Static_assert(sizeof(struct sim_ctrl_mode) == 32, "0x20801210");
_Static_assert(sizeof(struct sim_ctrl_preempt) == 8, "0xa06c0105");

#endif /* GPUSCHED_SIM_RM_ABI_H */
