// SPDX-License-Identifier: MIT
/*
 * policy.c - opens, starts, switches and ends policies, the same on every host
 */
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "policy/host.h"

const struct gs_host *gs_policy_host(const char *name)
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
		return gs_host_failed(p, x, err);
	if (r.ret >= 0)
		return 0;
	gs_exit_fill(x, err, GS_POLICY_EXIT_ERROR, -EPROTO, p->info.name,
		     gs_loaded_log_text(&p->loaded), "policy %s: init returned %d", p->info.name,
		     r.ret);
	if (x)
		x->code = r.ret;
	return -EPROTO;
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
	return r;
}

bool gs_policy_end(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	return p->host->detach(p, kind);
}

void gs_policy_stop(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	if (p && gs_policy_end(p, kind))
		p->host->free(p);
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

bool gs_policy_remark(const struct gs_policy_info *info, unsigned int n, char *ret, size_t size)
{
	char fields[160];

	if (strstr(info->callbacks, "work_submit") && !(info->flags & GPUSCHED_F_WORK) && !n--) {
		snprintf(ret, size, "warning: work_submit is never called without GPUSCHED_F_WORK");
		return true;
	}
	if (gs_reads_text(info->reads, gs_host_stock.facts, fields, sizeof(fields)) && !n--) {
		snprintf(ret, size,
			 "note: it reads %s, which the stock host does not know: 0 there", fields);
		return true;
	}
	if ((info->reads & GS_READS_FACTS) && !(info->flags & GPUSCHED_F_FACTS) && !n--) {
		snprintf(ret, size,
			 "note: it asks for facts without GPUSCHED_F_FACTS: they may be a second "
			 "old");
		return true;
	}
	if (info->stack > GS_CALLBACK_STACK && !n--) {
		snprintf(ret, size,
			 "warning: %s takes %u bytes of stack with all that it calls: kernels "
			 "before 6.8 refuse more than %u",
			 info->deepest, info->stack, GS_CALLBACK_STACK);
		return true;
	}
	if (info->never_admits && !n--) {
		snprintf(ret, size,
			 "warning: schedule returns GPUSCHED_HOLD, and no callback calls "
			 "gpusched_admit(): each hold lasts until its limit");
		return true;
	}
	if (info->reads_more && !n--) {
		snprintf(ret, size, "note: not all that it reads of a TSG can be seen");
		return true;
	}
	return false;
}
