// SPDX-License-Identifier: MIT
/*
 * classes.c - keeps the classes, their ranks, and the rights to raise processes
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "classify/priv.h"
#include "classify/words.h"
#include "table/cfg.h"
#include "table/classes.h"
#include "table/procs.h"

#define DEFAULT_WEIGHT 100

static const char *const builtin[] = {
	[GPUSCHED_CLASS_NONE] = "none",
	[GPUSCHED_CLASS_LC] = "lc",
	[GPUSCHED_CLASS_BE] = "be",
	[GPUSCHED_CLASS_NORMAL] = "normal",
};

int gs_classes_new(struct gs_classes **ret)
{
	struct gs_classes *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	for (uint32_t id = 0; id < GPUSCHED_CLASS_FIRST_USER; id++) {
		struct gpusched_class *cls = &c->cls[id];

		snprintf(cls->name, sizeof(cls->name), "%s", builtin[id]);
		cls->weight = DEFAULT_WEIGHT;
		cls->suspend_limit_ms = GPUSCHED_SUSPEND_LIMIT_MS;
		cls->starve_limit_ms = GPUSCHED_STARVE_LIMIT_MS;
	}
	c->n = GPUSCHED_CLASS_FIRST_USER;
	*ret = c;
	return 0;
}

void gs_classes_free(struct gs_classes *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nrules; i++)
		gs_rule_done(&c->rules[i]);
	gs_words_free(c);
	free(c);
}

void gs_classes_naming(struct gs_classes *c, enum gs_naming naming)
{
	c->naming = naming;
}

enum gs_naming gs_classes_naming_of(const struct gs_classes *c)
{
	return c->naming;
}

static bool name_ok(const char *name)
{
	size_t n = strlen(name);

	if (!n || n >= GPUSCHED_CLASS_NAME_LEN || !isalpha((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_-.", *name))
			return false;
	return true;
}

static int check_class(const char *name, const struct gpusched_class *cls, struct gs_error *err)
{
	if (!name_ok(name))
		return gs_fail(err, -EINVAL,
			       "'%s' is not a class name: a letter, then letters, digits, _ - ., "
			       "at most %d",
			       name, GPUSCHED_CLASS_NAME_LEN - 1);
	if (strcmp(name, "none") == 0)
		return gs_fail(err, -EINVAL, "the name 'none' means: no class");
	if (cls->limit_pct && cls->request_pct > cls->limit_pct)
		return gs_fail(err, -EINVAL, "class %s: request=%u is more than limit=%u", name,
			       cls->request_pct, cls->limit_pct);
	if (cls->weight < GPUSCHED_WEIGHT_MIN || cls->weight > GPUSCHED_WEIGHT_MAX)
		return gs_fail(err, -ERANGE, "class %s: weight %u is out of range: 1 to 10000",
			       name, cls->weight);
	return 0;
}

int gs_classes_add(struct gs_classes *c, const char *name, const struct gpusched_class *cls,
		   struct gs_error *err)
{
	uint32_t id;
	int r = check_class(name, cls, err);

	if (r < 0)
		return r;
	if (gs_class_id(c, name, &id) == 0) {
		/* a built-in class may get other limits, but only once */
		if (id >= GPUSCHED_CLASS_FIRST_USER || c->redefined[id])
			return gs_fail(err, -EEXIST, "class %s is there already", name);
		c->redefined[id] = true;
	} else {
		if (c->n >= GPUSCHED_MAX_CLASSES)
			return gs_fail(err, -ENOSPC, "more than %d classes",
				       GPUSCHED_MAX_CLASSES - GPUSCHED_CLASS_FIRST_USER);
		id = c->n++;
	}
	c->cls[id] = *cls;
	memset(c->cls[id].name, 0, sizeof(c->cls[id].name));
	memcpy(c->cls[id].name, name, strlen(name));
	return 0;
}

int gs_class_id(const struct gs_classes *c, const char *name, uint32_t *ret)
{
	for (uint32_t id = 0; id < c->n; id++) {
		if (strcmp(c->cls[id].name, name))
			continue;
		*ret = id;
		return 0;
	}
	return -ENOENT;
}

