// SPDX-License-Identifier: MIT
#include "config/config.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <syslog.h>

#include "basic/cleanup.h"
#include "basic/ini_text.h"
#include "basic/parse.h"
#include "classify/patterns.h"

enum type { NAME, PATH, TEXTS, BOOL, COST, US, MS, LAUNCHES, NUMBER };

struct key {
	const char *section, *name, *def, *help;
	enum type type;
	size_t offset, size;
};

static const struct key keys[] = {
#define X(section, name, type, field, def, help) \
	{ section, \
	  name, \
	  def, \
	  help, \
	  type, \
	  offsetof(struct gs_config, field), \
	  sizeof(((struct gs_config *)0)->field) },
	GS_CONFIG_KEYS(X)
#undef X
};

#define MAX_TEXTS 1024

static struct gs_texts *texts_of(struct gs_config *c, const struct key *k)
{
	return (struct gs_texts *)((char *)c + k->offset);
}

void gs_config_clear_texts(struct gs_texts *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->text[i]);
		free(t->at[i]);
	}
	free(t->text);
	free(t->at);
	*t = (struct gs_texts){ 0 };
}

/* Makes room for one more entry in *list. */
static int grow(char ***list, size_t n)
{
	char **grown = reallocarray(*list, n + 1, sizeof(char *));

	if (grown)
		*list = grown;
	return grown ? 0 : -ENOMEM;
}

int gs_config_add_text(struct gs_texts *t, const char *value, const char *at, struct gs_error *err)
{
	if (t->n >= MAX_TEXTS)
		return gs_fail(err, -EINVAL, "more than %d lines of this key", MAX_TEXTS);
	if (grow(&t->text, t->n) || grow(&t->at, t->n))
		return -ENOMEM;
	t->text[t->n] = strdup(value);
	t->at[t->n] = strdup(at);
	if (!t->text[t->n] || !t->at[t->n]) {
		free(t->text[t->n]);
		free(t->at[t->n]);
		return -ENOMEM;
	}
	t->n++;
	return 0;
}

static int texts_copy(struct gs_texts *to, const struct gs_texts *from)
{
	int r = 0;

	for (size_t i = 0; i < from->n && !r; i++)
		r = gs_config_add_text(to, from->text[i], from->at[i], NULL);
	return r;
}

int gs_config_leave_out(struct gs_config *c, struct gs_texts *lines, size_t i, const char *at,
			const char *why)
{
	int r = gs_config_add_text(&c->left_out, why, at, NULL);

	if (r == -EINVAL) /* so many are told of; the others are left out as well */
		r = 0;
	if (r || !lines)
		return r;
	free(lines->text[i]);
	free(lines->at[i]);
	lines->n--;
	memmove(&lines->text[i], &lines->text[i + 1], (lines->n - i) * sizeof(*lines->text));
	memmove(&lines->at[i], &lines->at[i + 1], (lines->n - i) * sizeof(*lines->at));
	return 0;
}

static int log_level_of(const char *name)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = { { "err", LOG_ERR },
		       { "warning", LOG_WARNING },
		       { "notice", LOG_NOTICE },
		       { "info", LOG_INFO },
		       { "debug", LOG_DEBUG } };

	for (size_t i = 0; i < GS_COUNT(levels); i++)
		if (!strcasecmp(name, levels[i].name))
			return levels[i].level;
	return -EINVAL;
}

int gs_config_log_level(const struct gs_config *c)
{
	return log_level_of(c->log_level);
}

static bool is_template(const char *name)
{
	size_t n =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	return n && !strcmp(name + n, "@.service");
}

static int set_name(struct gs_config *c, const struct key *k, const char *value,
		    struct gs_error *err)
{
	char *field = (char *)c + k->offset;

