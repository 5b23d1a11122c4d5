// SPDX-License-Identifier: MIT
/* test_kept_off.c - check that idle TSGs of one user hide no other's that a policy keeps off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "figures/kept_off.h"
#include "figures/ledger_priv.h"
#include "figures/memory.h"
#include "figures/unread.h"

#define IDLE 1000u

/* Stand-ins: TSG 1 is suspended by the policy, all others are not. */
static unsigned int reads;
static uint64_t found;

int gs_table_get(struct gs_table *t, const struct gpusched_key *key, struct gpusched_tsg *ret)
{
	reads++;
	memset(ret, 0, sizeof(*ret));
	ret->task.id = key->handle;
	ret->task.kind = GPUSCHED_KIND_COMPUTE;
	if (key->handle == 1) {
		ret->suspend_by = GPUSCHED_BY_POLICY;
		ret->suspended_ns = 1;
	}
	return 0;
}

bool gs_memory_of(const struct gs_figures *fig, const struct gpusched_tsg *rec,
		  struct gs_memory_process *ret)
{
	return false;
}

void gs_unread_gpu(const struct gs_hub *hub, size_t gpu, struct gs_account_gpu *ret)
{
	*ret = (struct gs_account_gpu){ .idle_ns = NS_PER_S };
}

const struct gs_policy_info *gs_policy_running(const struct gs_policy *p)
{
	static const struct gs_policy_info info;

	return &info;
}

void gs_verdict_kept_idle(const struct gs_kept_idle_facts *f, struct gs_findings *ret)
{
	found = f->tsg;
}

static void add(struct gs_ledger *l, uint64_t id, uid_t uid)
{
	struct kept *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	k->id = id;
	k->key.handle = (uint32_t)id;
	k->who.uid = uid;
	HASH_ADD(hh, l->all, id, sizeof(k->id), k);
}

static void idle_ones_of_one_user_hide_nobodys(void **state)
{
	static struct gs_gpu gpu;
	struct gs_hub hub = { .gpus = &gpu, .ngpus = 1, .policy = (void *)&gpu };
	struct gs_ledger l = { 0 };
	struct gs_figures fig = { .hub = &hub, .ledger = &l };
	struct kept *k, *next;

	for (uint64_t id = 2; id < IDLE; id++)
		add(&l, id, 1000);
	add(&l, 1, 1001);
	gs_kept_off_look(&fig, 0, NULL);
	assert_int_equal(found, 1);
	assert_true(reads > 1 && reads <= 256);
	HASH_ITER(hh, l.all, k, next) {
		HASH_DEL(l.all, k);
		free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_ones_of_one_user_hide_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
