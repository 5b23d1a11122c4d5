// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "classify/classify.h"
#include "config/config.h"

static int parse(struct gs_config *c, const char *text, struct gs_error *err)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int r;

	assert_non_null(f);
	r = gs_config_parse(c, f, "test.conf", err);
	fclose(f);
	return r;
}

static struct gs_config *fresh(void)
{
	struct gs_config *c = NULL;

	assert_int_equal(gs_config_new(&c), 0);
	return c;
}

static void defaults(void **state)
{
	struct gs_config *c = fresh();

	assert_string_equal(c->policy, "");
	assert_string_equal(c->default_class, "");
	assert_int_equal(c->switch_cost_us, 0);
	assert_true(c->adopt);
	assert_false(c->dry_run);
	assert_int_equal(gs_config_log_level(c), LOG_INFO);
	gs_config_free(c);
}

static void every_key(void **state)
{
	struct gs_config *c = fresh();
	struct gs_error err = { 0 };

	assert_int_equal(parse(c,
			       "# a comment\n[Policy]\nPolicy=lcbe\nPolicyOption=a=1\n"
			       "PolicyOption=b=2\n[Classes]\nClass=gold weight=200\n"
			       "DefaultClass=be\nRule=comm=x -> lc\nAllowClass=lc uid=5\n"
			       "[Daemon]\nSwitchCost=1ms\nAdopt=no\nDryRun=yes\nLogLevel=debug\n",
			       &err),
			 0);
	assert_string_equal(c->policy, "lcbe");
	assert_int_equal(c->policy_options.n, 2);
	assert_string_equal(c->policy_options.text[1], "b=2");
	assert_string_equal(c->policy_options.at[1], "test.conf:5");
	assert_string_equal(c->classes.text[0], "gold weight=200");
	assert_string_equal(c->default_class, "be");
	assert_string_equal(c->rules.text[0], "comm=x -> lc");
	assert_string_equal(c->allow.text[0], "lc uid=5");
	assert_int_equal(c->switch_cost_us, 1000);
	assert_false(c->adopt);
	assert_true(c->dry_run);
	assert_int_equal(gs_config_log_level(c), LOG_DEBUG);
	gs_config_free(c);
}

static void empty_value_clears_a_list(void **state)
{
	struct gs_config *c = fresh();

	assert_int_equal(parse(c, "[Classes]\nRule=comm=x -> lc\nRule=\nRule=comm=y -> be\n", NULL),
			 0);
	assert_int_equal(c->rules.n, 1);
	assert_string_equal(c->rules.text[0], "comm=y -> be");
	gs_config_free(c);
}

static void launches_have_two_words(void **state)
{
	static const struct {
		const char *text;
		uint32_t v;
	} cases[] = {
		{ "yes", GS_LAUNCHES_ALWAYS },
		{ "no", 0 },
		{ "Trusted", GS_LAUNCHES_TRUSTED },
		{ "no trusted", GS_LAUNCHES_TRUSTED },
		{ "yes  trusted", GS_LAUNCHES_ALWAYS | GS_LAUNCHES_TRUSTED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gs_config *c = fresh();
		char text[64];

		assert_int_equal(c->launches, 0);
		snprintf(text, sizeof(text), "[Daemon]\nCountLaunches=%s\n", cases[i].text);
		assert_int_equal(parse(c, text, NULL), 0);
		assert_int_equal(c->launches, cases[i].v);
		gs_config_free(c);
	}
}

static void mistakes_have_file_and_line(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "\nNonsense=1\n", "test.conf:2: unknown key 'Nonsense'" },
		{ "[Daemon]\nPolicy=x\n", "test.conf:2: Policy= belongs into [Policy]" },
		{ "# first\nPolicy=x\n[Policy]\n",
		  "test.conf:2: Policy= is in no section: write [Policy] above it" },
		{ "Rule=comm=x -> lc\n", "test.conf:1: Rule= is in no section" },
		{ "[Policy]\nPolicy=x\nPolicy=y\n",
		  "test.conf:3: Policy= is in line 2 already, and may be given once" },
		{ "[Daemon]\nAdopt=no\n[Policy]\nPolicy=x\n[Daemon]\nadopt=no\n",
		  "test.conf:6: Adopt= is in line 2 already" },
		{ "[Daemon]\nAdopt=perhaps\n", "test.conf:2: Adopt: 'perhaps' is neither" },
		{ "[Daemon]\nCountLaunches=trust\n",
		  "test.conf:2: CountLaunches: 'trust' is neither" },
		{ "[Daemon]\nSwitchCost=2x\n", "test.conf:2: SwitchCost: '2x' is not a time" },
		{ "[Daemon]\nSwitchCost=10s\n", "test.conf:2: SwitchCost: 10s is out of range" },
		{ "[Daemon]\nLogLevel=loud\n", "test.conf:2: LogLevel: 'loud' is not a log level" },
		{ "# one\n\nwhat is this\n", "test.conf:3: neither" },
		{ "[Daemon\n", "test.conf:1: neither" },
		{ "[Daemon\nNonsense=1\n", "test.conf:1: neither" },
		{ "[Demon]\nAdopt=no\n", "test.conf:2: Adopt= is in [Demon], and there is no" },
		{ "[Demon]\nNonsense=1\n", "test.conf:2: Nonsense= is in [Demon]" },
		{ "[Daemon]\nSwitchCost=:\n", "test.conf:2: SwitchCost: ':' is not a time" },
		{ "[Policy]\nPolicyOption=nothing\n",
		  "test.conf:2: PolicyOption: 'nothing' is not" },
		{ "[Classes]\nDefaultClass=a_name_that_is_longer_than_thirty_one_bytes\n",
		  "test.conf:2: DefaultClass: longer than 31" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gs_config *c = fresh();
		struct gs_error err = { 0 };

		assert_int_equal(parse(c, cases[i].text, &err), -EINVAL);
		if (!strstr(err.text, cases[i].error))
			fail_msg("'%s' does not contain '%s'", err.text, cases[i].error);
		assert_ptr_equal(strstr(err.text, "test.conf:"), err.text);
		gs_config_free(c);
	}
}

