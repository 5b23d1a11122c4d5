/* SPDX-License-Identifier: MIT */
/* test_means.c - check how programs are recognised, what is stored of them, and their means */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "gpusched/abi.h"
#include "means/beside.h"
#include "means/starts.h"
#include "means/store.h"
#include "process/command.h"

/* Times of an H200, from its log: with blocks of 100 us, and of 1 ms. */
static const struct gs_evidence short_blocks = { .kind = GS_PROGRAM_BATCH,
						 .leave_cilp_us = 126,
						 .leave_cta_us = 104,
						 .switch_us = 84,
						 .lc_turn_us = 150 };
static const struct gs_evidence long_blocks = { .kind = GS_PROGRAM_BATCH,
						.leave_cilp_us = 126,
						.leave_cta_us = 910,
						.switch_us = 84,
						.lc_turn_us = 150 };

static struct gs_means_case be(struct gs_evidence seen)
{
	return (struct gs_means_case){
		.role = GS_ROLE_BE, .known = true, .seen = seen, .may_share = true
	};
}

static struct gs_means_case lc(enum gs_program_kind kind, uint32_t turns)
{
	return (struct gs_means_case){
		.role = GS_ROLE_LC,
		.known = true,
		.seen = { .kind = kind,
			  .leave_cilp_us = 126,
			  .switch_us = 84,
			  .turns_a_request = turns },
		.may_share = true,
	};
}

static void expect(struct gs_means_case c, enum gs_means_name means, enum gs_means_why why)
{
	struct gs_means_choice got = gs_means_choice_make(&c);

	assert_string_equal(gs_means_choice_name(got.means), gs_means_choice_name(means));
	assert_string_equal(gs_means_choice_why_text(got.why), gs_means_choice_why_text(why));
}

static void be_goes_by_its_blocks(void **state)
{
	struct gs_means_case c = be(short_blocks);
	struct gs_evidence e = long_blocks;

	expect(c, GS_MEANS_SHARE, GS_MEANS_WHY_SHORT_BLOCKS);
	c.lc_outside = true;
	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_LC_OUTSIDE);
	c.may_share = false;
	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_NOT_ALLOWED);
	c = be(long_blocks);
	c.share_runs = true;
	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_LONG_BLOCKS);
	c.pool_runs = true;
	expect(c, GS_MEANS_POOL, GS_MEANS_WHY_POOL_RUNS);
	c.may_share = false;
	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_LONG_BLOCKS);
	e.leave_cta_us = 0;
	expect(be(e), GS_MEANS_SLICES, GS_MEANS_WHY_NO_BLOCKS);
	e = short_blocks;
	e.switch_us = 0;
	expect(be(e), GS_MEANS_SLICES, GS_MEANS_WHY_NO_BLOCKS);
}

/* If switches are cheap, the same blocks count as long. */
static void the_gpu_decides_what_is_short(void **state)
{
	struct gs_evidence e = short_blocks;

	e.leave_cilp_us = 25;
	e.switch_us = 17;
	expect(be(e), GS_MEANS_SLICES, GS_MEANS_WHY_LONG_BLOCKS);
	e = long_blocks;
	e.leave_cta_us = 180; /* longer than a save, shorter than save and switch */
	expect(be(e), GS_MEANS_SHARE, GS_MEANS_WHY_SHORT_BLOCKS);
}

/*
 * Slices are better beside long turns: in a server, each kernel of a CUDA graph waits for a block.
 */
static void long_turns_beside_it_want_slices(void **state)
{
	struct gs_evidence e = short_blocks;

	e.lc_turn_us = 280;
	expect(be(e), GS_MEANS_SHARE, GS_MEANS_WHY_SHORT_BLOCKS);
	e.lc_graphs = 1;
	expect(be(e), GS_MEANS_SLICES, GS_MEANS_WHY_GRAPHS);
	e.lc_graphs = 0;
	e.lc_turn_us = 290; /* us; a language model, measured without an agent, had 339 */
	expect(be(e), GS_MEANS_SLICES, GS_MEANS_WHY_LONG_TURNS);
	e.lc_turn_us = 0; /* no service has shown it */
	expect(be(e), GS_MEANS_SLICES, GS_MEANS_WHY_NO_TURNS);
}

