// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "basic/cleanup.h"
#include "cli/cli.h"
#include "cli/setting.h"

#define MAX_WORDS 12

/* Splits at spaces and runs the parser as cli_main() would. */
static int parse(const char *line, struct cli *ret, struct gs_error *err)
{
	static char words[256];
	static char *argv[MAX_WORDS + 1];
	const struct cli_cmd *cmd;
	int argc = 0, used, r;
	char *save = NULL;

	snprintf(words, sizeof(words), "gpusched %s", line);
	for (char *w = strtok_r(words, " ", &save); w && argc < MAX_WORDS;
	     w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	cli_verb_first(&cli_table, argc, argv);
	r = cli_find(&cli_table, argc, argv, &cmd, &used, err);
	return r ? r : cli_parse(cmd, argc - used, argv + used, ret, err);
}

static void test_table_is_sound(void **state)
{
	for (size_t i = 0; i < cli_table.n; i++) {
		const struct cli_cmd *cmd = &cli_table.cmds[i];

		assert_non_null(cmd->fn);
		assert_true(cmd->min <= cmd->max);
		assert_true(strlen(cmd->help) > 5);
		for (size_t j = 0; j < i; j++) {
			bool same = !strcmp(cmd->noun, cli_table.cmds[j].noun);

			/*
			 * A noun is a command itself or has verbs, never both; no command is there
			 * twice.
			 */
			assert_false(same && !cmd->verb != !cli_table.cmds[j].verb);
			assert_false(same &&
				     (!cmd->verb || !strcmp(cmd->verb, cli_table.cmds[j].verb)));
		}
		for (const struct cli_opt *o = cmd->opts; o && o->name; o++) {
			assert_string_not_equal(o->name, "json");
			assert_string_not_equal(o->name, "help");
			assert_int_not_equal(o->letter, 'h');
		}
	}
}

static void test_words(void **state)
{
	struct cli c = {};

	assert_int_equal(parse("list pid:1 --json", &c, NULL), 0);
	assert_true(c.json);
	assert_int_equal(c.argc, 1);
	assert_string_equal(c.argv[0], "pid:1");

	assert_int_equal(parse("suspend --for 2s tsg:4", &c, NULL), 0);
	assert_string_equal(cli_opt(&c, "for"), "2s");
	assert_string_equal(c.argv[0], "tsg:4");

	assert_int_equal(parse("suspend -t 2s tsg:4", &c, NULL), 0);
	assert_string_equal(cli_opt(&c, "for"), "2s");
	assert_null(cli_opt(&c, "json"));

	assert_int_equal(parse("policy start lcbe -o a=1 -o b=2", &c, NULL), 0);
	assert_int_equal(c.nopts, 2);
	assert_string_equal(c.opts[1].value, "b=2");
	assert_string_equal(c.cmd->verb, "start");
}

static void test_options_first(void **state)
{
	struct cli c = {};

	assert_int_equal(parse("--json --for 2s suspend tsg:4", &c, NULL), 0);
	assert_string_equal(cli_opt(&c, "for"), "2s");
	assert_true(c.json);
	assert_string_equal(c.argv[0], "tsg:4");

	assert_int_equal(parse("-o a=1 policy start lcbe -o b=2", &c, NULL), 0);
	assert_int_equal(c.nopts, 2);
	assert_string_equal(c.opts[0].value, "a=1");
	assert_string_equal(c.argv[0], "lcbe");

	assert_int_equal(parse("--class=lc run ls -l", &c, NULL), 0);
	assert_string_equal(cli_opt(&c, "class"), "lc");
	assert_string_equal(c.argv[1], "-l");

	/* an option that is a flag for one command and has a value for another */
	assert_int_equal(parse("--gpu demo", &c, NULL), 0);
	assert_string_equal(cli_opt(&c, "gpu"), "");
	assert_int_equal(parse("--gpu path bench", &c, NULL), 0);
	assert_string_equal(cli_opt(&c, "gpu"), "path");
}

/*
 * The parser meets options before the verb: for all verbs, an option must agree on having a value.
 */
static void test_options_agree(void **state)
{
	for (size_t i = 0; i < cli_table.n; i++)
		for (const struct cli_opt *o = cli_table.cmds[i].opts; o && o->name; o++)
			for (size_t j = 0; j < i; j++)
				for (const struct cli_opt *p = cli_table.cmds[j].opts; p && p->name;
				     p++)
					if (!strcmp(o->name, p->name) ||
					    (o->letter && o->letter == p->letter))
						assert_true(!strcmp(o->name, "gpu") ||
							    !o->arg == !p->arg);
}

static void test_command_keeps_its_options(void **state)
{
	struct cli c = {};

	assert_int_equal(parse("run --class lc -- ls -l --json", &c, NULL), 0);
	assert_string_equal(cli_opt(&c, "class"), "lc");
	assert_int_equal(c.argc, 3);
	assert_string_equal(c.argv[0], "ls");
	assert_string_equal(c.argv[2], "--json");

	assert_int_equal(parse("run -c be ls -l", &c, NULL), 0);
	assert_int_equal(c.argc, 2);
	assert_string_equal(c.argv[1], "-l");
}

static void test_refusals(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "", "no verb given" },
		{ "lst", "unknown verb 'lst'" },
		{ "policy", "needs a verb: one of get, list" },
		{ "policy begin", "has no verb 'begin'" },
		{ "list a b", "one argument too many" },
		{ "set pid:1", "an argument is missing" },
		{ "run", "an argument is missing" },
		{ "run --class", "--class needs a value" },
		{ "suspend pid:1 -t", "-t needs a value" },
		{ "suspend pid:1 --nonsense", "unknown option --nonsense" },
		{ "suspend pid:1 -z", "unknown option -z" },
		{ "list --json=yes", "unknown option --json=yes" },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_error err = {};
		struct cli c = {};

		assert_int_equal(parse(cases[i].line, &c, &err), -EINVAL);
		assert_non_null(strstr(err.text, cases[i].says));
		assert_null(strchr(err.text, '\n'));
	}
}

