/* SPDX-License-Identifier: MIT */
/* test_simrm.c - check objects, callers, controls and statuses of the simulated RM */
#include "simrm_world.h"

#include <jansson.h>

static json_t *state(struct simrm_world *w)
{
	char *text = sim_rm_state_json(w->rm);
	json_t *j;

	assert_non_null(text);
	j = json_loads(text, 0, NULL);
	assert_non_null(j);
	free(text);
	return j;
}

static json_int_t tsg_field(struct simrm_world *w, const char *key)
{
	json_t *j = state(w), *tsgs = json_object_get(j, "tsgs");
	json_int_t v;

	assert_int_equal(json_array_size(tsgs), 1);
	v = json_integer_value(json_object_get(json_array_get(tsgs, 0), key));
	json_decref(j);
	return v;
}

static void client_handles(void **s)
{
	struct simrm_world w;
	struct sim_file *f;
	uint32_t a = 0, b = 0, own = 0xc1d0abcd;

	world_new(&w, 580);
	f = world_open(&w);
	assert_int_equal(world_alloc(&w, f, 0, 0, &a, SIM_CLASS_ROOT_CLIENT, NULL, 0), 0);
	assert_int_equal(world_alloc(&w, f, 0, 0, &b, SIM_CLASS_ROOT_CLIENT, NULL, 0), 0);
	assert_int_equal(a & 0xfff00000, 0xc1d00000);
	assert_int_not_equal(a, b);
	assert_int_equal(world_alloc(&w, f, 0, 0, &own, SIM_CLASS_ROOT_CLIENT, NULL, 0), 0);
	assert_int_equal(own, 0xc1d0abcd);
	assert_int_equal(world_alloc(&w, f, 0, 0, &own, SIM_CLASS_ROOT_CLIENT, NULL, 0), 0x19);
	world_free(&w);
}

static void both_layouts(void **s)
{
	struct simrm_world w;
	struct sim_file *f;
	struct sim_os_alloc os = { .cls = SIM_CLASS_ROOT_CLIENT, .status = ~0u };

	world_new(&w, 580);
	f = world_open(&w);
	assert_int_equal(
		sim_rm_ioctl(w.rm, f, _IOWR('F', SIM_ESC_ALLOC, os), &os, sizeof(os), &w.caller),
		0);
	assert_int_equal(os.status, 0);
	assert_int_not_equal(os.object, 0);
	assert_int_equal(
		sim_rm_ioctl(w.rm, f, _IOC(3u, 'F', SIM_ESC_ALLOC, 40), &os, 40, &w.caller),
		-EINVAL);
	world_free(&w);
}

static void parents(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	uint32_t h = 0, p[14] = { 7 };

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	assert_int_equal(world_alloc(&w, t.file, t.client, 0xdead, &h, SIM_CLASS_TSG, p, 20), 0x36);
	assert_int_equal(world_alloc(&w, t.file, t.client, t.client, &h, SIM_CLASS_TSG, p, 20),
			 0x36);
	assert_int_equal(world_alloc(&w, t.file, t.client, t.device, &h, 0x1234, p, 20), 0x22);
	/* a GPU that does not exist: there are two */
	assert_int_equal(world_alloc(&w, t.file, t.client, t.client, &h, SIM_CLASS_DEVICE, p, 56),
			 0x26);
	h = t.tsg;
	assert_int_equal(world_alloc(&w, t.file, t.client, t.device, &h, SIM_CLASS_TSG,
				     (uint32_t[5]){ 0, 0, 0, 1 }, 20),
			 0x19);
	world_free(&w);
}

