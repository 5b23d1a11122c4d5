/* SPDX-License-Identifier: MIT */
/*
 * test_remedy.c - check what people read in all findings: the sentence, and the one thing to type
 *
 * Every finding comes from facts, as in the daemon, so a new one needs facts here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "basic/term.h"
#include "cli/cli.h"
#include "figures/verdict.h"

#define WIDTH 100
#define LONGEST 65536
#define PID 4711

static struct gs_findings found;

/* ---- all findings ---------------------------------------------------------------------------- */

static void find_in_instance(void)
{
	struct gs_state_facts s = { .start_daemon = "sudo systemctl start gpuschedd",
				    .differs = "auto",
				    .left_out = 2,
				    .left_out_at = "/etc/gpusched.conf:12",
				    .waiting = 1,
				    .died = "mine",
				    .died_why = "tick took too long",
				    .rose = { 1, 1, 1, 1 },
				    .unknown_branch = 999 };

	gs_verdict_state(&s, &found);
	s = (struct gs_state_facts){ .daemon = true,
				     .dry_run = true,
				     .left_out = 1,
				     .left_out_at = "/etc/gpusched.conf:12",
				     .waiting = 1,
				     .waiting_budgets = 1,
				     .root_passed = 2,
				     .pods_unwatched = 1,
				     .died = "mine",
				     .died_start = "/opt/mine.bpf.o",
				     .died_why = "tick took too long" };
	gs_verdict_state(&s, &found);
}

static void find_classes(void)
{
	const struct gs_class_facts all[] = {
		{ .name = "lc" },
		{ .name = "normal", .policy = "auto", .beside_lc = true },
		{ .name = "web", .policy = "rr", .ignored = true, .acts_on = "lc be" },
		{ .name = "web", .policy = "rr", .ignored = true, .acts_on = "lc" },
	};

	for (size_t i = 0; i < GS_COUNT(all); i++)
		gs_verdict_class(&all[i], &found);
}

static void find_on_gpus(void)
{
	struct gs_gpu_facts g = { .gpu = 3, .read = true, .reason = "it cannot be opened" };
	struct gs_kept_idle_facts k = { .policy = "fair",
					.idle_ns = 9 * NS_PER_S,
					.off_ns = 9 * NS_PER_S,
					.now_ns = 10 * NS_PER_S,
					.tsg = 9,
					.pid = PID,
					.comm = "train" };

	gs_gpu_rates_unknown(&g.window);
	gs_gpu_rates_unknown(&g.lately);
	g.window.lost_pct = 20;
	g.window.switches_per_s = 900;
	gs_verdict_gpu(&g, &found);
	g.mig = true;
	gs_verdict_gpu(&g, &found);
	gs_verdict_kept_idle(&k, &found);
	k.held = true;
	gs_verdict_kept_idle(&k, &found);
}

static void find_programs(uid_t uid)
{
	struct gs_tsg_facts t = { .id = 9,
				  .pid = PID,
				  .uid = uid,
				  .comm = "server",
				  .lc = true,
				  .waiting = true,
				  .still_ns = 20 * NS_PER_S,
				  .calm_pct = NAN,
				  .class = "lc",
				  .slo_ns = 50 * NS_PER_MS,
				  .slo = { 100, 60, 0, 60 } };

	gs_tsg_rates_unknown(&t.window);
	t.window.held_pct = 0.1;
	t.window.waited_pct = 90;
	t.window.wait_share_pct = 95;
	t.window.turns_per_s = 100;
	t.window.cut_pct = 5;
	gs_verdict_tsg(&t, &found);
	t.policy = "auto";
	t.calm_pct = 2;
	t.counting = GS_COUNTING_ON;
	gs_verdict_tsg(&t, &found);
	t.counting = GS_COUNTING_REFUSED;
	t.stuck_ns = 20 * NS_PER_S;
	gs_verdict_tsg(&t, &found);
	gs_verdict_classless(&(struct gs_classless_facts){ .several = true,
							   .tsg = 9,
							   .pid = PID,
							   .uid = uid,
							   .comm = "train",
							   .waited_pct = 48 },
			     &found);
	gs_verdict_suspended(
		&(struct gs_suspended_facts){
			.pid = PID, .uid = uid, .comm = "train", .for_a_while = true },
		&found);
}

static void find_memory(uid_t uid)
{
	const struct gs_limits limits = { 1, 1 };
	struct gs_parked_facts p = { .pid = PID, .uid = uid, .comm = "train", .bytes = 1ull << 35 };

	gs_verdict_holder(&limits,
			  &(struct gs_holder_facts){ .pid = PID,
						     .uid = uid,
						     .comm = "train",
						     .bytes = 1ull << 35,
						     .idle_since_ns = 5,
						     .now_ns = 9 },
			  &found);
	p.blind = p.by_policy = true;
	p.waiters = 3;
	gs_verdict_parked(&p, &found);
	p.by_policy = false;
	p.by_itself = true;
	p.sign = "agent";
	p.guest = 99;
	gs_verdict_parked(&p, &found);
	p.by_itself = false;
	p.waits = true;
	gs_verdict_parked(&p, &found);
	p.lost = true;
	gs_verdict_parked(&p, &found);
	gs_verdict_in_vain(&(struct gs_in_vain_facts){ .pid = PID, .uid = uid, .comm = "train" },
			   &found);
	gs_verdict_budget(&(struct gs_budget_facts){ .of = "user",
						     .name = "ann",
						     .per = "day",
						     .until = "07:00",
						     .used_ns = 3600 * NS_PER_S,
						     .all_ns = 3600 * NS_PER_S },
			  &found);
}

