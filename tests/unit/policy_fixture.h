/* SPDX-License-Identifier: MIT */
/*
 * policy_fixture.h - make a separate gpusched instance (taps and table, no GPU) for policy tests
 */
#ifndef POLICY_FIXTURE_H
#define POLICY_FIXTURE_H

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cmocka.h>

#include "table/table.h"
#include "policy/policy.h"
#include "taps/taps.h"

static char fixture_dir[] = "/tmp/gpusched-test-XXXXXX";
static const char *fixture_skip; /* why there is no fixture; NULL: there is one */
static struct gs_table *table;
static bool fixture_made;

/*
 * Makes the instance in a new directory, in a private mount namespace. Must run before the first
 * gs_env().
 */
static inline int fixture_setup(void **state)
{
	struct gs_error err = { 0 };
	char path[128];
	FILE *f;

	(void)state;
	if (geteuid() != 0) {
		fixture_skip = "needs root";
		return 0;
	}
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		fixture_skip = "needs a mount namespace";
		return 0;
	}
	if (!mkdtemp(fixture_dir))
		return -1;
	fixture_made = true;
	setenv("GPUSCHED_SIM", fixture_dir, 1);
	snprintf(path, sizeof(path), "%s/simfiles", fixture_dir);
	f = fopen(path, "w");
	if (!f)
		return -1;
	fclose(f);
	if (gs_taps_on(&err) < 0 || gs_table_open(&table, &err) < 0) {
		print_message("# no taps here: %s\n", err.text);
		fixture_skip = "needs BPF";
	}
	return 0;
}

static inline int fixture_teardown(void **state)
{
	char command[128];

	(void)state;
	if (table) {
		gs_table_close(table);
		gs_taps_off(NULL);
	}
	if (fixture_made) {
		snprintf(command, sizeof(command), "%s/bpf", fixture_dir);
		umount2(command, MNT_DETACH);
		snprintf(command, sizeof(command), "rm -rf '%s'", fixture_dir);
		if (system(command) != 0)
			return -1;
	}
	return 0;
}

/* Finds tests/policy/NAME.bpf.c in the folders above the executable. */
static inline const char *fixture_source(const char *name)
{
	static char path[PATH_MAX + 80];
	char dir[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	assert_true(n > 0);
	dir[n] = '\0';
	for (char *slash = strrchr(dir, '/'); slash; slash = strrchr(dir, '/')) {
		*slash = '\0';
		snprintf(path, sizeof(path), "%s/tests/policy/%s.bpf.c", dir, name);
		if (access(path, R_OK) == 0)
			return path;
	}
	fail_msg("tests/policy/%s.bpf.c not found", name);
	return NULL;
}

/* Prepares a policy, and lets it take over from @prev. */
static inline int fixture_start(const char *name, const char *option, struct gs_policy *prev,
				struct gs_policy **ret, struct gs_policy_exit *ret_exit,
				struct gs_error *err)
{
	struct gs_policy *p = NULL;
	int r = gs_policy_prepare(table, false, name, &option, option ? 1 : 0, &p, ret_exit, err);

	if (r == 0)
		r = gs_policy_take_over(p, prev, ret_exit, err);
	if (r == 0)
		*ret = p;
	else
		gs_policy_discard(p);
	return r;
}

#define NEED_TABLE() \
	do { \
		if (fixture_skip) { \
			print_message("# skipped: %s\n", fixture_skip); \
			skip(); \
		} \
	} while (0)

/* Inserts a compute TSG of class @class_id, as adoption would. */
static inline struct gpusched_tsg fixture_tsg(uint32_t handle, uint32_t class_id)
{
	struct gpusched_tsg rec = {
		.key = { .file = 0xf11e, .client = 0xc1d00001, .handle = handle },
		.flags = GPUSCHED_TSG_SCHEDULED,
		.task = { .gpu = 0,
			  .kind = GPUSCHED_KIND_COMPUTE,
			  .engine = 1,
			  .pid = (uint32_t)getpid(),
			  .class_id = class_id,
			  .weight = 100,
			  .comm = "fixture" },
	};
	static const struct gpusched_channels none;

	struct gpusched_poke poke = { .key = rec.key, .what = GPUSCHED_POKE_CLASS };

	/* The insert gives a record its process's class, so set the test's class afterwards. */
	assert_int_equal(gs_table_insert(table, &rec, &none), 0);
	poke.id = rec.task.id;
	poke.rec = rec;
	poke.rec.task.class_id = class_id;
	assert_int_equal(gs_table_poke(table, &poke), 0);
	return rec;
}

static inline struct gpusched_tsg fixture_get(const struct gpusched_tsg *rec)
{
	struct gpusched_tsg now;

	assert_int_equal(gs_table_get(table, &rec->key, &now), 0);
	return now;
}

static inline void fixture_remove(const struct gpusched_tsg *rec)
{
	assert_int_equal(gs_table_remove(table, &rec->key), 0);
}

#endif /* POLICY_FIXTURE_H */
