// SPDX-License-Identifier: MIT
/*
 * rules.c - parses and matches rules such as "comm=python3 uid=1000 -> be"
 *
 * The first rule that matches counts. A rule matches if all its globs match.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "classify/patterns.h"
#include "classify/priv.h"

void gs_rule_done(struct gs_rule *r)
{
	free(r->comm);
	free(r->exe);
	free(r->exe_real);
	free(r->cgroup);
	free(r->arg);
	free(r->namespace);
	free(r->pod);
	free(r->container);
	free(r->text);
	memset(r, 0, sizeof(*r));
}

static int set_glob(char **to, enum gs_pattern_of what, const char *key, const char *value,
		    struct gs_error *err)
{
	size_t n = strlen(value);

	if (*to)
		return gs_fail(err, -EINVAL, "'%s=' twice in one rule", key);
	if (!*value)
		return gs_fail(err, -EINVAL, "'%s=' without a value", key);
	*to = malloc(GS_PATTERN_ROOM(n));
	if (!*to)
		return gs_fail(err, -ENOMEM, "out of memory");
	memcpy(*to, value, n + 1);
	return gs_pattern_form(what, *to, err);
}

static int set_uid(enum gs_naming naming, struct gs_rule *r, const char *value,
		   struct gs_error *err)
{
	uint64_t n;
	int code;

	if (r->has_uid)
		return gs_fail(err, -EINVAL, "'uid=' twice in one rule");
	r->has_uid = true;
	if (!gs_parse_u64(value, 0, UINT32_MAX - 1, &n, NULL)) {
		r->uid = (uid_t)n;
		return 0;
	}
	code = gs_user_id(naming, value, &r->uid, err);
	r->waits = code == GS_NAME_WAITS;
	return code;
}

static const char *const kinds[] = {
	[GPUSCHED_IS_UNKNOWN] = "unknown",
	[GPUSCHED_IS_COMPUTE] = "compute",
	[GPUSCHED_IS_GRAPHICS] = "graphics",
};

static int set_kind(struct gs_rule *r, const char *value, struct gs_error *err)
{
	if (r->program)
		return gs_fail(err, -EINVAL, "'kind=' twice in one rule");
	for (size_t i = GPUSCHED_IS_COMPUTE; i < GS_COUNT(kinds); i++)
		if (!strcmp(value, kinds[i]))
			r->program = (enum gpusched_program)i;
	if (r->program)
		return 0;
	return gs_fail(err, -EINVAL, "'kind=%s' is neither graphics nor compute", value);
}

static int matcher(enum gs_naming naming, struct gs_rule *r, char *word, struct gs_error *err)
{
	const struct {
		const char *word;
		char **glob;
		enum gs_pattern_of what;
	} globs[] = {
		{ "comm", &r->comm, GS_PATTERN_COMM },
		{ "exe", &r->exe, GS_PATTERN_EXE },
		{ "cgroup", &r->cgroup, GS_PATTERN_CGROUP },
		{ "arg", &r->arg, GS_PATTERN_ANY },
		{ "namespace", &r->namespace, GS_PATTERN_NAME },
		{ "pod", &r->pod, GS_PATTERN_NAME },
		{ "container", &r->container, GS_PATTERN_NAME },
	};
	char *value = strchr(word, '=');

	if (!value)
		return gs_fail(err, -EINVAL, "'%s' is not MATCHER=VALUE", word);
	*value++ = '\0';
	for (size_t i = 0; i < GS_COUNT(globs); i++)
		if (!strcmp(word, globs[i].word))
			return set_glob(globs[i].glob, globs[i].what, word, value, err);
	if (strcmp(word, "uid") == 0)
		return set_uid(naming, r, value, err);
	if (strcmp(word, "kind") == 0)
		return set_kind(r, value, err);
	return gs_fail(err, -EINVAL,
		       "'%s=' is none of comm=, exe=, cgroup=, uid=, arg=, kind=, namespace=, "
		       "pod=, container=",
		       word);
}

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && strchr(" \t\n", s[n - 1]))
		s[--n] = '\0';
	return s;
}

int gs_rule_leads_to(struct gs_rule *r, const char *real)
{
	char cut[GS_PATTERN_COMM_LEN], *copy = real ? strdup(real) : NULL, *text = NULL;
	bool is_cut, leads = real && strcmp(real, r->exe) != 0;

	r->text[r->line_len] = '\0';
	is_cut = gs_pattern_is_cut(r->text, cut);
	if ((real && !copy) || asprintf(&text, "%s%s%s%s%s%s%s", r->text, is_cut ? " (cut to " : "",
					is_cut ? cut : "", is_cut ? ")" : "", leads ? " (" : "",
					leads ? real : "", leads ? ")" : "") < 0) {
		free(copy);
		return -ENOMEM;
	}
	free(r->text);
	free(r->exe_real);
	r->text = text;
	r->exe_real = copy;
	return 0;
}

static int parse_rule(const struct gs_classes *c, const char *text, struct gs_rule *ret,
		      struct gs_error *err)
{
	CLEANUP_FREE char *copy = strdup(text);
	CLEANUP(gs_rule_done) struct gs_rule rule = { 0 };
	char *arrow, *name, *word, *save = NULL;
	CLEANUP_FREE char *real = NULL;
	struct gs_error wait = { 0 };
	bool any = false;

	if (!copy)
		return gs_fail(err, -ENOMEM, "out of memory");
	arrow = strstr(copy, "->");
	if (!arrow)
		return gs_fail(err, -EINVAL, "rule '%s' is not MATCHER=VALUE... -> CLASS", text);
	*arrow = '\0';
	name = trim(arrow + 2);
	if (gs_class_id(c, name, &rule.class_id) < 0)
		return gs_fail(err, -ENOENT, "rule '%s': no class '%s'", text, name);
	for (word = strtok_r(copy, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		struct gs_error why = { 0 };
		int r = matcher(c->naming, &rule, word, &why);

		if (r < 0)
			return gs_fail(err, r, "%s", why.text);
		if (r == GS_NAME_WAITS)
			wait = why;
		any = true;
	}
	if (!any)
		return gs_fail(err, -EINVAL, "rule '%s' has no matcher: use DefaultClass= for all",
			       text);
	text += strspn(text, " \t");
	rule.line_len = strlen(text);
	rule.text = strdup(text);
	real = rule.exe && c->naming != GS_NAMING_LATER ? realpath(rule.exe, NULL) : NULL;
	if (!rule.text || gs_rule_leads_to(&rule, real))
		return gs_fail(err, -ENOMEM, "out of memory");
	*ret = rule;
	memset(&rule, 0, sizeof(rule));
	return ret->waits ? gs_fail(err, GS_NAME_WAITS, "%s", wait.text) : 0;
}

int gs_classes_add_rule(struct gs_classes *c, const char *rule, struct gs_error *err)
{
	int r;

	if (c->nrules >= GS_MAX_RULES)
		return gs_fail(err, -ENOSPC, "more than %d rules", GS_MAX_RULES);
	r = parse_rule(c, rule, &c->rules[c->nrules], err);
	if (r >= 0)
		c->nrules++;
	return r;
}

static struct gs_cgroup_class *find_cgroup(struct gs_classes *c, const char *path)
{
	for (size_t i = 0; i < c->ncgroups; i++)
		if (!strcmp(c->cgroups[i].path, path))
			return &c->cgroups[i];
	return NULL;
}

int gs_rules_set_cgroup(struct gs_classes *c, const char *path, uint32_t class_id, uint32_t weight)
{
	struct gs_cgroup_class *at = find_cgroup(c, path);

	if (!at && c->ncgroups == GS_MAX_CGROUPS)
		return -ENOSPC;
	if (!at)
		at = &c->cgroups[c->ncgroups++];
	*at = (struct gs_cgroup_class){ .class_id = class_id, .weight = weight };
	snprintf(at->path, sizeof(at->path), "%s", path);
	return 0;
}

bool gs_rules_clear_cgroup(struct gs_classes *c, const char *path)
{
	struct gs_cgroup_class *at = find_cgroup(c, path);

	if (at)
		*at = c->cgroups[--c->ncgroups];
	return at;
}

size_t gs_rules_count_cgroups(struct gs_classes *c, bool clear)
{
	size_t n = c->ncgroups;

	if (clear)
		c->ncgroups = 0;
	return n;
}

const char *gs_rules_cgroup(const struct gs_classes *c, uint32_t class_id, size_t i)
{
	for (size_t k = 0; k < c->ncgroups; k++)
		if (c->cgroups[k].class_id == class_id && !i--)
			return c->cgroups[k].path;
	return NULL;
}

static bool any_arg(const char *pattern, const struct gs_facts *f)
{
	for (size_t at = 0; at < f->nargs; at += strlen(f->args + at) + 1)
		if (gs_pattern_matches(pattern, f->args + at))
			return true;
	return false;
}

/* True if the pattern matches the process's cgroup or one above it; @roots: one of root's. */
static bool any_cgroup(const char *pattern, const struct gs_facts *f, bool roots)
{
	for (size_t i = 0; i < f->ncgroups; i++)
		if (!(roots && f->cgroups[i].owners) &&
		    gs_pattern_matches(pattern, f->cgroups[i].path))
			return true;
	return false;
}