/* Figures of an H200: a decoder, a CUDA graph and a language model beside a training. */
static void the_agent_tells_how_a_service_works(void **state)
{
	struct gs_service_window in = { .told = true,
					.holds = true,
					.turns = 30,
					.work_ns = 3 * NS_PER_S,
					.span_ns = 5 * NS_PER_S,
					.told_ns = 4 * NS_PER_S,
					.launches = 160000 };
	struct gs_service_work work;

	assert_true(gs_means_beside_work(&in, &work));
	assert_int_equal(work.us, 15); /* per launch; a turn has 100 ms */
	assert_false(work.graphs);
	in.launches = 1700;
	in.graphs = 240;
	assert_true(gs_means_beside_work(&in, &work));
	assert_true(work.graphs);
	in.graphs = 16; /* one of a hundred is too few */
	assert_true(gs_means_beside_work(&in, &work));
	assert_false(work.graphs);
	in.launches = 19; /* too few: its turns count instead, but not in holds */
	assert_false(gs_means_beside_work(&in, &work));
	in.holds = false;
	assert_true(gs_means_beside_work(&in, &work));
	assert_int_equal(work.us, 100000);
	in.turns = 19;
	assert_false(gs_means_beside_work(&in, &work));
	in.policy_turn_us = 340;
	assert_true(gs_means_beside_work(&in, &work));
	assert_int_equal(work.us, 340);
}

static void a_start_counts_while_its_process_lives(void **state)
{
	struct gs_starts s = { 0 };
	struct gs_process p = { .pid = 99 };
	struct gs_start one = { .ns = NS_PER_S, .uid = 7, .role = GS_ROLE_LC };

	gs_starts_add(&s, &p, &one);
	assert_true(gs_starts_has(&s, 7, GS_ROLE_LC, false, 2 * NS_PER_S));
	assert_false(gs_starts_has(&s, 8, GS_ROLE_LC, false, 2 * NS_PER_S));
	assert_false(gs_starts_has(&s, 7, GS_ROLE_BE, false, 2 * NS_PER_S));
	assert_false(gs_starts_has(&s, 7, GS_ROLE_LC, true, 2 * NS_PER_S));
	assert_false(gs_starts_has(&s, 7, GS_ROLE_LC, false, 61 * NS_PER_S));
	one.share = true; /* the same process asks again: its last choice counts */
	gs_starts_add(&s, &p, &one);
	assert_true(gs_starts_has(&s, 7, GS_ROLE_LC, true, 2 * NS_PER_S));
	assert_false(gs_starts_has(&s, 7, GS_ROLE_LC, false, 2 * NS_PER_S));
	gs_starts_drop_old(&s, 60 * NS_PER_S);
	assert_true(gs_starts_has(&s, 7, GS_ROLE_LC, true, 2 * NS_PER_S));
	gs_starts_drop_old(&s, 61 * NS_PER_S); /* it keeps its process no longer */
	assert_null(p.of[GS_PROCESS_START]);
	gs_starts_add(&s, &p, &one);
	gs_starts_drop_of(&s, &p); /* the process has ended */
	assert_false(gs_starts_has(&s, 7, GS_ROLE_LC, true, 2 * NS_PER_S));
	assert_null(s.all);
}

/* Another user's starts push out none of this user's, and a user has few. */
static void a_user_has_few_starts(void **state)
{
	static struct gs_process all[2 * GS_STARTS + 1];
	struct gs_starts s = { 0 };
	struct gs_start one = { .ns = NS_PER_S, .uid = 7, .role = GS_ROLE_LC };
	unsigned int n = 0;

	gs_starts_add(&s, &all[0], &one);
	one.uid = 8;
	for (unsigned int i = 1; i <= 2 * GS_STARTS; i++) {
		one.ns++;
		gs_starts_add(&s, &all[i], &one);
	}
	assert_true(gs_starts_has(&s, 7, GS_ROLE_LC, false, 2 * NS_PER_S));
	for (unsigned int i = 1; i <= 2 * GS_STARTS; i++) {
		n += all[i].of[GS_PROCESS_START] != NULL;
		assert_true(!all[i].of[GS_PROCESS_START] || i > 2 * GS_STARTS - GS_USER_MAY_STARTS);
	}
	assert_int_equal(n, GS_USER_MAY_STARTS);
	for (unsigned int i = 1; i <= 2 * GS_STARTS; i++) { /* of many users */
		one.uid = 100 + i;
		gs_starts_add(&s, &all[i], &one);
	}
	n = 0;
	for (unsigned int i = 0; i <= 2 * GS_STARTS; i++)
		n += all[i].of[GS_PROCESS_START] != NULL;
	assert_int_equal(n, GS_STARTS - GS_STARTS / GS_SHARE_OF_ROOT);
	gs_starts_done(&s);
}

