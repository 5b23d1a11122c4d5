/* SPDX-License-Identifier: MIT */
#include "sim/rm_log.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "basic/grow.h"
#include "sim/rm_memory.h"

#define INTERVAL_NS 33333333u       /* how often RM reads the GPU's buffer */
#define INTERVAL_OLD_NS 1000000000u /* the same in branches before 545 */
#define MAX_PENDING 16384u          /* a guess: the real buffer's size is unknown */
#define TICK_NS 32u                 /* a tick of the GPU's timer */
/*
 * For a user that is not an administrator, times of other users' records are falsified by up to
 * this.
 */
#define NOISE_NS 65536u
#define MAX_LOGS 256u /* logs of all clients together */
#define KEEP_OLDEST 1u
#define KEEP_NEWEST 2u

/* A record in the GPU's buffer. */
struct sim_pending {
	uint64_t ns;
	uint32_t cid, pid;
	uid_t uid;
	uint16_t lost;    /* number of earlier records that were lost, since the buffer was full */
	uint8_t instance; /* MIG instance; 0: MIG is off */
	uint8_t compute;
	bool start, gone;
};

struct sim_log {
	struct sim_object *o, *header, *records;
	uint32_t record_size, count, get, put;
	uint64_t dropped, pending_reads;
	bool enabled, keep_newest;
	uint32_t gpus;                   /* GPUs to which the log is bound, one bit each */
	uint32_t instance[SIM_MAX_GPUS]; /* MIG instance on each GPU; SIM_MIG_ALL: all of them */
	bool all_users, admin;
	uid_t uid;
	uint16_t seqno;
	struct sim_log *next;
};

/* ---- the buffer's memory --------------------------------------------------------------------- */

static void write_header(struct sim_log *log)
{
	struct sim_log_header h = {
		.get = log->get,
		.put = log->put,
		.count = log->pending_reads,
		.dropped = log->dropped,
	};

	sim_memory_write(log->header->memory, offsetof(struct sim_log_header, get), &h.get,
			 sizeof(h.get));
	sim_memory_write(log->header->memory, offsetof(struct sim_log_header, count), &h.count,
			 sizeof(h) - offsetof(struct sim_log_header, count));
	/* published last, so that a reader that sees this value also sees the records */
	sim_memory_publish(log->header->memory, offsetof(struct sim_log_header, put), h.put);
}

static void append(struct sim_log *log, const struct sim_log_record *rec)
{
	uint32_t next = (log->put + 1) % log->count;
	size_t n = log->record_size < sizeof(*rec) ? log->record_size : sizeof(*rec);

	if (!log->keep_newest && next == log->get) {
		log->dropped++;
		return;
	}
	sim_memory_write(log->records->memory, (size_t)log->put * log->record_size, rec, n);
	log->put = next;
}

/*
 * Writes a record into a log. Sequence numbers also count records that were lost, so that the
 * reader sees a gap.
 */
static void deliver(struct sim_rm *rm, struct sim_log *log, const struct sim_pending *p)
{
	bool foreign = !log->admin && p->uid != log->uid;
	struct sim_log_record rec = {
		.type = SIM_LOG_RECORD_TYPE,
		.tag = p->start ? SIM_LOG_START : SIM_LOG_END,
		.context_id = foreign ? 0 : p->cid,
		.pid = foreign ? 0 : p->pid,
		.gi = !p->instance ? SIM_LOG_NO_MIG
		      : foreign    ? SIM_LOG_HIDDEN_MIG
				   : p->instance,
		.ci = !p->instance ? SIM_LOG_NO_MIG
		      : foreign    ? SIM_LOG_HIDDEN_MIG
				   : p->compute,
		.ns = p->ns / TICK_NS * TICK_NS,
	};

	log->seqno += p->lost;
	if (!log->all_users && p->uid != log->uid)
		return;
	if (foreign) {
		rm->noise = rm->noise * 6364136223846793005ull + 1442695040888963407ull;
		rec.ns -= rec.ns < NOISE_NS ? 0 : (rm->noise >> 33) % NOISE_NS / TICK_NS * TICK_NS;
	}
	rec.seqno = log->seqno++;
	if (log->enabled)
		append(log, &rec);
}

/* ---- the GPU's buffer ------------------------------------------------------------------------ */

static bool is_bound(const struct sim_rm *rm, unsigned int gpu)
{
	for (const struct sim_log *log = rm->logs; log; log = log->next)
		if (log->gpus & 1u << gpu)
			return true;
	return false;
}