/* A part of a rule, and whether the process has it. */
struct part {
	const char *key, *pattern; /* NULL: the rule does not ask for it */
	const char *value;         /* the process's */
	bool matches;
};

enum { PARTS = 9 };

static bool is_exe(const struct gs_rule *r, const char *exe)
{
	return gs_pattern_matches(r->exe, exe) || (r->exe_real && !strcmp(r->exe_real, exe));
}

static void compare(const struct gs_rule *r, const struct gs_facts *f, struct part ret[PARTS])
{
	const struct gs_pod_names *pod = &f->pod;
	const struct part all[PARTS] = {
		{ "comm", r->comm, f->comm, r->comm && gs_pattern_matches(r->comm, f->comm) },
		{ "exe", r->exe, f->exe, r->exe && is_exe(r, f->exe) },
		{ "uid", r->has_uid ? "uid" : NULL, "another", !r->waits && r->uid == f->uid },
		{ "arg", r->arg, "another", r->arg && any_arg(r->arg, f) },
		{ "kind", r->program ? kinds[r->program] : NULL, kinds[f->program],
		  r->program == f->program },
		{ "cgroup", r->cgroup, f->ncgroups ? f->cgroups[0].path : "",
		  r->cgroup && any_cgroup(r->cgroup, f, false) },
		{ "namespace", r->namespace, pod->namespace,
		  r->namespace && gs_pattern_matches(r->namespace, pod->namespace) },
		{ "pod", r->pod, pod->pod, r->pod && gs_pattern_matches(r->pod, pod->pod) },
		{ "container", r->container, pod->container,
		  r->container && gs_pattern_matches(r->container, pod->container) },
	};

	memcpy(ret, all, sizeof(all));
}

