// SPDX-License-Identifier: MIT
/*
 * fuzz_log.c - the reader of context-switch logs: any records, any header, TSGs that come and go
 *
 * Input: a byte that says what, and its arguments. The first 32 bytes after WRITE are a record as
 * it stands in the buffer.
 */
#include <stdlib.h>

#include "../unit/fake_log.h"
#include "account/account.h"

bool gs_rm_sys_accept(const struct statx *st)
{
	return true;
}

enum { WRITE, SWITCH, PUT, LOOK, TSG, GONE, SUSPEND, SLICE, FLUSH, WHATS };

struct input {
	const uint8_t *at;
	size_t n;
};

static uint64_t take(struct input *in, void *to, size_t n)
{
	uint64_t value = 0;

	n = n < in->n ? n : in->n;
	memcpy(to ? to : &value, in->at, n);
	in->at += n;
	in->n -= n;
	return value;
}

static void check(const struct gs_account *a)
{
	struct gs_account_gpu g;

	gs_account_gpu(a, 0, &g);
	if (g.sums.held_ns + g.sums.lost_ns + g.sums.open_ns + g.sums.unknown_ns !=
	    g.sums.as_of_ns - g.sums.since_ns)
		abort();
}

static void tell_tsg(const struct gpusched_facts *f, bool fresh, void *user)
{
	if (f->held_ns < f->contended_ns && !(f->known & GPUSCHED_FACT_HELD))
		abort();
}

static void tell_unknown(uint64_t id, void *user)
{
}

static void tell_runlist(uint32_t gpu, const struct gpusched_runlist_facts *f, void *user)
{
}

static void tell_costs(uint32_t gpu, const struct gpusched_gpu *c, void *user)
{
}

static void tell_closed(uint32_t gpu, void *user)
{
}

static void make_tsg(struct gs_account *a, struct input *in)
{
	uint64_t v = take(in, NULL, 4);
	const struct gpusched_tsg rec = {
		.task = { .id = v & 15,
			  .kind = GPUSCHED_KIND_COMPUTE,
			  .pid = v >> 8 & 7,
			  .is = { .timeslice_us = (uint32_t)(v >> 16) } },
	};
	const struct gpusched_channels ch = { .n = v >> 4 & 1, .ch = { { 1, v >> 11 & 15 } } };

	gs_account_tsg(a, &rec, &ch, 0);
}

static void write_record(struct input *in)
{
	struct nv_log_record r = { 0 };

	take(in, &r, sizeof(r));
	fake_log_put(&r);
}

static void log_op(struct gs_account *a, struct input *in, int what, uint64_t *now)
{
	uint64_t v;

	if (!fake_log.header)
		return;
	switch (what) {
	case WRITE:
		write_record(in);
		break;
	case SWITCH:
		v = take(in, NULL, 5);
		*now += v >> 16;
		fake_log.seqno += (v & 0xf000) == 0xf000;
		fake_log_switch(v & 15, v >> 4 & 7, v >> 7 & 1, *now);
		break;
	case PUT:
		fake_log.header->put = (uint32_t)take(in, NULL, 4);
		break;
	default:
		gs_account_flush(a, *now);
	}
}

static void tsg_op(struct gs_account *a, struct input *in, int what, uint64_t *now)
{
	const struct gs_account_news news = { tell_tsg,   tell_unknown, tell_runlist,
					      tell_costs, tell_closed,  NULL };
	uint64_t v;

	switch (what) {
	case LOOK:
		*now += take(in, NULL, 3) * 64;
		gs_account_read(a, *now);
		gs_account_tell(a, &news);
		check(a);
		break;
	case TSG:
		make_tsg(a, in);
		break;
	case GONE:
		gs_account_gone(a, take(in, NULL, 1) & 15);
		break;
	case SUSPEND:
		v = take(in, NULL, 1);
		gs_account_runnable(a, v & 15, v >> 4 & 1, v >> 8);
		break;
	case SLICE:
		v = take(in, NULL, 5);
		gs_account_slice(a, v & 15, (uint32_t)(v >> 8), v >> 32);
		gs_account_mode(a, v >> 4 & 15, (uint32_t)(v % 3), v >> 32);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct gs_gpu gpu = { .index = 0 };
	/* no thread of one input is left to the next, however busy the machine is */
	const struct gs_account_opts opts = {
		.size = sizeof(opts), .gpus = &gpu, .ngpus = 1, .wait_ns = 60 * NS_PER_S
	};
	struct input in = { data, size };
	struct gs_account *a;
	uint64_t now;

	fake_log_begin();
	now = gs_now_ns();
	if (gs_account_new(&opts, &a))
		abort();
	while (in.n) {
		int what = (int)(take(&in, NULL, 1) % WHATS);

		if (what == WRITE || what == SWITCH || what == PUT || what == FLUSH)
			log_op(a, &in, what, &now);
		else
			tsg_op(a, &in, what, &now);
	}
	gs_account_free(a);
	return 0;
}