/* Users with many starts push out each other's, and not those of who has one. */
static void starts_are_dropped_of_who_has_most(void **state)
{
	static struct gs_process all[512];
	struct gs_starts s = { 0 };
	struct gs_start one = { .ns = NS_PER_S, .uid = 7, .role = GS_ROLE_LC };
	unsigned int n = 0;

	gs_starts_add(&s, &all[n++], &one);
	for (one.uid = 100; one.uid < 130; one.uid++)
		for (unsigned int i = 0; i < GS_USER_MAY_STARTS; i++)
			gs_starts_add(&s, &all[n++], &one);
	one.uid = 0;
	gs_starts_add(&s, &all[n++], &one);
	for (one.uid = 200; one.uid < 220; one.uid++)
		gs_starts_add(&s, &all[n++], &one);
	for (uid_t uid = 0; uid < 220; uid++)
		assert_int_equal(gs_starts_has(&s, uid, GS_ROLE_LC, false, 2 * NS_PER_S),
				 !uid || uid == 7 || (uid >= 100 && uid < 130) || uid >= 200);
	gs_starts_done(&s);
}

/* A service has none while it starts, and one of two services may have none. */
static void graphs_are_not_forgotten_at_once(void **state)
{
	struct gs_memory_of_programs m = { 0 };
	const struct gs_program_id id = { .uid = 5, .exe = "/bin/a" };
	struct gs_service_work work = { .us = 120, .graphs = true, .told = true };
	unsigned int dropped;
	struct gs_remembered *r = gs_remembered_meet(&m, &id, &dropped);

	gs_remembered_service(&m, r, &work);
	assert_int_equal(r->seen.lc_graphs, 1);
	work = (struct gs_service_work){ .us = 9, .told = true };
	for (int i = 0; i < 11; i++)
		gs_remembered_service(&m, r, &work);
	assert_int_equal(r->seen.lc_turn_us, 9);
	assert_int_equal(r->seen.lc_graphs, 1);
	work.told = false;
	gs_remembered_service(&m, r, &work); /* turns show no graphs */
	assert_int_equal(r->seen.lc_graphs, 1);
	work.told = true;
	gs_remembered_service(&m, r, &work);
	assert_int_equal(r->seen.lc_graphs, 0);
	gs_remembered_done(&m);
}

static void lc_joins_a_server_that_runs(void **state)
{
	struct gs_means_case c = lc(GS_PROGRAM_LAUNCH_BOUND, 1);

	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_NO_SERVER);
	c.share_runs = true;
	expect(c, GS_MEANS_SHARE, GS_MEANS_WHY_BOUND);
	c.may_share = false;
	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_NOT_ALLOWED_BOUND);
	c = lc(GS_PROGRAM_WHOLE, 1);
	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_WHOLE);
	c.share_runs = true;
	expect(c, GS_MEANS_SHARE, GS_MEANS_WHY_SERVER_RUNS);
	c = lc(GS_PROGRAM_BATCH, 0);
	c.share_runs = true;
	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_BATCH);
}

static void many_turns_are_held(void **state)
{
	expect(lc(GS_PROGRAM_WHOLE, 130), GS_MEANS_HOLD, GS_MEANS_WHY_MANY_TURNS);
	expect(lc(GS_PROGRAM_WHOLE, 4), GS_MEANS_SLICES, GS_MEANS_WHY_WHOLE);
	expect(lc(GS_PROGRAM_WHOLE, 0), GS_MEANS_HOLD, GS_MEANS_WHY_UNTOLD);
	expect(lc(GS_PROGRAM_LAUNCH_BOUND, 130), GS_MEANS_HOLD, GS_MEANS_WHY_NO_SERVER);
}

