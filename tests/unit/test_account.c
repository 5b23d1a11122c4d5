// SPDX-License-Identifier: MIT
/*
 * test_account.c - check the account of a log: whose turns, what it reports, what lost records do
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "account/account.h"
#include "account/usage.h"
#include "fake_log.h"

#define MS NS_PER_MS
#define SLICE_NS (2048 * 1024ull)
#define SAVE 100000ull
#define MANY 4096
/* time enough for the log's thread, however busy the machine is */
#define PATIENCE_NS (10 * NS_PER_S)

static struct gs_account *account;
static uint64_t now; /* the time of the next record, and of the next reading */
static unsigned int told, fresh, unknown, runlists, closed;
static struct gpusched_facts last[MANY + 1]; /* the last facts of each TSG, by id */
static struct gpusched_runlist_facts runlist;
static struct gpusched_gpu costs;

static int begin(void **state)
{
	const struct gs_gpu gpu = { .index = 0, .name = "NVIDIA H200" };
	const struct gs_account_opts opts = { .size = sizeof(opts),
					      .gpus = &gpu,
					      .ngpus = 1,
					      .branch = 580,
					      .wait_ns = PATIENCE_NS };

	fake_log_begin();
	told = fresh = unknown = runlists = closed = 0;
	memset(last, 0, sizeof(last));
	now = gs_now_ns();
	return gs_account_new(&opts, &account);
}

static int end(void **state)
{
	gs_account_free(account);
	return 0;
}

static void tell_tsg(const struct gpusched_facts *f, bool is_fresh, void *user)
{
	told++;
	fresh += is_fresh;
	last[f->id] = *f;
}

static void tell_unknown(uint64_t id, void *user)
{
	unknown++;
	memset(&last[id], 0, sizeof(last[id]));
}

static void tell_runlist(uint32_t gpu, const struct gpusched_runlist_facts *f, void *user)
{
	runlists++;
	runlist = *f;
}

static void tell_costs(uint32_t gpu, const struct gpusched_gpu *c, void *user)
{
	costs = *c;
}

static void tell_closed(uint32_t gpu, void *user)
{
	closed++;
}

/* Reads the log once. Returns the number of TSGs with new facts. */
static unsigned int look(void)
{
	const struct gs_account_news news = { tell_tsg,   tell_unknown, tell_runlist,
					      tell_costs, tell_closed,  NULL };
	unsigned int before = told;

	gs_account_read(account, now + 33 * MS); /* facts of all TSGs are reported */
	gs_account_tell(account, &news);
	return told - before;
}

static void tsg_of(uint64_t id, uint32_t pid, uint32_t context, uint32_t maker)
{
	const struct gpusched_tsg rec = {
		.task = { .id = id,
			  .kind = GPUSCHED_KIND_COMPUTE,
			  .engine = 1,
			  .pid = pid,
			  .is = { .valid = GPUSCHED_TIMESLICE, .timeslice_us = 2048 } },
	};
	const struct gpusched_channels ch = { .n = context != 0, .ch = { { 1, context } } };

	assert_int_equal(gs_account_tsg(account, &rec, &ch, maker), 0);
}

static void tsg(uint64_t id, uint32_t pid, uint32_t context)
{
	tsg_of(id, pid, context, 0);
}

static void turn(uint32_t context, uint32_t pid, uint64_t ns)
{
	fake_log_switch(context, pid, true, now);
	now += ns;
	fake_log_switch(context, pid, false, now);
	now += 80000;
}

static uint64_t counter(enum gs_account_counter c)
{
	return gs_account_counter(account, c);
}

static void told_what_changed(void **state)
{
	tsg(1, 11, 101);
	tsg(2, 12, 102);
	look(); /* opens the log */
	assert_int_equal(told, 0);
	turn(101, 11, MS);
	turn(102, 12, 2 * MS);
	assert_int_equal(look(), 2);
	assert_int_equal(fresh, 2);
	assert_int_equal(last[1].held_ns, MS);
	assert_int_equal(last[2].held_ns, 2 * MS);
	assert_int_equal(last[1].runlist, 1);
	/* the costs of an H200 */
	assert_int_equal(costs.known & GPUSCHED_GPU_SAVE, GPUSCHED_GPU_SAVE);
	assert_int_equal(costs.save_us, 100);
	assert_in_range(last[1].last_run_ns, now - 3 * MS, now);
	assert_int_equal(runlist.switches, 2);
	assert_in_range(runlist.as_of_ns, now - MS, now + MS);
	assert_int_equal(look(), 0);
	assert_int_equal(runlists, 2);
	turn(101, 11, MS);
	assert_int_equal(look(), 1);
	assert_int_equal(fresh, 2);
	assert_int_equal(last[1].held_ns, 2 * MS);
	assert_int_equal(counter(GS_ACC_RECORDS), 6);
	assert_int_equal(counter(GS_ACC_UNATTRIBUTED), 0);
	gs_account_gone(account, 1);
	gs_account_gone(account, 2);
	look();
	assert_int_equal(closed, 1);
}

