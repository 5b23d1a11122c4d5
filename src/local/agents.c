// SPDX-License-Identifier: MIT
/*
 * agents.c - carries out requests through the agents in the user's own programs
 *
 * This is for a user without a daemon. Each agent lists its program's TSGs. Controls go to the
 * agent, which makes the calls to the driver. Verbs that need a table, a policy or other users'
 * programs need a daemon.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/grow.h"
#include "basic/json_sheet.h"
#include "local/agents.h"
#include "wire/agent.h"
#include "rm/setting.h"
#include "rm/way.h"
#include "config/config.h"
#include "requests/json.h"
#include "requests/target.h"
#include "requests/verb.h"

#define ID_SHIFT 8 /* a TSG's id is the pid, shifted by this, plus its number in the process */

struct seen {
	struct gpusched_tsg rec;
	struct gs_agent_facts facts;
};

struct agents {
	struct gs_config *config;
	struct gs_classes *classes;
	struct gs_gpu *gpus;
	size_t ngpus;
	struct seen *tsgs;
	size_t n, room;
};

static void agents_end(struct agents *a)
{
	gs_classes_free(a->classes);
	gs_config_free(a->config);
	free(a->gpus);
	free(a->tsgs);
}

/* ---- the programs that are there ------------------------------------------------------------- */

static void forget(const char *dir, const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

bool agents_are_there(void)
{
	char dir[80];
	CLEANUP_DIR DIR *d = NULL;
	struct dirent *e;

	if (gs_agent_way_dir_check(gs_agent_way_dir(dir, sizeof(dir)), 0))
		return false;
	d = opendir(dir);
	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "agent-", 6))
			return true;
	return false;
}

static int add(struct agents *a, const struct gs_agent_answer *answer, uint32_t i, pid_t pid)
{
	struct seen *s;
	uint32_t id;

	if (GS_GROW(a->tsgs, a->room, a->n + 1))
		return -ENOMEM;
	s = &a->tsgs[a->n++];
	s->rec = answer->tsgs[i];
	s->facts = answer->facts;
	s->facts.class_[sizeof(s->facts.class_) - 1] = '\0';
	s->facts.blind[sizeof(s->facts.blind) - 1] = '\0';
	/* do not trust the agent for values that the kernel knows */
	s->rec.task.pid = (uint32_t)pid;
	s->rec.task.uid = geteuid();
	s->rec.task.id = (uint64_t)pid << ID_SHIFT | (s->rec.task.id & ((1u << ID_SHIFT) - 1));
	if (!gs_class_id(a->classes, s->facts.class_, &id))
		s->rec.task.class_id = id;
	return 0;
}

static int look_at(struct agents *a, const char *dir, const char *name)
{
	const size_t size =
		sizeof(struct gs_agent_answer) + GS_AGENT_TSGS * sizeof(struct gpusched_tsg);
	CLEANUP_FREE struct gs_agent_answer *answer = calloc(1, size);
	pid_t pid = atoi(name + strlen("agent-"));
	CLEANUP_FD int fd = gs_agent_way_connect(pid);
	int r = 0;

	if (!answer)
		return -ENOMEM;
	if (fd == -ECONNREFUSED) /* the program has crashed, and left its socket */
		forget(dir, name);
	if (fd < 0 || gs_agent_way_ask(fd, &(struct gs_agent_request){ .ask = GS_AGENT_LIST },
				       answer, size, NULL))
		return 0;
	for (uint32_t i = 0; i < answer->n && !r; i++)
		r = add(a, answer, i, pid);
	return r;
}

