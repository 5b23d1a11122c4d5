// SPDX-License-Identifier: MIT
/*
 * resolve.c - a process's class from its facts, in order of precedence, with the reason
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "classify/priv.h"
#include "table/procs.h"

static void why(struct gs_class_answer *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a sentence. */
static void why(struct gs_class_answer *a, const char *format, ...)
{
	size_t at = strlen(a->why);
	va_list args;

	if (at && at + 3 < sizeof(a->why)) {
		memcpy(a->why + at, "; ", 3);
		at += 2;
	}
	va_start(args, format);
	vsnprintf(a->why + at, sizeof(a->why) - at, format, args);
	va_end(args);
}

static void set(const struct gs_classes *c, struct gs_class_answer *a, uint32_t id,
		enum gpusched_class_source source)
{
	a->class_id = id;
	a->source = source;
	a->weight = c->cls[id].weight;
}

/* What is not the owner's to choose may raise, as may a user that is allowed to. */
static bool may_take(const struct gs_classes *c, const struct gs_facts *f, bool trusted,
		     uint32_t from, uint32_t to)
{
	return trusted || gs_class_compare(c, to, from) <= 0 ||
	       gs_class_allowed(c, f->uid, f->gid, to);
}

static bool by_rule(const struct gs_classes *c, const struct gs_facts *f, struct gs_class_answer *a)
{
	for (size_t i = 0; i < c->nrules; i++) {
		const struct gs_rule *r = &c->rules[i];
		bool trusted = false;

		if (!gs_rule_matches(r, f, &trusted))
			continue;
		if (!may_take(c, f, trusted, c->default_class, r->class_id)) {
			why(a, "rule '%.60s' passed over: what its owner chooses cannot raise it",
			    r->text);
			continue;
		}
		set(c, a, r->class_id, GPUSCHED_SRC_RULE);
		why(a, "rule %zu: %.100s", i + 1, r->text);
		return true;
	}
	return false;
}

static bool by_cgroup(const struct gs_classes *c, const struct gs_facts *f,
		      struct gs_class_answer *a)
{
	for (size_t i = 0; i < f->ncgroups; i++) {
		const struct gs_cgroup_fact *cg = &f->cgroups[i];
		uint32_t id;

		if (!cg->attr[0])
			continue;
		if (gs_class_id(c, cg->attr, &id) < 0) {
			why(a, "cgroup %.60s names no class '%.20s'", cg->path, cg->attr);
			continue;
		}
		if (!may_take(c, f, cg->owner == 0, a->class_id, id)) {
			why(a, "attribute of cgroup %.60s passed over: its owner cannot raise",
			    cg->path);
			continue;
		}
		set(c, a, id, GPUSCHED_SRC_CGROUP);
		a->why[0] = '\0';
		why(a, "user.gpusched.class=%.31s of cgroup %.120s", cg->attr, cg->path);
		return true;
	}
	return false;
}

/* For the nearest cgroup that a command has named. */
static void by_command(const struct gs_classes *c, const struct gs_facts *f,
		       struct gs_class_answer *a)
{
	for (size_t i = 0; i < f->ncgroups; i++)
		for (size_t k = 0; k < c->ncgroups; k++) {
			const struct gs_cgroup_class *cg = &c->cgroups[k];

			if (strcmp(cg->path, f->cgroups[i].path) != 0)
				continue;
			set(c, a, cg->class_id, GPUSCHED_SRC_RULE);
			if (cg->weight)
				a->weight = cg->weight;
			a->why[0] = '\0';
			why(a, "class set for cgroup %.200s", cg->path);
			return;
		}
}

static bool asks_for_program(const struct gs_classes *c)
{
	for (size_t i = 0; i < c->nrules; i++)
		if (c->rules[i].exe || c->rules[i].arg)
			return true;
	return false;
}

void gs_classify_facts(const struct gs_classes *c, const struct gs_facts *f,
		       struct gs_class_answer *ret)
{
	struct gs_class_answer a = { 0 };

	set(c, &a, c->default_class, GPUSCHED_SRC_DEFAULT);
	if (f->unread)
		why(&a, "its executable and arguments are not known: reading them takes too long");
	/* the rules' class is what an attribute of a user's own cgroup may lower */
	if (!by_rule(c, f, &a))
		why(&a, "default class %s", c->cls[c->default_class].name);
	by_cgroup(c, f, &a);
	by_command(c, f, &a);
	*ret = a;
}

int gs_classify(struct gs_classes *c, struct gs_table *o, pid_t pid, struct gs_class_answer *ret,
		struct gs_error *err)
{
	struct gs_class_answer a = { 0 };
	struct gpusched_proc proc;
	struct gs_facts f;
	int r;

	if (o && gs_proc_get(o, pid, &proc) == 0 && proc.source >= GPUSCHED_SRC_COMMAND &&
	    proc.class_id < c->n) {
		set(c, &a, proc.class_id, proc.source);
		if (proc.weight)
			a.weight = proc.weight;
		why(&a, "set by a command%s (run, class set), for it or a process it descends from",
		    proc.source == GPUSCHED_SRC_OWNER ? " of its owner's" : "");
		*ret = a;
		return 0;
	}
	r = gs_facts_read(pid, &f, err);
	if (r < 0)
		return r;
	if (asks_for_program(c))
		gs_facts_read_program(&f);
	gs_classify_facts(c, &f, ret);
	return 0;
}