/* Context ids come from memory that their owner can write. */
static void others_ids(void **state)
{
	struct gpusched_facts f;

	tsg(1, 11, 101);
	tsg(2, 12, 101); /* claims that context 101 is its own */
	look();
	turn(101, 11, MS);
	turn(101, 12, 2 * MS);
	turn(101, 13, 4 * MS); /* a turn of no known TSG */
	look();
	assert_int_equal(last[1].held_ns, MS);
	assert_int_equal(last[2].held_ns, 2 * MS);
	assert_int_equal(runlist.unattributed_ns, 4 * MS);
	assert_int_equal(counter(GS_ACC_UNATTRIBUTED), 2);
	/* after turns of none of its TSGs, the process's claims no longer count */
	tsg(3, 12, 103);
	turn(199, 12, MS);
	look();
	assert_int_equal(unknown, 1);
	assert_int_equal(gs_account_facts(account, 2, &f), -ENOENT);
	assert_int_equal(f.known, 0);
	assert_int_equal(gs_account_facts(account, 1, &f), 0);
}

/* The log names the process that made the channel, even if another process has the TSG now. */
static void another_has_it(void **state)
{
	tsg_of(1, 21, 101, 11);
	look();
	turn(101, 11, MS);
	turn(101, 21, 2 * MS); /* a turn of another TSG */
	look();
	assert_int_equal(last[1].held_ns, MS);
	assert_int_equal(runlist.unattributed_ns, 2 * MS);
	/* The maker is dead. Another process has its PID now, and may claim turns for itself. */
	tsg_of(2, 11, 102, 11);
	tsg_of(2, 11, 101, 11);
	tsg_of(1, 21, 102, 11); /* a false claim */
	turn(102, 11, 4 * MS);
	turn(101, 11, 8 * MS);
	look();
	assert_int_equal(last[2].held_ns, 12 * MS);
	assert_int_equal(last[1].held_ns, MS);
	gs_account_gone(account, 1);
	gs_account_gone(account, 2);
}

/* Without context ids, a turn counts for the process's TSG if it has only one. */
static void by_process(void **state)
{
	tsg(1, 11, 0);
	look();
	turn(55, 11, MS);
	look();
	assert_int_equal(last[1].held_ns, MS);
	tsg(2, 11, 0);
	turn(56, 11, MS);
	look();
	assert_int_equal(unknown, 1);
	assert_int_equal(counter(GS_ACC_UNATTRIBUTED), 2);
}

static uint32_t server_of(uint32_t pid, void *user)
{
	return pid == 21 || pid == 22 ? 11 : 0;
}

/* The log names clients of an MPS server, whose work is in the server's TSG. */
static void clients(void **state)
{
	const struct gs_gpu gpu = { .index = 0, .name = "NVIDIA H200" };
	const struct gs_account_opts opts = { .size = sizeof(opts),
					      .gpus = &gpu,
					      .ngpus = 1,
					      .branch = 580,
					      .wait_ns = PATIENCE_NS,
					      .server_of = server_of };

	gs_account_free(account);
	assert_int_equal(gs_account_new(&opts, &account), 0);
	tsg(1, 11, 55);
	look();
	turn(55, 11, MS);
	turn(70, 21, MS);
	turn(71, 22, MS);
	look();
	assert_int_equal(last[1].held_ns, 3 * MS);
	assert_int_equal(counter(GS_ACC_UNATTRIBUTED), 0);
	turn(72, 23, MS);
	look();
	assert_int_equal(last[1].held_ns, 3 * MS);
	assert_int_equal(counter(GS_ACC_UNATTRIBUTED), 2);
}