static void bad_pointers(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	struct sim_os_control os = { .cmd = SIM_CTRL_TSG_SET_TIMESLICE, .size = 8, .params = 0x40 };
	struct sim_os_alloc al = { .cls = SIM_CLASS_TSG, .params = UINT64_MAX - 3 };

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	os.client = al.client = t.client;
	os.object = t.tsg;
	al.parent = t.device;
	assert_int_equal(sim_rm_ioctl(w.rm, t.file, _IOWR('F', SIM_ESC_CONTROL, os), &os,
				      sizeof(os), &w.caller),
			 0);
	assert_int_equal(os.status, 0x1e);
	assert_int_equal(sim_rm_ioctl(w.rm, t.file, _IOWR('F', SIM_ESC_ALLOC, al), &al, sizeof(al),
				      &w.caller),
			 0);
	assert_int_equal(al.status, 0x1e);
	assert_int_equal(tsg_field(&w, "timeslice_us"), (json_int_t)w.params.default_timeslice_us);
	world_free(&w);
}

static void caller_is_the_file(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	struct sim_file *other;
	uint64_t us = 20;
	uint32_t own = 0;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	other = world_open(&w);
	assert_int_equal(
		world_control(&w, other, t.client, t.tsg, SIM_CTRL_TSG_SET_TIMESLICE, &us, 8),
		0x23);
	assert_int_equal(world_alloc(&w, other, 0, 0, &own, SIM_CLASS_ROOT_CLIENT, NULL, 0), 0);
	assert_int_equal(world_control(&w, other, own, t.tsg, SIM_CTRL_TSG_SET_TIMESLICE, &us, 8),
			 0x57);
	/* a borrowed copy is the same file for any caller */
	w.caller.tid = w.caller.tgid = 4711;
	assert_int_equal(
		world_control(&w, t.file, t.client, t.tsg, SIM_CTRL_TSG_SET_TIMESLICE, &us, 8), 0);
	assert_int_equal(tsg_field(&w, "timeslice_us"), 20);
	world_free(&w);
}

static void exact_sizes(void **s)
{
	static const struct {
		unsigned int branch, schedule, probed, name, channel;
	} b[] = { { 535, 2, 256, 132, 360 },
		  { 550, 2, 256, 132, 360 },
		  { 570, 2, 256, 132, 368 },
		  { 580, 3, 384, 132, 368 },
		  { 595, 3, 384, 68, 368 } };

	for (size_t i = 0; i < sizeof(b) / sizeof(b[0]); i++) {
		struct simrm_world w;
		struct world_tsg t;
		uint8_t p[600] = { 1 };

		world_new(&w, b[i].branch);
		world_tsg(&w, &t, 1, 1);
		for (unsigned int n = 0; n < 5; n++)
			assert_int_equal(world_control(&w, t.file, t.client, t.tsg,
						       SIM_CTRL_TSG_SCHEDULE, p, n),
					 n == b[i].schedule ? 0 : 0x1f);
		memset(p, 0, sizeof(p));
		for (unsigned int n = 64; n < 400; n += 4) {
			assert_int_equal(world_control(&w, t.file, t.client, t.client,
						       SIM_CTRL_GPU_PROBED_IDS, p, n),
					 n == b[i].probed ? 0 : 0x1f);
			memset(p, 0, sizeof(p));
			assert_int_equal(world_control(&w, t.file, t.client, t.subdevice,
						       SIM_CTRL_SUB_NAME_STRING, p, n),
					 n == b[i].name ? 0 : 0x1f);
			memset(p, 0, sizeof(p));
		}
		world_free(&w);
	}
}

static void by_branch(void **s)
{
	struct sim_ctrl_unique_ids ids = { 0 };
	struct simrm_world w;
	struct world_tsg t;

	world_new(&w, 550);
	world_tsg(&w, &t, 0, 1);
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice,
				       SIM_CTRL_SUB_TSG_UNIQUE_IDS, &ids, sizeof(ids)),
			 0x56);
	world_free(&w);
	world_new(&w, 570);
	world_tsg(&w, &t, 0, 1);
	ids.client = t.client;
	ids.object = t.tsg;
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice,
				       SIM_CTRL_SUB_TSG_UNIQUE_IDS, &ids, sizeof(ids)),
			 0);
	assert_int_equal(ids.n, 2);
	assert_int_equal(ids.cid[0], t.cid[0]);
	assert_int_equal(ids.cid[1], t.cid[1]);
	world_free(&w);
}