const char *gs_class_name(const struct gs_classes *c, uint32_t id)
{
	return id < c->n ? c->cls[id].name : NULL;
}

struct gs_class_extras gs_class_extras(const struct gs_classes *c, uint32_t id)
{
	return id < c->n ? c->extras[id] : (struct gs_class_extras){ 0 };
}

void gs_class_set_extras(struct gs_classes *c, uint32_t id, const struct gs_class_extras *extras)
{
	c->extras[id % GPUSCHED_MAX_CLASSES] = *extras;
}

const struct gpusched_class *gs_class_of(const struct gs_classes *c, uint32_t id)
{
	return id < c->n ? &c->cls[id] : NULL;
}

int gs_classes_set_default(struct gs_classes *c, const char *name, struct gs_error *err)
{
	uint32_t id;

	if (gs_class_id(c, name, &id) < 0)
		return gs_fail(err, -ENOENT, "no class '%s'", name);
	c->default_class = id;
	return 0;
}

/*
 * Ranks: lc 3, none and normal 2, the configuration's classes 1 (by weight among themselves), be 0.
 */
static int rank(uint32_t id)
{
	switch (id) {
	case GPUSCHED_CLASS_LC:
		return 3;
	case GPUSCHED_CLASS_NONE:
	case GPUSCHED_CLASS_NORMAL:
		return 2;
	case GPUSCHED_CLASS_BE:
		return 0;
	default:
		return 1;
	}
}

int gs_class_compare(const struct gs_classes *c, uint32_t a, uint32_t b)
{
	int d = rank(a) - rank(b);

	if (d || rank(a) != 1 || a >= c->n || b >= c->n)
		return d;
	if (c->cls[a].weight == c->cls[b].weight)
		return 0;
	return c->cls[a].weight > c->cls[b].weight ? 1 : -1;
}

bool gs_class_gives_more(const struct gs_classes *c, uint32_t a, uint32_t b)
{
	static const struct gpusched_class plain;
	const struct gpusched_class *to = a < c->n ? &c->cls[a] : &plain;
	const struct gpusched_class *from = b < c->n ? &c->cls[b] : &plain;

	return to->request_pct > from->request_pct ||
	       (from->limit_pct && (!to->limit_pct || to->limit_pct > from->limit_pct));
}

/* ---- rights ------------------------------------------------------------------------------ */

/* Parses "uid=N", "user=NAME", "gid=N" or "group=NAME". Cuts @text in two. */
static int parse_who(enum gs_naming naming, char *text, struct gs_who *ret, struct gs_error *err)
{
	char *value = strchr(text, '=');
	uint64_t n;

	if (!value)
		return gs_fail(err, -EINVAL, "'%s' is not uid=N, user=NAME, gid=N or group=NAME",
			       text);
	*value++ = '\0';
	*ret = (struct gs_who){ .is_group = text[0] == 'g' };
	if (strcmp(text, "uid") == 0 || strcmp(text, "gid") == 0) {
		if (gs_parse_u64(value, 0, UINT32_MAX - 1, &n, NULL) < 0)
			return gs_fail(err, -EINVAL, "'%s' is no %s", value, text);
		ret->uid = (uid_t)n;
		ret->gid = (gid_t)n;
	} else if (strcmp(text, "user") == 0) {
		return gs_user_id(naming, value, &ret->uid, err);
	} else if (strcmp(text, "group") == 0) {
		return gs_user_group_id(naming, value, &ret->gid, err);
	} else {
		return gs_fail(err, -EINVAL, "'%s=' is none of uid=, user=, gid=, group=", text);
	}
	return 0;
}