	if (strlen(value) >= k->size)
		return gs_fail(err, -EINVAL, "longer than %zu characters", k->size - 1);
	if (field == c->log_level && log_level_of(value) < 0)
		return gs_fail(err, -EINVAL,
			       "'%s' is not a log level: err, warning, notice, info or debug",
			       value);
	if (field == c->alert_unit && *value && !is_template(value))
		return gs_fail(err, -EINVAL, "'%s' is not the template of a service: NAME@.service",
			       value);
	strcpy(field, value);
	return 0;
}

static int set_texts(struct gs_config *c, const struct key *k, const char *value, const char *at,
		     struct gs_error *err)
{
	struct gs_texts *t = texts_of(c, k);

	if (!*value) {
		gs_config_clear_texts(t);
		return 0;
	}
	if (t == &c->policy_options && (!strchr(value, '=') || value[0] == '='))
		return gs_fail(err, -EINVAL, "'%s' is not key=value", value);
	return gs_config_add_text(t, value, at, err);
}

/* Parses "yes", "no", "trusted", "yes trusted". */
static int set_launches(uint32_t *ret, const char *value, struct gs_error *err)
{
	CLEANUP_FREE char *words = strdup(value);
	char *at = words, *word;
	uint32_t v = 0;

	if (!words)
		return -ENOMEM;
	while ((word = strsep(&at, " \t"))) {
		bool yes = false;
		int r;

		if (!strcasecmp(word, "trusted")) {
			v |= GS_LAUNCHES_TRUSTED;
			continue;
		}
		r = *word ? gs_parse_bool(word, &yes, err) : 0;
		if (r)
			return gs_fail(err, r, "'%s' is neither yes, no nor trusted", word);
		v |= yes ? GS_LAUNCHES_ALWAYS : 0;
	}
	*ret = v;
	return 0;
}

static int set_key(struct gs_config *c, const struct key *k, const char *value, const char *at,
		   struct gs_error *err)
{
	uint64_t us;
	int r;

