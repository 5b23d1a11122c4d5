/* SPDX-License-Identifier: MIT */
/*
 * simrm_world.h - run the simulated RM without FUSE, for one caller whose memory is an array
 */
#ifndef TESTS_UNIT_SIMRM_WORLD_H
#define TESTS_UNIT_SIMRM_WORLD_H

#include <errno.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <cmocka.h>

#include "sim/params.h"
#include "sim/ring.h"
#include "sim/rm.h"
#include "sim/rm_abi.h"

#define BASE 0x10000u /* the address of the caller's memory */
#define MEMORY 16384u

struct simrm_world {
	struct sim_model *model;
	struct sim_rm *rm;
	struct sim_rings *rings;
	struct sim_params params;
	struct sim_caller caller;
	uint8_t memory[MEMORY];
	bool nice, admin;
	unsigned int branch;
	uint32_t instance; /* MIG: the instance for new TSGs; 0: none */
};

static int world_read(const struct sim_caller *c, uint64_t at, void *to, size_t n)
{
	struct simrm_world *w = c->user;

	if (at < BASE || n > MEMORY || at - BASE > MEMORY - n)
		return -EFAULT;
	memcpy(to, w->memory + (at - BASE), n);
	return 0;
}

static int world_write(const struct sim_caller *c, uint64_t at, const void *from, size_t n)
{
	struct simrm_world *w = c->user;

	if (at < BASE || n > MEMORY || at - BASE > MEMORY - n)
		return -EFAULT;
	memcpy(w->memory + (at - BASE), from, n);
	return 0;
}

static bool world_capable(const struct sim_caller *c, int capability)
{
	struct simrm_world *w = c->user;

	return capability == CAP_SYS_NICE ? w->nice : capability == CAP_SYS_ADMIN && w->admin;
}

static void world_done(void *user, struct sim_channel *ch, uint64_t cookie, uint64_t ns)
{
	if (cookie) /* work with cookie 0 did not come through a ring */
		sim_rings_done(((struct simrm_world *)user)->rings, ch, cookie, ns);
}

static void world_switched(void *user, const struct sim_switch *sw)
{
	sim_rm_switched(((struct simrm_world *)user)->rm, sw);
}

/* Start time of the simulation's clock; a test sets it before it makes the world. */
static uint64_t world_clock_start;

/* Divides the GPU into @mig GPU instances of @compute compute instances each. */
static inline void world_new_divided(struct simrm_world *w, unsigned int branch, unsigned int mig,
				     unsigned int compute)
{
	const struct sim_clock clock = { .start_ns = world_clock_start, .dilate = 1 };
	struct sim_rm_config config = { .gpus = 2,
					.branch = branch,
					.max_objects = 2000,
					.mig = mig,
					.compute = compute,
					.copy_engines = 10 };
	struct sim_model_ops ops = { .on_done = world_done,
				     .on_switch = world_switched,
				     .user = w };

	memset(w, 0, sizeof(*w));
	w->branch = branch;
	w->nice = true;
	w->admin = true;
	w->caller = (struct sim_caller){
		.tid = 100,
		.tgid = 100,
		.read = world_read,
		.write = world_write,
		.capable = world_capable,
		.user = w,
	};
	sim_params_default(&w->params);
	if (mig)
		w->params.gr_engines = mig * compute;
	assert_int_equal(sim_rings_new(NULL, &clock, &w->rings), 0);
	assert_int_equal(sim_model_new(&w->params, 2, 1, &ops, &w->model), 0);
	assert_int_equal(sim_rm_new(&config, w->model, &w->rm), 0);
	sim_rings_bind(w->rings, w->model, w->rm);
	sim_rm_on_channel_gone(w->rm, sim_rings_channel_gone, w->rings);
}

static inline void world_new_mig(struct simrm_world *w, unsigned int branch, unsigned int mig)
{
	world_new_divided(w, branch, mig, 1);
}

static inline void world_new(struct simrm_world *w, unsigned int branch)
{
	world_new_mig(w, branch, 0);
}

static inline void world_free(struct simrm_world *w)
{
	sim_rm_free(w->rm);
	sim_model_free(w->model);
	sim_rings_free(w->rings);
}

static inline struct sim_file *world_open(struct simrm_world *w)
{
	struct sim_file *f;

	assert_int_equal(sim_rm_open(w->rm, SIM_NODE_CTL, 0, &w->caller, &f), 0);
	return f;
}