static void tsg_controls(void **s)
{
	struct sim_ctrl_preempt p = { .wait = 1, .manual = 1, .timeout_us = 1000001 };
	struct simrm_world w;
	struct world_tsg t;
	uint64_t us;
	uint32_t level = 2, engine = 1;
	uint8_t on[3] = { 2 };

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	us = 123;
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0103, &us, 8), 0);
	us = 0;
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0104, &us, 8), 0);
	assert_int_equal(us, 123);
	us = 100000001;
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0103, &us, 8), 0x1f);
	assert_int_equal(tsg_field(&w, "timeslice_us"), 123);
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0107, &level, 4), 0);
	assert_int_equal(tsg_field(&w, "interleave"), 2);
	level = 3;
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0107, &level, 4), 0x1f);
	w.nice = false;
	level = 0;
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0107, &level, 4), 0x1b);
	assert_int_equal(
		world_control(&w, t.file, t.client, t.tsg, 0xa06c0103, &(uint64_t){ 50 }, 8), 0);
	assert_int_equal(tsg_field(&w, "interleave"), 2);
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0108, &level, 4), 0x56);
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0105, &p, 8), 0x1f);
	p.timeout_us = 1000000;
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0105, &p, 8), 0);
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0102, &engine, 4), 0);
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0101, on, 3), 0x1f);
	assert_int_equal(world_control(&w, t.file, t.client, 0x777, 0xa06c0103, &us, 8), 0x57);
	assert_int_equal(world_control(&w, t.file, t.client, t.device, 0xa06c0103, &us, 8), 0x56);
	world_free(&w);
}

static void disabling(void **s)
{
	struct sim_ctrl_disable d = { .disable = 1, .n = 2 };
	struct simrm_world w;
	struct world_tsg t;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	for (int i = 0; i < 2; i++) {
		d.clients[i] = t.client;
		d.channels[i] = t.channel[i];
	}
	assert_int_equal(
		world_control(&w, t.file, t.client, t.subdevice, 0x2080110b, &d, sizeof(d)), 0);
	assert_int_equal(tsg_field(&w, "disabled_channels"), 2);
	d.disable = 0;
	d.channels[1] = 0x666; /* with one bad handle, nothing changes */
	assert_int_equal(
		world_control(&w, t.file, t.client, t.subdevice, 0x2080110b, &d, sizeof(d)), 0x57);
	assert_int_equal(tsg_field(&w, "disabled_channels"), 2);
	d.n = 65;
	assert_int_equal(
		world_control(&w, t.file, t.client, t.subdevice, 0x2080110b, &d, sizeof(d)), 0x1f);
	d.n = 1;
	assert_int_equal(
		world_control(&w, t.file, t.client, t.subdevice, 0x2080110b, &d, sizeof(d)), 0);
	assert_int_equal(tsg_field(&w, "disabled_channels"), 1);
	world_free(&w);
}

static void preemption_mode(void **s)
{
	struct sim_ctrl_mode m = { .flags = 1, .cilp = 1 };
	struct simrm_world w;
	struct world_tsg t;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	m.channel = t.channel[0];
	assert_int_equal(
		world_control(&w, t.file, t.client, t.subdevice, 0x20801210, &m, sizeof(m)), 0);
	assert_int_equal(tsg_field(&w, "preempt_mode"), 1);
	m.cilp = 3;
	assert_int_equal(
		world_control(&w, t.file, t.client, t.subdevice, 0x20801210, &m, sizeof(m)), 0x1f);
	m.channel = 1;
	assert_int_equal(
		world_control(&w, t.file, t.client, t.subdevice, 0x20801210, &m, sizeof(m)), 0x21);
	assert_int_equal(tsg_field(&w, "preempt_mode"), 1);
	world_free(&w);
}

