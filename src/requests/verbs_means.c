// SPDX-License-Identifier: MIT
/*
 * verbs_means.c - handles means_get and means_choose: shows what is known about programs, and
 * chooses how a new program shares the GPU
 */
#include "requests/verbs_means.h"

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/json_sheet.h"
#include "process/cgroup.h"
#include "requests/requests.h"
#include "table/procs.h"
#include "table/started.h"

static bool has_class(const struct gs_requests *rs, const struct gs_pool_process *all, size_t n,
		      uint32_t class_id)
{
	struct gpusched_proc proc;

	for (size_t i = 0; i < n; i++)
		if (!gs_proc_get(rs->hub->table, all[i].pid, &proc) &&
		    proc.start_ns == all[i].start_ns && proc.class_id == class_id)
			return true;
	return false;
}

/*
 * True if the pool has a client or member of that class. Members count too: a member or one of its
 * children will soon be a client.
 */
static bool has_in(const struct gs_requests *rs, const struct gs_pool *p, uint32_t class_id)
{
	return p && (has_class(rs, p->clients, p->nclients, class_id) ||
		     has_class(rs, p->members, p->nmembers, class_id));
}

/* Finds the user's shared server (@share), or else a pool of class be. NULL: none runs. */
static const struct gs_pool *running(const struct gs_requests *rs, uid_t uid, bool share)
{
	const struct gs_pools *all = &rs->intake->pools;

	for (size_t i = 0; i < all->n; i++) {
		const struct gs_pool *p = &all->all[i];
		struct gpusched_proc proc = { 0 };

		if (p->uid != uid || p->share != share)
			continue;
		if (share || (!gs_proc_get(rs->hub->table, p->server, &proc) &&
			      proc.class_id == GPUSCHED_CLASS_BE))
			return p;
	}
	return NULL;
}

/* True if such a program of the user is about to work. */
static bool starts(const struct gs_requests *rs, uid_t uid, enum gs_role role, bool share)
{
	return gs_starts_has(gs_means_starts(rs->means), uid, role, share, gs_now_ns());
}

/*
 * The programs that run now or are about to, for choices for one user. @lc_runs:
 * gs_means_lc_runs().
 */
static struct gs_means_case case_of(const struct gs_requests *rs, uid_t uid, bool lc_runs)
{
	const struct gs_pool *share = running(rs, uid, true);
	bool lc_in = has_in(rs, share, GPUSCHED_CLASS_LC) || starts(rs, uid, GS_ROLE_LC, true);

	return (struct gs_means_case){
		.may_share = rs->hub->config->allow_share,
		/* a shared server helps a service only if best-effort programs use that server */
		.share_runs =
			has_in(rs, share, GPUSCHED_CLASS_BE) || starts(rs, uid, GS_ROLE_BE, true),
		.lc_outside = (lc_runs || starts(rs, uid, GS_ROLE_LC, false)) && !lc_in,
		.pool_runs = running(rs, uid, false) != NULL,
	};
}

/* Chooses the means for a program. @r: what is known about the program; NULL: nothing. */
static struct gs_means_choice choose(const struct gs_means_case *now, enum gs_role role,
				     const struct gs_remembered *r)
{
	struct gs_means_case c = *now;

	c.role = role;
	c.known = r != NULL;
	c.seen = r ? r->seen : (struct gs_evidence){ 0 };
	return gs_means_choice_make(&c);
}

static void put_us(json_t *o, const char *key, uint32_t us)
{
	gs_json_put_number(o, key, us != 0, us);
}

/* Adds a choice, and what is known about the program (@r; NULL: nothing). */
static void put(json_t *o, const struct gs_means_choice *c, const struct gs_remembered *r, bool all)
{
	const struct gs_evidence e = r ? r->seen : (struct gs_evidence){ 0 };
	json_t *waits = json_object();

	for (int m = 0; m < GS_MEANS_MAX; m++)
		put_us(waits, gs_means_choice_name(m), c->wait_us[m]);
	gs_json_put_text(o, "means", gs_means_choice_name(c->means));
	gs_json_put_text(o, "why", gs_means_choice_why_text(c->why));
	gs_json_put(o, "known", json_boolean(r != NULL));
	gs_json_put_text(o, "kind", r ? gs_program_kind_name(e.kind) : NULL);
	put_us(o, "leave_cilp_us", e.leave_cilp_us);
	put_us(o, "leave_cta_us", e.leave_cta_us);
	put_us(o, "switch_us", e.switch_us);
	/* figures of services, which may be other users' */
	put_us(o, "lc_turn_us", all ? e.lc_turn_us : 0);
	gs_json_put(o, "lc_graphs", all ? json_boolean(e.lc_graphs) : json_null());
	gs_json_put_number(o, "turns_a_request", e.turns_a_request != 0, e.turns_a_request);
	gs_json_put_number(o, "be_beside", r != NULL, e.be_beside);
	gs_json_put(o, "wait_us", waits);
}

/* ---- means_get ------------------------------------------------------------------------------- */

static json_t *row_of(const struct gs_means_case *now, const struct gs_remembered *r, bool all)
{
	static const char *const classes[] = { [GS_ROLE_LC] = "lc", [GS_ROLE_BE] = "be" };
	const struct gs_means_choice c = choose(now, r->role, r);
	json_t *o = json_object();

	gs_json_put_number(o, "uid", true, r->id.uid);
	gs_json_put(o, "exe", gs_json_text(r->id.exe));
	gs_json_put_text(o, "script", NULL);
	if (*r->id.script)
		gs_json_put(o, "script", gs_json_text(r->id.script));
	gs_json_put_text(o, "place", r->id.place);
	gs_json_put_text(o, "class", r->role == GS_ROLE_OTHER ? NULL : classes[r->role]);
	put(o, &c, r, all);
	gs_json_put_number(o, "used_s", true, (uint64_t)r->used_s);
	json_object_set_new(o, "pids", json_array());
	return o;
}

