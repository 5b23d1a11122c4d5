// SPDX-License-Identifier: MIT
/*
 * fuzz_askers.c - who records and who asks for /metrics, while TSGs come and go in between their
 * slices
 *
 * Two bytes are a step: what happens, and to whom. Each reader must know a TSG before it is told of
 * its turns, and must be told of no TSG while it has no room for more. When all have gone, nobody
 * has unread answers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures/ledger_priv.h"
#include "hub/loop.h"
#include "requests/metrics.h"
#include "hub/observers.h"
#include "requests/trace.h"
#include "requests/watch.h"
#include "stub_askers.h"

#define READERS 8
#define ASKERS 8
#define IDS 4096

struct reader {
	unsigned int token; /* 0: none */
	bool full;
	bool begun;
	unsigned char knows[IDS];
};

static struct gs_hub hub;
static struct gs_figures figures = { .hub = &hub };
static struct gs_control control = { .hub = &hub };
static struct gs_requests requests = { .hub = &hub, .figures = &figures, .control = &control };
static struct reader readers[READERS];
static struct gs_completion *askers[ASKERS];
static uint64_t last_id;

static void must(bool held)
{
	if (!held)
		abort();
}

/* ---- readers --------------------------------------------------------------------------------- */

static void on_line(const char *text, size_t n, void *user)
{
	CLEANUP_JSON json_t *o = json_loadb(text, n, 0, NULL);
	const char *event = json_string_value(json_object_get(o, "event"));
	struct reader *r = user;
	const json_t *turn;
	size_t i;

	must(o && event && text[n - 1] == '\n');
	must(r->begun == (strcmp(event, "trace") != 0));
	r->begun = true;
	if (!strcmp(event, "tsg"))
		r->knows[json_integer_value(json_object_get(o, "id")) % IDS] = 1;
	json_array_foreach(json_object_get(o, "turns"), i, turn)
		must(r->knows[json_integer_value(json_array_get(turn, 0)) % IDS]);
}

static bool has_room(void *user)
{
	const struct reader *r = user;

	return !r->full;
}

static void on_event(const json_t *event, void *user)
{
	must(event && user);
}

static void open_reader(struct reader *r, unsigned char how)
{
	const struct gs_peer peer = { .uid = how % 8 };
	const struct gs_trace_to to = { on_line, has_room, r };

	if (r->token)
		return;
	*r = (struct reader){ .full = how & 64 };
	must(!gs_watch_trace(&requests, &peer, on_event, &to, r, &r->token));
}

static void close_reader(struct reader *r)
{
	if (r->token)
		gs_requests_unwatch(&requests, r->token);
	r->token = 0;
}

static void turn_room(struct reader *r)
{
	r->full = !r->full;
	if (!r->full && r->token)
		gs_watch_trace_go_on(&requests, r->token);
}

/* ---- TSGs ------------------------------------------------------------------------------------ */

static void end_tsg(struct gpusched_tsg *rec)
{
	const struct gs_end end = { .key = rec->key, .id = rec->task.id };

	if (!rec->task.id)
		return;
	if (stub_open == rec->task.id)
		stub_open = 0;
	rec->task.id = 0;
	gs_trace_flush(&requests);
	gs_trace_ended(&requests, &end);
}

static void make_tsg(struct gpusched_tsg *rec, unsigned char how)
{
	end_tsg(rec);
	*rec = (struct gpusched_tsg){ .key = { .client = how, .handle = (uint32_t)++last_id } };
	rec->task.id = last_id;
	rec->task.uid = how % 8;
	rec->task.kind = GPUSCHED_KIND_COMPUTE;
	if (how & 64) /* else the next look finds it */
		gs_trace_record(&requests, rec);
}

static void end_turn(const struct gpusched_tsg *rec, unsigned char how)
{
	const struct gs_turn turn = { .id = rec->task.id, .start_ns = 1, .end_ns = 2 };

	gs_trace_turn(&requests, &turn);
	if (how & 64)
		gs_trace_flush(&requests);
	stub_open = how & 32 ? rec->task.id : 0;
}

/* ---- /metrics -------------------------------------------------------------------------------- */

static void ask(struct gs_completion **c, unsigned char how)
{
	const struct gs_peer peer = { .uid = how % 8 };

	if (!*c)
		*c = gs_requests_ask_metrics(&requests, &peer);
	must(*c);
}

static void drop(struct gs_completion **c)
{
	if (*c && gs_completion_is_over(*c) && !(*c)->code)
		must(!strcmp((*c)->shared + strlen((*c)->shared) - 6, "# EOF\n"));
	gs_completion_free(*c);
	*c = NULL;
}

static void change_group(unsigned char how)
{
	struct group_key key = { .gpu = how % 2 };
	struct group *g = NULL;

	snprintf(key.class, sizeof(key.class), "%u", how % 5);
	snprintf(key.cgroup, sizeof(key.cgroup), "/%u\n\"", how % 7);
	HASH_FIND(hh, figures.ledger->groups, &key, sizeof(key), g);
	if (g) {
		HASH_DEL(figures.ledger->groups, g);
		free(g);
		return;
	}
	g = calloc(1, sizeof(*g));
	must(g);
	g->key = key;
	HASH_ADD(hh, figures.ledger->groups, key, sizeof(g->key), g);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void begin(void)
{
	static struct gs_gpu gpus[2];
	static struct gpu_kept kept[2];
	static struct gs_ledger ledger;

	must(sd_event_default(&hub.event) >= 0);
	hub.gpus = gpus;
	hub.ngpus = 2;
	ledger.gpus = kept;
	figures.ledger = &ledger;
	hub.account = (struct gs_account *)&ledger; /* the stubs do not look */
}

static void step(unsigned char what, unsigned char how)
{
	struct gpusched_tsg *rec = &stub_table[how % STUB_RECORDS];

	switch (what % 12) {
	case 0:
		return make_tsg(rec, how);
	case 1:
		return end_tsg(rec);
	case 2:
		rec->task.comm[0]++;
		if (rec->task.id)
			gs_trace_record(&requests, rec);
		return;
	case 3:
		return open_reader(&readers[how % READERS], how);
	case 4:
		return close_reader(&readers[how % READERS]);
	case 5:
		return turn_room(&readers[how % READERS]);
	case 6:
		gs_slices_run(&hub.slices);
		return;
	case 7:
		sd_event_run(hub.event, 0);
		return;
	case 8:
		return end_turn(rec, how);
	case 9:
		return ask(&askers[how % ASKERS], how);
	case 10:
		gs_completions_run(&hub.waits, gs_now_ns());
		return drop(&askers[how % ASKERS]);
	default:
		return change_group(how);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct group *g, *next;

	if (!hub.event)
		begin();
	last_id = 0;
	if (n > 2 * IDS)
		return 0;
	for (; n > 1; n -= 2, data += 2)
		step(data[0], data[1]);
	for (int i = 0; i < READERS; i++)
		close_reader(&readers[i]);
	for (int i = 0; i < ASKERS; i++)
		drop(&askers[i]);
	must(!requests.unread);
	gs_trace_end(&requests);
	gs_metrics_free(&requests);
	memset(stub_table, 0, sizeof(stub_table));
	stub_open = 0;
	HASH_ITER(hh, figures.ledger->groups, g, next) {
		HASH_DEL(figures.ledger->groups, g);
		free(g);
	}
	must(!hub.slices.first && !requests.watches);
	return 0;
}