/* True if the TSG or bare channel @o still has the channel with this context id. */
static bool has_channel(const struct sim_object *o, uint32_t cid)
{
	if (o->channel)
		return o->cid == cid;
	for (const struct sim_object *ch = o->first; ch; ch = ch->next)
		if (ch->channel && ch->cid == cid)
			return true;
	return false;
}

void sim_rm_switched(struct sim_rm *rm, const struct sim_switch *sw)
{
	const struct sim_object *o = sw->user;
	struct sim_gpu_log *g = &rm->gpu_log[sw->gpu];

	if (sw->engine >= SIM_ENGINE_COPY0 || !rm->logs || !is_bound(rm, sw->gpu))
		return;
	if (g->n == MAX_PENDING || GS_GROW(g->at, g->cap, g->n + 1)) {
		g->lost++;
		return;
	}
	g->at[g->n++] = (struct sim_pending){
		.ns = sw->ns,
		.cid = sw->context_id,
		.pid = (uint32_t)o->client->pid,
		.uid = o->client->uid,
		.lost = g->lost,
		.instance = (uint8_t)o->instance,
		.compute = (uint8_t)(o->compute ? o->compute - 1 : 0),
		.start = sw->start,
		.gone = !has_channel(o, sw->context_id),
	};
	g->lost = 0;
}

void sim_log_channel_gone(struct sim_rm *rm, const struct sim_object *channel)
{
	struct sim_gpu_log *g;

	if (channel->gpu < 0)
		return;
	g = &rm->gpu_log[channel->gpu];
	for (unsigned int i = 0; i < g->n; i++)
		if (g->at[i].cid == channel->cid)
			g->at[i].gone = true;
}

static bool is_wanted(const struct sim_log *log, unsigned int gpu, const struct sim_pending *p)
{
	return !p->instance || log->instance[gpu] == SIM_MIG_ALL ||
	       log->instance[gpu] == p->instance;
}

static void drain(struct sim_rm *rm)
{
	for (unsigned int gpu = 0; rm->logs && gpu < rm->config.gpus; gpu++) {
		struct sim_gpu_log *g = &rm->gpu_log[gpu];

		for (unsigned int i = 0; i < g->n; i++)
			for (struct sim_log *log = rm->logs; log && !g->at[i].gone; log = log->next)
				if (log->gpus & 1u << gpu && is_wanted(log, gpu, &g->at[i]))
					deliver(rm, log, &g->at[i]);
		g->n = 0;
	}
	for (struct sim_log *log = rm->logs; log; log = log->next)
		write_header(log);
}

static uint64_t interval(const struct sim_rm *rm)
{
	return rm->config.branch >= 545 ? INTERVAL_NS : INTERVAL_OLD_NS;
}

uint64_t sim_rm_next(const struct sim_rm *rm)
{
	return rm->log_due;
}

