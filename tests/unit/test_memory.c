/* SPDX-License-Identifier: MIT */
/* test_memory.c - check the question to the driver who holds a GPU's memory, with a fake ioctl() */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rm/abi.h"
#include "rm/memory.h"
#include "rm/sys.h"

#define MANY 450u

static struct {
	uint32_t npids, pids[NV_PIDS_MAX];
	uint32_t fb_size, status_cmd, status;
	unsigned int allocs, infos;
	uint32_t largest; /* the largest call, in processes */
} drv;

static uint32_t answer_pids(struct nv_pids *p)
{
	assert_int_equal(p->by, 0);
	assert_int_equal(p->id, 0x2080);
	p->n = drv.npids;
	memcpy(p->pids, drv.pids, sizeof(p->pids));
	return GS_NV_OK;
}

/*
 * Answers that process N holds N MiB alone, shares N MiB of its own, and uses 2 N MiB of others'.
 */
static uint32_t answer_infos(struct nv_pid_infos *p)
{
	drv.infos++;
	assert_in_range(p->n, 1, 200);
	if (p->n > drv.largest)
		drv.largest = p->n;
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t bytes = (uint64_t)p->list[i].pid << 20;

		assert_int_equal(p->list[i].index, 0);
		if (p->list[i].pid == 7) { /* process 7 holds nothing */
			continue;
		}
		if (p->list[i].pid == 8) {
			p->list[i].status = GS_NV_OBJECT_NOT_FOUND;
			p->list[i].own = 1;
			continue;
		}
		p->list[i].own = p->list[i].shared_own = bytes;
		p->list[i].shared_others = 2 * bytes;
	}
	return GS_NV_OK;
}

static uint32_t answer_sizes(struct nv_fb_info *p)
{
	assert_int_equal(p->n, 3);
	for (uint32_t i = 0; i < p->n; i++)
		p->list[i].value = p->list[i].index == 8      ? 1000
				   : p->list[i].index == 9    ? 900
				   : p->list[i].index == 0x16 ? 300
							      : 0;
	return GS_NV_OK;
}

static uint32_t answer(const struct nv_control *c)
{
	void *p = (void *)(uintptr_t)c->params;

	if (drv.status_cmd == c->cmd)
		return drv.status;
	if (c->cmd == 0x2080018d && c->params_size == 3812)
		return answer_pids(p);
	if (c->cmd == 0x2080018e && c->params_size == 14408)
		return answer_infos(p);
	if (c->cmd == 0x20801303 && c->params_size == drv.fb_size)
		return answer_sizes(p);
	return GS_NV_INVALID_ARGUMENT;
}

static int fake_ioctl(int fd, unsigned long request, void *arg)
{
	struct nv_control *c = arg;
	struct nv_alloc *a = arg;

	if (_IOC_NR(request) == NV_ESC_ALLOC) {
		a->handle = 0x1000 + drv.allocs++;
		a->status = GS_NV_OK;
	} else {
		c->status = answer(c);
	}
	return 0;
}

static const struct gs_gpu gpu = { .dev_instance = 1 };
static struct gs_rm_memory m;
static struct gs_error err;

static int setup(void **state)
{
	memset(&drv, 0, sizeof(drv));
	drv.fb_size = 4 + 8 * 0x80;
	gs_rm_sys.ioctl = fake_ioctl;
	return 0;
}

static int teardown(void **state)
{
	gs_rm_memory_done(&m);
	return 0;
}

static void sizes_and_processes(void **state)
{
	drv.npids = 5;
	memcpy(drv.pids, (uint32_t[]){ 30, 7, 20, 8, 10 }, 5 * sizeof(uint32_t));
	assert_int_equal(gs_rm_memory_ask(3, &gpu, 580, &m, &err), 0);
	assert_int_equal(m.total_bytes, 1000 << 10);
	assert_int_equal(m.heap_bytes, 900 << 10);
	assert_int_equal(m.free_bytes, 300 << 10);
	assert_int_equal(m.n, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(m.held[i].pid, 10 * (i + 1));
		assert_int_equal(m.held[i].own_bytes, 2ull * m.held[i].pid << 20);
		assert_int_equal(m.held[i].shared_bytes, 2ull * m.held[i].pid << 20);
	}
	assert_false(m.cut);
	assert_true(m.spent_ns > 0);
}

static void nobody(void **state)
{
	assert_int_equal(gs_rm_memory_ask(3, &gpu, 580, &m, &err), 0);
	assert_int_equal(m.n, 0);
	assert_int_equal(drv.infos, 0); /* RM refuses an empty list */
}

static void many_processes_take_several_calls(void **state)
{
	drv.npids = MANY;
	for (uint32_t i = 0; i < MANY; i++)
		drv.pids[i] = 100 + MANY - i;
	drv.pids[0] = drv.pids[1]; /* one process named twice */
	assert_int_equal(gs_rm_memory_ask(3, &gpu, 580, &m, &err), 0);
	assert_int_equal(m.n, MANY - 1);
	assert_int_equal(drv.infos, 3);
	assert_int_equal(drv.largest, 200);
	for (uint32_t i = 1; i < m.n; i++)
		assert_true(m.held[i - 1].pid < m.held[i].pid);
}

static void a_full_list_says_so(void **state)
{
	drv.npids = 4000000000u; /* more than the list has room for */
	for (uint32_t i = 0; i < NV_PIDS_MAX; i++)
		drv.pids[i] = 100 + i;
	assert_int_equal(gs_rm_memory_ask(3, &gpu, 580, &m, &err), 0);
	assert_int_equal(m.n, NV_PIDS_MAX);
	assert_true(m.cut);
}

static void each_branch_has_its_size(void **state)
{
	static const struct {
		unsigned int branch;
		uint32_t entries;
	} sizes[] = { { 515, 0x36 }, { 535, 0x36 }, { 545, 0x37 }, { 550, 0x37 },
		      { 560, 0x39 }, { 570, 0x39 }, { 580, 0x80 }, { 595, 0x80 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		drv.fb_size = 4 + 8 * sizes[i].entries;
		assert_int_equal(gs_rm_memory_ask(3, &gpu, sizes[i].branch, &m, &err), 0);
		gs_rm_memory_done(&m);
	}
}

static void refusals_are_told(void **state)
{
	drv.status_cmd = 0x2080018d;
	drv.status = GS_NV_INSUFFICIENT_PERMISSIONS;
	assert_int_equal(gs_rm_memory_ask(3, &gpu, 580, &m, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "MIG"));
	gs_rm_memory_done(&m);
	drv.status = GS_NV_NOT_SUPPORTED;
	err = (struct gs_error){ 0 };
	assert_int_equal(gs_rm_memory_ask(3, &gpu, 580, &m, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "NV_ERR_NOT_SUPPORTED"));
	assert_true(m.spent_ns > 0); /* a failed call's time is charged, too */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sizes_and_processes, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(many_processes_take_several_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_list_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(each_branch_has_its_size, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals_are_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