struct answer {
	json_t *rows;
	const struct gs_view *view;
};

static void add_pid(const struct gs_remembered *r, uint32_t pid, void *user)
{
	const struct answer *a = user;
	json_t *pids = json_object_get(json_array_get(a->rows, r->at), "pids");
	size_t n = json_array_size(pids);

	if (!(gs_view_process(a->view, r->id.uid) & GS_SEES_ALL) ||
	    (n && json_integer_value(json_array_get(pids, n - 1)) == (json_int_t)pid))
		return;
	json_array_append_new(pids, json_integer(pid));
}

/*
 * A cache of users' situations: root sees all users' programs in any order, and must not look the
 * same user up for each program.
 */
#define USERS 64u
struct user {
	bool known;
	uid_t uid;
	struct gs_means_case now;
};

static const struct gs_means_case *case_of_user(const struct gs_requests *rs, struct user *users,
						uid_t uid, bool lc_runs)
{
	struct user *u = &users[uid % USERS];

	if (!u->known || u->uid != uid)
		*u = (struct user){ true, uid, case_of(rs, uid, lc_runs) };
	return &u->now;
}

/* Shows the caller's programs; root sees those of all users. */
int gs_verb_means_get(struct gs_request *rq)
{
	struct answer a = { .rows = json_array(), .view = &rq->view };
	bool lc_runs = gs_means_lc_runs(rq->rs->means);
	struct user users[USERS] = { 0 };

	for (struct gs_remembered *r = gs_means_all(rq->rs->means); r; r = r->hh.next) {
		if (!r->looked || !(gs_view_process(&rq->view, r->id.uid) & GS_SEES_ALL))
			continue;
		r->at = json_array_size(a.rows);
		json_array_append_new(a.rows,
				      row_of(case_of_user(rq->rs, users, r->id.uid, lc_runs), r,
					     rq->view.others & GS_SEES_ALL));
	}
	gs_means_running(rq->rs->means, add_pid, &a);
	json_object_set_new(rq->answer, "programs", a.rows);
	json_object_set_new(rq->answer, "allow_share",
			    json_boolean(rq->rs->hub->config->allow_share));
	return 0;
}

/* ---- means_choose ---------------------------------------------------------------------------- */

/* Identifies the program that the caller is about to run in its present cgroup. */
static int program_of(struct gs_request *rq, struct gs_program_id *ret)
{
	const json_t *list = json_object_get(rq->args, "args"), *v;
	char cgroup[GS_CGROUP_PATH_LEN] = "", args[4096];
	struct gs_pod_names pod = { 0 };
	size_t i, n = 0;

	json_array_foreach((json_t *)list, i, v) {
		size_t len = json_string_length(v) + 1;

		if (n + len > sizeof(args))
			break;
		memcpy(args + n, json_string_value(v), len);
		n += len;
	}
	if (gs_cgroup_root() && !gs_cgroup_path(rq->peer->pid, cgroup))
		gs_pod_names(cgroup, &pod);
	return gs_program_id(rq->peer->uid, gs_arg_text(rq, "exe"), args, n, cgroup,
			     *pod.uid ? &pod : NULL, ret);
}

static void remember_start(struct gs_request *rq, enum gs_role role, bool share)
{
	const struct gs_start start = {
		.ns = gs_now_ns(),
		.uid = rq->peer->uid,
		.role = role,
		.share = share,
	};
	struct gs_process_who who = { rq->peer->pid, rq->peer->uid, 0, NULL };
	struct gs_process *p = NULL;

	if (!gs_started(who.pid, &who.start_ns))
		p = gs_processes_meet(rq->rs->hub, &who);
	if (p)
		gs_starts_add(gs_means_starts(rq->rs->means), p, &start);
}

int gs_verb_means_choose(struct gs_request *rq)
{
	struct gs_requests *rs = rq->rs;
	const struct gs_remembered *r = NULL;
	const struct gs_pool *server;
	struct gs_program_id id;
	struct gs_means_case now;
	struct gs_means_choice c;
	uint32_t class_id;

	if (gs_class_id(rs->hub->classes, gs_arg_text(rq, "class"), &class_id))
		return gs_fail(rq->err, -EINVAL,
			       "there is no class '%s': 'gpusched class list' shows them",
			       gs_arg_text(rq, "class"));
	if (!rs->hub->opts.daemon)
		return gs_fail(rq->err, -ENOTSUP, "gpuschedd alone knows programs: %s",
			       gs_env_start_daemon());
	if (!gs_arg_true(rq, "auto") && !gs_class_extras(rs->hub->classes, class_id).means_auto) {
		json_object_set_new(rq->answer, "means", json_null());
		return 0;
	}
	if (!program_of(rq, &id))
		r = gs_means_use(rs->means, &id);
	if (r && r->seen.lc_graphs && gs_means_choice_role(class_id) == GS_ROLE_LC)
		gs_means_graphs_come(rs->means, rq->peer->uid);
	now = case_of(rs, rq->peer->uid, gs_means_lc_runs(rs->means));
	c = choose(&now, gs_means_choice_role(class_id), r);
	remember_start(rq, gs_means_choice_role(class_id), c.means == GS_MEANS_SHARE);
	put(rq->answer, &c, r, rq->view.others & GS_SEES_ALL);
	server = c.means == GS_MEANS_SHARE || c.means == GS_MEANS_POOL
			 ? running(rs, rq->peer->uid, c.means == GS_MEANS_SHARE)
			 : NULL;
	gs_json_put_text(rq->answer, "server", server ? server->name : NULL);
	return 0;
}