/* Lost records are counted, and the time around them counts for no TSG. */
static void drops(void **state)
{
	struct gs_account_gpu g;

	tsg(1, 11, 101);
	tsg(2, 12, 102);
	look();
	turn(101, 11, MS);
	fake_log_switch(102, 12, true, now);
	look();
	assert_true(last[2].state & GPUSCHED_STATE_LOADED);
	fake_log.seqno += 7;
	fake_log_switch(101, 11, false, now += 5 * MS);
	look();
	assert_int_equal(counter(GS_ACC_LOST), 7);
	assert_int_equal(last[2].state, 0);
	assert_int_equal(last[2].unsure, 1);
	gs_account_gpu(account, 0, &g);
	assert_int_equal(g.sums.held_ns + g.sums.lost_ns + g.sums.open_ns + g.sums.unknown_ns,
			 g.sums.as_of_ns - g.sums.since_ns);
	assert_true(g.sums.unknown_ns > 0 && g.sums.gaps > 0);
	/* Records for which a full buffer has no room are counted as lost, too. */
	for (int i = 0; i < 20000; i++)
		fake_log_switch(101, 11, i % 2 == 0, now += 100000);
	now += 80000;
	look();
	/*
	 * The log has room for the record that shows the gap only after a thread has told RM how
	 * far the log is read.
	 */
	while (fake_log.header->get % fake_log.count != fake_log.header->put % fake_log.count)
		usleep(100);
	turn(102, 12, MS);
	look();
	assert_true(fake_log.dropped > 3000);
	assert_int_equal(counter(GS_ACC_LOST), 7 + fake_log.dropped);
}

static void very_many(void **state)
{
	unsigned int seen = 0;

	for (uint32_t id = 1; id <= MANY; id++)
		tsg(id, id, 1000 + id);
	look();
	for (uint32_t id = 1; id <= MANY; id++)
		turn(1000 + id, id, 20000);
	assert_int_equal(look(), MANY);
	for (uint32_t id = 1; id <= MANY; id++)
		seen += last[id].held_ns == 20000 && last[id].turns == 1;
	assert_int_equal(seen, MANY);
	assert_int_equal(counter(GS_ACC_LOST), 0);
	turn(1000 + MANY, MANY, 20000);
	assert_int_equal(look(), 1);
}

static void suspended(void **state)
{
	tsg(1, 11, 101);
	tsg(2, 12, 102);
	gs_account_runnable(account, 1, false, 0); /* before there is a log */
	look();
	turn(101, 11, SLICE_NS + SAVE);
	fake_log_switch(102, 12, true, now);
	look();
	assert_int_equal(last[1].state, 0);
	assert_int_equal(last[2].state, GPUSCHED_STATE_LOADED);
	fake_log_switch(102, 12, false, now += SLICE_NS + SAVE);
	look();
	assert_int_equal(last[2].state, GPUSCHED_STATE_WAITING);
}

/*
 * Has turns in which TSG 1's slice ends, but its thread blocks run on for 2 ms. Returns by how much
 * its contended time may be off.
 */
static uint64_t off_in_a_round(void)
{
	struct gs_turn_sums was = { 0 }, is;

	gs_account_of(account, 1, &was);
	turn(101, 11, SLICE_NS + 2 * MS);
	turn(102, 12, MS / 10);
	turn(101, 11, MS / 10);
	now += 10 * MS;
	look();
	assert_int_equal(gs_account_of(account, 1, &is), 0);
	assert_int_equal(is.turns, was.turns + 2);
	return is.contended_off_ns - was.contended_off_ns;
}

/*
 * The slice and mode by which the account judges turns come from a record, or from a call, before
 * or after the log is opened.
 */
static void modes(void **state)
{
	struct gpusched_tsg rec = {
		.task = { .id = 1,
			  .kind = GPUSCHED_KIND_COMPUTE,
			  .engine = 1,
			  .pid = 11,
			  .is = { .valid = GPUSCHED_TIMESLICE | GPUSCHED_PREEMPT_MODE,
				  .timeslice_us = 2048,
				  .preempt_mode = GPUSCHED_PREEMPT_CILP } },
	};

	tsg(1, 11, 101);
	tsg(2, 12, 102);
	gs_account_mode(account, 1, GPUSCHED_PREEMPT_CTA, 0); /* before there is a log */
	look();
	assert_int_not_equal(off_in_a_round(), 0);
	assert_int_equal(gs_account_tsg(account, &rec, NULL, 0), 0);
	assert_int_equal(off_in_a_round(), 0);
	gs_account_mode(account, 1, GPUSCHED_PREEMPT_WFI, now);
	assert_int_not_equal(off_in_a_round(), 0);
	tsg(1, 11, 101); /* a record without the mode */
	assert_int_not_equal(off_in_a_round(), 0);
}

