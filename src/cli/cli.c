// SPDX-License-Identifier: MIT
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/escape.h"
#include "basic/env.h"
#include "basic/log.h"
#include "basic/say.h"

#define MAX_OPTS 24

static const char *words(const struct cli_cmd *cmd, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", cmd->noun, cmd->verb ? " " : "", cmd->verb ? cmd->verb : "");
	return buf;
}

/* The arguments for getopt_long(), made from the table. */
struct spec {
	char shorts[2 * MAX_OPTS + 8];
	struct option longs[MAX_OPTS + 3];
	const struct cli_opt *opts[MAX_OPTS];
	size_t n;
};

enum { OPT_JSON = 1000, OPT_HELP = 1001, OPT_FIRST = 1100 };

static void make_spec(const struct cli_cmd *cmd, struct spec *s)
{
	size_t at = 0, n = 0;

	memset(s, 0, sizeof(*s));
	if (cmd->flags & CLI_COMMAND)
		s->shorts[at++] = '+';
	s->shorts[at++] = ':'; /* getopt then reports a missing argument by ':' */
	s->shorts[at++] = 'h';
	for (const struct cli_opt *o = cmd->opts; o && o->name && s->n < MAX_OPTS; o++) {
		int has = !o->arg          ? no_argument
			  : *o->arg == '=' ? optional_argument
					   : required_argument;

		s->longs[n++] = (struct option){ o->name, has, NULL, OPT_FIRST + (int)s->n };
		if (o->letter) {
			s->shorts[at++] = o->letter;
			if (o->arg)
				s->shorts[at++] = ':';
		}
		s->opts[s->n++] = o;
	}
	if (cmd->flags & CLI_JSON)
		s->longs[n++] = (struct option){ "json", no_argument, NULL, OPT_JSON };
	s->longs[n++] = (struct option){ "help", no_argument, NULL, OPT_HELP };
}

static int take_opt(struct cli *c, const struct spec *s, int got, struct gs_error *err)
{
	const struct cli_opt *o = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (got == OPT_FIRST + (int)i || (s->opts[i]->letter && got == s->opts[i]->letter))
			o = s->opts[i];
	if (got == OPT_JSON)
		c->json = true;
	else if (got == OPT_HELP || got == 'h')
		c->help = true;
	else if (o && c->nopts < GS_COUNT(c->opts))
		c->opts[c->nopts++] = (struct gs_option_text){ o->name, o->arg ? optarg : NULL };
	else
		return gs_fail(err, -EINVAL, "too many options");
	return 0;
}

static int bad_opt(const struct cli_cmd *cmd, int got, char **argv, struct gs_error *err)
{
	char name[64], text[64], see[192];

	words(cmd, name, sizeof(name));
	/*
	 * optopt is 0 for an unknown long option; for a known option that was used wrongly, it is
	 * the number from make_spec()
	 */
	if (optopt > 0 && optopt < 256)
		snprintf(text, sizeof(text), "-%c", optopt);
	else
		snprintf(text, sizeof(text), "%.60s", argv[optind - 1]);
	if (got == ':')
		return gs_fail(err, -EINVAL, "%s: %s needs a value: see 'gpusched %s --help'", name,
			       text, name);
	if (strncmp(text, "--", 2) || !cli_find_near_option(cmd, text + 2, see, sizeof(see)))
		snprintf(see, sizeof(see), "see 'gpusched %s --help'", name);
	return gs_fail(err, -EINVAL, "%s: unknown option %s: %s", name, text, see);
}

static bool is_text(const char *word)
{
	CLEANUP_JSON json_t *s = json_string(word);

	return s != NULL;
}

int cli_parse(const struct cli_cmd *cmd, int argc, char **argv, struct cli *ret,
	      struct gs_error *err)
{
	struct cli c = { .cmd = cmd };
	struct spec spec;
	char name[64];
	int got, r;