static void what_is_not_known_is_not_guessed(void **state)
{
	struct gs_means_case c = { .role = GS_ROLE_BE, .may_share = true, .share_runs = true };

	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_UNKNOWN);
	c.role = GS_ROLE_LC;
	expect(c, GS_MEANS_SHARE,
	       GS_MEANS_WHY_SERVER_RUNS); /* outside the server it would get the driver's slices */
	c.share_runs = false;
	expect(c, GS_MEANS_HOLD, GS_MEANS_WHY_UNTOLD);
	c = be(short_blocks);
	c.role = GS_ROLE_OTHER;
	expect(c, GS_MEANS_SLICES, GS_MEANS_WHY_CLASS);
}

static void the_others_cost_is_told(void **state)
{
	struct gs_means_case c = be(short_blocks);
	struct gs_means_choice got = gs_means_choice_make(&c);

	assert_int_equal(got.wait_us[GS_MEANS_SLICES], 104 + 84);
	assert_int_equal(got.wait_us[GS_MEANS_SHARE], 104);
	assert_int_equal(got.wait_us[GS_MEANS_HOLD], 0);
	c = lc(GS_PROGRAM_WHOLE, 130);
	got = gs_means_choice_make(&c);
	assert_int_equal(got.wait_us[GS_MEANS_SLICES], 130 * (126 + 84));
	assert_int_equal(got.wait_us[GS_MEANS_HOLD], 126 + 84);
	assert_int_equal(got.wait_us[GS_MEANS_SHARE], 0);
}

/* ---- which program --------------------------------------------------------------------------- */

#define ID(exe, args, cgroup, ret) gs_program_id(7, exe, args, sizeof(args) - 1, cgroup, NULL, ret)

static void a_program_is_known_by_what_stays(void **state)
{
	struct gs_pod_names pod = { .namespace = "prod", .container = "web" };
	struct gs_program_id id;

	assert_int_equal(
		ID("/usr/bin/python3.11", "python3\0-u\0/home/a/train.py\0--lr\0", "/", &id), 0);
	assert_string_equal(id.script, "train.py");
	assert_string_equal(id.place, "");
	assert_int_equal(ID("/usr/bin/python3.11", "python3\0-m\0vllm.serve\0", "/", &id), 0);
	assert_string_equal(id.script, "-m vllm.serve");
	assert_int_equal(
		ID("/usr/bin/python3.11", "python3\0-X\0dev\0./load.py\0graph\0--seed\0", "/", &id),
		0);
	assert_string_equal(id.script, "load.py graph");
	assert_int_equal(ID("/usr/bin/python3.11", "python3\0load.py\0--seed\0graph\0", "/", &id),
			 0);
	assert_string_equal(id.script, "load.py");
	assert_int_equal(ID("/usr/bin/python3.11", "python3\0-X\0", "/", &id), 0);
	assert_string_equal(id.script, "");
	assert_int_equal(ID("/usr/bin/python3.11", "python3\0-c\0import x\0", "/", &id), 0);
	assert_string_equal(id.script, "");
	assert_int_equal(ID("/opt/llm", "llm\0serve\0--port\0", "/", &id), 0);
	assert_string_equal(id.script, "serve");
	assert_int_equal(ID("/opt/llm", "llm\0--port\0serve\0", "/", &id), 0);
	assert_string_equal(id.script, "");
	assert_int_equal(ID("/opt/shutter", "shutter\0file.1\0", "/system.slice/web.service", &id),
			 0);
	assert_string_equal(id.script, "");
	assert_string_equal(id.place, "web.service");
	assert_int_equal(ID("/opt/web (deleted)", "web\0", "/user.slice/session-3.scope", &id), 0);
	assert_string_equal(id.exe, "/opt/web");
	assert_string_equal(id.place, "");
	assert_int_equal(ID("/opt/web", "web\0", "/system.slice/run-u12.service", &id), 0);
	assert_string_equal(id.place, "");
	assert_int_equal(gs_program_id(7, "/opt/web", "", 0, "/kubepods/x", &pod, &id), 0);
	assert_string_equal(id.place, "prod/web");
	assert_int_equal(ID("", "web\0", "/", &id), -EINVAL);
}

