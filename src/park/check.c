// SPDX-License-Identifier: MIT
#include "park/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "process/cgroup.h"

#define BRANCH_FIRST 570 /* the first driver branch with libcuda's checkpoint calls */
#define BRANCH_IPC 610   /* the first that also parks processes with shared GPU memory */
#define HOST_SPARE 10    /* the host must have a tenth more free than the process holds */

/* ---- reading --------------------------------------------------------------------------------- */

static void read_status(struct gs_park_check *c)
{
	char path[48], line[128];
	CLEANUP_FILE FILE *f = NULL;
	int tracer;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)c->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "State: %c", &c->state) == 1)
			continue;
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			c->traced = tracer != 0;
	}
}

static bool read_number(const char *dir, const char *name, uint64_t *ret)
{
	char path[1400];
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	return f && fscanf(f, "%" SCNu64, ret) == 1; /* fails for "max", which means no limit */
}

static bool is_frozen(const char *dir)
{
	char path[1400], line[64];
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/cgroup.events", dir);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "frozen 1", 8))
			return true;
	return false;
}

static void read_cgroups(struct gs_park_check *c)
{
	const char *root = gs_cgroup_root();
	char own[GS_CGROUP_PATH_LEN], dir[1200], *slash;
	uint64_t most, now;

	c->cgroup_free = UINT64_MAX;
	if (!root || gs_cgroup_path(c->pid, own))
		return;
	while ((slash = strrchr(own, '/')) && own[1]) {
		snprintf(dir, sizeof(dir), "%s%s", root, own);
		c->frozen |= is_frozen(dir);
		if (read_number(dir, "memory.max", &most) &&
		    read_number(dir, "memory.current", &now)) {
			uint64_t left = most > now ? most - now : 0;

			c->cgroup_free = left < c->cgroup_free ? left : c->cgroup_free;
		}
		slash[slash == own] = '\0';
	}
}

static void read_host(struct gs_park_check *c)
{
	CLEANUP_FILE FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	uint64_t kib;

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
	read_cgroups(c);
	read_host(c);
}

/* ---- judging --------------------------------------------------------------------------------- */

static double gib(uint64_t bytes)
{
	return (double)bytes / (double)(1ull << 30);
}

static int check_memory(const struct gs_park_check *c, struct gs_error *err)
{
	uint64_t need = c->bytes + c->bytes / HOST_SPARE;
	uint64_t most = c->host_total / 100 * c->park_memory_pct;

	if (!c->bytes_known)
		return 0; /* the helper measures it right before the copy */
	if (c->host_total && need > c->host_free)
		return gs_fail(err, -ENOMEM,
			       "its %.1f GiB go to the host's memory, of which %.1f GiB are free",
			       gib(c->bytes), gib(c->host_free));
	if (need > c->cgroup_free)
		return gs_fail(err, -ENOMEM,
			       "its %.1f GiB count as its cgroup's, which may have %.1f GiB more: "
			       "raise memory.max",
			       gib(c->bytes), gib(c->cgroup_free));
	if (c->host_total && c->parked_bytes + c->bytes > most)
		return gs_fail(err, -ENOMEM,
			       "parked programs may have %.1f GiB of the host's memory in all "
			       "(ParkMemory=), and have %.1f GiB",
			       gib(most), gib(c->parked_bytes));
	return 0;
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
	if (c->shared_bytes && c->branch < BRANCH_IPC)
		return "it has memory of another process open (CUDA IPC), which libcuda parks from "
		       "driver 610 on";
	return NULL;
}

int gs_park_check(const struct gs_park_check *c, struct gs_error *err)
{
	const char *why = refusal(c);

	return why ? gs_fail(err, -ENOTSUP, "%s", why) : check_memory(c, err);
}
