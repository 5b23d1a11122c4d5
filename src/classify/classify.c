// SPDX-License-Identifier: MIT
/*
 * classify.c - finds a process's class from its facts, in order of precedence, with the reason
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "classify/priv.h"
#include "classify/words.h"
#include "process/process.h"
#include "table/procs.h"

static void why(struct gs_class_answer *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a sentence to the reason. */
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

static bool facts_in_group(const void *self, gid_t gid)
{
	const struct gs_facts *f = self;

	return f->gid == gid || gs_process_in_group(f->pid, gid);
}

/*
 * True if the process may have class @to. A source that its owner cannot choose may raise; so may a
 * user who is allowed to.
 */
static bool may_take(const struct gs_classes *c, const struct gs_facts *f, bool trusted,
		     uint32_t from, uint32_t to)
{
	const struct gs_asker owner = { f->uid, f->root == GS_ROOT_MACHINES, facts_in_group, f };

	return trusted ||
	       (gs_class_compare(c, to, from) <= 0 && !gs_class_gives_more(c, to, from)) ||
	       gs_class_allowed(c, &owner, to);
}

/* Why the process's own choices cannot raise it. */
static const char *why_not(const struct gs_facts *f)
{
	switch (f->root) {
	case GS_ROOT_CONTAINERS:
		return "a container's root chose it; use cgroup= or namespace=";
	case GS_ROOT_UNKNOWN:
		return "whether root is a container's is not known; use cgroup=";
	default:
		return "what its owner chooses cannot raise it";
	}
}

/*
 * by_rule(), by_words(), by_cgroup() and by_command() run in this order. Each step outranks the
 * class that @a has, and later sources of the step's own kind.
 */