static void a_command_line_is_that_program(void **state)
{
	char dir[] = "/tmp/gpusched-means-XXXXXX", script[64];
	char *const by_env[] = { script, "--lr", NULL }, *const nothing[] = { "/nowhere", NULL };
	CLEANUP_FREE char *bash = realpath("/bin/bash", NULL);
	CLEANUP_FILE FILE *f = NULL;
	struct gs_program p;
	struct gs_program_id id;

	assert_non_null(mkdtemp(dir));
	snprintf(script, sizeof(script), "%s/serve", dir);
	f = fopen(script, "w");
	assert_non_null(f);
	fputs("#!/usr/bin/env bash\nexec true\n", f);
	fflush(f);
	assert_int_equal(chmod(script, 0755), 0);
	assert_int_equal(gs_command_program(by_env, &p), 0);
	assert_string_equal(p.exe, bash);
	assert_int_equal(gs_program_id(0, p.exe, p.args, p.nargs, NULL, NULL, &id), 0);
	assert_string_equal(id.script, "serve");
	assert_int_equal(gs_command_program(nothing, &p), -ENOENT);
	unlink(script);
	rmdir(dir);
}

/* ---- what is remembered ---------------------------------------------------------------------- */

static struct gs_program_id id_of(uid_t uid, unsigned int n)
{
	struct gs_program_id id;

	memset(&id, 0, sizeof(id));
	id.uid = uid;
	snprintf(id.exe, sizeof(id.exe), "/bin/%u", n);
	return id;
}

static struct gs_remembered *note(struct gs_memory_of_programs *m, uid_t uid, unsigned int n)
{
	const struct gs_program_id id = id_of(uid, n);
	unsigned int dropped;
	struct gs_remembered *r = gs_remembered_meet(m, &id, &dropped);

	assert_non_null(r);
	gs_remembered_look(m, r, &short_blocks, GS_ROLE_BE, n);
	return r;
}

static unsigned int count_of(const struct gs_memory_of_programs *m, uid_t uid)
{
	unsigned int n = 0;

	for (const struct gs_remembered *r = m->all; r; r = r->hh.next)
		n += r->id.uid == uid;
	return n;
}

static void a_user_pushes_out_nobody_else(void **state)
{
	struct gs_memory_of_programs m = { 0 };
	const struct gs_program_id oldest = id_of(1, 1), newest = id_of(1, 2000);

	note(&m, 2, 0); /* the oldest of all */
	for (unsigned int i = 1; i <= 2000; i++)
		note(&m, 1, i);
	assert_int_equal(count_of(&m, 1), GS_USER_MAY_REMEMBERED);
	assert_int_equal(count_of(&m, 2), 1);
	assert_null(gs_remembered_find(&m, &oldest));
	assert_non_null(gs_remembered_find(&m, &newest));
	for (uid_t uid = 10; uid < 40; uid++)
		for (unsigned int i = 0; i < GS_USER_MAY_REMEMBERED; i++)
			note(&m, uid, 3000 + i);
	assert_int_equal(HASH_COUNT(m.all), GS_REMEMBERED_MAX);
	assert_int_equal(count_of(&m, 2), 1);
	gs_remembered_done(&m);
	assert_null(m.all);
}

static void a_clock_set_back_drops_no_program_in_use(void **state)
{
	struct gs_memory_of_programs m = { 0 };
	const struct gs_program_id used = id_of(1, 5);

	for (unsigned int i = 0; i < GS_USER_MAY_REMEMBERED; i++)
		note(&m, 1, 100000 + i); /* @n is the time, too */
	note(&m, 1, 5);
	for (unsigned int i = 0; i < GS_USER_MAY_REMEMBERED / 2; i++)
		note(&m, 1, 10 + i);
	assert_non_null(gs_remembered_find(&m, &used));
	gs_remembered_done(&m);
}

static void looks_add_up(void **state)
{
	struct gs_memory_of_programs m = { 0 };
	struct gs_remembered *r = note(&m, 1, 1);
	const struct gs_evidence whole = { .kind = GS_PROGRAM_WHOLE, .turns_a_request = 9 },
				 unseen = { .kind = GS_PROGRAM_UNSEEN };

	assert_int_equal(r->seen.kind, GS_PROGRAM_BATCH);
	gs_remembered_look(&m, r, &whole, GS_ROLE_LC, 5);
	assert_int_equal(r->seen.kind, GS_PROGRAM_BATCH); /* one look each: the kind stays */
	gs_remembered_look(&m, r, &whole, GS_ROLE_LC, 6);
	gs_remembered_look(&m, r, &unseen, GS_ROLE_LC, 7);
	assert_int_equal(r->seen.kind, GS_PROGRAM_WHOLE);
	assert_int_equal(r->seen.turns_a_request, 9);
	assert_int_equal(r->seen.leave_cta_us, 104); /* the new looks have no such figure */
	for (int i = 0; i < 1000; i++)
		gs_remembered_look(&m, r, &whole, GS_ROLE_LC, 8);
	for (int i = 0; i < 65; i++)
		gs_remembered_look(&m, r, &long_blocks, GS_ROLE_BE, 9);
	assert_int_equal(r->seen.kind, GS_PROGRAM_BATCH); /* old looks count less */
	gs_remembered_done(&m);
}