static void find_damage(void)
{
	struct gs_xid_facts x = { .number = 119,
				  .pid = PID,
				  .comm = "train",
				  .had = "",
				  .rpcs = 3,
				  .ended_policy = true };

	gs_verdict_xid(&x, &found);
	x.had = "slice=1us";
	gs_verdict_xid(&x, &found);
	x.reset = true;
	gs_verdict_xid(&x, &found);
	gs_verdict_failed_call(&(struct gs_failed_call_facts){ .pid = PID,
							       .comm = "train",
							       .call = "suspend",
							       .status = "NV_ERR_TIMEOUT" },
			       &found);
	gs_verdict_quarantine(&(struct gs_quarantine_facts){ .program = "/opt/train",
							     .uid = 1000,
							     .xid = 31,
							     .times = 2,
							     .left_ns = 600 * NS_PER_S },
			      &found);
}

static int find_all(void **state)
{
	find_in_instance();
	find_classes();
	find_on_gpus();
	for (uid_t uid = 0; uid <= 1000; uid += 1000) {
		find_programs(uid);
		find_memory(uid);
	}
	find_damage();
	return 0;
}

static int forget_all(void **state)
{
	gs_verdict_done(&found);
	return 0;
}

static void every_finding_is_here(void **state)
{
	bool has[GS_FINDING_MAX] = { false };

	for (size_t i = 0; i < found.n; i++)
		has[found.all[i].kind] = true;
	for (int k = 0; k < GS_FINDING_MAX; k++) {
		if (!has[k])
			print_error("no facts for %s\n", gs_verdict_name(k));
		assert_true(has[k]);
	}
}

/* ---- one thing to type ----------------------------------------------------------------------- */

/* The command that the remedy quotes; malloc'd. NULL: it quotes none, or several. */
static char *quoted(const char *remedy)
{
	const char *begin = strchr(remedy, '\''), *end = begin ? strchr(begin + 1, '\'') : NULL;

	return end && !strchr(end + 1, '\'') ? strndup(begin + 1, (size_t)(end - begin - 1)) : NULL;
}

static void one_command_each(void **state)
{
	for (size_t i = 0; i < found.n; i++) {
		const char *remedy = found.all[i].remedy;
		CLEANUP_FREE char *command = quoted(remedy);

		if (strncmp(remedy, "nothing: ", 9) != 0 && !command)
			print_error("%s: %s\n", gs_verdict_name(found.all[i].kind), remedy);
		assert_true(!strncmp(remedy, "nothing: ", 9) ? !strchr(remedy, '\'')
							     : command != NULL);
		assert_null(strstr(remedy, "; "));
		assert_null(strstr(remedy, ". "));
	}
}

/* A command of gpusched can be typed as it stands; "run" lacks the program to start. */
static void the_commands_exist(void **state)
{
	for (size_t i = 0; i < found.n; i++) {
		CLEANUP_FREE char *command = quoted(found.all[i].remedy);
		char *argv[16], *save = NULL, *word = command ? strstr(command, "gpusched ") : NULL;
		struct gs_error err = { 0 };
		const struct cli_cmd *cmd;
		struct cli c = {};
		int argc = 0, used;

		for (word = word ? strtok_r(word, " ", &save) : NULL; word;
		     word = strtok_r(NULL, " ", &save))
			argv[argc++] = word;
		argv[argc] = NULL;
		if (!argc)
			continue;
		assert_int_equal(cli_find(&cli_table, argc, argv, &cmd, &used, &err), 0);
		if (strcmp(cmd->noun, "run") != 0 &&
		    cli_parse(cmd, argc - used, argv + used, &c, &err)) {
			print_error("%s: %s\n", found.all[i].remedy, err.text);
			fail();
		}
	}
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* True if root alone may do this, or it acts on a program of root. */
static bool is_for_root(const struct gs_finding *f, const char *command)
{
	static const char *const roots[] = { "gpusched policy start",
					     "gpusched policy stop",
					     "gpusched observe",
					     "gpusched set",
					     "gpusched class set",
					     "systemctl",
					     "nvidia-smi",
					     "dmesg" },
				 *const owners[] = { "gpusched park", "gpusched unpark",
						     "gpusched resume", "kill" };

	for (size_t i = 0; i < GS_COUNT(roots); i++)
		if (begins(command, roots[i]))
			return true;
	for (size_t i = 0; i < GS_COUNT(owners); i++)
		if (begins(command, owners[i]))
			return !f->uid;
	return false;
}

static void root_types_sudo(void **state)
{
	for (size_t i = 0; i < found.n; i++) {
		CLEANUP_FREE char *command = quoted(found.all[i].remedy);
		bool sudo = command && begins(command, "sudo ");

		if (command && sudo != is_for_root(&found.all[i], sudo ? command + 5 : command))
			print_error("%s\n", command);
		assert_true(!command ||
			    sudo == is_for_root(&found.all[i], sudo ? command + 5 : command));
	}
}

static void the_process_is_named(void **state)
{
	for (size_t i = 0; i < found.n; i++)
		if (strstr(found.all[i].remedy, "pid:"))
			assert_non_null(strstr(found.all[i].remedy, "pid:4711"));
}

static bool is_told_before(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(found.all[k].text, found.all[i].text) &&
		    !strcmp(found.all[k].remedy, found.all[i].remedy))
			return true;
	return false;
}