static void the_first_mistake_is_told(void **state)
{
	struct gs_config *c = fresh();
	struct gs_error err = { 0 };

	assert_int_equal(parse(c, "junk\nNonsense=1\n", &err), -EINVAL);
	assert_non_null(strstr(err.text, "test.conf:"));
	gs_config_free(c);
}

/* At a daemon's start, a bad line is left out, and the others count. */
static void bad_lines_are_left_out_at_a_start(void **state)
{
	static const struct {
		const char *line, *why;
	} bad[] = {
		{ "Nonsense=1", "unknown key 'Nonsense'" },
		{ "no key at all", "neither 'Key=value'" },
		{ "IfPossible=perhaps", "IfPossible: " },
		{ "Class=gold weight=many", "many" },
		{ "Rule=comm=x -> gold", "gold" },
		{ "Rule=exe=python3 -> be", "python3" },
		{ "AllowClass=gold uid=5", "gold" },
		{ "DefaultClass=gold", "gold" },
		{ "[Budgets]\nBudget=uid=5 per=day", "Budget: a budget needs" },
		{ "[Memory]\nParkIdle=gold 30m", "ParkIdle: there is no class" },
	};
	char file[] = "/tmp/test_config.XXXXXX", at[64];
	struct gs_config *c = NULL;
	struct gs_error err = { 0 };
	struct gs_declared made = { NULL };
	int fd = mkstemp(file);
	FILE *f = fdopen(fd, "w");

	assert_non_null(f);
	fprintf(f, "[Classes]\nClass=silver weight=300\nRule=comm=%04100d -> be\n", 0);
	for (size_t i = 0; i < GS_COUNT(bad); i++)
		fprintf(f, "%s\nAllowClass=lc uid=%zu\n", bad[i].line, i);
	fprintf(f, "[Classes]\nRule=comm=y -> silver\n[Daemon]\nDryRun=perhaps\n");
	fclose(f);
	assert_int_equal(gs_config_load_file(file, &c, &err), -EINVAL);
	assert_int_equal(gs_config_load_start(file, &c, &err), 0);
	assert_int_equal(c->left_out.n, GS_COUNT(bad) + 2 + 2);
	snprintf(at, sizeof(at), "%s:3", file);
	assert_string_equal(c->left_out.at[0], at);
	assert_string_equal(c->left_out.text[0], "the line is too long");
	for (size_t i = 0; i < GS_COUNT(bad); i++) {
		bool told = false;

		for (size_t j = 0; j < c->left_out.n; j++)
			told |= strstr(c->left_out.text[j], bad[i].why) != NULL;
		if (!told)
			fail_msg("'%s' is not told", bad[i].line);
	}
	assert_int_equal(c->classes.n, 1);
	assert_int_equal(c->rules.n, 1);
	assert_int_equal(c->allow.n, 8); /* the two behind [Budgets] and [Memory] are misplaced */
	assert_int_equal(c->budgets.n + c->park_idle.n, 0);
	assert_string_equal(c->default_class, "");
	assert_true(c->dry_run);
	assert_int_equal(gs_config_declare(c, GS_NAMING_STRICT, &made, &err), 0);
	gs_config_declared_done(&made);
	gs_config_free(c);
	unlink(file);
}

static struct gs_config *started_with(const char *text, size_t len)
{
	char file[] = "/tmp/test_config.XXXXXX";
	struct gs_config *c = NULL;
	struct gs_error err = { 0 };
	int fd = mkstemp(file);