static inline uint32_t world_alloc(struct simrm_world *w, struct sim_file *f, uint32_t client,
				   uint32_t parent, uint32_t *handle, uint32_t cls,
				   const void *params, size_t n)
{
	struct sim_os_alloc64 os = {
		.client = client, .parent = parent, .object = *handle, .cls = cls, .status = ~0u
	};

	if (params) {
		memcpy(w->memory, params, n);
		os.params = BASE;
	}
	assert_int_equal(
		sim_rm_ioctl(w->rm, f, _IOWR('F', SIM_ESC_ALLOC, os), &os, sizeof(os), &w->caller),
		0);
	*handle = os.object;
	return os.status;
}

static inline uint32_t world_control(struct simrm_world *w, struct sim_file *f, uint32_t client,
				     uint32_t object, uint32_t cmd, void *params, uint32_t n)
{
	struct sim_os_control os = {
		.client = client, .object = object, .cmd = cmd, .size = n, .status = ~0u
	};

	if (params) {
		memcpy(w->memory, params, n);
		os.params = BASE;
	}
	assert_int_equal(sim_rm_ioctl(w->rm, f, _IOWR('F', SIM_ESC_CONTROL, os), &os, sizeof(os),
				      &w->caller),
			 0);
	if (params)
		memcpy(params, w->memory, n);
	return os.status;
}

static inline uint32_t world_free_object(struct simrm_world *w, struct sim_file *f, uint32_t client,
					 uint32_t object)
{
	struct sim_os_free os = { .client = client, .object = object, .status = ~0u };

	assert_int_equal(
		sim_rm_ioctl(w->rm, f, _IOWR('F', SIM_ESC_FREE, os), &os, sizeof(os), &w->caller),
		0);
	return os.status;
}

static inline uint32_t world_instance(struct simrm_world *w, struct sim_file *f, uint32_t client,
				      uint32_t subdevice, uint32_t instance)
{
	uint32_t p[4] = { 0, 0, instance }, h = 0;

	return world_alloc(w, f, client, subdevice, &h, SIM_CLASS_MIG_GPU_INSTANCE, p, sizeof(p));
}

/* A client with device, subdevice, and a TSG of two channels; world_tsg() makes them. */
struct world_tsg {
	struct sim_file *file;
	uint32_t client, device, subdevice, tsg, channel[2], cid[2];
};

static inline void world_tsg(struct simrm_world *w, struct world_tsg *t, uint32_t gpu,
			     uint32_t engine)
{
	uint32_t dev[14] = { gpu }, sub = 0, tsg[5] = { 0, 0, 0, engine };
	uint8_t ch[SIM_CHANNEL_PARAMS_MAX] = { 0 };

	memset(t, 0, sizeof(*t));
	t->file = world_open(w);
	t->device = 0x5c000001;
	t->subdevice = 0x5c000002;
	t->tsg = 0x5c000003;
	assert_int_equal(world_alloc(w, t->file, 0, 0, &t->client, SIM_CLASS_ROOT_CLIENT, NULL, 0),
			 0);
	assert_int_equal(world_alloc(w, t->file, t->client, t->client, &t->device, SIM_CLASS_DEVICE,
				     dev, sizeof(dev)),
			 0);
	assert_int_equal(world_alloc(w, t->file, t->client, t->device, &t->subdevice,
				     SIM_CLASS_SUBDEVICE, &sub, sizeof(sub)),
			 0);
	if (w->instance)
		assert_int_equal(world_instance(w, t->file, t->client, t->subdevice, w->instance),
				 0);
	assert_int_equal(world_alloc(w, t->file, t->client, t->device, &t->tsg, SIM_CLASS_TSG, tsg,
				     sizeof(tsg)),
			 0);
	for (int i = 0; i < 2; i++) {
		t->channel[i] = 0x5c000010 + (uint32_t)i;
		assert_int_equal(world_alloc(w, t->file, t->client, t->tsg, &t->channel[i],
					     SIM_CLASS_CHANNEL, ch, sizeof(ch)),
				 0);
		memcpy(&t->cid[i], w->memory + SIM_CHANNEL_CID_AT, 4);
	}
}

#endif /* TESTS_UNIT_SIMRM_WORLD_H */