static void scanning(void **s)
{
	struct sim_ctrl_handle_info i = { .index = 2 };
	struct sim_ctrl_child c = { .cls = 0x5d8d70 };
	struct simrm_world w;
	struct world_tsg t;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	i.object = t.tsg;
	assert_int_equal(world_control(&w, t.file, t.client, t.client, 0xd02, &i, sizeof(i)), 0);
	assert_int_equal(i.result, SIM_CLASS_TSG);
	i.index = 1;
	assert_int_equal(world_control(&w, t.file, t.client, t.client, 0xd02, &i, sizeof(i)), 0);
	assert_int_equal(i.result, t.device);
	i.object = 5;
	assert_int_equal(world_control(&w, t.file, t.client, t.client, 0xd02, &i, sizeof(i)), 0x57);
	c.parent = t.tsg;
	assert_int_equal(world_control(&w, t.file, t.client, t.client, 0xd05, &c, sizeof(c)), 0);
	assert_int_equal(c.object, t.channel[0]);
	c.cls = SIM_CLASS_CHANNEL; /* a class that the driver does not have */
	assert_int_equal(world_control(&w, t.file, t.client, t.client, 0xd05, &c, sizeof(c)), 0x57);
	world_free(&w);
}

static uint32_t try_dup(struct simrm_world *w, const struct world_tsg *to, uint32_t parent,
			const struct world_tsg *from, uint32_t object)
{
	struct sim_os_dup os = {
		.client = to->client,
		.parent = parent,
		.client_src = from->client,
		.object_src = object,
		.status = ~0u,
	};

	assert_int_equal(sim_rm_ioctl(w->rm, to->file, _IOWR('F', SIM_ESC_DUP, os), &os, sizeof(os),
				      &w->caller),
			 0);
	return os.status;
}

static void sharing(void **s)
{
	struct simrm_world w;
	struct world_tsg a, b;
	uint32_t space = 0;

	world_new(&w, 580);
	world_tsg(&w, &a, 0, 1);
	world_tsg(&w, &b, 0, 1);
	assert_int_equal(
		world_alloc(&w, a.file, a.client, a.device, &space, SIM_CLASS_VASPACE, NULL, 0), 0);
	assert_int_equal(try_dup(&w, &b, b.device, &a, space), 0);
	assert_int_equal(try_dup(&w, &b, 0x777, &a, space), 0x36);
	assert_int_equal(try_dup(&w, &b, b.device, &a, 0x777), 0x57);
	assert_int_equal(try_dup(&w, &b, b.client, &a, a.device), 0x56);
	assert_int_equal(try_dup(&w, &b, b.device, &a, a.tsg), 0);
	assert_int_equal(try_dup(&w, &b, b.tsg, &a, a.channel[0]), 0x56);
	w.caller.tgid = 999;
	assert_int_equal(try_dup(&w, &b, b.device, &a, space), 0x1b);
	world_free(&w);
}

static uint32_t try_tsg(struct simrm_world *w, const struct world_tsg *t, uint32_t engine)
{
	uint32_t p[5] = { 0, 0, 0, engine }, h = 0;

	return world_alloc(w, t->file, t->client, t->device, &h, SIM_CLASS_TSG, p, sizeof(p));
}

static void mig_is_off(void **s)
{
	struct simrm_world w;
	struct world_tsg t;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	assert_int_equal(tsg_field(&w, "mig_instance"), 0);
	assert_int_equal(world_instance(&w, t.file, t.client, t.subdevice, 1), 0x56);
	assert_int_equal(try_tsg(&w, &t, 2), 0x1f);
	assert_int_equal(try_tsg(&w, &t, 18), 0);
	assert_int_equal(try_tsg(&w, &t, 19), 0x1f);
	world_free(&w);
}

