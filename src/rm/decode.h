/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * decode.h - decodes the arguments of RM calls that the taps follow, for each driver branch
 *
 * The functions are pure and take words already copied from user memory. BPF programs, unit tests
 * and the fuzzer use the same code.
 */
#ifndef GPUSCHED_RM_DECODE_H
#define GPUSCHED_RM_DECODE_H

#include "gpusched/abi.h"

/* ioctl command: size << 16 | type << 8 | number (direction bits do not matter) */
#define GS_IOC_TYPE(cmd) (((cmd) >> 8) & 0xff)
#define GS_IOC_NR(cmd) ((cmd)&0xff)
#define GS_IOC_SIZE(cmd) (((cmd) >> 16) & 0x3fff)

#define GS_ESC_FREE 0x29u
#define GS_ESC_CONTROL 0x2au
#define GS_ESC_ALLOC 0x2bu
#define GS_ESC_DUP 0x34u   /* makes a handle for another client's object */
#define GS_ESC_SHARE 0x35u /* lets other clients do that */

#define GS_FREE_SIZE 16u
#define GS_CONTROL_SIZE 32u
#define GS_ALLOC_SIZE_MAX 48u
#define GS_DUP_SIZE 28u
#define GS_SHARE_SIZE 24u

#define GS_CLASS_ROOT 0x0u
#define GS_CLASS_ROOT_NON_PRIV 0x1u
#define GS_CLASS_CLIENT 0x41u
#define GS_CLASS_DEVICE 0x80u
#define GS_CLASS_SUBDEVICE 0x2080u
#define GS_CLASS_TSG 0xa06cu
#define GS_CLASS_MIG_GI 0xc637u /* subscription to a GPU instance */
#define GS_CLASS_MIG_CI 0xc638u /* subscription to a compute instance */

/* Objects for memory that several processes or nodes have */
#define GS_CLASS_MEMORY_EXPORT 0xe0u
#define GS_CLASS_FABRIC 0xf8u
#define GS_CLASS_FABRIC_IMPORT 0xf9u
#define GS_CLASS_FABRIC_REF 0xfbu
#define GS_CLASS_MULTICAST 0xfdu

#define GS_CMD_EXPORT_OBJECT 0x3d05u
#define GS_CMD_IMPORT_OBJECT 0x3d06u
#define GS_CMD_EXPORT_OBJECTS 0x3d0bu
#define GS_CMD_IMPORT_OBJECTS 0x3d0cu
#define GS_CMD_TSG_SCHEDULE 0xa06c0101u
#define GS_CMD_TSG_SET_TIMESLICE 0xa06c0103u
#define GS_CMD_TSG_SET_INTERLEAVE 0xa06c0107u
#define GS_CMD_CHANNEL_SCHEDULE 0xa06f0103u
#define GS_CMD_CHANNEL_SET_INTERLEAVE 0xa06f0109u
#define GS_CMD_SET_PREEMPT_MODE 0x20801210u

/* Offsets in allocation parameters */
#define GS_PARAM_TSG_ENGINE 12u
#define GS_PARAM_CHANNEL_CID 132u
/* the instance's number, for both MIG classes; the capability's descriptor comes before it */
#define GS_PARAM_INSTANCE 8u

struct gs_alloc {
	gs_u32 root, parent, handle, class_;
	gs_u64 params;
	gs_u32 status;
};

struct gs_control {
	gs_u32 client, object, cmd;
	gs_u64 params;
	gs_u32 size, status;
};

struct gs_free {
	gs_u32 root, parent, handle, status;
};

struct gs_dup {
	gs_u32 client_src; /* the client that owns the object, which gets one more handle */
	gs_u32 status;
};

/*
 * Decodes an alloc call. Its structure has 32, 40 or 48 bytes; the place of the status depends on
 * that size and on the branch. Returns 1, or 0 for any other size.
 */
static inline int gs_decode_alloc(const gs_u32 *w, gs_u32 size, gs_u32 branch, struct gs_alloc *ret)
{
	gs_u32 status;

	switch (size) {
	case 32:
		status = branch && branch < 535 ? w[6] : w[7];
		break;
	case 40:
		status = branch && branch < 525 ? w[8] : w[9];
		break;
	case 48:
		status = w[10];
		break;
	default:
		return 0;
	}
	ret->root = w[0];
	ret->parent = w[1];
	ret->handle = w[2];
	ret->class_ = w[3];
	ret->params = (gs_u64)w[5] << 32 | w[4];
	ret->status = status;
	return 1;
}