	make_spec(cmd, &spec);
	opterr = 0;
	optind = 0; /* makes glibc's getopt start again */
	while ((got = getopt_long(argc, argv, spec.shorts, spec.longs, NULL)) != -1) {
		if (got == '?' || got == ':')
			return bad_opt(cmd, got, argv, err);
		r = take_opt(&c, &spec, got, err);
		if (r)
			return r;
	}
	c.argc = argc - optind;
	c.argv = argv + optind;
	words(cmd, name, sizeof(name));
	if (!c.help && c.argc < cmd->min)
		return gs_fail(err, -EINVAL, "%s: an argument is missing: gpusched %s %s", name,
			       name, cmd->args);
	if (!c.help && c.argc > cmd->max)
		return gs_fail(err, -EINVAL, "%s: '%s' is one argument too many: gpusched %s%s%s",
			       name, c.argv[cmd->max], name, cmd->args[0] ? " " : "", cmd->args);
	if (strstr(cmd->args, "TARGET") && c.argc && !*c.argv[0])
		return gs_fail(err, -EINVAL, "%s: the target is empty: 'all' means all TSGs", name);
	if (strstr(cmd->args, "TARGET") && c.argc && !is_text(c.argv[0]))
		return gs_fail(err, -EINVAL, "%s: the target is not valid UTF-8", name);
	if (strstr(cmd->args, "TARGET") && c.argc)
		c.argv[0] = cli_target_of(c.argv[0]);
	*ret = c;
	return 0;
}

/* Handles --help and --version before any verb, and `NOUN --help`; -1: none of them. */
static int early(const struct cli_table *t, int argc, char **argv)
{
	if (argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		cli_help_usage(t, stdout);
		return GS_EXIT_OK;
	}
	if (argc >= 2 && !strcmp(argv[1], "--version")) {
		printf("gpusched %s\n", GPUSCHED_VERSION);
		return GS_EXIT_OK;
	}
	if (argc == 3 && cli_find_noun(t, argv[1]) &&
	    (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		cli_help_noun(t, stdout, argv[1]);
		return GS_EXIT_OK;
	}
	return -1;
}

/*
 * True if a value follows this option, which stands before the verb. If commands disagree (as on
 * --gpu), a value follows unless the next word is a noun.
 */
static bool takes_value(const struct cli_table *t, const char *word, const char *next)
{
	bool value = false, flag = false;

	for (size_t i = 0; i < t->n; i++)
		for (const struct cli_opt *o = t->cmds[i].opts; o && o->name; o++)
			if (word[1] == '-' ? !strcmp(word + 2, o->name)
					   : o->letter && word[1] == o->letter && !word[2])
				*(o->arg && *o->arg != '=' ? &value : &flag) = true;
	return value && !(flag && next && cli_find_noun(t, next));
}

static bool has_verbs(const struct cli_table *t, const char *noun)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->cmds[i].noun, noun))
			return t->cmds[i].verb;
	return false;
}

/* Moves the verb and its noun to the front, since options may stand before them. */
void cli_verb_first(const struct cli_table *t, int argc, char **argv)
{
	int at = 1, n;
	char *words[2];

	while (at < argc && argv[at][0] == '-' && argv[at][1] && strcmp(argv[at], "--"))
		at += takes_value(t, argv[at], argv[at + 1]) ? 2 : 1;
	if (at == 1 || at >= argc)
		return;
	n = has_verbs(t, argv[at]) && at + 1 < argc && argv[at + 1][0] != '-' ? 2 : 1;
	memcpy(words, argv + at, (size_t)n * sizeof(*words));
	memmove(argv + 1 + n, argv + 1, (size_t)(at - 1) * sizeof(*argv));
	memcpy(argv + 1, words, (size_t)n * sizeof(*words));
}

static int dispatch(const struct cli_table *t, int argc, char **argv)
{
	const struct cli_cmd *cmd = NULL;
	struct gs_error err = {};
	struct cli c = {};
	int used = 0, r;

	cli_verb_first(t, argc, argv);
	r = early(t, argc, argv);
	if (r >= 0)
		return r;
	r = cli_find(t, argc, argv, &cmd, &used, &err);
	if (r)
		return cli_fail_err(r, &err, "gpusched");
	r = cli_parse(cmd, argc - used, argv + used, &c, &err);
	if (r)
		return cli_fail_err(r, &err, cmd->noun);
	if (c.help) {
		cli_help(stdout, cmd);
		return GS_EXIT_OK;
	}
	r = gs_env_check(&err);
	if (r)
		return cli_fail_err(r, &err, "GPUSCHED_SIM");
	c.table = t;
	return cmd->fn(&c);
}

int cli_main(const struct cli_table *t, int argc, char **argv)
{
	int code;

	/* write whole lines, since other programs use the same stderr */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	gs_log_sink(gs_log_to_stderr, "gpusched", LOG_WARNING);
	code = dispatch(t, argc, argv);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && (code == GS_EXIT_OK || code == GS_EXIT_WRONG))
		return cli_fail(-EIO, "output cannot be written: %s",
				errno ? strerror(errno) : "input/output error");
	return code;
}