static void mig(void **s)
{
	uint32_t none[4] = { 0 }, other[4] = { 0, 0, 1 }, dev[14] = { 0 }, sub = 0, gi = 0, h = 0;
	struct simrm_world w;
	struct world_tsg t, second;

	world_new_mig(&w, 580, 3);
	w.instance = 2;
	world_tsg(&w, &t, 0, 1);
	assert_int_equal(tsg_field(&w, "mig_instance"), 2);
	assert_int_equal(tsg_field(&w, "engine"), 1); /* the owner's number of the engine */
	assert_int_equal(world_instance(&w, t.file, t.client, t.subdevice, 1), 0x63);
	assert_int_equal(try_tsg(&w, &t, 2), 0x1f); /* an instance has only one graphics engine */
	assert_int_equal(try_tsg(&w, &t, 11), 0);   /* ... and a third of the copy engines */
	assert_int_equal(try_tsg(&w, &t, 12), 0x1f);

	second = t;
	second.device = second.subdevice = 0;
	assert_int_equal(world_alloc(&w, t.file, t.client, t.client, &second.device,
				     SIM_CLASS_DEVICE, dev, sizeof(dev)),
			 0);
	assert_int_equal(world_alloc(&w, t.file, t.client, second.device, &second.subdevice,
				     SIM_CLASS_SUBDEVICE, &sub, sizeof(sub)),
			 0);
	assert_int_equal(try_tsg(&w, &second, 1), 0x40); /* the client is in no instance */
	assert_int_equal(world_instance(&w, t.file, t.client, second.subdevice, 0), 0x1f);
	assert_int_equal(world_instance(&w, t.file, t.client, second.subdevice, 4), 0x1f);
	w.admin = false;
	assert_int_equal(world_instance(&w, t.file, t.client, second.subdevice, 0xfffffffe), 0x1b);
	w.admin = true;
	assert_int_equal(world_instance(&w, t.file, t.client, second.device, 1), 0x36);
	assert_int_equal(world_alloc(&w, t.file, t.client, second.subdevice, &gi,
				     SIM_CLASS_MIG_GPU_INSTANCE, other, sizeof(other)),
			 0);
	assert_int_equal(world_alloc(&w, t.file, t.client, gi, &h, SIM_CLASS_MIG_COMPUTE_INSTANCE,
				     other, sizeof(other)),
			 0x1f);
	assert_int_equal(world_alloc(&w, t.file, t.client, gi, &h, SIM_CLASS_MIG_COMPUTE_INSTANCE,
				     none, sizeof(none)),
			 0);
	h = 0;
	assert_int_equal(world_alloc(&w, t.file, t.client, gi, &h, SIM_CLASS_MIG_COMPUTE_INSTANCE,
				     none, sizeof(none)),
			 0x63);
	assert_int_equal(try_tsg(&w, &second, 1), 0);
	assert_int_equal(world_free_object(&w, t.file, t.client, gi), 0);
	assert_int_equal(world_instance(&w, t.file, t.client, second.subdevice, 0xfffffffe), 0);
	/* a client that only observes has no engine */
	assert_int_equal(try_tsg(&w, &second, 1), 0x40);
	world_free(&w);
}

static uint32_t compute_instance(struct simrm_world *w, struct world_tsg *t, uint32_t gpu_instance,
				 uint32_t id)
{
	uint32_t p[4] = { 0, 0, gpu_instance }, gi = 0, h = 0;

	assert_int_equal(world_alloc(w, t->file, t->client, t->subdevice, &gi,
				     SIM_CLASS_MIG_GPU_INSTANCE, p, sizeof(p)),
			 0);
	p[2] = id;
	return world_alloc(w, t->file, t->client, gi, &h, SIM_CLASS_MIG_COMPUTE_INSTANCE, p,
			   sizeof(p));
}

/* Makes another device of @t's client, which is in no MIG instance yet. */
static struct world_tsg beside(struct simrm_world *w, const struct world_tsg *t, uint32_t gpu)
{
	uint32_t dev[14] = { gpu }, sub = 0;
	struct world_tsg second = *t;

	second.device = second.subdevice = 0;
	assert_int_equal(world_alloc(w, t->file, t->client, t->client, &second.device,
				     SIM_CLASS_DEVICE, dev, sizeof(dev)),
			 0);
	assert_int_equal(world_alloc(w, t->file, t->client, second.device, &second.subdevice,
				     SIM_CLASS_SUBDEVICE, &sub, sizeof(sub)),
			 0);
	return second;
}