void sim_rm_run(struct sim_rm *rm, uint64_t now)
{
	if (now < rm->log_due)
		return;
	drain(rm);
	rm->log_due = now + interval(rm);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static uint32_t check_memory(struct sim_object *o, uint32_t handle, uint64_t size,
			     struct sim_object **ret)
{
	struct sim_object *m = sim_object_find(o->client, handle);

	if (!m)
		return SIM_NV_NOT_FOUND;
	if (!m->memory || !sim_memory_user_read_only(m->memory) ||
	    sim_memory_size(m->memory) < size)
		return SIM_NV_INVALID_ARGUMENT;
	*ret = m;
	return SIM_NV_OK;
}

static uint32_t check(const struct sim_log_params *p)
{
	if (!p->h_header)
		return SIM_NV_NOT_SUPPORTED;
	if (!p->h_records || !p->record_size || !p->record_count ||
	    (uint64_t)p->record_size * p->record_count > UINT32_MAX ||
	    p->free_threshold > p->record_count || p->vardata_threshold > p->vardata_size ||
	    !p->vardata_size != !p->h_vardata)
		return SIM_NV_INVALID_ARGUMENT;
	/* our programs do not use these fields: docs/sim.md */
	return p->h_vardata || p->event || p->subdevice ? SIM_NV_NOT_SUPPORTED : SIM_NV_OK;
}

uint32_t sim_log_alloc(struct sim_rm *rm, struct sim_object *o, uint64_t params,
		       const struct sim_caller *c)
{
	struct sim_log_params p;
	struct sim_object *header, *records;
	struct sim_log *log;
	uint32_t status;

	if (!params)
		return SIM_NV_INVALID_ARGUMENT;
	if (rm->nlogs >= MAX_LOGS)
		return SIM_NV_NO_RESOURCES;
	if (c->read(c, params, &p, sizeof(p)))
		return SIM_NV_INVALID_ADDRESS;
	status = check(&p);
	if (!status)
		status = check_memory(o, p.h_header, sizeof(struct sim_log_header), &header);
	if (!status)
		status = check_memory(o, p.h_records, (uint64_t)p.record_size * p.record_count,
				      &records);
	if (status)
		return status;
	log = calloc(1, sizeof(*log));
	if (!log)
		return SIM_NV_NO_MEMORY;
	log->o = o;
	log->header = header;
	log->records = records;
	log->record_size = p.record_size;
	log->count = p.record_count;
	log->uid = o->client->uid;
	log->next = rm->logs;
	rm->logs = log;
	rm->nlogs++;
	o->log = log;
	write_header(log);
	return SIM_NV_OK;
}

/*
 * Drops the pending records of GPUs that no log is bound to any more: such a GPU stops recording.
 */
static void forget_pending(struct sim_rm *rm)
{
	bool any = false;

	for (unsigned int gpu = 0; gpu < rm->config.gpus; gpu++) {
		struct sim_gpu_log *g = &rm->gpu_log[gpu];

		if (is_bound(rm, gpu)) {
			any = true;
			continue;
		}
		free(g->at);
		*g = (struct sim_gpu_log){ 0 };
	}
	if (!any)
		rm->log_due = UINT64_MAX;
}

void sim_log_free(struct sim_rm *rm, struct sim_object *o)
{
	struct sim_log **at = &rm->logs;

	if (!o->log)
		return;
	while (*at != o->log)
		at = &(*at)->next;
	*at = o->log->next;
	rm->nlogs--;
	free(o->log);
	o->log = NULL;
	forget_pending(rm);
}

void sim_log_memory_gone(struct sim_rm *rm, struct sim_object *memory)
{
	for (struct sim_log *log = rm->logs, *next; log; log = next) {
		next = log->next;
		if (log->header == memory || log->records == memory)
			sim_object_free(rm, log->o);
	}
}

/* ---- controls -------------------------------------------------------------------------------- */

uint32_t sim_log_bind(struct sim_ctrl_args *a)
{
	struct sim_ctrl_log_bind *p = a->p;
	struct sim_object *o = sim_object_find(a->o->client, p->buffer);
	uint32_t gpu = 1u << a->o->gpu;
	struct sim_log *log;

	p->reason = 0;
	if (!o)
		return SIM_NV_NOT_FOUND;
	log = o->log;
	if (!log)
		return SIM_NV_INVALID_OBJECT_HANDLE;
	if (log->gpus & gpu)
		return SIM_NV_OK;
	log->instance[a->o->gpu] = sim_mig_instance(a->o);
	if (a->rm->config.mig && !log->instance[a->o->gpu])
		return SIM_NV_NOT_FOUND;
	/* only the kernel may choose the level of detail; all other clients get START and END */
	if (!log->gpus) {
		log->all_users = p->all_users;
		log->admin = a->c->capable(a->c, CAP_SYS_ADMIN);
	}
	log->gpus |= gpu;
	if (a->rm->log_due == UINT64_MAX)
		a->rm->log_due = sim_model_now(a->rm->model) + interval(a->rm);
	return SIM_NV_OK;
}

static uint32_t enable(struct sim_log *log, const struct sim_ctrl_log_enable *p)
{
	if (p->flags & ~(KEEP_OLDEST | KEEP_NEWEST))
		return SIM_NV_INVALID_ARGUMENT;
	log->enabled = p->enable;
	if (p->flags)
		log->keep_newest = p->flags & KEEP_NEWEST;
	return SIM_NV_OK;
}

static uint32_t update_get(struct sim_log *log, const struct sim_ctrl_log_get *p)
{
	if (p->record >= log->count || p->vardata)
		return SIM_NV_INVALID_ARGUMENT;
	log->get = p->record;
	log->pending_reads =
		log->get <= log->put ? log->put - log->get : log->put + (log->count - log->get);
	log->dropped = 0;
	write_header(log);
	return SIM_NV_OK;
}

uint32_t sim_rm_control_log(uint32_t cmd, struct sim_ctrl_args *a)
{
	switch (cmd) {
	case SIM_CTRL_LOG_ENABLE:
		return enable(a->o->log, a->p);
	case SIM_CTRL_LOG_UPDATE_GET:
		return update_get(a->o->log, a->p);
	case SIM_CTRL_LOG_FLUSH:
		drain(a->rm);
		return SIM_NV_OK;
	}
	return SIM_NV_NOT_SUPPORTED;
}
