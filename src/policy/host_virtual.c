// SPDX-License-Identifier: MIT
/*
 * host_virtual.c - reports a policy's failure, and has the common parts of the hosts in virtual
 * time
 */
#include "policy/host.h"

#include <errno.h>

#include "basic/clock.h"

int gs_host_failed(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	int code = p->fail_code < 0 ? p->fail_code : -EPROTO;

	gs_exit_fill(x, err, GS_POLICY_EXIT_ERROR, code, p->info.name,
		     gs_loaded_log_text(&p->loaded), "policy %s failed: %s", p->info.name,
		     p->failure);
	if (x)
		x->code = p->fail_code;
	return code;
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

int gs_virtual_gpu(const struct gs_policy *p, uint32_t gpu, struct gpusched_gpu *ret)
{
	*ret = (struct gpusched_gpu){ 0 };
	return p->world.gpu ? p->world.gpu(p->world.user, gpu, ret) : -ENOENT;
}

int gs_virtual_find(const struct gs_policy *p, uint64_t id, struct gpusched_task *ret)
{
	size_t n = 0;
	struct gpusched_task *const *tasks = p->world.tasks(p->world.user, &n);

	*ret = (struct gpusched_task){ 0 };
	for (size_t i = 0; i < n; i++)
		if (tasks[i]->id == id) {
			*ret = gs_virtual_shown(p, tasks[i]);
			return 0;
		}
	return -ENOENT;
}

int gs_virtual_limit(const struct gs_policy *p, uint64_t id, struct gpusched_limit *ret)
{
	*ret = (struct gpusched_limit){ 0 };
	return p->world.limit ? p->world.limit(p->world.user, id, ret) : -ENOENT;
}

int gs_virtual_promise(const struct gs_policy *p, uint64_t id, struct gpusched_promise *ret)
{
	*ret = (struct gpusched_promise){ 0 };
	return p->world.promise ? p->world.promise(p->world.user, id, ret) : -ENOENT;
}

uint64_t gs_virtual_job(const struct gs_policy *p, uint64_t id)
{
	return p->world.job ? p->world.job(p->world.user, id) : 0;
}
