/* SPDX-License-Identifier: MIT */
/* test_batch.c - check that the batch job is found in a process's title */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "cgroups.h"
#include "process/batch.h"

static void test_titles(void **state)
{
	static const struct {
		const char *title, *job;
	} cases[] = {
		{ "slurmstepd: [1234.batch]", "1234" },
		{ "slurmstepd: [7.0]", "7" },
		{ "slurmstepd: [7.extern]", "7" },
		{ "slurmstepd: [7", "" },
		{ "slurmstepd: [x.0]", "" },
		{ "slurmstepd: [.0]", "" },
		{ "slurmstepd", "" },
		{ "", "" },
		{ "/usr/sbin/slurmstepd", "" },
		{ "slurmstepd: [1111111111111111111111111111111111111111.0]", "" },
	};
	char job[GS_BATCH_JOB_LEN];

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		gs_batch_job_of(cases[i].title, job);
		assert_string_equal(job, cases[i].job);
	}
}

static void test_cgroups(void **state)
{
	static const struct {
		const char *path, *job;
		size_t len;
	} cases[] = {
		{ "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0", "42", 37 },
		{ "/system.slice/slurmstepd.scope/job_42", "42", 37 },
		{ "/system.slice/gpu1_slurmstepd.scope/job_7/step_batch/user/task_special", "7",
		  41 },
		{ "/system.slice/slurmstepd.scope/job_42/step_extern/user/task_special", "42", 37 },
		{ "/system.slice/slurmstepd.scope/system", "", 0 },
		{ "/system.slice/slurmstepd.scope/job_/step_0", "", 0 },
		{ "/system.slice/slurmstepd.scope/job_4x/step_0", "", 0 },
		{ "/system.slice/xslurmstepd.scope/job_42", "", 0 },
		{ "/system.slice/slurmstepd.scope.x/job_42", "", 0 },
		{ "/user.slice/slurmstepd.scope/job_42", "", 0 },
		{ "/slurmstepd.scope/job_42", "", 0 },
		{ "/system.slice/docker-aa.scope/system.slice/slurmstepd.scope/job_42", "", 0 },
		{ "/kubepods/podx/system.slice/slurmstepd.scope/job_42", "", 0 },
		{ "/system.slice/slurmstepd.scope/job_11111111111111111111111111111111111", "", 0 },
		{ "/system.slice/", "", 0 },
		{ "/", "", 0 },
		{ "", "", 0 },
	};
	char job[GS_BATCH_JOB_LEN];

	for (size_t i = 0; i < GS_COUNT(real_cgroups); i++) {
		gs_batch_job_in(real_cgroups[i].path, job);
		assert_string_equal(job, real_cgroups[i].job);
	}
	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		assert_int_equal(gs_batch_job_in(cases[i].path, job), cases[i].len);
		assert_string_equal(job, cases[i].job);
	}
}

static void test_this_process_is_of_none(void **state)
{
	char job[GS_BATCH_JOB_LEN] = "?";

	assert_int_equal(gs_batch_job(getpid(), job), 0);
	assert_string_equal(job, "");
}

/* Runs a program with the name and title of a job's step; @flags: of unshare(). */
static pid_t run_step(const char *program, int flags)
{
	char comm[16] = "";
	pid_t pid;
	FILE *f;

	pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!pid) {
		execl(program, "slurmstepd: [42.0]", "100", (char *)NULL);
		_exit(1);
	}
	for (int i = 0; i < 500 && strcmp(comm, "slurmstepd\n") != 0; i++) {
		char path[32];

		usleep(10000);
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		f = fopen(path, "re");
		if (f && !fgets(comm, sizeof(comm), f))
			comm[0] = '\0';
		if (f)
			fclose(f);
	}
	return pid;
}

/* Root of a container, who has a pid namespace, can give a process any name and title. */
static void only_root_of_the_machine_has_steps(void **state)
{
	char dir[] = "/tmp/test_batch.XXXXXX", program[64], job[GS_BATCH_JOB_LEN];
	pid_t step;

	if (getuid())
		skip();
	assert_non_null(mkdtemp(dir));
	snprintf(program, sizeof(program), "%s/slurmstepd", dir);
	assert_int_equal(symlink("/bin/sleep", program), 0);
	for (int i = 0; i < 2; i++) {
		step = run_step(program, i ? CLONE_NEWPID : 0);
		assert_true(step > 0);
		assert_int_equal(gs_batch_job(step, job), 0);
		assert_string_equal(job, i ? "" : "42");
		kill(step, SIGKILL);
		waitpid(step, NULL, 0);
	}
	unlink(program);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_titles),
					    cmocka_unit_test(test_cgroups),
					    cmocka_unit_test(test_this_process_is_of_none),
					    cmocka_unit_test(only_root_of_the_machine_has_steps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