int gs_classes_allow(struct gs_classes *c, const char *allow, struct gs_error *err)
{
	CLEANUP_FREE char *copy = strdup(allow);
	struct gs_allow a = { 0 };
	char *save = NULL, *name, *who;
	int r;

	name = copy ? strtok_r(copy, " \t", &save) : NULL;
	/* to the line's end: a directory's groups have names such as "domain users" */
	who = name ? strtok_r(NULL, "", &save) : NULL;
	who = who ? who + strspn(who, " \t") : NULL;
	if (!who || !strchr(who, '=') || strchr(who, '=') != strrchr(who, '='))
		return gs_fail(err, -EINVAL,
			       "'%s' is not CLASS uid=N, CLASS user=NAME, CLASS gid=N or CLASS "
			       "group=NAME",
			       allow);
	if (gs_class_id(c, name, &a.class_id) < 0)
		return gs_fail(err, -ENOENT, "no class '%s'", name);
	if (c->nallows >= GS_MAX_ALLOWS)
		return gs_fail(err, -ENOSPC, "more than %d allowances", GS_MAX_ALLOWS);
	r = parse_who(c->naming, who, &a.who, err);
	if (!r)
		c->allows[c->nallows++] = a;
	return r;
}

int gs_classes_allow_trace(struct gs_classes *c, const char *who, struct gs_error *err)
{
	CLEANUP_FREE char *copy = strdup(who);
	int r;

	if (!copy)
		return gs_fail(err, -ENOMEM, "out of memory");
	if (c->ntracers >= GS_MAX_ALLOWS)
		return gs_fail(err, -ENOSPC, "more than %d allowances", GS_MAX_ALLOWS);
	r = parse_who(c->naming, copy, &c->tracers[c->ntracers], err);
	c->ntracers += !r;
	return r;
}

const struct gs_who *gs_classes_tracer(const struct gs_classes *c, size_t i)
{
	return i < c->ntracers ? &c->tracers[i] : NULL;
}

bool gs_class_allowed(const struct gs_classes *c, const struct gs_asker *by, uint32_t class_id)
{
	for (size_t i = 0; i < c->nallows; i++) {
		const struct gs_allow *a = &c->allows[i];

		/*
		 * The right to raise a process to a class includes lower classes, unless these give
		 * more of the GPU.
		 */
		if (gs_class_compare(c, class_id, a->class_id) > 0 ||
		    (class_id != a->class_id && gs_class_gives_more(c, class_id, a->class_id)))
			continue;
		if (a->who.is_group ? by->in_group(by->self, a->who.gid)
				    : by->uid == a->who.uid && (by->uid || by->root))
			return true;
	}
	return false;
}

bool gs_class_may(const struct gs_classes *c, const struct gs_asker *by, uid_t owner_uid,
		  uint32_t from, uint32_t to)
{
	if (by->root)
		return true;
	if (by->uid != owner_uid)
		return false;
	return (gs_class_compare(c, to, from) <= 0 && !gs_class_gives_more(c, to, from)) ||
	       gs_class_allowed(c, by, to);
}

/*
 * Class ids follow the order in the configuration, which may have changed since an earlier daemon
 * filled the table. Gives the table's processes the new ids of their classes.
 */
static int renumber(const struct gs_classes *c, struct gs_table *o)
{
	uint32_t to[GPUSCHED_MAX_CLASSES];
	bool any = false;

	for (uint32_t id = 0; id < GPUSCHED_MAX_CLASSES; id++) {
		struct gpusched_class old = { .name = "" };

		to[id] = id;
		if (id < GPUSCHED_CLASS_FIRST_USER || gs_procs_class_get(o, id, &old) ||
		    !old.name[0])
			continue;
		old.name[sizeof(old.name) - 1] = '\0';
		if (gs_class_id(c, old.name, &to[id]) < 0)
			to[id] = GPUSCHED_CLASS_NONE;
		any |= to[id] != id;
	}
	return any ? gs_procs_renumber(o, to) : 0;
}

int gs_classes_publish(struct gs_classes *c, struct gs_table *o)
{
	int r = renumber(c, o);

	if (r < 0)
		return r;
	for (uint32_t id = 0; id < GPUSCHED_MAX_CLASSES; id++) {
		r = gs_procs_class_set(o, id, &c->cls[id]);
		if (r < 0)
			return r;
	}
	return gs_cfg_default_class(o, c->default_class);
}