/* Each reason why there is no log has its words. */
static void reasons(void **state)
{
	static const struct {
		uint32_t status, reason;
		const char *words;
	} cases[] = {
		{ GS_NV_INSUFFICIENT_PERMISSIONS, 0, "for root" },
		{ GS_NV_NOT_SUPPORTED, NV_LOG_NEED_ADMIN, "for root" },
		{ GS_NV_OBJECT_NOT_FOUND, 0, "MIG mode" },
		{ GS_NV_NOT_SUPPORTED, 0, "confidential computing" },
		{ GS_NV_NOT_SUPPORTED, NV_LOG_GPU_TOO_OLD, "too old" },
		{ GS_NV_INVALID_ARGUMENT, 0, "0x1f NV_ERR_INVALID_ARGUMENT" },
	};
	struct gs_account_gpu g;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(NULL);
		fake_log.status = cases[i].status;
		fake_log.reason = cases[i].reason;
		tsg(1, 11, 101);
		assert_int_equal(look(), 0);
		gs_account_gpu(account, 0, &g);
		assert_false(g.open);
		if (!strstr(g.reason, cases[i].words))
			fail_msg("0x%x %u: %s", cases[i].status, cases[i].reason, g.reason);
		assert_int_equal(counter(GS_ACC_NO_LOG), 1);
		gs_account_free(account);
	}
	begin(NULL);
}

static uint64_t spent_ns; /* time of calls that the account has reported */

static void spent(uint32_t gpu, uint64_t ns, void *user)
{
	assert_int_equal(gpu, 0);
	spent_ns += ns;
}

/* The account reports the time of its calls, for the budget of calls. */
static void what_calls_take(void **state)
{
	const struct gs_gpu gpu = { .index = 0, .name = "NVIDIA H200" };
	const struct gs_account_opts opts = { .size = sizeof(opts),
					      .gpus = &gpu,
					      .ngpus = 1,
					      .branch = 580,
					      .wait_ns = PATIENCE_NS,
					      .on_spent = spent };
	uint64_t at = gs_now_ns();

	gs_account_free(account);
	assert_int_equal(gs_account_new(&opts, &account), 0);
	tsg(1, 11, 101);
	gs_account_read(account, at);
	assert_true(spent_ns > 0); /* the call for the clock */
	spent_ns = 0;
	at = gs_now_ns(); /* the time of the last reading, so that the next reading is not due */
	gs_account_read(account, at + MS);
	assert_int_equal(spent_ns, 0); /* reading memory makes no call */
	fake_log.call_ns = 3 * MS;
	gs_account_flush(account, at + 200 * MS);
	assert_in_range(spent_ns, 3 * MS, NS_PER_S);
	spent_ns = 0;
	gs_account_flush(account, at + 201 * MS); /* too soon after the last flush: makes no call */
	assert_int_equal(spent_ns, 0);
}

/* If a policy acts on facts, they are never a second old, on old branches too. */
static void eager(void **state)
{
	const struct gs_gpu gpu = { .index = 0, .name = "NVIDIA H200" };
	struct gs_account_opts opts = {
		.size = sizeof(opts), .gpus = &gpu, .ngpus = 1, .wait_ns = PATIENCE_NS
	};
	uint64_t at = gs_now_ns();

	for (int old = 0; old < 2; old++) {
		gs_account_free(account);
		opts.branch = old ? 535 : 580;
		assert_int_equal(gs_account_new(&opts, &account), 0);
		tsg(1, 11, 101);
		assert_int_equal(gs_account_read(account, at), at + NS_PER_S);
		gs_account_eager(account, true);
		fake_log.flushes = 0;
		assert_in_range(gs_account_read(account, at), at, at + 100 * MS);
		assert_int_equal(fake_log.flushes, old);
		gs_account_read(account, at + MS); /* at most 10 flushes a second */
		gs_account_flush(account, at + 2 * MS);
		assert_int_equal(fake_log.flushes, 1);
	}
}

