// SPDX-License-Identifier: MIT
/* Parses the options of gpuschedd, from one table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "daemon/daemon.h"

enum type { FLAG, TEXT, OPTION, HELP, VERSION };

static const struct {
	const char *name;
	char letter;
	const char *arg, *help;
	enum type type;
	size_t offset;
} table[] = {
#define AT(field) offsetof(struct daemon_options, field)
	{ "foreground", 'f', NULL, "log to standard error", FLAG, AT(foreground) },
	{ "dry-run", 'n', NULL, "decide, log and count, but make no driver call", FLAG,
	  AT(dry_run) },
	{ "config", 'c', "FILE", "read FILE (and FILE.d) instead of /etc/gpusched/gpusched.conf",
	  TEXT, AT(config) },
	{ "check-config", 0, NULL,
	  "check the configuration, with its policy's name and options, and exit", FLAG,
	  AT(check_config) },
	{ "help-config", 0, NULL, "print every key of the configuration and exit", FLAG,
	  AT(help_config) },
	{ "help-api", 0, NULL, "print every verb of the API with its arguments and exit", FLAG,
	  AT(help_api) },
	{ "help-counters", 0, NULL, "print what stats counts, for the manual, and exit", FLAG,
	  AT(help_counters) },
	{ "policy", 'p', "NAME", "start this policy instead of the configuration's", TEXT,
	  AT(policy) },
	{ "option", 'o', "KEY=VALUE", "an option of the policy; may be repeated", OPTION, 0 },
	{ "guardian", 0, NULL, "wait for the daemon to die, put everything back, begin again", FLAG,
	  AT(guardian) },
	{ "no-adopt", 0, NULL, "do not look for processes that were running before", FLAG,
	  AT(no_adopt) },
	{ "version", 'V', NULL, "print the version and exit", VERSION, 0 },
	{ "help", 'h', NULL, "print this and exit", HELP, 0 },
#undef AT
};

static void usage(void)
{
	printf("Usage: gpuschedd [OPTION]...\n\nThe daemon of gpusched.\n\n");
	for (size_t i = 0; i < GS_COUNT(table); i++) {
		char left[64], letter[8] = "    ";

		if (table[i].letter)
			snprintf(letter, sizeof(letter), "-%c, ", table[i].letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, table[i].name,
			 table[i].arg ? "=" : "", table[i].arg ? table[i].arg : "");
		printf("  %-28s %s\n", left, table[i].help);
	}
}

static int take(struct daemon_options *o, size_t i, const char *value, struct gs_error *err)
{
	char *field = (char *)o + table[i].offset;

	switch (table[i].type) {
	case FLAG:
		*(bool *)field = true;
		return 0;
	case TEXT:
		*(const char **)field = value;
		return 0;
	case OPTION:
		if (o->nset == GS_COUNT(o->set))
			return gs_fail(err, -EINVAL, "more than %zu options", GS_COUNT(o->set));
		o->set[o->nset++] = value;
		return 0;
	case HELP:
		usage();
		return 1;
	case VERSION:
		printf("gpuschedd %s\n", GPUSCHED_VERSION);
		return 1;
	}
	return -EINVAL;
}

/* Makes long options and letters for getopt. The value of a long option is 256 plus its index. */
static void for_getopt(struct option *longs, char *letters)
{
	*letters++ = ':';
	for (size_t i = 0; i < GS_COUNT(table); i++) {
		longs[i] = (struct option){ table[i].name,
					    table[i].arg ? required_argument : no_argument, NULL,
					    256 + (int)i };
		if (!table[i].letter)
			continue;
		*letters++ = table[i].letter;
		if (table[i].arg)
			*letters++ = ':';
	}
	*letters = 0;
}

static size_t place_of(int c)
{
	if (c >= 256)
		return (size_t)c - 256;
	for (size_t i = 0; i < GS_COUNT(table); i++)
		if (table[i].letter == c)
			return i;
	return 0;
}

int options_parse(int argc, char **argv, struct daemon_options *ret, struct gs_error *err)
{
	struct option longs[GS_COUNT(table) + 1] = { 0 };
	char letters[2 * GS_COUNT(table) + 2];
	int c, r;

	for_getopt(longs, letters);
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) >= 0) {
		if (c == ':')
			return gs_fail(err, -EINVAL, "%s needs a value: see --help",
				       argv[optind - 1]);
		if (c == '?')
			return gs_fail(err, -EINVAL, "unknown option %s: see --help",
				       argv[optind - 1]);
		r = take(ret, place_of(c), optarg, err);
		if (r)
			return r;
	}
	if (optind < argc)
		return gs_fail(err, -EINVAL, "unexpected argument '%s': see --help", argv[optind]);
	return 0;
}
