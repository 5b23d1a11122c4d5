// SPDX-License-Identifier: MIT
#include "park/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/procfs.h"

#define BRANCH_FIRST 570 /* the first driver branch with libcuda's checkpoint calls */
#define HOST_SPARE 10    /* the host must have a tenth more free than the process holds */

/* ---- reading --------------------------------------------------------------------------------- */

static void read_status(struct gs_park_check *c)
{
	char path[64], line[128];
	CLEANUP_FILE FILE *f = NULL;
	int tracer;

	snprintf(path, sizeof(path), "%s/%d/status", gs_procfs(), (int)c->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "State: %c", &c->state) == 1)
			continue;
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			c->traced = tracer != 0;
	}
}

static void read_host(struct gs_park_check *c)
{
	CLEANUP_FILE FILE *f = NULL;
	char path[64], line[128];
	uint64_t kib;

	snprintf(path, sizeof(path), "%s/meminfo", gs_procfs());
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemTotal: %" SCNu64, &kib) == 1)
			c->host_total = kib << 10;
		else if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			c->host_free = kib << 10;
	}
}

void gs_park_check_read(struct gs_park_check *c)
{
	read_status(c);
	read_host(c);
}

/* ---- judging --------------------------------------------------------------------------------- */

static double gib(uint64_t bytes)
{
	return (double)bytes / (double)(1ull << 30);
}

static uint64_t less(uint64_t most, uint64_t used)
{
	return most > used ? most - used : 0;
}

static uint64_t most_parked(const struct gs_park_check *c)
{
	return c->host_total / 100 * c->park_memory_pct;
}

/* The most that its user's parked programs may have in all. */
static uint64_t share_of_user(const struct gs_park_check *c)
{
	return less(most_parked(c), c->parked_bytes - c->user_bytes) / 2;
}

int gs_park_check_memory(const struct gs_park_check *c, struct gs_error *err)
{
	uint64_t need = c->bytes + c->bytes / HOST_SPARE;

	if (!c->bytes_known)
		return 0;
	if (c->host_total && need > c->host_free)
		return gs_fail(err, -ENOMEM,
			       "its %.1f GiB go to the host's memory, of which %.1f GiB are free",
			       gib(c->bytes), gib(c->host_free));
	if (need > c->cgroup_free)
		return gs_fail(err, -ENOMEM,
			       "its %.1f GiB count as its cgroup's, which may have %.1f GiB more: "
			       "raise memory.max",
			       gib(c->bytes), gib(c->cgroup_free));
	if (c->host_total && c->bytes > less(most_parked(c), c->parked_bytes))
		return gs_fail(err, -ENOMEM,
			       "parked programs may have %.1f GiB of the host's memory in all "
			       "(ParkMemory=), and have %.1f GiB",
			       gib(most_parked(c)), gib(c->parked_bytes));
	if (c->host_total && c->has_share && c->bytes > less(share_of_user(c), c->user_bytes))
		return gs_fail(err, -ENOMEM,
			       "its user's parked programs may have %.1f GiB, half of what others' "
			       "leave of ParkMemory=, and have %.1f GiB",
			       gib(share_of_user(c)), gib(c->user_bytes));
	return 0;
}

static uint64_t without_spare(uint64_t bytes)
{
	return bytes - bytes / (HOST_SPARE + 1);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t gs_park_check_room(const struct gs_park_check *c)
{
	uint64_t room = without_spare(c->cgroup_free);

	if (!c->host_total)
		return room;
	room = least(room, without_spare(c->host_free));
	room = least(room, less(most_parked(c), c->parked_bytes));
	return c->has_share ? least(room, less(share_of_user(c), c->user_bytes)) : room;
}

/*
 * libcuda takes the memory of a process out that has others' memory open, and then can't restore
 * it: the process is lost. On a multicast object the call hangs.
 */
static const char *not_alone(const struct gs_park_check *c)
{
	switch (c->imported) {
	case GPUSCHED_IMPORTED_NONE:
		break;
	case GPUSCHED_IMPORTED_FABRIC:
		return "it has had memory of the NVLink fabric: it would never come back";
	case GPUSCHED_IMPORTED_MULTICAST:
		return "it has had a multicast object (NVLink SHARP), on which libcuda hangs";
	default:
		return "it has had memory of another process open (CUDA IPC, a descriptor): it "
		       "would never come back";
	}
	if (c->shared_bytes)
		return "it has memory of another process open (CUDA IPC): it would never come back";
	if (!c->seen && !c->forced)
		return "it started before gpusched's taps, so whether it has memory of another "
		       "process open is not known; if it has, it never comes back: --force parks "
		       "it "
		       "all the same";
	return NULL;
}

static const char *refusal(const struct gs_park_check *c)
{
	if (c->branch < BRANCH_FIRST)
		return "the driver cannot park: its branch is older than 570";
	if (c->mps)
		return "it works in an MPS server, which libcuda does not park";
	if (c->mig)
		return "it is on a MIG partition, where the driver does not say what it holds";
	if (c->held || c->state == 'T')
		return "it is stopped: a stopped process does not answer libcuda";
	if (c->state == 't' || c->traced)
		return "a debugger or profiler has it";
	if (c->state == 'Z' || c->state == 'X')
		return "it is ending";
	if (c->frozen)
		return "its cgroup is frozen";
	if (c->many)
		return "it has more TSGs than can be looked after";
	if (c->unfit)
		return "libcuda does not park it: it has managed memory";
	return not_alone(c);
}

int gs_park_check(const struct gs_park_check *c, struct gs_error *err)
{
	const char *why = refusal(c);

	if (!why && c->unread)
		return gs_fail(err, -EAGAIN, "what its cgroups may still allocate is not read yet");
	return why ? gs_fail(err, -ENOTSUP, "%s", why) : gs_park_check_memory(c, err);
}