static int look(struct agents *a, struct gs_error *err)
{
	char dir[80];
	CLEANUP_DIR DIR *d = NULL;
	struct dirent *e;
	struct gs_declared made = { NULL };
	int r = gs_config_load_start(NULL, &a->config, err);

	if (!r) /* classes have no names of users */
		r = gs_config_declare(a->config, GS_NAMING_LATER, &made, err);
	if (r)
		return r;
	a->classes = made.classes;
	made.classes = NULL;
	gs_config_declared_done(&made);
	gs_gpus_read(&a->gpus, &a->ngpus, NULL);
	d = opendir(gs_agent_way_dir(dir, sizeof(dir)));
	while (d && !r && (e = readdir(d)))
		if (!strncmp(e->d_name, "agent-", 6))
			r = look_at(a, dir, e->d_name);
	return r ? gs_fail(err, r, "%s", strerror(-r)) : 0;
}

/* ---- list ------------------------------------------------------------------------------------ */

static json_t *row(const struct seen *s)
{
	const struct gs_agent_facts *f = &s->facts;
	json_t *o = gs_tsg_json(NULL, &s->rec);
	bool counted = !f->blind[0] && s->rec.task.kind == GPUSCHED_KIND_COMPUTE;

	json_object_set_new(o, "known_by", json_string("agent"));
	gs_json_put_text(o, "class", f->class_);
	gs_json_put_text(o, "class_source", *f->class_ ? "told" : NULL);
	/* launches are counted per process, and shown with its compute TSGs */
	gs_told_json(f, counted, o);
	if (f->blind[0] && json_is_null(json_object_get(o, "reason"))) {
		char text[160];

		snprintf(text, sizeof(text), "launches are not counted: %s", f->blind);
		json_object_set_new(o, "reason", gs_json_text(text));
	}
	return o;
}

/* Keeps only the TSGs that @args names. */
static int select_tsgs(struct agents *a, const json_t *args, struct gs_error *err)
{
	const char *text = json_string_value(json_object_get(args, "target"));
	struct gs_target t;
	size_t kept = 0;
	int r = gs_target_parse(text ? text : "all", a->classes, a->gpus, a->ngpus, &t, err);

	if (r)
		return r;
	for (size_t i = 0; i < a->n; i++)
		if (gs_target_match(&t, &a->tsgs[i].rec, 0))
			a->tsgs[kept++] = a->tsgs[i];
	a->n = kept;
	return 0;
}

static json_t *rows(const struct agents *a)
{
	json_t *all = json_array();

	for (size_t i = 0; i < a->n; i++)
		json_array_append_new(all, row(&a->tsgs[i]));
	return json_pack("{s:o}", "tsgs", all);
}

/* ---- controls -------------------------------------------------------------------------------- */

#define MAX_STEPS GS_NFIELDS

/* Makes the steps that restore the settings that the program asked for. */
static size_t clearing(const struct gpusched_tsg *rec, struct gs_rm_step *steps)
{
	size_t n = 0;

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i), value = gs_field_get(&rec->task.asked, bit);

		if (gs_settings[i].name && rec->manual.valid & rec->task.asked.valid & bit)
			steps[n++] = (struct gs_rm_step){
				.op = gs_field_op(bit, value),
				.arg = value,
				.clear = true,
			};
	}
	return n;
}

static size_t setting(const struct gpusched_tsg *rec, const struct gpusched_settings *set,
		      struct gs_rm_step *steps)
{
	size_t n = 0;

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i);

		/* a preemption mode is set for compute TSGs only */
		if (bit == GPUSCHED_PREEMPT_MODE && rec->task.kind != GPUSCHED_KIND_COMPUTE)
			continue;
		if (set->valid & bit)
			steps[n++] = (struct gs_rm_step){
				.op = gs_field_op(bit, gs_field_get(set, bit)),
				.arg = gs_field_get(set, bit),
			};
	}
	return n;
}

static size_t steps_of(const char *verb, const json_t *args, const struct gpusched_tsg *rec,
		       struct gs_rm_step *steps)
{
	struct gpusched_settings set;

	if (!strcmp(verb, "set")) {
		gs_args_settings(args, &set);
		return json_is_true(json_object_get(args, "clear")) ? clearing(rec, steps)
								    : setting(rec, &set, steps);
	}
	steps[0] = (struct gs_rm_step){
		.op = !strcmp(verb, "preempt")   ? GS_RM_PREEMPT
		      : !strcmp(verb, "suspend") ? GS_RM_SUSPEND
						 : GS_RM_RESUME,
	};
	return 1;
}