/* RM does not answer for two seconds, as happens while it frees all objects of a process. */
static void late_answers(void **state)
{
	const struct gs_gpu gpu = { .index = 0, .name = "NVIDIA H200" };
	const struct gs_account_opts opts = {
		.size = sizeof(opts), .gpus = &gpu, .ngpus = 1, .branch = 580
	};
	struct gs_account_gpu g = { 0 };
	struct gs_turn_sums sums;
	uint64_t at;

	gs_account_free(account);
	assert_int_equal(gs_account_new(&opts, &account), 0);
	tsg(1, 11, 101);
	for (int i = 0; i < 1000 && !g.open; i++) {
		look();
		gs_account_gpu(account, 0, &g);
		usleep(10000);
	}
	assert_true(g.open);
	now = gs_now_ns();
	turn(101, 11, MS);
	fake_log.call_ns = 2 * NS_PER_S;
	at = gs_now_ns();
	gs_account_flush(account, at + 200 * MS);
	gs_account_flush(account, at + 400 * MS);
	look();
	assert_in_range(gs_now_ns() - at, 0, NS_PER_S);
	assert_true(counter(GS_ACC_LATE) >= 2);
	/* The account reads the log's memory anyway. */
	assert_int_equal(gs_account_of(account, 1, &sums), 0);
	assert_int_equal(sums.held_ns, MS);
	gs_account_gone(account, 1);
	assert_in_range(gs_now_ns() - at, 0, NS_PER_S);
	while (gs_now_ns() - at < 3 * NS_PER_S) /* until the thread closes the log and ends */
		usleep(10000);
	fake_log.call_ns = 0;
}

/* If a flush has read the records before the next reading, the GPU does not count as idle. */
static void flushed(void **state)
{
	tsg(1, 11, 101);
	gs_account_read(account, now);
	for (int i = 0; i < 3; i++) {
		turn(101, 11, MS);
		now += NS_PER_S;
		gs_account_flush(account, now);
		assert_in_range(gs_account_read(account, now), now, now + 100 * MS);
	}
	assert_int_equal(gs_account_read(account, now), now + NS_PER_S);
}

/* When two TSGs end at once, the second end reads the records without another flush. */
static void flushed_again(void **state)
{
	struct gs_turn_sums s;

	tsg(1, 11, 101);
	gs_account_read(account, now);
	turn(101, 11, MS);
	gs_account_flush(account, now);
	turn(101, 11, MS);
	gs_account_flush(account, now);
	assert_int_equal(counter(GS_ACC_FLUSHES), 1);
	assert_int_equal(gs_account_of(account, 1, &s), 0);
	assert_int_equal(s.turns, 2);
}

/* Lets a second pass without a record; the driver's new samples have the value @usage. */
static void quiet_second(uint32_t usage)
{
	now += NS_PER_S;
	fake_log.usage_at += NS_PER_S;
	fake_log.usage = usage;
	gs_account_read(account, now + 33 * MS);
}

/* Reads once more, and returns in how many ms the next reading is due. */
static uint64_t next_ms(void)
{
	const uint64_t at = now + 34 * MS;

	return (gs_account_read(account, at) - at) / MS;
}

/* A GPU at rest is looked at less often, but not one that works alone, or may work. */
static void eager_at_rest(void **state)
{
	fake_log.usage_at = 10 * NS_PER_S;
	fake_log.usage_n = 28;
	gs_account_eager(account, true);
	tsg(1, 11, 101);
	look();
	assert_int_equal(next_ms(), 33); /* no record was seen: nothing is known */
	fake_log_switch(101, 11, true, now);
	for (int i = 0; i < 15; i++)
		quiet_second(10000);
	assert_int_equal(next_ms(), 33); /* it works */
	for (int i = 0; i < 9; i++)
		quiet_second(0);
	assert_int_equal(next_ms(), 33);
	for (int i = 0; i < 6; i++)
		quiet_second(0);
	assert_int_equal(next_ms(), 250);
	fake_log.usage_status = GS_NV_NOT_SUPPORTED;
	quiet_second(0);
	quiet_second(0);
	assert_int_equal(next_ms(), 33); /* unknown */
	now += NS_PER_S;
	fake_log_switch(101, 11, false, now);
	for (int i = 0; i < 15; i++)
		quiet_second(0);
	assert_int_equal(next_ms(), 250); /* no TSG is loaded */
	gs_account_runnable(account, 1, false, now);
	quiet_second(0);
	quiet_second(0);
	assert_int_equal(next_ms(), 33); /* it may have work, and may not run */
	gs_account_runnable(account, 1, true, now);
	for (int i = 0; i < 15; i++)
		quiet_second(0);
	turn(101, 11, MS);
	assert_int_equal(next_ms(), 33);
	now += 5 * NS_PER_S;
	assert_int_equal(next_ms(), 33);
	now += 10 * NS_PER_S;
	assert_int_equal(next_ms(), 250);
}