	assert_int_equal(write(fd, text, len), len);
	close(fd);
	assert_int_equal(gs_config_load_start(file, &c, &err), 0);
	unlink(file);
	return c;
}

/* The first of two lines counts: a start must not depend on which one was meant. */
static void second_lines_and_lines_without_section_are_left_out(void **state)
{
	static const char text[] = "LogLevel=err\n[Policy]\nPolicy=rr\nPolicy=fair\n"
				   "[Daemon]\nAdopt=perhaps\nAdopt=no\n";
	struct gs_config *c = started_with(text, sizeof(text) - 1);

	assert_int_equal(c->left_out.n, 3);
	assert_non_null(strstr(c->left_out.text[0], "LogLevel= is in no section"));
	assert_non_null(strstr(c->left_out.text[1], "Policy= is in line 3 already"));
	assert_string_equal(c->policy, "rr");
	assert_int_equal(gs_config_log_level(c), LOG_INFO);
	assert_false(c->adopt);
	gs_config_free(c);
}

/* Whoever mistypes DryRun= may not want any call. */
static void a_bad_dry_run_counts_as_yes(void **state)
{
	static const char *const bad[] = { "DryRun=no\n", "[Daemon]\nDryRun=no\nDryRun=no\n",
					   "[Daemon]\nDryRun=perhaps\n", "[Classes]\nDryRun=yes\n",
					   "[Deamon]\nDryRun=yes\n" };

	for (size_t i = 0; i < GS_COUNT(bad); i++) {
		struct gs_config *c = started_with(bad[i], strlen(bad[i]));

		assert_int_equal(c->left_out.n, 1);
		assert_true(c->dry_run);
		gs_config_free(c);
	}
}

/* A crash may leave zeros in a file: the line behind them counts all the same. */
static void zeros_hide_no_other_line(void **state)
{
	static const char text[] = "\0\0\n[Classes]\nAllowClass=lc uid=1\0\nAllowClass=lc uid=2\n";
	struct gs_config *c = started_with(text, sizeof(text) - 1);

	assert_int_equal(c->allow.n, 2);
	assert_string_equal(c->allow.text[1], "lc uid=2");
	gs_config_free(c);
}

static void long_line_is_refused(void **state)
{
	struct gs_config *c = fresh();
	struct gs_error err = { 0 };
	char *text = malloc(20001);

	memset(text, 'x', 20000);
	memcpy(text, "Policy=", 7);
	text[20000] = 0;
	assert_int_equal(parse(c, text, &err), -EINVAL);
	assert_non_null(strstr(err.text, "test.conf:1:"));
	free(text);
	gs_config_free(c);
}

static void classes_from_lines(void **state)
{
	struct gs_config *c = fresh();
	struct gs_declared made = { NULL };
	struct gs_error err = { 0 };
	uint32_t id;

	assert_int_equal(parse(c,
			       "[Classes]\nClass=gold weight=300 suspend_limit_ms=50 slo=20ms\n"
			       "Class=tin slo=0.5\nClass=lead\nDefaultClass=gold\n",
			       &err),
			 0);
	assert_int_equal(gs_config_declare(c, GS_NAMING_STRICT, &made, &err), 0);
	assert_int_equal(gs_class_id(made.classes, "gold", &id), 0);
	assert_int_equal(gs_class_of(made.classes, id)->weight, 300);
	assert_int_equal(gs_class_of(made.classes, id)->suspend_limit_ms, 50);
	assert_int_equal(gs_class_extras(made.classes, id).slo_ns, 20000000);
	assert_int_equal(gs_class_extras(made.classes, id + 1).slo_ns, 500000000);
	assert_int_equal(gs_class_extras(made.classes, id + 2).slo_ns, 0);
	assert_int_equal(gs_class_extras(made.classes, GPUSCHED_CLASS_LC).slo_ns, 0);
	gs_config_declared_done(&made);
	gs_config_free(c);
}

/* What people write in such files: indented keys, comments behind values, long patterns. */
static void files_as_people_write_them(void **state)
{
	static const char head[] = "[Classes]\n  Class=gold weight=300 # the paying ones\n"
				   "  Class=tin ; the others\n  [Policy]\n\tPolicy = rr\n"
				   "[Classes]\nRule=comm=a#b -> gold\nRule=cgroup=";
	struct gs_config *c = fresh();
	struct gs_declared made = { NULL };
	struct gs_error err = { 0 };
	char text[5000];
	uint32_t id;

	snprintf(text, sizeof(text), "%s/%0230d -> gold\n", head, 1);
	assert_int_equal(parse(c, text, &err), 0);
	assert_string_equal(c->policy, "rr");
	assert_int_equal(gs_config_declare(c, GS_NAMING_STRICT, &made, &err), 0);
	assert_int_equal(gs_class_id(made.classes, "tin", &id), 0);
	gs_config_declared_done(&made);
	gs_config_free(c);

	c = fresh();
	snprintf(text, sizeof(text), "\n# %04500d\n[Policy]\n", 1);
	assert_int_equal(parse(c, text, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":2: the line is too long"));
	gs_config_free(c);
}

