/* SPDX-License-Identifier: MIT */
/* test_shell.c - check what Tab offers at the prompt of gpusched's shell */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "cli/cli.h"
#include "cli/shell.h"

static char found[CLI_CANDIDATES][CLI_CANDIDATE_LEN];
static size_t nfound;

#define OFFER(...) \
	do { \
		const char *const words_[] = { __VA_ARGS__ }; \
		nfound = cli_shell_candidates(&cli_table, GS_COUNT(words_), words_, found); \
	} while (0)

static bool has(const char *word)
{
	for (size_t i = 0; i < nfound; i++)
		if (!strcmp(found[i], word))
			return true;
	return false;
}

static void nouns(void **state)
{
	OFFER("");
	assert_true(nfound > 15);
	for (size_t i = 0; i < cli_table.n; i++)
		assert_int_equal(has(cli_table.cmds[i].noun),
				 strcmp(cli_table.cmds[i].noun, "shell") != 0);
	OFFER("polic");
	assert_int_equal(nfound, 1);
	assert_string_equal(found[0], "policy");
	OFFER("qui");
	assert_true(nfound == 1 && has("quit"));
	OFFER("nonsense");
	assert_int_equal(nfound, 0);
}

static void verbs(void **state)
{
	OFFER("policy", "");
	assert_true(has("start") && has("stop") && has("list"));
	OFFER("policy", "sta");
	assert_true(nfound == 1 && has("start"));
	OFFER("help", "tra");
	assert_true(nfound == 1 && has("trace"));
	OFFER("help", "trace", "rec");
	assert_true(nfound == 1 && has("record"));
	OFFER("policy", "start", "");
	assert_int_equal(nfound, 0);
}

static void options(void **state)
{
	OFFER("trace", "record", "--");
	assert_true(has("--output") && has("--for") && has("--help") && !has("--json"));
	OFFER("list", "--j");
	assert_true(nfound == 1 && has("--json"));
}

static void targets(void **state)
{
	OFFER("list", "c");
	assert_true(nfound == 3 && has("comm:") && has("cgroup:") && has("class:"));
	OFFER("suspend", "p");
	assert_true(nfound == 2 && has("pid:") && has("pod:"));
	OFFER("doctor", "");
	assert_int_equal(nfound, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nouns),
		cmocka_unit_test(verbs),
		cmocka_unit_test(options),
		cmocka_unit_test(targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