/* A GPU is divided into two GPU instances of three compute instances each. */
static void mig_compute(void **s)
{
	static struct sim_ctrl_pid_info said; /* RM's answer about the process */
	struct simrm_world w;
	struct world_tsg t, second;

	world_new_divided(&w, 580, 2, 3);
	w.instance = 1;
	world_tsg(&w, &t, 0, 1);
	assert_int_equal(try_tsg(&w, &t, 3), 0); /* a GPU instance has the engines of all three */
	assert_int_equal(try_tsg(&w, &t, 4), 0x1f);
	second = beside(&w, &t, 0);
	assert_int_equal(compute_instance(&w, &second, 2, 3), 0x1f);
	second = beside(&w, &t, 0);
	assert_int_equal(compute_instance(&w, &second, 2, 2), 0);
	assert_int_equal(try_tsg(&w, &second, 1), 0);
	assert_int_equal(try_tsg(&w, &second, 2), 0x1f); /* a compute instance has one engine */
	said.n = 1;
	said.list[0].pid = (uint32_t)w.caller.tgid;
	assert_int_equal(world_control(&w, t.file, t.client, second.subdevice,
				       SIM_CTRL_SUB_PID_INFO, &said, sizeof(said)),
			 0);
	assert_int_equal(said.list[0].gpu_instance, 2);
	assert_int_equal(said.list[0].compute_instance, 2);
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice, SIM_CTRL_SUB_PID_INFO,
				       &said, sizeof(said)),
			 0);
	assert_int_equal(said.list[0].gpu_instance, 1);
	assert_int_equal(said.list[0].compute_instance, SIM_NO_INSTANCE);
	world_free(&w);
}

static void mig_seven(void **s)
{
	struct simrm_world w;
	struct world_tsg t;

	world_new_divided(&w, 580, 7, 1);
	w.instance = 7;
	world_tsg(&w, &t, 0, 1);
	assert_int_equal(tsg_field(&w, "mig_instance"), 7);
	world_free(&w);
}

static void freeing(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	uint64_t us = 1;
	json_t *j;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	assert_int_equal(world_free_object(&w, t.file, t.client, 0x777), 0x57);
	assert_int_equal(world_free_object(&w, t.file, t.client, t.channel[0]), 0);
	assert_int_equal(tsg_field(&w, "channels"), 1);
	assert_int_equal(world_free_object(&w, t.file, t.client, t.device), 0);
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0103, &us, 8), 0x57);
	assert_int_equal(world_free_object(&w, t.file, t.client, t.client), 0);
	assert_int_equal(world_control(&w, t.file, t.client, t.tsg, 0xa06c0103, &us, 8), 0x23);
	j = state(&w);
	assert_int_equal(json_integer_value(json_object_get(j, "objects")), 0);
	json_decref(j);
	world_free(&w);
}

static void release_frees(void **s)
{
	struct simrm_world w;
	struct world_tsg t, u;
	json_t *j;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	world_tsg(&w, &u, 1, 9);
	sim_rm_release(w.rm, t.file);
	assert_int_equal(tsg_field(&w, "engine"), 9);
	assert_int_equal(tsg_field(&w, "gpu"), 1);
	sim_rm_release(w.rm, u.file);
	j = state(&w);
	assert_int_equal(json_array_size(json_object_get(j, "tsgs")), 0);
	assert_int_equal(json_array_size(json_object_get(j, "files")), 0);
	json_decref(j);
	world_free(&w);
}

static void limits(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	uint32_t h, status = 0;
	unsigned int n = 0;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	for (; !status && n < 5000; n++) {
		h = 0;
		status = world_alloc(&w, t.file, t.client, t.client, &h, SIM_CLASS_EVENT, NULL, 0);
	}
	assert_int_equal(status, 0x1a);
	assert_in_range(n, 1900, 2000);
	world_free(&w);
}

