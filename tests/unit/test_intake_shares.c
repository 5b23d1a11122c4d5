// SPDX-License-Identifier: MIT
/* test_intake_shares.c - check that users leave places for pools and orphans to others */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "config/config.h"
#include "hub/hub.h"
#include "hub/limited.h"
#include "intake/intake.h"

static struct gs_config config = { .adopt = true };
static struct gs_hub hub = { .config = &config };
static struct gs_intake in = { .hub = &hub };

/* Makes pools until one is refused. */
static unsigned int make_pools(uid_t uid)
{
	struct gs_pool *p;
	unsigned int n = 0;

	while (!gs_pool_new(&in, getpid(), uid, &p))
		n++;
	return n;
}

static void nine_users_and_root_have_pools(void **state)
{
	assert_int_equal(sd_event_new(&hub.event), 0);
	for (uid_t uid = 1000; uid < 1009; uid++) {
		unsigned int n = make_pools(uid);

		assert_true(n && n <= GS_USER_MAY_POOLS);
	}
	assert_int_equal(gs_limited_sum(&hub, GS_LIMIT_POOLS), 9);
	assert_true(make_pools(0) >= GS_MAX_POOLS / GS_SHARE_OF_ROOT);
	gs_pools_free(&in);
	hub.event = sd_event_unref(hub.event);
	gs_limited_free(&hub);
}

/* Starts a process of a user other than root that only waits. */
static pid_t start_process(void)
{
	int ready[2];
	char c = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if ((!getuid() && setuid(4711)) || write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* Reports that the process uses TSGs that are not in the table. Returns how many are noted. */
static size_t make_orphans(pid_t pid)
{
	struct gpusched_event ev = { .pid = (uint32_t)pid, .ns = gs_now_ns() };
	size_t was = in.adopting.n;

	for (uint32_t i = 1; i <= GS_MAX_ORPHANS; i++) {
		ev.key.client = (uint32_t)pid;
		ev.key.handle = i;
		gs_adopting_seen(&in, &ev);
	}
	return in.adopting.n - was;
}

static void orphans_leave_places(void **state)
{
	pid_t pid = start_process();

	for (uint32_t i = 0; i < 230; i++)
		in.adopting.orphans[in.adopting.n++] =
			(struct gs_orphan){ .uid = 100000 + i / GS_USER_MAY_ORPHANS };
	assert_int_equal(make_orphans(pid), 5); /* half of the 10 that are not root's */
	in.adopting.n = 0;
	assert_int_equal(make_orphans(pid), GS_USER_MAY_ORPHANS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	gs_adopting_end(&in);
	gs_limited_free(&hub);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nine_users_and_root_have_pools),
		cmocka_unit_test(orphans_leave_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