bool gs_rule_matches(const struct gs_rule *r, const struct gs_facts *f, bool *ret_trusted)
{
	struct part parts[PARTS];

	compare(r, f, parts);
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i].pattern && !parts[i].matches)
			return false;
	/*
	 * a process's owner chooses neither its user, nor the cgroup where root has put it, nor its
	 * pod's namespace; uid 0 in a container is anybody who may start one
	 */
	*ret_trusted = f->root == GS_ROOT_MACHINES || (r->has_uid && r->uid) ||
		       (r->cgroup && any_cgroup(r->cgroup, f, true)) || r->namespace;
	return true;
}

bool gs_rule_may_match(const struct gs_rule *r, const struct gs_facts *f)
{
	struct gs_rule anybody = *r;
	bool trusted;

	anybody.has_uid = false;
	return r->waits && gs_rule_matches(&anybody, f, &trusted);
}

/* True if the end of the pattern, without its folders, is somewhere in the process's names. */
static bool is_similar(const char *pattern, const struct gs_facts *f)
{
	const char *slash = strrchr(pattern, '/'), *name = slash ? slash + 1 : pattern;

	return strlen(name) > 2 && (strstr(f->comm, name) || strstr(f->exe, name) ||
				    (f->ncgroups && strstr(f->cgroups[0].path, name)));
}

bool gs_rule_is_near(const struct gs_rule *r, const struct gs_facts *f, char *ret, size_t size)
{
	const struct part *wrong = NULL;
	unsigned int asked = 0, bad = 0;
	struct part parts[PARTS];

	compare(r, f, parts);
	for (size_t i = 0; i < PARTS; i++) {
		asked += parts[i].pattern != NULL;
		if (!parts[i].pattern || parts[i].matches)
			continue;
		wrong = &parts[i];
		bad++;
	}
	if (bad != 1 || r->waits || !*wrong->value ||
	    (asked == 1 && !is_similar(wrong->pattern, f)))
		return false;
	snprintf(ret, size, "its %s is %.100s here", wrong->key, wrong->value);
	return true;
}
