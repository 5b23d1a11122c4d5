/* SPDX-License-Identifier: MIT */
/*
 * cuda_ring.c - sends launches to the model, and learns of completions
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_rm.h"
#include "sim/cuda/cuda_ring.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

CUresult cu_ring_make(int *ret_memfd)
{
	int fd = memfd_create("gpusched-sim-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(struct sim_ring)) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		p = mmap(NULL, sizeof(struct sim_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return CUDA_ERROR_OPERATING_SYSTEM;
	}
	cu.ring = p;
	*ret_memfd = fd;
	return CUDA_SUCCESS;
}

CUresult cu_ring_start(int memfd, int file)
{
	int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CUresult r = CUDA_ERROR_OPERATING_SYSTEM;

	cu.facts = (struct sim_ring_attach){
		.version = SIM_RING_VERSION,
		.memfd = memfd,
		.eventfd = bell,
	};
	if (bell >= 0 && ioctl(file >= 0 ? file : cu.ctl, SIM_RING_ATTACH, &cu.facts) == 0) {
		cu.doorbell = bell;
		r = CUDA_SUCCESS;
	} else if (bell >= 0) {
		close(bell);
	}
	close(memfd);
	if (file >= 0) /* the ring holds a reference to the file, which belongs to the MPS server */
		close(file);
	return r;
}

int cu_slot_get(struct channel *ch)
{
	for (uint32_t i = 0; i < SIM_RING_SLOTS; i++)
		if (!cu.slot_used[i]) {
			cu.slot_used[i] = true;
			ch->slot = i;
			ch->submitted = __atomic_load_n(&cu.ring->done[i], __ATOMIC_ACQUIRE);
			return 0;
		}
	return -1;
}

/*
 * Frees a slot. A slot with dropped work is never used again, since its counter may still change.
 */
void cu_slot_put(struct channel *ch)
{
	if (cu_is_done(ch, ch->submitted))
		cu.slot_used[ch->slot] = false;
}

bool cu_is_done(const struct channel *ch, uint64_t at)
{
	return __atomic_load_n(&cu.ring->done[ch->slot], __ATOMIC_ACQUIRE) >= at;
}

/* Sleeps until the ring's completion word differs from @seen. False: the simulator is gone. */
static bool sleep_on(uint32_t seen)
{
	struct timespec second = { .tv_sec = 1 };
	long r = syscall(SYS_futex, &cu.ring->seq, FUTEX_WAIT, seen, &second, NULL, 0);

	return r == 0 || errno != ETIMEDOUT || (cu_alive() && cu_mps_alive());
}

/* The error that an MPS server has set in the ring, if any. Once set, it stays. */
static CUresult cu_fault(void)
{
	return (CUresult)__atomic_load_n(&cu.ring->fault, __ATOMIC_SEQ_CST);
}

CUresult cu_wait(const struct channel *ch, uint64_t at)
{
	CUresult r = cu_fault();

	if (r || cu_is_done(ch, at))
		return r;
	__atomic_add_fetch(&cu.ring->waiters, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		uint32_t seen = __atomic_load_n(&cu.ring->seq, __ATOMIC_SEQ_CST);

		r = cu_fault();
		if (r || cu_is_done(ch, at))
			break;
		if (!sleep_on(seen)) {
			r = cu_mps_alive() ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_MPS_RPC_FAILURE;
			break;
		}
	}
	__atomic_sub_fetch(&cu.ring->waiters, 1, __ATOMIC_SEQ_CST);
	return r;
}

static void ring_bell(void)
{
	uint64_t one = 1;

	(void)!write(cu.doorbell, &one, sizeof(one));
}

/*
 * Waits until the ring has a free entry. The simulator takes an entry when the model's time reaches
 * it.
 */
static CUresult wait_room(uint32_t head)
{
	while (head - __atomic_load_n(&cu.ring->tail, __ATOMIC_ACQUIRE) >= SIM_RING_ENTRIES - 1) {
		struct timespec t = { .tv_nsec = 100000 };

		ring_bell();
		nanosleep(&t, NULL);
		if (cu_fault())
			return cu_fault();
		if (!cu_alive())
			return CUDA_ERROR_UNKNOWN;
	}
	return CUDA_SUCCESS;
}

/*
 * Waits until the channel's queue has space. The caller holds the lock, which is released
 * meanwhile.
 */
static CUresult wait_channel(const struct channel *ch, bool *waited)
{
	uint64_t room = cu.facts.queue_depth > 16 ? cu.facts.queue_depth - 8 : 8;

	while (ch->submitted - __atomic_load_n(&cu.ring->done[ch->slot], __ATOMIC_ACQUIRE) >=
	       room) {
		uint64_t at = ch->submitted - room + 1;
		CUresult r;

		*waited = true;
		pthread_mutex_unlock(&cu.lock);
		ring_bell();
		r = cu_wait(ch, at);
		pthread_mutex_lock(&cu.lock);
		if (r)
			return r;
	}
	return CUDA_SUCCESS;
}

static CUresult put(struct channel *ch, const struct sim_ring_entry *e, uint64_t *now)
{
	struct sim_ring_entry *to;
	bool waited = false;
	uint32_t head;
	CUresult r;

	r = wait_channel(ch, &waited);
	head = __atomic_load_n(&cu.ring->head, __ATOMIC_RELAXED);
	if (!r)
		r = wait_room(head);
	if (r)
		return r;
	if (waited)
		*now = now_ns();
	to = &cu.ring->entry[head % SIM_RING_ENTRIES];
	*to = *e;
	to->client = cu.mps_client ? cu.mps_client : cu.client;
	to->channel = ch->handle;
	to->slot = ch->slot;
	to->submitted_ns = *now;
	__atomic_store_n(&cu.ring->head, head + 1, __ATOMIC_RELEASE);
	ch->submitted++;
	return CUDA_SUCCESS;
}

CUresult cu_submit(struct channel *ch, const struct sim_ring_entry *e, size_t n, uint64_t *ret_at)
{
	uint64_t now = now_ns();
	CUresult r = CUDA_SUCCESS;

	if (!cu.up) /* in a forked child: the ring belongs to the parent */
		return CUDA_ERROR_NOT_INITIALIZED;
	r = cu_fault();
	pthread_mutex_lock(&cu.lock);
	for (size_t i = 0; i < n && !r; i++)
		r = put(ch, &e[i], &now);
	if (n)
		*ret_at = ch->submitted;
	pthread_mutex_unlock(&cu.lock);
	if (n)
		ring_bell();
	return r;
}
