/* SPDX-License-Identifier: MIT */
/* test_simheld.c - check the simulated RM's answers about how much GPU memory processes hold */
#include "simrm_world.h"

#include "sim/rm_memory.h"

#define MIB (1ull << 20)

static uint32_t local(struct simrm_world *w, const struct world_tsg *t, uint64_t bytes)
{
	uint8_t p[SIM_MEMORY_PARAMS_MAX] = { 0 };
	uint32_t h = 0;

	memcpy(p + SIM_MEMORY_SIZE_AT, &bytes, sizeof(bytes));
	assert_int_equal(world_alloc(w, t->file, t->client, t->device, &h, SIM_CLASS_MEM_LOCAL, p,
				     sizeof(p)),
			 0);
	return h;
}

static uint32_t ask_held(struct simrm_world *w, const struct world_tsg *t, uint32_t pid,
			 struct sim_held *ret)
{
	static struct sim_ctrl_pid_info p;
	uint32_t status;

	memset(&p, 0, sizeof(p));
	p.n = 1;
	p.list[0].pid = pid;
	status = world_control(w, t->file, t->client, t->subdevice, SIM_CTRL_SUB_PID_INFO, &p,
			       sizeof(p));
	*ret = p.list[0];
	return status;
}

static uint32_t ask_sizes(struct simrm_world *w, const struct world_tsg *t, uint64_t ret[3])
{
	uint32_t p[1 + 2 * 0x80] = { 3, SIM_FB_RAM, 0, SIM_FB_HEAP, 0, SIM_FB_HEAP_FREE, 0 };
	uint32_t status = world_control(w, t->file, t->client, t->subdevice,
					SIM_CTRL_SUB_FB_INFO_V2, p, sizeof(p));

	for (int i = 0; i < 3; i++)
		ret[i] = (uint64_t)p[2 + 2 * i] << 10;
	return status;
}

static void by_process_and_gpu(void **s)
{
	static struct sim_ctrl_pids pids = { .id = SIM_CLASS_SUBDEVICE };
	struct world_tsg a, b, other;
	struct simrm_world w;
	struct sim_held held;
	uint64_t sizes[3];

	world_new(&w, 580);
	world_tsg(&w, &a, 0, 1);
	w.caller.tgid = 200;
	world_tsg(&w, &b, 0, 1);
	w.caller.tgid = 300;
	world_tsg(&w, &other, 1, 1);
	local(&w, &a, 10 * MIB);
	local(&w, &a, 5 * MIB);
	local(&w, &b, 7 * MIB);
	local(&w, &other, 9 * MIB);
	assert_int_equal(world_control(&w, a.file, a.client, a.subdevice, SIM_CTRL_SUB_PIDS, &pids,
				       sizeof(pids)),
			 0);
	assert_int_equal(pids.n, 2);
	assert_true(pids.pids[0] == 100 && pids.pids[1] == 200);
	assert_int_equal(ask_held(&w, &a, 100, &held), 0);
	assert_int_equal(held.bytes[0], 15 * MIB);
	assert_int_equal(ask_held(&w, &a, 200, &held), 0);
	assert_int_equal(held.bytes[0], 7 * MIB);
	assert_int_equal(ask_held(&w, &a, 300, &held), 0);
	assert_int_equal(held.bytes[0], 0);
	assert_int_equal(held.result, 0);
	assert_int_equal(held.gpu_instance, 0xffffffff);
	assert_int_equal(ask_sizes(&w, &a, sizes), 0);
	assert_int_equal(sizes[0], SIM_GPU_MEMORY + SIM_GPU_RESERVED);
	assert_int_equal(sizes[1], SIM_GPU_MEMORY);
	assert_int_equal(sizes[2], SIM_GPU_MEMORY - 22 * MIB);
	world_free(&w);
}