/* tests/check/screens.sh reads the words of this file. SCREENS_WRITE=1 writes it. */
static void the_texts_are_kept(void **state)
{
#define X(sym, name, level, text) text,
	static const char *const texts[] = { GS_FINDINGS(X) };
#undef X
	CLEANUP_FREE char *path = NULL, *text = NULL, *want = calloc(1, LONGEST);
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	for (int k = 0; k < GS_FINDING_MAX; k++)
		fprintf(f, "%s: %s\n", gs_verdict_name((enum gs_finding_kind)k), texts[k]);
	for (size_t i = 0; i < found.n; i++)
		if (!is_told_before(i))
			fprintf(f, "%s: %s\n   do: %s\n", gs_verdict_name(found.all[i].kind),
				found.all[i].text, found.all[i].remedy);
	fclose(f);
	assert_true(asprintf(&path, "%s/findings.out", getenv("GPUSCHED_SCREENS")) > 0);
	f = fopen(path, getenv("SCREENS_WRITE") ? "w+" : "r");
	assert_non_null(f);
	if (getenv("SCREENS_WRITE")) {
		fputs(text, f);
		rewind(f);
	}
	assert_true(fread(want, 1, LONGEST - 1, f) > 0);
	fclose(f);
	assert_string_equal(text, want);
}

/* ---- the fixture of status ------------------------------------------------------------------- */

/* What status.json is about, as facts. */
static void judge_fixture(struct gs_findings *ret)
{
	struct gs_gpu_facts g = { .gpu = 0, .read = true, .log = true };
	struct gs_tsg_facts t = {
		.pid = 25550, .comm = "server", .lc = true, .calm_pct = NAN, .policy = "auto"
	};

	gs_gpu_rates_unknown(&g.window);
	gs_gpu_rates_unknown(&g.lately);
	g.window.lost_pct = 14;
	g.window.switches_per_s = 1200;
	gs_tsg_rates_unknown(&t.window);
	t.window.turns_per_s = 200;
	t.window.cut_pct = 0;
	gs_verdict_gpu(&g, ret);
	gs_verdict_suspended(
		&(struct gs_suspended_facts){ .pid = 26001, .uid = 4001, .comm = "学習ノート" },
		ret);
	gs_verdict_tsg(&t, ret);
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static void the_fixture_says_what_is_printed(void **state)
{
	CLEANUP(gs_verdict_done) struct gs_findings want = { 0 };
	CLEANUP_JSON json_t *status = NULL;
	CLEANUP_FREE char *path = NULL;
	const json_t *all;

	assert_true(asprintf(&path, "%s/status.json", getenv("GPUSCHED_SCREENS")) > 0);
	status = json_load_file(path, 0, NULL);
	all = json_object_get(status, "findings");
	judge_fixture(&want);
	assert_int_equal(json_array_size(all), want.n);
	for (size_t i = 0; i < want.n; i++) {
		const json_t *is = json_array_get(all, i);

		assert_string_equal(text_of(is, "finding"), gs_verdict_name(want.all[i].kind));
		assert_string_equal(text_of(is, "text"), want.all[i].text);
		assert_string_equal(text_of(is, "do"), want.all[i].remedy);
	}
}

static void no_line_is_too_wide(void **state)
{
	for (size_t i = 0; i < 2 * found.n; i++) {
		const struct gs_finding *f = &found.all[i / 2];
		CLEANUP_FREE char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		gs_term_wrap(out, i % 2 ? f->text : f->remedy, strlen("   do: "), WIDTH);
		fclose(out);
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(gs_term_columns(line) <= WIDTH);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_finding_is_here),
		cmocka_unit_test(one_command_each),
		cmocka_unit_test(the_commands_exist),
		cmocka_unit_test(root_types_sudo),
		cmocka_unit_test(the_process_is_named),
		cmocka_unit_test(the_texts_are_kept),
		cmocka_unit_test(the_fixture_says_what_is_printed),
		cmocka_unit_test(no_line_is_too_wide),
	};

	return cmocka_run_group_tests(tests, find_all, forget_all);
}
