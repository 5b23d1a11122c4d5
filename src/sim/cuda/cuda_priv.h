/* SPDX-License-Identifier: MIT */
/*
 * cuda_priv.h - declares the stand-in libcuda's types of the driver API, and its state
 *
 * The library makes the real one's system calls, in the same order, on the simulated RM. Launches
 * go through the ring. It has only the functions that our programs use.
 */
#ifndef GPUSCHED_SIM_CUDA_PRIV_H
#define GPUSCHED_SIM_CUDA_PRIV_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/ring.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct cu_context *CUcontext;
typedef struct cu_stream *CUstream;
typedef struct cu_event *CUevent;
typedef struct cu_module *CUmodule;
typedef struct cu_function *CUfunction;

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_INVALID_PTX = 218,
	CUDA_ERROR_OPERATING_SYSTEM = 304,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_ILLEGAL_STATE = 401,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_NOT_PERMITTED = 800,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
	CUDA_ERROR_MPS_RPC_FAILURE = 806,
	CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
	CUDA_ERROR_UNKNOWN = 999,
};

#define API __attribute__((visibility("default")))

/*
 * Defines a launch function that begins with a no-operation instruction, on which the kernel can
 * place a cheap uprobe. The rest of the function is OF_body.
 */
#if defined(__x86_64__)
#include "sim/cuda/probed_x86.h"
#elif defined(__aarch64__)
#include "sim/cuda/probed_arm64.h"
#endif
#define PROBED_AS(name, of) \
	__asm__(".text\n.globl " #name "\n.type " #name ",@function\n.balign 16\n" #name \
		":\n" PROBED_NOP "\n" PROBED_JUMP " " #of "_body\n.size " #name ",.-" #name "\n")
#define PROBED(name) PROBED_AS(name, name)

#define MAX_DEVICES 16
#define CLOCK_KHZ 1980000
#define GR_CHANNELS 8
#define COPY_TSGS 3
#define COPY_CHANNELS 4

struct cu_device {
	int minor;
	uint32_t gpu_id, instance;
	unsigned int bus;
	uint8_t uuid[16];
	char name[64];
	int fd; /* descriptor of /dev/nvidiaN, opened for the first context */
	CUcontext primary;
	unsigned int primary_refs, primary_flags;
};

struct channel {
	uint32_t handle, slot;
	uint64_t submitted; /* value of the slot's counter when all submitted work is done */
};

struct tsg {
	uint32_t handle, engine;
	unsigned int n;
	struct channel ch[GR_CHANNELS];
};

struct cu_context {
	struct cu_device *dev;
	uint32_t h_device, h_subdevice, h_vaspace;
	unsigned int flags, next_stream;
	struct tsg gr, copy[COPY_TSGS];
	struct cu_stream *null_stream;
	struct cu_stream *streams;
	struct cu_context *next;
};

struct cu_stream {
	CUcontext ctx;
	struct channel *ch;
	uint64_t last; /* value of the channel's counter when the stream's last work is done */
	int priority;
	unsigned int flags;
	/* not NULL: the stream is capturing, and launches are added to this graph */
	struct cu_graph *capture;
	struct cu_stream *next;
};

struct cu_event {
	CUcontext ctx;
	struct channel *ch;
	uint64_t at;
	uint32_t stamp; /* SIM_RING_NO_STAMP: the event has no timing */
	bool recorded;
};

enum kernel_kind { KERNEL_PLAIN, KERNEL_WORK, KERNEL_HOLD, KERNEL_BAD };

struct cu_function {
	char name[128];
	enum kernel_kind kind;
	int iterations_at, flag_at, limit_at; /* numbers of the parameters */
	bool limit_in_clocks;                 /* true: the limit is in clocks; false: in ns */
	unsigned int nparams;
	uint8_t size[16];
};

struct cu_module {
	unsigned int n;
	struct cu_function fn[32];
};

struct cu_state {
	pthread_mutex_t lock; /* protects everything below, and the ring's head */
	bool up;
	CUresult failed; /* result of cuInit */
	int pid;
	int ctl, uvm;
	unsigned int branch;
	uint32_t client, next_handle;
	struct cu_device dev[MAX_DEVICES];
	int ndev;
	CUcontext contexts;
	struct sim_ring *ring;
	struct sim_ring_attach facts;
	int doorbell;
	int mps;             /* socket to the MPS server; -1: none */
	uint32_t mps_client; /* RM client that owns our channels; 0: without MPS */
	bool slot_used[SIM_RING_SLOTS], stamp_used[SIM_RING_STAMPS];
};
extern struct cu_state cu;

CUresult cu_start(void);
/*
 * In cuda_checkpoint.c: starts a thread that takes checkpoint requests of other processes. Not used
 * by MPS clients.
 */
void cu_checkpoint_start(void);
void cu_checkpoint_in_child(void);

/* cuda_context.c */
bool cu_contexts_done(void); /* true if all launched work is done; the caller holds the lock */
/*
 * cu_contexts_out() frees the contexts' RM objects except devices and what is directly below them.
 * cu_contexts_in() makes the objects again: 0 or -1.
 */
void cu_contexts_out(void);
int cu_contexts_in(void);
int cu_channel_make(struct tsg *t, struct channel *ch, bool work);
CUcontext cu_current(void);
CUresult cuCtxPushCurrent_v2(CUcontext ctx);
CUresult cuCtxPopCurrent_v2(CUcontext *ret);
struct cu_stream *cu_stream_of(CUstream s); /* NULL, 1, 2: the default stream */

/* cuda_stream.c */
CUresult cu_kernel(const struct cu_function *f, uint64_t blocks, uint64_t threads, void **params,
		   struct sim_ring_entry *ret);
CUresult cu_launch(struct cu_stream *s, const struct sim_ring_entry *e, size_t n);
void cu_stream_free(struct cu_stream *s);

/* cuda_graph.c */
struct cu_graph;
void cu_graph_free(struct cu_graph *g);
CUresult cu_capture(struct cu_stream *s, const struct sim_ring_entry *e, size_t n);
/*
 * For a call that these graphs cannot hold: returns an error and ends the capture if @s is
 * capturing.
 */
CUresult cu_not_captured(struct cu_stream *s);

/* cuda_share.c: what this process has of the memory that libcuda's checkpoint can't do */
extern struct cu_shares {
	bool imported, managed, multicast;
} cu_shares;

/* cuda_memory.c */
CUresult cuMemAlloc_v2(CUdeviceptr *ret, size_t size);
/* The RM object of device memory at @p; false: there is none. */
bool cu_memory_find(CUdeviceptr p, uint32_t *ret_handle, size_t *ret_size);
/* Gives an RM object that another client made an address. */
CUresult cu_memory_note(CUcontext ctx, uint32_t handle, size_t size, CUdeviceptr *ret);
bool cu_host_offset(CUdeviceptr p, uint32_t *ret);
/*
 * cu_memory_out() frees the RM objects of all device memory. cu_memory_in() makes all of them
 * again, or none.
 */
void cu_memory_out(void (*moves)(size_t bytes));
CUresult cu_memory_in(void (*moves)(size_t bytes));

#endif /* GPUSCHED_SIM_CUDA_PRIV_H */
