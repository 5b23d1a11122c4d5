// SPDX-License-Identifier: MIT
/*
 * policy.c - a policy's life, the same on every host
 */
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "policy/host.h"

const struct gs_host *gs_host_find(const char *name)
{
	static const struct gs_host *const hosts[] = { &gs_host_stock, &gs_host_sim,
						       &gs_host_native };

	for (size_t i = 0; i < GS_COUNT(hosts); i++)
		if (strcmp(hosts[i]->name, name) == 0)
			return hosts[i];
	return NULL;
}

/* ---- start ----------------------------------------------------------------------------------- */

static int call_init(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	struct gpusched_run r = { .op = GPUSCHED_RUN_INIT };
	int ret = p->host->ask(p, &r, NULL);

	if (ret < 0 && !p->failure[0])
		return gs_fail(err, ret, "policy %s: cannot be run: %s", p->info.name,
			       strerror(-ret));
	if (ret < 0)
		return gs_policy_failed(p, x, err);
	if (r.ret >= 0)
		return 0;
	gs_exit_fill(x, err, GS_POLICY_EXIT_ERROR, -EPROTO, p->info.name,
		     gs_loaded_log_text(&p->loaded), "policy %s: init returned %d", p->info.name,
		     r.ret);
	if (x)
		x->code = r.ret;
	return -EPROTO;
}

int gs_policy_failed(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	int code = p->fail_code < 0 ? p->fail_code : -EPROTO;

	gs_exit_fill(x, err, GS_POLICY_EXIT_ERROR, code, p->info.name,
		     gs_loaded_log_text(&p->loaded), "policy %s failed: %s", p->info.name,
		     p->failure);
	if (x)
		x->code = p->fail_code;
	return code;
}

static int open_one(struct gs_policy *p, const char *name, const char *const *options,
		    size_t noptions, bool init, struct gs_policy_exit *x, struct gs_error *err)
{
	int r = p->host->vet(p, name, x, err);

	if (r == 0)
		r = gs_options_set(&p->info, options, noptions, err);
	if (r == 0)
		r = p->host->link(p, x, err);
	return r == 0 && init ? call_init(p, x, err) : r;
}

static struct gs_policy *policy_new(const struct gs_host *h, const struct gs_world *w)
{
	struct gs_policy *p = calloc(1, h->size);

	if (!p)
		return NULL;
	p->host = h;
	p->world = *w;
	return p;
}

int gs_policy_open(const struct gs_host *h, const struct gs_world *w, const char *name,
		   const char *const *options, size_t noptions, struct gs_policy **ret,
		   struct gs_policy_exit *ret_exit, struct gs_error *err)
{
	struct gs_policy *p = policy_new(h, w);
	struct gs_policy_exit x = { 0 };
	int r;

	*ret_exit = x;
	if (!p)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = open_one(p, name, options, noptions, true, &x, err);
	*ret_exit = x;
	if (r < 0) {
		h->free(p);
		return r;
	}
	*ret = p;
	return 0;
}

int gs_policy_prepare(struct gs_table *o, bool hooked, const char *name, const char *const *options,
		      size_t noptions, struct gs_policy **ret, struct gs_policy_exit *ret_exit,
		      struct gs_error *err)
{
	const struct gs_world w = { .table = o, .hooked = hooked };

	return gs_policy_open(&gs_host_stock, &w, name, options, noptions, ret, ret_exit, err);
}

void gs_policy_discard(struct gs_policy *p)
{
	if (p)
		p->host->free(p);
}

int gs_policy_take_over(struct gs_policy *p, struct gs_policy *prev,
			struct gs_policy_exit *ret_exit, struct gs_error *err)
{
	struct gs_policy_exit x = { 0 };
	int r = prev ? p->host->switch_over(p, prev, &x, err) : p->host->attach(p, &x, err);

	*ret_exit = x;
	if (r < 0)
		p->host->free(p);
	return r;
}

void gs_policy_stop(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	if (p)
		p->host->detach(p, kind);
}

const struct gs_policy_info *gs_policy_running(const struct gs_policy *p)
{
	return &p->info;
}

int gs_policy_check(const char *name_or_path, struct gs_policy_info *ret_info,
		    struct gs_policy_exit *ret_exit, struct gs_error *err)
{
	const struct gs_world nowhere = { 0 };
	struct gs_policy *p = policy_new(&gs_host_stock, &nowhere);
	struct gs_policy_exit x = { 0 };
	int r;

	if (!p)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = open_one(p, name_or_path, NULL, 0, false, &x, err);
	if (r == 0 && ret_info) {
		*ret_info = p->info;
		p->info.options = NULL;
	}
	p->host->free(p);
	*ret_exit = x;
	return r;
}

/* ---- virtual time ---------------------------------------------------------------------------- */

int gs_virtual_ask(struct gs_policy *p, enum gpusched_run_op op, struct gpusched_task *t,
		   uint64_t arg)
{
	struct gpusched_run r = { .op = op, .arg = arg };
	int ret = p->host->ask(p, &r, t);

	if (ret < 0)
		return ret;
	if (op != GPUSCHED_RUN_WORK_SUBMIT || r.changed)
		gs_rest_end(&p->rest);
	return op == GPUSCHED_RUN_SCHEDULE && r.ret > 0 ? r.ret : 0;
}

int gs_virtual_round(struct gs_policy *p)
{
	struct gpusched_run r = { .op = GPUSCHED_RUN_TICK };
	uint64_t now = p->world.now_ns(p->world.user);
	int ret;

	if (gs_rest_is(&p->rest, now))
		return 0;
	r.arg = ++p->seq << 32 | p->info.tick_us;
	ret = p->host->ask(p, &r, NULL);
	p->rest.until_ns = now + gs_rest_ms(r.ret, r.changed) * NS_PER_MS;
	return ret;
}

bool gs_virtual_kicked(struct gs_policy *p)
{
	bool kicked = p->kicks != p->kicks_seen;

	p->kicks_seen = p->kicks;
	if (kicked)
		gs_rest_end(&p->rest);
	return kicked;
}

struct gpusched_task gs_virtual_shown(const struct gs_policy *p, const struct gpusched_task *t)
{
	uint32_t hidden = p->world.hidden;
	struct gpusched_task shown = *t;

	shown.known &= ~hidden;
	if (hidden & GPUSCHED_KNOWN_GPU_TIME)
		shown.gpu_time_ns = shown.wait_time_ns = shown.switches = 0;
	if (hidden & GPUSCHED_KNOWN_LAST_RUN)
		shown.last_run_ns = 0;
	if (hidden & GPUSCHED_KNOWN_BLOCK_TIME)
		shown.block_time_ns = 0;
	return shown;
}

int gs_virtual_facts(const struct gs_policy *p, uint64_t id, struct gpusched_facts *ret)
{
	*ret = (struct gpusched_facts){ 0 };
	return p->world.facts ? p->world.facts(p->world.user, id, ret) : -ENOENT;
}

int gs_virtual_runlist(const struct gs_policy *p, uint32_t runlist,
		       struct gpusched_runlist_facts *ret)
{
	*ret = (struct gpusched_runlist_facts){ 0 };
	return p->world.runlist ? p->world.runlist(p->world.user, runlist, ret) : -ENOENT;
}

uint64_t gs_virtual_job(const struct gs_policy *p, uint64_t id)
{
	return p->world.job ? p->world.job(p->world.user, id) : 0;
}