static void test_settings(void **state)
{
	static const struct {
		const char *text;
		int result;
		const char *json;
	} cases[] = {
		{ "timeslice=20us", 0, "{\"timeslice_us\":20}" },
		{ "timeslice=2ms", 0, "{\"timeslice_us\":2000}" },
		{ "timeslice_us=7", 0, "{\"timeslice_us\":7}" },
		{ "interleave=high", 0, "{\"interleave\":\"high\"}" },
		{ "preempt_mode=cta", 0, "{\"preempt_mode\":\"cta\"}" },
		{ "timeslice=0", -ERANGE, "{}" },
		{ "timeslice=101s", -ERANGE, "{}" },
		{ "timeslice=", -EINVAL, "{}" },
		{ "interleave=3", -EINVAL, "{}" },
		{ "preempt_mode=CILP", 0, "{\"preempt_mode\":\"cilp\"}" },
		{ "preempt_mode=best", -EINVAL, "{}" },
		{ "slice=1", -EINVAL, "{}" },
		{ "timeslice", -EINVAL, "{}" },
		{ "=1", -EINVAL, "{}" },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		CLEANUP_JSON json_t *args = json_object();
		CLEANUP_FREE char *text = NULL;
		struct gs_error err = {};

		assert_int_equal(cli_setting_parse(cases[i].text, args, &err), cases[i].result);
		text = json_dumps(args, JSON_COMPACT);
		assert_string_equal(text, cases[i].json);
		assert_int_equal(!err.text[0], !cases[i].result);
	}
}

/* Who looks for a priority is told of classes, and an unknown word lists all that can be set. */
static void test_setting_unknown(void **state)
{
	CLEANUP_JSON json_t *args = json_object();
	struct gs_error priority = {}, other = {};

	assert_int_equal(cli_setting_parse("priority=10", args, &priority), -EINVAL);
	assert_non_null(strstr(priority.text, "gpusched class set TARGET lc"));
	assert_int_equal(cli_setting_parse("slice=10", args, &other), -EINVAL);
	assert_non_null(strstr(other.text, "limit or request"));
}

static void test_setting_twice(void **state)
{
	CLEANUP_JSON json_t *args = json_object();
	struct gs_error err = {};

	assert_int_equal(cli_setting_parse("timeslice=1ms", args, &err), 0);
	assert_int_equal(cli_setting_parse("timeslice_us=5", args, &err), -EINVAL);
	assert_int_equal(json_integer_value(json_object_get(args, "timeslice_us")), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_sound),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_options_first),
		cmocka_unit_test(test_options_agree),
		cmocka_unit_test(test_command_keeps_its_options),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_setting_unknown),
		cmocka_unit_test(test_setting_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