static void shared_pieces_count_apart(void **s)
{
	struct sim_os_dup os = { .status = ~0u };
	struct simrm_world w;
	struct world_tsg t;
	struct sim_held held;
	uint64_t sizes[3];

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	os.client = os.client_src = t.client;
	os.parent = t.device;
	os.object_src = local(&w, &t, 3 * MIB);
	assert_int_equal(
		sim_rm_ioctl(w.rm, t.file, _IOWR('F', SIM_ESC_DUP, os), &os, sizeof(os), &w.caller),
		0);
	assert_int_equal(os.status, 0);
	assert_int_equal(ask_held(&w, &t, 100, &held), 0);
	assert_true(!held.bytes[0] && held.bytes[1] == 3 * MIB && held.bytes[2] == 3 * MIB);
	assert_int_equal(ask_sizes(&w, &t, sizes), 0);
	assert_int_equal(sizes[2], SIM_GPU_MEMORY - 3 * MIB);
	/* the other handle keeps the memory */
	assert_int_equal(world_free_object(&w, t.file, t.client, os.object_src), 0);
	assert_int_equal(ask_sizes(&w, &t, sizes), 0);
	assert_int_equal(sizes[2], SIM_GPU_MEMORY - 3 * MIB);
	assert_int_equal(world_free_object(&w, t.file, t.client, os.object), 0);
	assert_int_equal(ask_sizes(&w, &t, sizes), 0);
	assert_int_equal(sizes[2], SIM_GPU_MEMORY);
	world_free(&w);
}

static void bad_questions(void **s)
{
	static struct sim_ctrl_pids pids = { .id = SIM_CLASS_TSG };
	static struct sim_ctrl_pid_info info;
	struct simrm_world w;
	struct world_tsg t;
	struct sim_held held;

	world_new(&w, 580);
	world_tsg(&w, &t, 0, 1);
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice, SIM_CTRL_SUB_PIDS, &pids,
				       sizeof(pids)),
			 0x1f);
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice, SIM_CTRL_SUB_PID_INFO,
				       &info, sizeof(info)),
			 0x1f);
	info.n = 201;
	assert_int_equal(world_control(&w, t.file, t.client, t.subdevice, SIM_CTRL_SUB_PID_INFO,
				       &info, sizeof(info)),
			 0x1f);
	assert_int_equal(ask_held(&w, &t, 0, &held), 0);
	assert_int_equal(held.result, 0x1f);
	world_free(&w);
}

static void each_branch_has_its_size(void **s)
{
	static const struct {
		unsigned int branch;
		uint32_t entries;
	} sizes[] = { { 535, 0x36 }, { 550, 0x37 }, { 570, 0x39 }, { 580, 0x80 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t p[1 + 2 * 0x80] = { 1, SIM_FB_RAM };
		struct simrm_world w;
		struct world_tsg t;

		world_new(&w, sizes[i].branch);
		world_tsg(&w, &t, 0, 1);
		assert_int_equal(world_control(&w, t.file, t.client, t.subdevice,
					       SIM_CTRL_SUB_FB_INFO_V2, p,
					       4 + 8 * sizes[i].entries),
				 0);
		assert_int_equal(world_control(&w, t.file, t.client, t.subdevice,
					       SIM_CTRL_SUB_FB_INFO_V2, p, 4 + 8 * 2),
				 0x1f);
		world_free(&w);
	}
}

static void refused_in_mig_mode(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	struct sim_held held;
	uint64_t sizes[3];
	uint32_t dev[14] = { 0 }, sub = 0;

	world_new_mig(&w, 580, 2);
	t = (struct world_tsg){ .file = world_open(&w), .device = 1, .subdevice = 2 };
	assert_int_equal(world_alloc(&w, t.file, 0, 0, &t.client, SIM_CLASS_ROOT_CLIENT, NULL, 0),
			 0);
	assert_int_equal(world_alloc(&w, t.file, t.client, t.client, &t.device, SIM_CLASS_DEVICE,
				     dev, sizeof(dev)),
			 0);
	assert_int_equal(world_alloc(&w, t.file, t.client, t.device, &t.subdevice,
				     SIM_CLASS_SUBDEVICE, &sub, sizeof(sub)),
			 0);
	assert_int_equal(ask_held(&w, &t, 100, &held), 0x1b);
	assert_int_equal(ask_sizes(&w, &t, sizes), 0x1b);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_process_and_gpu),  cmocka_unit_test(shared_pieces_count_apart),
		cmocka_unit_test(bad_questions),       cmocka_unit_test(each_branch_has_its_size),
		cmocka_unit_test(refused_in_mig_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
