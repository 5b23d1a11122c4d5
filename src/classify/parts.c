// SPDX-License-Identifier: MIT
/* parts.c - finds the weight, limit and request of a process, with the reasons */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "classify/priv.h"
#include "classify/words.h"

static const char *const names[GS_PARTS] = { [GS_LIMIT] = "limit", [GS_REQUEST] = "request" };

/* ---- weight ---------------------------------------------------------------------------------- */

static const struct gs_cgroup_fact *weighing(const struct gs_facts *f, bool roots)
{
	for (size_t i = 0; i < f->ncgroups; i++)
		if (f->cgroups[i].weight && f->cgroups[i].parts.roots == roots)
			return &f->cgroups[i];
	return NULL;
}

/*
 * The weight of root's cgroup replaces that of the class. An owner's cgroup, or an owner's command,
 * can only lower the weight.
 */
static void weigh(const struct gpusched_proc *own, const struct gs_facts *f,
		  struct gs_class_answer *a)
{
	bool commanded = own->source >= GPUSCHED_SRC_COMMAND && own->weight;
	const struct gs_cgroup_fact *roots = weighing(f, true), *owners = weighing(f, false);

	if (commanded && own->source == GPUSCHED_SRC_COMMAND)
		return;
	if (roots && !a->weight_set) {
		a->weight = commanded && own->weight < roots->weight ? own->weight : roots->weight;
		a->weight_kept = true;
	}
	if (owners && owners->weight < a->weight)
		a->weight = owners->weight;
}

/* ---- reasons --------------------------------------------------------------------------------- */

/* Adds one reason to the text. */
static void tell(char text[GS_WHY_LEN], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void tell(char text[GS_WHY_LEN], const char *format, ...)
{
	size_t at = strlen(text);
	va_list args;

	if (at && at + 3 < GS_WHY_LEN) {
		memcpy(text + at, "; ", 3);
		at += 2;
	}
	va_start(args, format);
	vsnprintf(text + at, GS_WHY_LEN - at, format, args);
	va_end(args);
}

static const char *cgroup_of(const struct gs_facts *f, const struct gs_grant *g, enum gs_part part)
{
	for (size_t i = 0; i < f->ncgroups; i++)
		if (f->cgroups[i].parts.pct[part] && f->cgroups[i].parts.roots == g->by_root)
			return f->cgroups[i].path;
	return "";
}

static void why_pod(const struct gs_classes *c, const struct gs_facts *f, enum gs_part part,
		    char text[GS_WHY_LEN])
{
	struct gs_pod_words w;

	if (gs_words_add(c, &f->pod, &w) && w.parts_of_container)
		tell(text, "%s in the environment of container %.60s of pod %.60s/%.60s",
		     names[part], f->pod.container, w.who.namespace, w.who.pod);
	else
		tell(text, "gpusched.io/%s of pod %.60s/%.60s", names[part], f->pod.namespace,
		     f->pod.pod);
}

static void why_this(const struct gs_classes *c, const struct gs_facts *f,
		     const struct gs_class_answer *a, enum gs_part part, char text[GS_WHY_LEN])
{
	const struct gs_grant *g = &a->grants.part[part];

	if (g->to == GS_GRANTED_PROGRAM)
		tell(text, "set by a command%s, for it or a process it descends from",
		     g->by_root ? "" : " of its owner's");
	else if (g->to == GS_GRANTED_CGROUP)
		tell(text, "user.gpusched.%s of cgroup %.120s", names[part], cgroup_of(f, g, part));
	else if (g->to == GS_GRANTED_POD)
		why_pod(c, f, part, text);
	else if (g->to == GS_GRANTED_CLASS)
		tell(text, "%s= of class %.31s", names[part], c->cls[a->class_id].name);
}

/* Adds why attributes of the owner's cgroups were passed over, and which attributes are invalid. */
static void why_not(const struct gs_facts *f, const struct gs_class_answer *a, enum gs_part part,
		    char text[GS_WHY_LEN])
{
	const struct gs_grant *g = &a->grants.part[part];

	for (size_t i = 0; i < f->ncgroups; i++) {
		const struct gs_cgroup_fact *cg = &f->cgroups[i];

		if (cg->bad && strstr(cg->bad, names[part]))
			tell(text, "%s of cgroup %.60s is no number from 1 to 100", cg->bad,
			     cg->path);
		else if (cg->parts.pct[part] && !cg->parts.roots &&
			 (g->by_root || part == GS_REQUEST))
			tell(text, "user.gpusched.%s of cgroup %.60s passed over: %s", names[part],
			     cg->path,
			     part == GS_REQUEST ? "only root gives requests"
						: "it does not replace root's limit");
	}
}

void gs_parts_give(const struct gs_classes *c, const struct gpusched_proc *own,
		   const struct gs_facts *f, struct gs_class_answer *a, struct gs_class_losers *l)
{
	struct gs_cgroup_parts cgroups[GS_CGROUP_LEVELS];
	struct gs_words_given given;
	struct gs_grant_facts facts = {
		.own = *own,
		.cgroup = cgroups,
		.ncgroups = f->ncgroups,
		.class_id = a->class_id,
		.cls = c->cls[a->class_id],
	};

	for (size_t i = 0; i < f->ncgroups; i++)
		cgroups[i] = f->cgroups[i].parts;
	facts.pod.id = gs_words_part(c, &f->pod, a->class_id, &given);
	facts.pod.pct[GS_LIMIT] = given.limit_pct;
	facts.pod.pct[GS_REQUEST] = given.request_pct;
	a->grants = gs_grants_of(&facts);
	a->slice_us = given.slice_us;
	weigh(own, f, a);
	for (int part = 0; l && part < GS_PARTS; part++) {
		l->part[part][0] = '\0';
		why_this(c, f, a, part, l->part[part]);
		why_not(f, a, part, l->part[part]);
	}
}
