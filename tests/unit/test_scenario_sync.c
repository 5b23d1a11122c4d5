/* SPDX-License-Identifier: MIT */
/* test_scenario_sync.c - check scenarios' programs that wait for each other, or never end */
#include "scenario_world.h"

#define PAIR \
	"[process pair]\nkind = be\ncount = 2\nin_flight = 1\nkernel_us = 2000\nblock_us = 20\n"
#define OTHER "[process other]\nkind = be\nkernel_us = 1000\n"
#define GPUS "[scenario]\nduration_s = 3\ngpus = 2\n"

static void waits_are_for_be(void **state)
{
	refused(HEAD LC "sync = spin\n", "needs kind = be");
	refused(HEAD BE "sync = maybe\n", "no, yes, turns, spin");
	refused(HEAD "[process p]\nkind = persistent\nkernel_us = 10\nsync = yes\n", "kind = be");
}

/* One step of 2 ms at a time: the GPU is never shared. */
static void turns_alternate(void **state)
{
	static const char text[] = HEAD PAIR "sync = turns\n";
	double rate = of(text, "pair[0].rate");

	assert_true(rate > 220 && rate < 250);
	assert_true(of(text, "pair[0].rate") - of(text, "pair[1].rate") <= 1);
	assert_true(of(text, "pair.longest_us") < 10000);
}

static void a_turn_alone_goes_on(void **state)
{
	static const char one[] = HEAD "[process p]\nkind = be\nkernel_us = 2000\nsync = turns\n";
	static const char ends[] = HEAD "warmup_s = 2\n" PAIR "sync = turns\nstop_s = 1.5\n" OTHER;
	static const char late[] = HEAD PAIR "sync = turns\nstart_step_s = 1\n";

	assert_true(of(one, "p.rate") > 450);
	assert_true(of(ends, "other.rate") > 900);
	assert_true(of(late, "pair[1].rate") > 200);
}

/* With a spinning pair, each waits on the GPU until the other's kernel has run. */
static void spins_take_the_gpu(void **state)
{
	static const char text[] = HEAD PAIR "sync = spin\n" OTHER;
	double rate = of(text, "pair[0].rate");

	assert_true(rate > 80 && rate < 200);
	assert_true(of(text, "pair[0].rate") - of(text, "pair[1].rate") <= 1);
	assert_true(of(text, "pair.share_pct") > 50);
}

/* A suspended rank stops all: the other one spins, and burns its share of its GPU. */
static void a_gang_waits_for_its_ranks(void **state)
{
	static const char gang[] = GPUS "warmup_s = 1.5\n" PAIR "sync = spin\ngpu = spread\n" OTHER;
	static const char stopped[] =
		GPUS "warmup_s = 1.5\n" PAIR "sync = spin\ngpu = spread\n" OTHER
		     "[actions]\nat_ms = 1000\ntarget = pair[0]\ndo = suspend\n";

	assert_true(of(gang, "pair[1].rate") > 200);
	assert_true(of(stopped, "pair[1].rate") < 1);
	assert_true(of(stopped, "pair[1].share_pct") > 99);
	assert_true(of(stopped, "pair[1].longest_us") > 1490000);
}

/* Its steps are its own GPU time. CILP interrupts it; CTA waits for its only block, for ever. */
static void a_block_that_stays(void **state)
{
	static const char stay[] = HEAD "[process p]\nkind = persistent\nkernel_us = 2000\n";
	static const char cilp[] = HEAD "[process p]\nkind = persistent\nkernel_us = 2000\n" OTHER;
	static const char cta[] =
		HEAD "[process p]\nkind = persistent\nkernel_us = 2000\npreempt_mode = cta\n" OTHER;

	assert_true(of(stay, "p.rate") > 490 && of(stay, "p.rate") < 510);
	assert_true(of(cilp, "p.rate") > 200 && of(cilp, "p.rate") < 250);
	assert_true(of(cilp, "other.rate") > 400);
	assert_true(of(cta, "other.rate") < 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_are_for_be),           cmocka_unit_test(turns_alternate),
		cmocka_unit_test(a_turn_alone_goes_on),       cmocka_unit_test(spins_take_the_gpu),
		cmocka_unit_test(a_gang_waits_for_its_ranks), cmocka_unit_test(a_block_that_stays),
	};

	return cmocka_run_group_tests_name("scenario_sync", tests, make_file, remove_file);
}