static void bad_class_lines_are_located(void **state)
{
	static const char *const lines[] = {
		"[Classes]\nClass=gold weight=0\n", "[Classes]\nClass=gold colour=red\n",
		"[Classes]\nClass=gold extra\n",    "[Classes]\nRule=comm=x -> nobody\n",
		"[Classes]\nRule=nonsense\n",       "[Classes]\nAllowClass=nobody uid=1\n",
		"[Classes]\nDefaultClass=nobody\n",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct gs_config *c = fresh();
		struct gs_declared made = { NULL };
		struct gs_error err = { 0 };

		assert_int_equal(parse(c, lines[i], &err), 0);
		if (gs_config_declare(c, GS_NAMING_STRICT, &made, &err) != -EINVAL)
			fail_msg("accepted: %s", lines[i]);
		if (strncmp(err.text, "test.conf:2: ", 13))
			fail_msg("'%s' for '%s'", err.text, lines[i]);
		gs_config_free(c);
	}
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void names_that_are_cut_are_noted(void **state)
{
	struct gs_config *c = fresh();
	struct gs_error err = { 0 };

	assert_int_equal(
		parse(c,
		      "[Classes]\nRule=comm=python3 -> be\nRule=uid=1 comm=VLLM::EngineCore "
		      "-> lc\nRule=\nRule=arg=comm=VLLM::EngineCore -> lc\n",
		      &err),
		0);
	assert_int_equal(c->notes.n, 1);
	assert_string_equal(c->notes.at[0], "test.conf:3");
	assert_string_equal(c->notes.text[0], "Rule: comm= is cut to VLLM::EngineCor");
	gs_config_free(c);
}

static void drop_ins_in_order(void **state)
{
	char dir[] = "/tmp/gs-config-XXXXXX", file[64], drop[96], a[128], b[128], other[128];
	struct gs_config *c = NULL;
	struct gs_error err = { 0 };

	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/x.conf", dir);
	snprintf(drop, sizeof(drop), "%s.d", file);
	snprintf(a, sizeof(a), "%s/10-a.conf", drop);
	snprintf(b, sizeof(b), "%s/20-b.conf", drop);
	snprintf(other, sizeof(other), "%s/30-c.conf~", drop);
	assert_int_equal(mkdir(drop, 0755), 0);
	put(file, "[Policy]\nPolicy=one\n[Daemon]\nLogLevel=err\n");
	put(b, "[Policy]\nPolicy=three\n");
	put(a, "[Policy]\nPolicy=two\n[Daemon]\nDryRun=yes\n");
	put(other, "Nonsense=1\n");
	assert_int_equal(gs_config_load_file(file, &c, &err), 0);
	assert_string_equal(c->policy, "three");
	assert_true(c->dry_run);
	assert_int_equal(gs_config_log_level(c), LOG_ERR);
	assert_int_equal(c->notes.n, 2);
	assert_non_null(strstr(c->notes.at[1], "20-b.conf:2"));
	assert_non_null(strstr(c->notes.text[1], "Policy= replaces that of "));
	assert_non_null(strstr(c->notes.text[1], "10-a.conf:2"));
	gs_config_free(c);
	put(b, "[Policy]\nNonsense=1\n");
	assert_int_equal(gs_config_load_file(file, &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "20-b.conf:2: unknown key"));
	unlink(file);
	memset(&err, 0, sizeof(err));
	assert_int_equal(gs_config_load_file(file, &c, &err), -ENOENT);
	unlink(a);
	unlink(b);
	unlink(other);
	rmdir(drop);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(every_key),
		cmocka_unit_test(empty_value_clears_a_list),
		cmocka_unit_test(launches_have_two_words),
		cmocka_unit_test(mistakes_have_file_and_line),
		cmocka_unit_test(the_first_mistake_is_told),
		cmocka_unit_test(bad_lines_are_left_out_at_a_start),
		cmocka_unit_test(second_lines_and_lines_without_section_are_left_out),
		cmocka_unit_test(a_bad_dry_run_counts_as_yes),
		cmocka_unit_test(zeros_hide_no_other_line),
		cmocka_unit_test(long_line_is_refused),
		cmocka_unit_test(classes_from_lines),
		cmocka_unit_test(files_as_people_write_them),
		cmocka_unit_test(bad_class_lines_are_located),
		cmocka_unit_test(names_that_are_cut_are_noted),
		cmocka_unit_test(drop_ins_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