/* While a TSG is alone, the engine's usage counts as its work, from the second silent second on. */
static void alone(void **state)
{
	struct gs_turn_sums s;
	struct gs_account_gpu g;

	fake_log.usage_at = NS_PER_S;
	fake_log.usage_n = 10;
	tsg(1, 11, 101);
	tsg(2, 22, 202);
	look();
	fake_log_switch(101, 11, true, now);
	look();
	quiet_second(9000); /* another TSG may have worked before this second */
	quiet_second(9000); /* samples up to now may include other TSGs' work */
	assert_int_equal(gs_account_of(account, 1, &s), 0);
	assert_int_equal(s.alone_ns, 0);
	quiet_second(5000);
	quiet_second(2500);
	quiet_second(0); /* counts only when the next reading shows that it stayed silent */
	assert_int_equal(gs_account_of(account, 1, &s), 0);
	assert_int_equal(s.alone_ns, 2 * NS_PER_S);
	assert_int_equal(s.worked_ns, 3 * NS_PER_S / 4);
	fake_log_switch(101, 11, false, now);
	fake_log_switch(202, 22, true, now + 1000);
	fake_log.usage_asked = 0;
	quiet_second(10000);
	assert_int_equal(fake_log.usage_asked, 0);
	gs_account_of(account, 1, &s);
	assert_int_equal(s.alone_ns, 2 * NS_PER_S);
	fake_log.usage_status = GS_NV_NOT_SUPPORTED;
	for (int i = 0; i < 5; i++)
		quiet_second(10000);
	assert_int_equal(fake_log.usage_asked, 1); /* a refusal holds for a minute */
	assert_int_equal(gs_account_counter(account, GS_ACC_NO_USAGE), 1);
	gs_account_gpu(account, 0, &g);
	assert_non_null(strstr(g.blank, "NOT_SUPPORTED"));
	assert_int_equal(gs_account_of(account, 2, &s), 0);
	assert_int_equal(s.alone_ns, 0);
}

static uint64_t idle_of(void)
{
	struct gs_account_gpu g;

	gs_account_gpu(account, 0, &g);
	return g.idle_ns;
}

/* A loaded TSG is no proof of work: the driver's samples say for how long the GPU has been idle. */
static void idle(void **state)
{
	struct gs_account_gpu g;

	fake_log.usage_at = 10 * NS_PER_S;
	fake_log.usage_n = 28;
	tsg(1, 11, 101);
	look();
	fake_log_switch(101, 11, true, now);
	look();
	for (int i = 0; i < 3; i++)
		quiet_second(600);
	assert_int_equal(idle_of(), 0);
	quiet_second(400);
	assert_in_range(idle_of(), 399 * NS_PER_S / 100, 4 * NS_PER_S);
	quiet_second(400);
	gs_account_gpu(account, 0, &g);
	assert_int_equal(g.sums.idle_ns, NS_PER_S);
	fake_log.usage_status = GS_NV_NOT_SUPPORTED;
	quiet_second(400);
	assert_int_equal(idle_of(), 0); /* unknown */
}

/* The driver is asked about a GPU without a loaded TSG only while one is suspended. */
static void idle_since_suspended(void **state)
{
	fake_log.usage_at = 10 * NS_PER_S;
	fake_log.usage_n = 28;
	tsg(1, 11, 101);
	look();
	for (int i = 0; i < 4; i++)
		quiet_second(0);
	assert_int_equal(fake_log.usage_asked, 0);
	gs_account_runnable(account, 1, false, now);
	for (int i = 0; i < 4; i++)
		quiet_second(0);
	assert_in_range(idle_of(), 3 * NS_PER_S, 4 * NS_PER_S);
	gs_account_runnable(account, 1, true, now);
	quiet_second(0);
	assert_int_equal(idle_of(), 0);
}

/* Lets @n seconds pass in which two TSGs take turns, with samples of @usage. */
static void busy_seconds(int n, uint32_t usage)
{
	while (n--) {
		turn(101, 11, MS);
		turn(102, 12, MS);
		quiet_second(usage);
		look();
	}
}