	switch (k->type) {
	case PATH:
		if (*value && *value != '/')
			return gs_fail(err, -EINVAL, "'%s' is no full path: it begins with /",
				       value);
		return set_name(c, k, value, err);
	case NAME:
		return set_name(c, k, value, err);
	case TEXTS:
		return set_texts(c, k, value, at, err);
	case BOOL:
		return gs_parse_bool(value, (bool *)((char *)c + k->offset), err);
	case LAUNCHES:
		return set_launches((uint32_t *)((char *)c + k->offset), value, err);
	case COST: /* 0: auto */
		us = 0;
		r = strcasecmp(value, "auto") ? gs_parse_us(value, 1, 1000000, &us, err) : 0;
		if (!r)
			*(uint32_t *)((char *)c + k->offset) = (uint32_t)us;
		return r;
	case US:
		r = gs_parse_us(value, 1, 1000000, &us, err);
		if (!r)
			*(uint32_t *)((char *)c + k->offset) = (uint32_t)us;
		return r;
	case MS:
		r = gs_parse_us(value, 1000, 86400000000ull, &us, err);
		if (!r)
			*(uint32_t *)((char *)c + k->offset) = (uint32_t)(us / 1000);
		return r;
	case NUMBER:
		r = gs_parse_u64(value, 1, 100000, &us, err);
		if (!r)
			*(uint32_t *)((char *)c + k->offset) = (uint32_t)us;
		return r;
	}
	return -EINVAL;
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		if (!strcasecmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

int gs_config_new(struct gs_config **ret)
{
	struct gs_config *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		if (keys[i].type != TEXTS)
			set_key(c, &keys[i], keys[i].def, "default", NULL);
	*ret = c;
	return 0;
}

int gs_config_copy(const struct gs_config *c, struct gs_config **ret)
{
	struct gs_config *copy = malloc(sizeof(*copy));
	int r = copy ? 0 : -ENOMEM;

	if (r)
		return r;
	*copy = *c;
	memset(copy->set_at, 0, sizeof(copy->set_at));
	copy->notes = (struct gs_texts){ 0 };
	copy->left_out = (struct gs_texts){ 0 };
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		if (keys[i].type == TEXTS)
			*texts_of(copy, &keys[i]) = (struct gs_texts){ 0 };
	for (size_t i = 0; i < GS_COUNT(keys) && !r; i++)
		if (keys[i].type == TEXTS)
			r = texts_copy(texts_of(copy, &keys[i]),
				       (const void *)((const char *)c + keys[i].offset));
	for (size_t i = 0; i < GS_COUNT(keys) && !r; i++)
		if (c->set_at[i] && !(copy->set_at[i] = strdup(c->set_at[i])))
			r = -ENOMEM;
	if (!r)
		r = texts_copy(&copy->notes, &c->notes);
	if (!r)
		r = texts_copy(&copy->left_out, &c->left_out);
	if (r)
		gs_config_free(copy);
	else
		*ret = copy;
	return r;
}

void gs_config_free(struct gs_config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		if (keys[i].type == TEXTS)
			gs_config_clear_texts(texts_of(c, &keys[i]));
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		free(c->set_at[i]);
	gs_config_clear_texts(&c->notes);
	gs_config_clear_texts(&c->left_out);
	free(c);
}

const char *gs_config_at(const struct gs_config *c, const char *key)
{
	const char *at = c->set_at[find_key(key) - keys];

	return at ? at : "default";
}

int gs_config_add_option(struct gs_config *c, const char *text, struct gs_error *err)
{
	return set_key(c, find_key("PolicyOption"), text, "command line", err);
}

/* ---- reading a file -------------------------------------------------------------------------- */

struct reading {
	struct gs_config *c;
	FILE *f;
	const char *name;
	int line;                    /* the parser's present line */
	int set_in[GS_CONFIG_NKEYS]; /* line of this file that has the key's value; 0: none */
	int code;                    /* -errno of the first mistake; 0: none */
	int bad_line;
	char what[640];
};

__attribute__((format(printf, 3, 4))) static void complain(struct reading *rd, int line,
							   const char *format, ...)
{
	char at[256];
	va_list ap;

	if (rd->code)
		return;
	va_start(ap, format);
	vsnprintf(rd->what, sizeof(rd->what), format, ap);
	va_end(ap);
	if (rd->c->lenient) {
		snprintf(at, sizeof(at), "%.230s:%d", rd->name, line);
		rd->code = gs_config_leave_out(rd->c, NULL, 0, at, rd->what);
		return;
	}
	rd->code = -EINVAL;
	rd->bad_line = line;
}

/*
 * Reads like fgets, and counts lines. The parser's buffer has a fixed size: a longer line is a
 * mistake, and the parser gets an empty one for it.
 */
static char *read_line(char *buffer, int size, void *user)
{
	struct reading *rd = user;
	size_t len;
	int c;

	if (rd->code || !fgets(buffer, size, rd->f))
		return NULL;
	len = strlen(buffer);
	rd->line++;
	if (len + 1 < (size_t)size || buffer[len - 1] == '\n' || (c = fgetc(rd->f)) == EOF)
		return buffer;
	while (c != EOF && c != '\n')
		c = fgetc(rd->f);
	complain(rd, rd->line, "the line is too long");
	strcpy(buffer, "\n");
	return rd->code ? NULL : buffer;
}

static bool known_section(const char *name)
{
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		if (!strcasecmp(keys[i].section, name))
			return true;
	return false;
}

/* Notes that the line just read, a rule, has a name that the kernel cuts. */
static int note_cut(struct gs_config *c, const struct key *k, const char *at)
{
	char cut[GS_PATTERN_COMM_LEN], text[64];

	if (k->offset != offsetof(struct gs_config, rules) || !c->rules.n ||
	    !gs_pattern_is_cut(c->rules.text[c->rules.n - 1], cut))
		return 0;
	snprintf(text, sizeof(text), "%s: comm= is cut to %s", k->name, cut);
	return gs_config_add_text(&c->notes, text, at, NULL);
}

/* Notes where a single value was set, and that it replaces another file's. */
static int note_place(struct reading *rd, const struct key *k, const char *at)
{
	char **place = &rd->c->set_at[k - keys], text[320];
	int r = 0;

	if (k->type == TEXTS)
		return note_cut(rd->c, k, at);
	rd->set_in[k - keys] = rd->line;
	if (*place) {
		snprintf(text, sizeof(text), "%s= replaces that of %s", k->name, *place);
		r = gs_config_add_text(&rd->c->notes, text, at, NULL);
	}
	if (r == -ENOMEM)
		return r;
	free(*place);
	*place = strdup(at);
	return *place ? 0 : -ENOMEM;
}

/* Complains of a line that is in the wrong place, whatever its value. Returns 0 if it is not. */
static int check_place(struct reading *rd, const char *section, const struct key *k)
{
	int before = rd->set_in[k - keys];

	if (!*section)
		complain(rd, rd->line, "%s= is in no section: write [%s] above it", k->name,
			 k->section);
	else if (strcasecmp(section, k->section))
		complain(rd, rd->line, "%s= belongs into [%s], not [%s]", k->name, k->section,
			 section);
	else if (before)
		complain(rd, rd->line, "%s= is in line %d already, and may be given once", k->name,
			 before);
	else
		return 0;
	return -EINVAL;
}

/* Takes one line, or complains. Returns 0 if it is taken. */
static int take_line(struct reading *rd, const char *section, const char *name, const char *value)
{
	struct gs_error why = { 0 };
	const struct key *k = find_key(name);
	char at[256];
	int r;

	if (*section && !known_section(section)) {
		complain(rd, rd->line, "%.64s= is in [%.64s], and there is no such section", name,
			 section);
		return -EINVAL;
	}
	if (!k) {
		complain(rd, rd->line, "unknown key '%.64s'", name);
		return -EINVAL;
	}
	if (check_place(rd, section, k))
		return -EINVAL;
	snprintf(at, sizeof(at), "%.230s:%d", rd->name, rd->line);
	r = set_key(rd->c, k, value, at, &why);
	if (!r)
		r = note_place(rd, k, at);
	if (r == -ENOMEM && !rd->code)
		rd->code = r;
	if (r)
		complain(rd, rd->line, "%s: %s", k->name, why.text);
	return r;
}

static int on_line(void *user, const char *section, const char *name, const char *value)
{
	struct reading *rd = user;

	if (!take_line(rd, section, name, value))
		return 1;
	if (rd->c->lenient && !strcasecmp(name, "DryRun"))
		rd->c->dry_run = true; /* calls may be unwanted where somebody writes this key */
	return rd->c->lenient;
}

int gs_config_parse(struct gs_config *c, FILE *f, const char *name, struct gs_error *err)
{
	struct reading rd = { .c = c, .f = f, .name = name };
	int bad;

	gs_ini_prepare();
	bad = ini_parse_stream(read_line, &rd, on_line, &rd);
	if (bad < 0 || rd.code == -ENOMEM)
		return -ENOMEM;
	/* the parser reports its own error at the end; its line may come before ours */
	if (bad > 0 && (!rd.code || bad < rd.bad_line)) {
		rd.code = 0;
		complain(&rd, bad, "neither 'Key=value' nor '[Section]' nor a comment");
	}
	if (rd.code)
		return gs_fail(err, rd.code, "%s:%d: %s", name, rd.bad_line, rd.what);
	if (ferror(f))
		return gs_fail(err, -EIO, "%s: cannot be read", name);
	return 0;
}

void gs_config_help(FILE *out)
{
	const char *section = "";

	for (size_t i = 0; i < GS_COUNT(keys); i++) {
		const struct key *k = &keys[i];

		if (strcmp(section, k->section))
			fprintf(out, "%s[%s]\n", i ? "\n" : "", k->section);
		section = k->section;
		fprintf(out, "%s=%s\n\t%s%s\n", k->name, k->def, k->help,
			k->type == TEXTS ? " (may be given several times)" : "");
	}
}