/* A chain as deep as the limit allows is freed without recursion. */
static void deep_tree(void **s)
{
	struct simrm_world w;
	struct sim_file *f;
	uint32_t client = 0, parent, h;

	world_new(&w, 580);
	f = world_open(&w);
	assert_int_equal(world_alloc(&w, f, 0, 0, &client, SIM_CLASS_ROOT_CLIENT, NULL, 0), 0);
	parent = client;
	for (int i = 0; i < 1900; i++) {
		h = 0;
		assert_int_equal(world_alloc(&w, f, client, parent, &h, SIM_CLASS_EVENT, NULL, 0),
				 0);
		parent = h;
	}
	assert_int_equal(world_free_object(&w, f, client, client), 0);
	world_free(&w);
}

static uint32_t next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/* Random calls with plausible handles: the RM must survive, and free everything. */
static void random_calls(void **s)
{
	static const uint32_t classes[] = { 0x41,   0x80,   0x2080, 0xa06c, 0xc86f, 0x9067,
					    0x90cd, 0xc637, 0xc638, 0x90f1, 0xcbc0, 0x79,
					    0x40,   0x3e,   0x90ce, 0xcb97 };
	static const uint32_t cmds[] = { 0x20801238, 0x90cd0101, 0x90cd0102, 0x90cd0104,
					 0xa06c0101, 0xa06c0103, 0xa06c0107, 0x2080110b,
					 0x20801210, 0x20801123, 0xd02,      0xd05,
					 0xa06f0103, 0xc36f0108, 0x20800102, 0x214 };
	struct simrm_world w;
	struct world_tsg t;
	uint32_t x = 1;
	json_t *j;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	for (int i = 0; i < 200000; i++) {
		uint32_t a[14], nr;
		unsigned int size[] = { 16, 32, 48, 28 };

		for (int k = 0; k < 14; k++)
			a[k] = next(&x) % 4 ? next(&x) % 16 + 0x5c000000u : next(&x);
		a[0] = next(&x) % 8 ? t.client : a[0];
		nr = (uint32_t[]){ 0x29, 0x2b, 0x2b, 0x2b, 0x2a, 0x2a, 0x34 }[next(&x) % 7];
		if (nr == 0x29 && next(&x) % 8)
			continue;
		if (nr == 0x2b)
			a[3] = classes[next(&x) % (sizeof(classes) / sizeof(classes[0]))];
		if (nr == 0x2a)
			a[2] = cmds[next(&x) % (sizeof(cmds) / sizeof(cmds[0]))];
		a[4] = BASE + next(&x) % (MEMORY + 512);
		a[5] = 0;
		a[6] = next(&x) % 2 ? (uint32_t[]){ 2, 3, 4, 8, 32, 536, 1552 }[next(&x) % 7]
				    : a[6];
		for (int k = 0; k < 8; k++)
			w.memory[next(&x) % MEMORY] = (uint8_t)next(&x);
		sim_rm_ioctl(w.rm, t.file, _IOC(3u, 'F', nr, 0), a,
			     nr == 0x29   ? 16
			     : nr == 0x2b ? size[1 + x % 2]
			     : nr == 0x34 ? 28
					  : 32,
			     &w.caller);
	}
	sim_rm_release(w.rm, t.file);
	j = state(&w);
	assert_int_equal(json_integer_value(json_object_get(j, "objects")), 0);
	json_decref(j);
	world_free(&w);
}

static void escapes(void **s)
{
	struct sim_version v = { .cmd = '2' };
	struct sim_card cards[32];
	struct simrm_world w;
	struct sim_file *f;

	world_new(&w, 595);
	f = world_open(&w);
	assert_int_equal(sim_rm_ioctl(w.rm, f, _IOWR('F', 210, v), &v, sizeof(v), &w.caller), 0);
	assert_string_equal(v.text, "595.45.04");
	v.cmd = 0;
	assert_int_equal(sim_rm_ioctl(w.rm, f, _IOWR('F', 210, v), &v, sizeof(v), &w.caller), 0);
	strcpy(v.text, "1.2.3");
	assert_int_equal(sim_rm_ioctl(w.rm, f, _IOWR('F', 210, v), &v, sizeof(v), &w.caller),
			 -EINVAL);
	assert_string_equal(v.text, "595.45.04");
	assert_int_equal(
		sim_rm_ioctl(w.rm, f, _IOWR('F', 200, cards), cards, sizeof(cards), &w.caller), 0);
	assert_int_equal(cards[0].valid + cards[1].valid + cards[2].valid, 2);
	assert_int_equal(cards[1].minor, 1);
	assert_int_equal(sim_rm_ioctl(w.rm, f, _IOC(3u, 'F', 200, 72), cards, 72, &w.caller),
			 -EINVAL);
	assert_int_equal(sim_rm_ioctl(w.rm, f, _IOC(3u, 'F', 99, 8), cards, 8, &w.caller), -EINVAL);
	assert_int_equal(sim_rm_ioctl(w.rm, f, _IOC(3u, 'X', 200, 8), cards, 8, &w.caller),
			 -EINVAL);
	world_free(&w);
}

