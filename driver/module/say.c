// SPDX-License-Identifier: GPL-2.0-only
#include "say.h"

#include <linux/compiler.h>
#include <asm/barrier.h>

static bool alive, owns_policy, policy_runs;

bool say_alive(void)
{
	return smp_load_acquire(&alive);
}

bool say_owns_policy(void)
{
	return READ_ONCE(owns_policy);
}

bool say_policy_runs(void)
{
	return READ_ONCE(policy_runs);
}

void say_set_alive(bool is)
{
	smp_store_release(&alive, is);
}

void say_set_owns_policy(bool owns)
{
	WRITE_ONCE(owns_policy, owns);
}

void say_set_policy_runs(bool runs)
{
	WRITE_ONCE(policy_runs, runs);
}