static const char *why_text(const struct gs_rm_result *res, char buf[32])
{
	const char *name = gs_rm_status_name(res->status);

	if (!res->status)
		return strerror(-res->err);
	snprintf(buf, 32, "status 0x%x", res->status);
	return name ? name : buf;
}

/* Acts on one TSG, and returns its entry for the results. */
static json_t *act_on(const char *verb, const json_t *args, const struct seen *s, int *ret_code)
{
	const struct gs_rm_tsg tsg = {
		.pid = (pid_t)s->rec.task.pid,
		.client = s->rec.key.client,
		.tsg = s->rec.key.handle,
	};
	struct gs_rm_step steps[MAX_STEPS];
	size_t n = steps_of(verb, args, &s->rec, steps);
	int r = gs_way_agent.take(&tsg, steps, n);
	const char *why = NULL;
	char buf[32];

	for (size_t i = 0; i < n && r && !why; i++)
		if (steps[i].res.err)
			why = why_text(&steps[i].res, buf);
	*ret_code = r;
	return json_pack("{s:I, s:i, s:b, s:s?, s:n}", "id", (json_int_t)s->rec.task.id, "pid",
			 (int)s->rec.task.pid, "done", !r, "error", r ? why : NULL, "is");
}

static int control(struct agents *a, const char *verb, const json_t *args, json_t **ret,
		   struct gs_error *err)
{
	CLEANUP_JSON json_t *results = json_array();
	size_t done = 0;
	int first = 0;

	if (!a->n)
		return gs_fail(err, -ENOENT, "%s matches no TSG of your programs with an agent",
			       json_string_value(json_object_get(args, "target")));
	for (size_t i = 0; i < a->n; i++) {
		int code;
		json_t *one = act_on(verb, args, &a->tsgs[i], &code);

		done += !code;
		if (code && !first) {
			first = code;
			gs_fail(err, code, "the driver said %s",
				json_string_value(json_object_get(one, "error")) ?: "no");
		}
		json_array_append_new(results, one);
	}
	if (!done)
		return first;
	*ret = json_pack("{s:I, s:I, s:I, s:b, s:O}", "matched", (json_int_t)a->n, "changed",
			 (json_int_t)done, "failed", (json_int_t)(a->n - done), "dry_run", 0,
			 "results", results);
	return *ret ? 0 : -ENOMEM;
}

/* ---- requests -------------------------------------------------------------------------------- */

static int check(const char *verb, const json_t *args, struct gs_error *err)
{
	static const char *const able[] = { "list", "set", "preempt", "suspend", "resume" };
	size_t i = 0;

	while (i < GS_COUNT(able) && strcmp(verb, able[i]))
		i++;
	if (i == GS_COUNT(able))
		return gs_fail(err, -EPERM,
			       "%s: no daemon answers, and the agents in your own programs cannot: "
			       "start gpuschedd or use sudo",
			       verb);
	for (size_t k = 0; k < gs_nverbs; k++)
		if (!strcmp(gs_verbs[k].name, verb))
			return gs_args_check(&gs_verbs[k], args, err);
	return -EINVAL;
}

int agents_request(const char *verb, const json_t *args, json_t **ret, struct gs_error *err)
{
	CLEANUP(agents_end) struct agents a = { 0 };
	CLEANUP_JSON json_t *none = json_object();
	const json_t *asked = args ? args : none;
	int r = check(verb, asked, err);

	if (!r)
		r = look(&a, err);
	if (!r)
		r = select_tsgs(&a, asked, err);
	if (r)
		return r;
	if (strcmp(verb, "list"))
		return control(&a, verb, asked, ret, err);
	*ret = rows(&a);
	return *ret ? 0 : -ENOMEM;
}