static void add_loser(struct gs_class_losers *l, const struct gs_classes *c, uint32_t id,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add_loser(struct gs_class_losers *l, const struct gs_classes *c, uint32_t id,
		      const char *format, ...)
{
	char text[200];
	va_list args;

	if (l->n == GS_COUNT(l->text))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(l->text[l->n++], sizeof(l->text[0]), "class %s: %s", id ? c->cls[id].name : "none",
		 text);
}

/*
 * Adds to @l all that a step outranked: later sources of its kind, the class that @before has, and
 * whatever that one had outranked.
 */
static void outrank(struct gs_class_losers *l, const struct gs_classes *c,
		    const struct gs_class_answer *before, const struct gs_class_losers *kind)
{
	struct gs_class_losers rest;

	if (!l)
		return;
	rest = *l;
	*l = *kind;
	if (before->source != GPUSCHED_SRC_DEFAULT)
		add_loser(l, c, before->class_id, "%s", before->why);
	for (size_t i = 0; i < rest.n && l->n < GS_COUNT(l->text); i++)
		memcpy(l->text[l->n++], rest.text[i], sizeof(rest.text[i]));
}

/* Adds the @n-th rule, if it came near. */
static void add_near(struct gs_class_losers *l, size_t n, const struct gs_rule *r,
		     const struct gs_facts *f)
{
	char what[128];

	if (l && l->n < GS_COUNT(l->text) && gs_rule_is_near(r, f, what, sizeof(what)))
		snprintf(l->text[l->n++], sizeof(l->text[0]),
			 "rule %zu does not match, since %s: %.70s", n, what, r->text);
}

static bool is_above(const struct gs_classes *c, uint32_t a, uint32_t b)
{
	return gs_class_compare(c, a, b) > 0 || gs_class_gives_more(c, a, b);
}

/* Earlier rules that match, but for a user of unknown uid: it may be the process's. */
struct waiting {
	const struct gs_rule *lowest; /* NULL: there is none */
	size_t n;                     /* its number */
};

/* Takes in the @n-th rule. Returns false if it does not wait, or does not match in any case. */
static bool wait_for(struct waiting *w, const struct gs_classes *c, size_t n,
		     const struct gs_rule *r, const struct gs_facts *f, struct gs_class_losers *l)
{
	if (!gs_rule_may_match(r, f))
		return false;
	if (!w->lowest || is_above(c, w->lowest->class_id, r->class_id))
		*w = (struct waiting){ r, n };
	if (l)
		add_loser(l, c, r->class_id, "rule %zu waits for its user: %.100s", n, r->text);
	return true;
}

/* Gives the class of the @n-th rule, but none above what a rule that waits may turn out to give. */
static void give(const struct gs_classes *c, const struct waiting *w, size_t n,
		 const struct gs_rule *r, struct gs_class_answer *a)
{
	const struct gs_rule *low = w->lowest;

	set(c, a, r->class_id, GPUSCHED_SRC_RULE);
	why(a, "rule %zu: %.100s", n, r->text);
	if (!low || !is_above(c, r->class_id, low->class_id))
		return;
	if (is_above(c, low->class_id, r->class_id)) /* each gives more of something */
		set(c, a, c->default_class, GPUSCHED_SRC_DEFAULT);
	else
		set(c, a, low->class_id, GPUSCHED_SRC_RULE);
	why(a, "held down: rule %zu waits for its user: %.60s", w->n, low->text);
}

static bool by_rule(const struct gs_classes *c, const struct gs_facts *f, struct gs_class_answer *a,
		    struct gs_class_losers *l)
{
	struct waiting waiting = { NULL, 0 };
	bool found = false;

	for (size_t i = 0; i < c->nrules && !(found && !l); i++) {
		const struct gs_rule *r = &c->rules[i];
		bool trusted = false;

		if (!found && wait_for(&waiting, c, i + 1, r, f, l))
			continue;
		if (!gs_rule_matches(r, f, &trusted)) {
			add_near(l, i + 1, r, f);
			continue;
		}
		if (found) {
			add_loser(l, c, r->class_id, "rule %zu: %.100s", i + 1, r->text);
			continue;
		}
		if (!may_take(c, f, trusted, c->default_class, r->class_id)) {
			why(a, "rule '%.60s' passed over: %s", r->text, why_not(f));
			a->root_passed |= f->root == GS_ROOT_CONTAINERS;
			continue;
		}
		give(c, &waiting, i + 1, r, a);
		found = true;
	}
	return found;
}

/*
 * Applies a pod's words. They outrank the rules, within the bounds set by the rules and a ceiling.
 */
static void by_words(const struct gs_classes *c, const struct gs_facts *f, bool ruled,
		     struct gs_class_answer *a, struct gs_class_losers *l)
{
	const struct gs_class_answer before = *a;
	struct gs_words_given g;
	struct gs_pod_words w;

	if (!gs_words_add(c, &f->pod, &w))
		return;
	ruled |= !*w.class_name && !gs_words_of(c, f->pod.uid);
	gs_words_judge(c, &w, ruled ? a->class_id : GPUSCHED_CLASS_BE, &g);
	if (!ruled || g.class_id != a->class_id) {
		a->why[0] = '\0';
		set(c, a, g.class_id, GPUSCHED_SRC_RULE);
		why(a, "pod %.60s/%.60s %s", w.who.namespace, w.who.pod,
		    strcmp(w.class_name, c->cls[g.class_id].name) != 0
			    ? "has no other by rule or annotation"
		    : w.class_of_container ? "asks for it in its environment"
					   : "asks for it by an annotation");
		outrank(l, c, &before, &(struct gs_class_losers){ .n = 0 });
	}
	if (g.weight)
		a->weight = g.weight;
	if (*g.left)
		why(a, "of its words left out: %s", g.left);
}

static void by_cgroup(const struct gs_classes *c, const struct gs_facts *f,
		      struct gs_class_answer *a, struct gs_class_losers *l)
{
	const struct gs_class_answer before = *a;
	struct gs_class_losers kind = { .n = 0 };
	bool found = false;

	for (size_t i = 0; i < f->ncgroups && !(found && !l); i++) {
		const struct gs_cgroup_fact *cg = &f->cgroups[i];
		uint32_t id;

		if (!cg->attr[0])
			continue;
		if (gs_class_id(c, cg->attr, &id) < 0) {
			why(a, "cgroup %.60s names no class '%.20s'", cg->path, cg->attr);
			continue;
		}
		if (found) {
			add_loser(&kind, c, id, "user.gpusched.class of cgroup %.120s", cg->path);
			continue;
		}
		if (!may_take(c, f, !cg->owners, a->class_id, id)) {
			why(a, "attribute of cgroup %.60s passed over: its owner cannot raise",
			    cg->path);
			continue;
		}
		a->why[0] = '\0';
		set(c, a, id, GPUSCHED_SRC_CGROUP);
		why(a, "user.gpusched.class=%.31s of cgroup %.120s", cg->attr, cg->path);
		found = true;
	}
	if (found)
		outrank(l, c, &before, &kind);
}

static const struct gs_cgroup_class *command_of(const struct gs_classes *c,
						const struct gs_cgroup_fact *cg)
{
	for (size_t k = 0; k < c->ncgroups; k++)
		if (!strcmp(c->cgroups[k].path, cg->path))
			return &c->cgroups[k];
	return NULL;
}

/* Uses the nearest cgroup for which a command gave a class. */
static void by_command(const struct gs_classes *c, const struct gs_facts *f,
		       struct gs_class_answer *a, struct gs_class_losers *l)
{
	const struct gs_class_answer before = *a;
	struct gs_class_losers kind = { .n = 0 };
	bool found = false;

	for (size_t i = 0; i < f->ncgroups && !(found && !l); i++) {
		const struct gs_cgroup_class *cg = command_of(c, &f->cgroups[i]);

		if (!cg)
			continue;
		if (found) {
			add_loser(&kind, c, cg->class_id, "class set for cgroup %.150s", cg->path);
			continue;
		}
		a->why[0] = '\0';
		set(c, a, cg->class_id, GPUSCHED_SRC_RULE);
		if (cg->weight)
			a->weight = cg->weight;
		a->weight_set = cg->weight;
		why(a, "class set for cgroup %.200s", cg->path);
		found = true;
	}
	if (found)
		outrank(l, c, &before, &kind);
}

static bool asks_for_program(const struct gs_classes *c)
{
	for (size_t i = 0; i < c->nrules; i++)
		if (c->rules[i].exe || c->rules[i].arg)
			return true;
	return false;
}

void gs_classify_facts(const struct gs_classes *c, const struct gs_facts *f,
		       struct gs_class_answer *ret, struct gs_class_losers *losers)
{
	struct gs_class_answer a = { 0 };
	bool ruled;

	set(c, &a, c->default_class, GPUSCHED_SRC_DEFAULT);
	if (f->unread)
		why(&a, "its executable and arguments are not known: reading them takes too long");
	/*
	 * the rules come first: an attribute of a user's own cgroup may only lower the class that
	 * the rules give
	 */
	ruled = by_rule(c, f, &a, losers);
	if (!ruled)
		why(&a, "default class %s", c->cls[c->default_class].name);
	by_words(c, f, ruled, &a, losers);
	by_cgroup(c, f, &a, losers);
	by_command(c, f, &a, losers);
	a.root_passed &= a.source == GPUSCHED_SRC_DEFAULT;
	gs_parts_give(c, &(struct gpusched_proc){ 0 }, f, &a, losers);
	*ret = a;
}

/* Applies a command's class. @ret_own: the process's entry in the table. */
static bool by_entry(const struct gs_classes *c, struct gs_table *o, pid_t pid,
		     struct gs_class_answer *ret, struct gpusched_proc *ret_own)
{
	struct gs_class_answer a = { 0 };
	const struct gpusched_proc *proc = ret_own;

	if (!o || gs_proc_get(o, pid, ret_own) || proc->source < GPUSCHED_SRC_COMMAND ||
	    proc->class_id >= c->n)
		return false;
	set(c, &a, proc->class_id, proc->source);
	if (proc->weight)
		a.weight = proc->weight;
	why(&a, "set by a command%s (run, class set), for it or a process it descends from",
	    proc->source == GPUSCHED_SRC_OWNER ? " of its owner's" : "");
	*ret = a;
	return true;
}

int gs_classify_all(struct gs_classes *c, struct gs_table *o, pid_t pid,
		    struct gs_class_answer *ret, struct gs_class_losers *losers,
		    struct gs_error *err)
{
	struct gpusched_proc own = { 0 };
	struct gs_class_answer a;
	struct gs_facts f;
	bool found = by_entry(c, o, pid, ret, &own);
	int r;

	if (losers)
		losers->n = 0;
	r = gs_facts_read(pid, &f, found ? NULL : err);
	if (r < 0 && !found)
		return r;
	if (r < 0)
		memset(&f, 0, sizeof(f));
	f.program = gs_proc_program(&own);
	if (!found || (losers && !r)) {
		if (asks_for_program(c))
			gs_facts_read_program(&f);
		gs_classify_facts(c, &f, &a, losers);
	}
	if (!found) {
		*ret = a;
		return 0;
	}
	if (!r)
		outrank(losers, c, &a, &(struct gs_class_losers){ .n = 0 });
	gs_parts_give(c, &own, &f, ret, losers);
	return 0;
}

int gs_classify(struct gs_classes *c, struct gs_table *o, pid_t pid, struct gs_class_answer *ret,
		struct gs_error *err)
{
	return gs_classify_all(c, o, pid, ret, NULL, err);
}

int gs_classify_as(struct gs_classes *c, struct gs_table *o, pid_t pid, uid_t uid,
		   struct gs_class_answer *ret, struct gs_error *err)
{
	struct gpusched_proc own = { 0 };
	struct gs_class_answer a;
	struct gs_facts f;
	int r;

	if (by_entry(c, o, pid, ret, &own))
		return gs_classify(c, o, pid, ret, err);
	r = gs_facts_read(pid, &f, err);
	if (r)
		return r;
	f.uid = uid;
	f.root = uid ? GS_ROOT_NOT : f.root;
	f.comm[0] = '\0'; /* its program has not begun */
	gs_classify_facts(c, &f, &a, NULL);
	*ret = a;
	return 0;
}