static void two_take_turns(void)
{
	fake_log.usage_at = 10 * NS_PER_S;
	fake_log.usage_n = 28;
	tsg(1, 11, 101);
	tsg(2, 12, 102);
	look();
}

/* A policy learns how busy the GPU was, also while TSGs take turns. */
static void busy(void **state)
{
	struct gs_turn_sums s;

	two_take_turns();
	busy_seconds(3, 9712);
	assert_int_equal(fake_log.usage_asked, 0); /* nobody wants to know */
	assert_int_equal(costs.known & GPUSCHED_GPU_BUSY, 0);
	gs_account_samples(account, true);
	busy_seconds(3, 9712);
	assert_int_equal(fake_log.usage_asked, 3);
	assert_int_equal(costs.known & GPUSCHED_GPU_BUSY, GPUSCHED_GPU_BUSY);
	assert_int_equal(costs.busy_x100, 9712);
	assert_int_equal(costs.idle_ms, 0);
	assert_int_equal(gs_account_of(account, 1, &s), 0);
	assert_int_equal(s.alone_ns, 0); /* the work was of both */
	busy_seconds(1, 100);
	assert_int_equal(costs.busy_x100, 100);
	assert_in_range(costs.idle_ms, 3900, 4000);
	assert_int_equal(idle_of(), 0); /* of one TSG alone this is still unknown */
	fake_log.usage_status = GS_NV_NOT_SUPPORTED;
	busy_seconds(1, 100);
	assert_int_equal(costs.known & (GPUSCHED_GPU_BUSY | GPUSCHED_GPU_SAVE), GPUSCHED_GPU_SAVE);
	assert_int_equal(costs.busy_x100, 0);
}

/* Samples are dropped once the policy that wanted them has gone. */
static void busy_no_longer(void **state)
{
	gs_account_samples(account, true);
	two_take_turns();
	busy_seconds(3, 5000);
	assert_int_equal(costs.busy_x100, 5000);
	gs_account_samples(account, false);
	busy_seconds(3, 5000);
	assert_int_equal(costs.known & GPUSCHED_GPU_BUSY, 0);
}

static void usage_layouts(void **state)
{
	static const struct {
		unsigned int branch;
		uint32_t size, graphics_at;
	} all[] = { { 0, 0, 0 },         { 515, 34000, 124 }, { 520, 0, 0 },
		    { 535, 34000, 124 }, { 550, 50704, 124 }, { 565, 50704, 124 },
		    { 570, 55888, 136 }, { 580, 55888, 136 }, { 595, 55888, 136 } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(gs_usage_size(all[i].branch), all[i].size);
		if (all[i].size)
			assert_int_equal(nv_usage_graphics_at(all[i].branch), all[i].graphics_at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(told_what_changed, begin, end),
		cmocka_unit_test_setup_teardown(others_ids, begin, end),
		cmocka_unit_test_setup_teardown(another_has_it, begin, end),
		cmocka_unit_test_setup_teardown(by_process, begin, end),
		cmocka_unit_test_setup_teardown(clients, begin, end),
		cmocka_unit_test_setup_teardown(drops, begin, end),
		cmocka_unit_test_setup_teardown(very_many, begin, end),
		cmocka_unit_test_setup_teardown(suspended, begin, end),
		cmocka_unit_test_setup_teardown(modes, begin, end),
		cmocka_unit_test_setup_teardown(reasons, NULL, end),
		cmocka_unit_test_setup_teardown(what_calls_take, begin, end),
		cmocka_unit_test_setup_teardown(late_answers, begin, end),
		cmocka_unit_test_setup_teardown(eager, begin, end),
		cmocka_unit_test_setup_teardown(eager_at_rest, begin, end),
		cmocka_unit_test_setup_teardown(flushed, begin, end),
		cmocka_unit_test_setup_teardown(flushed_again, begin, end),
		cmocka_unit_test_setup_teardown(alone, begin, end),
		cmocka_unit_test_setup_teardown(idle, begin, end),
		cmocka_unit_test_setup_teardown(idle_since_suspended, begin, end),
		cmocka_unit_test_setup_teardown(busy, begin, end),
		cmocka_unit_test_setup_teardown(busy_no_longer, begin, end),
		cmocka_unit_test(usage_layouts),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
