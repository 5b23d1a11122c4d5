/* SPDX-License-Identifier: MIT */
/*
 * ring.h - describes the memfd ring through which the stand-in libcuda launches work
 *
 * A real GPU's doorbell is a mapped page, which no kernel code watches; here it is an eventfd. Each
 * process has one ring, on its nvidiactl file or on that of its MPS server. A ring is the client's
 * memory. So the simulator reads every number once and checks it. It does not even trust values
 * that it has written there itself.
 */
#ifndef GPUSCHED_SIM_RING_H
#define GPUSCHED_SIM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define SIM_RING_VERSION 3u
#define SIM_RING_ENTRIES 4096u
#define SIM_RING_SLOTS 1024u
#define SIM_RING_STAMPS 4096u
#define SIM_RING_NO_STAMP UINT32_MAX
/* Mapped host memory, with the flags that HOLD kernels read. */
#define SIM_RING_HOST_SIZE (4u << 20)

/* The ioctl's type is not 'F', so it cannot be a call of a real driver. */
struct sim_ring_attach {
	uint32_t version;
	int32_t memfd, eventfd;
	/* the simulator's answer fills in the rest */
	uint32_t blocks_at_once, queue_depth;
	uint32_t copy_engine[3]; /* engines of CUDA's copy TSGs: NV2080_ENGINE_TYPE_* */
	double dilate;
};
#define SIM_RING_ATTACH _IOWR('G', 1, struct sim_ring_attach)

enum sim_ring_kind { SIM_RING_KERNEL, SIM_RING_COPY, SIM_RING_HOLD, SIM_RING_MARK };

struct sim_ring_entry {
	uint32_t client, channel; /* handles */
	/* index of the counter in done[] that goes up when the work is done */
	uint32_t slot;
	uint32_t kind;
	uint64_t blocks, block_ns, bytes, limit_ns;
	/* HOLD: offset in host[] of a 32-bit flag; the work ends when it is not 0 */
	uint32_t flag_at;
	/* index in stamp_ns[] for the GPU time of completion; SIM_RING_NO_STAMP: none */
	uint32_t stamp;
	uint64_t submitted_ns; /* CLOCK_MONOTONIC at the call */
};

struct sim_ring {
	/* The client writes head, the server writes tail. Both count on beyond the ring's size. */
	uint32_t head, tail;
	/* @seq: futex word that changes with every completion. @waiters: number of its sleepers. */
	uint32_t seq, waiters;
	/* CUresult that all further calls return; the client's MPS server sets it */
	uint32_t fault;
	uint32_t pad;
	uint64_t done[SIM_RING_SLOTS];
	uint64_t stamp_ns[SIM_RING_STAMPS];
	struct sim_ring_entry entry[SIM_RING_ENTRIES];
	uint8_t host[SIM_RING_HOST_SIZE] __attribute__((aligned(4096)));
};

/* ---- server ------------------------------------------------------------------------------- */

struct sim_model;
struct sim_channel;
struct sim_rm;
struct sim_file;

/* Converts real time to simulated time. */
struct sim_clock {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	double dilate;
};
uint64_t sim_ring_clock_now(const struct sim_clock *c);
uint64_t sim_ring_clock_to_real(const struct sim_clock *c, uint64_t sim_ns);

struct sim_rings;

int sim_rings_new(struct sim_rm *rm, const struct sim_clock *clock, struct sim_rings **ret);
/* Call this after the model is freed, since the model's work points into the rings. */
void sim_rings_free(struct sim_rings *rs);
/*
 * Call this once the model is made. The rings must be made first, since the model needs
 * sim_rings_done() as its on_done.
 */
void sim_rings_bind(struct sim_rings *rs, struct sim_model *m, struct sim_rm *rm);
void sim_rings_done(void *user, struct sim_channel *ch, uint64_t cookie, uint64_t ns);
void sim_rings_channel_gone(void *user, struct sim_channel *ch);

/*
 * Maps @memfd, which must be sealed against shrinking; the caller keeps the descriptor. -EBUSY: the
 * file has as many rings as it may.
 */
int sim_rings_attach(struct sim_rings *rs, struct sim_file *f, int memfd);
/* Like sim_rings_attach(), but with the caller's memory; for tests. */
int sim_rings_attach_memory(struct sim_rings *rs, struct sim_file *f, struct sim_ring *memory);
void sim_rings_detach(struct sim_rings *rs, struct sim_file *f);

/*
 * Does all that is due at model time @now: moves entries from rings to channels, and completions to
 * rings.
 */
void sim_rings_run(struct sim_rings *rs, uint64_t now);
/* When sim_rings_run() must be called next; UINT64_MAX: nothing is due. */
uint64_t sim_rings_next(const struct sim_rings *rs);
/* Number of invalid entries that were dropped. */
uint64_t sim_rings_bad(const struct sim_rings *rs);

#endif /* GPUSCHED_SIM_RING_H */