static void an_older_file_is_put_aside(void **state)
{
	struct gs_memory_of_programs back = { 0 };
	char dir[] = "/tmp/gpusched-means-XXXXXX", path[64], aside[80];
	struct gs_error err = { 0 };
	sqlite3 *db;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/programs.db", dir);
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db,
				      "CREATE TABLE program(uid INTEGER);"
				      "PRAGMA user_version = 2",
				      NULL, NULL, NULL),
			 0);
	sqlite3_close(db);
	assert_int_equal(gs_store_read(dir, &back, &err), -EUCLEAN);
	assert_non_null(strstr(err.text, "older"));
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(gs_store_read(dir, &back, &err), 0);
	assert_null(back.all);
	unlink(path);
	unlink(aside);
	rmdir(dir);
}

static void it_is_kept_on_disk(void **state)
{
	const struct gs_service_work work = { .us = short_blocks.lc_turn_us };
	struct gs_memory_of_programs m = { 0 }, back = { 0 };
	char dir[] = "/tmp/gpusched-means-XXXXXX", path[64], aside[80];
	const struct gs_program_id id = id_of(5, 1);
	const struct gs_remembered *r;
	struct gs_error err = { 0 };
	struct stat st;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/programs.db", dir);
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	assert_int_equal(gs_store_read(dir, &back, &err), 0);
	assert_null(back.all);
	gs_remembered_service(&m, note(&m, 5, 1), &work);
	assert_int_equal(gs_store_write(dir, m.all, 1, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(gs_store_read(dir, &back, &err), 0);
	r = gs_remembered_find(&back, &id);
	assert_non_null(r);
	assert_memory_equal(&r->seen, &short_blocks, sizeof(r->seen));
	assert_int_equal(r->role, GS_ROLE_BE);
	assert_int_equal(r->looks[GS_PROGRAM_BATCH], 1);
	assert_int_equal(r->used_s, 1);
	assert_int_equal(gs_store_write(dir, NULL, 0, &err), 0);
	gs_remembered_done(&back);
	assert_int_equal(gs_store_read(dir, &back, &err), 0);
	assert_null(back.all);
	f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < 2000; i++)
		fputs("no database", f);
	fclose(f);
	assert_int_equal(gs_store_read(dir, &back, &err), -EUCLEAN);
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(gs_store_write(dir, note(&m, 5, 1), 1, &err), 0);
	unlink(path);
	unlink(aside);
	rmdir(dir);
	gs_remembered_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(be_goes_by_its_blocks),
		cmocka_unit_test(the_gpu_decides_what_is_short),
		cmocka_unit_test(long_turns_beside_it_want_slices),
		cmocka_unit_test(the_agent_tells_how_a_service_works),
		cmocka_unit_test(a_start_counts_while_its_process_lives),
		cmocka_unit_test(a_user_has_few_starts),
		cmocka_unit_test(starts_are_dropped_of_who_has_most),
		cmocka_unit_test(graphs_are_not_forgotten_at_once),
		cmocka_unit_test(lc_joins_a_server_that_runs),
		cmocka_unit_test(many_turns_are_held),
		cmocka_unit_test(what_is_not_known_is_not_guessed),
		cmocka_unit_test(the_others_cost_is_told),
		cmocka_unit_test(a_program_is_known_by_what_stays),
		cmocka_unit_test(a_command_line_is_that_program),
		cmocka_unit_test(a_user_pushes_out_nobody_else),
		cmocka_unit_test(a_clock_set_back_drops_no_program_in_use),
		cmocka_unit_test(looks_add_up),
		cmocka_unit_test(it_is_kept_on_disk),
		cmocka_unit_test(an_older_file_is_put_aside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