static inline void gs_decode_control(const gs_u32 *w, struct gs_control *ret)
{
	ret->client = w[0];
	ret->object = w[1];
	ret->cmd = w[2];
	ret->params = (gs_u64)w[5] << 32 | w[4];
	ret->size = w[6];
	ret->status = w[7];
}

static inline void gs_decode_free(const gs_u32 *w, struct gs_free *ret)
{
	ret->root = w[0];
	ret->parent = w[1];
	ret->handle = w[2];
	ret->status = w[3];
}

static inline void gs_decode_dup(const gs_u32 *w, struct gs_dup *ret)
{
	ret->client_src = w[3];
	ret->status = w[6];
}

static inline gs_u32 gs_share_status(const gs_u32 *w)
{
	return w[5];
}

/* Says what an object of this class makes of the process that allocates it. */
static inline enum gpusched_imported gs_class_imports(gs_u32 class_)
{
	switch (class_) {
	case GS_CLASS_MEMORY_EXPORT:
	case GS_CLASS_FABRIC:
	case GS_CLASS_FABRIC_IMPORT:
	case GS_CLASS_FABRIC_REF:
		return GPUSCHED_IMPORTED_FABRIC;
	case GS_CLASS_MULTICAST:
		return GPUSCHED_IMPORTED_MULTICAST;
	default:
		return GPUSCHED_IMPORTED_NONE;
	}
}

/* True for the controls by which processes pass memory to each other as open files. */
static inline int gs_cmd_passes(gs_u32 cmd)
{
	return cmd == GS_CMD_EXPORT_OBJECT || cmd == GS_CMD_EXPORT_OBJECTS ||
	       cmd == GS_CMD_IMPORT_OBJECT || cmd == GS_CMD_IMPORT_OBJECTS;
}

/* True for classes of objects that the taps record; they ignore all others. */
static inline int gs_class_matters(gs_u32 class_)
{
	switch (class_) {
	case GS_CLASS_ROOT:
	case GS_CLASS_ROOT_NON_PRIV:
	case GS_CLASS_CLIENT:
	case GS_CLASS_DEVICE:
	case GS_CLASS_SUBDEVICE:
	case GS_CLASS_TSG:
	case GS_CLASS_MIG_GI:
	case GS_CLASS_MIG_CI:
		return 1;
	default:
		/* known channel (GPFIFO) classes are 0x906f to 0xcb6f; accepts future ones too */
		return (class_ & 0xff) == 0x6f && class_ >= 0x506f && class_ <= 0xffff;
	}
}

/* True for a channel's object that draws: 3D classes end in 97, from 0x9097 (Fermi) on. */
static inline int gs_class_draws(gs_u32 class_)
{
	return (class_ & 0xff) == 0x97 && class_ >= 0x9097 && class_ <= 0xffff;
}

static inline int gs_cmd_matters(gs_u32 cmd)
{
	switch (cmd) {
	case GS_CMD_TSG_SCHEDULE:
	case GS_CMD_TSG_SET_TIMESLICE:
	case GS_CMD_TSG_SET_INTERLEAVE:
	case GS_CMD_CHANNEL_SCHEDULE:
	case GS_CMD_CHANNEL_SET_INTERLEAVE:
	case GS_CMD_SET_PREEMPT_MODE:
		return 1;
	default:
		return 0;
	}
}

/*
 * Converts NV2080_ENGINE_TYPE_* to GPUSCHED_KIND_*. GR0..7 are 1..8, COPY0..9 are 9..18, and
 * COPY10..19 are 0x34..0x3d.
 */
static inline gs_u32 gs_engine_kind(gs_u32 engine)
{
	if (engine >= 1 && engine <= 8)
		return GPUSCHED_KIND_COMPUTE;
	if ((engine >= 9 && engine <= 18) || (engine >= 0x34 && engine <= 0x3d))
		return GPUSCHED_KIND_COPY;
	return GPUSCHED_KIND_OTHER;
}

/* Caps a timeslice at 32 bits: the driver's control takes 64 bits, our records hold 32. */
static inline gs_u32 gs_timeslice_us(gs_u64 us)
{
	return us > 0xffffffffull ? 0xffffffffu : (gs_u32)us;
}

#endif /* GPUSCHED_RM_DECODE_H */