/* Asks for a fault, and sets a slice. Returns RM's answer. */
static uint32_t slice_under(struct simrm_world *w, struct world_tsg *t, const char *faults,
			    uint64_t us)
{
	if (faults)
		assert_int_equal(sim_rm_faults(w->rm, faults, strlen(faults), NULL), 0);
	return world_control(w, t->file, t->client, t->tsg, SIM_CTRL_TSG_SET_TIMESLICE, &us,
			     sizeof(us));
}

static void faults(void **s)
{
	static const char *const bad[] = { "no-control=3", "suspend=x", "suspend=3:later", "=3" };
	struct simrm_world w;
	struct world_tsg t;
	struct sim_ctrl_disable d = { .disable = 1, .n = 1 };

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	d.clients[0] = t.client;
	d.channels[0] = t.channel[0];
	assert_int_equal(slice_under(&w, &t, "set-timeslice=0x3:refused", 500), 0x3);
	assert_int_equal(tsg_field(&w, "timeslice_us"), 1024);
	assert_int_equal(slice_under(&w, &t, "set-timeslice=0x65:applied:2\n", 600), 0x65);
	assert_int_equal(tsg_field(&w, "timeslice_us"), 600);
	assert_int_equal(slice_under(&w, &t, NULL, 700), 0x65);
	assert_int_equal(slice_under(&w, &t, NULL, 800), 0);
	/* only one half of a control; and a list with a mistake changes nothing */
	assert_int_equal(slice_under(&w, &t, "resume suspend=0x40:applied", 900), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(sim_rm_faults(w.rm, bad[i], strlen(bad[i]), NULL), -EINVAL);
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice,
				       SIM_CTRL_SUB_DISABLE_CHANNELS, &d, sizeof(d)),
			 0x40);
	assert_int_equal(tsg_field(&w, "disabled_channels"), 1);
	d.disable = 0;
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice,
				       SIM_CTRL_SUB_DISABLE_CHANNELS, &d, sizeof(d)),
			 0x56);
	assert_int_equal(tsg_field(&w, "disabled_channels"), 1);
	assert_int_equal(slice_under(&w, &t, "none", 900), 0);
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice,
				       SIM_CTRL_SUB_DISABLE_CHANNELS, &d, sizeof(d)),
			 0);
	assert_int_equal(tsg_field(&w, "disabled_channels"), 0);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(client_handles),
		cmocka_unit_test(both_layouts),
		cmocka_unit_test(parents),
		cmocka_unit_test(bad_pointers),
		cmocka_unit_test(caller_is_the_file),
		cmocka_unit_test(exact_sizes),
		cmocka_unit_test(by_branch),
		cmocka_unit_test(tsg_controls),
		cmocka_unit_test(disabling),
		cmocka_unit_test(preemption_mode),
		cmocka_unit_test(scanning),
		cmocka_unit_test(sharing),
		cmocka_unit_test(mig_is_off),
		cmocka_unit_test(mig),
		cmocka_unit_test(mig_compute),
		cmocka_unit_test(mig_seven),
		cmocka_unit_test(freeing),
		cmocka_unit_test(release_frees),
		cmocka_unit_test(limits),
		cmocka_unit_test(deep_tree),
		cmocka_unit_test(random_calls),
		cmocka_unit_test(escapes),
		cmocka_unit_test(faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
