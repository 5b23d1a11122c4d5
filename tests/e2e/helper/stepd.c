// SPDX-License-Identifier: MIT
/*
 * stepd.c - stands in for slurmstepd: starts a user's task, and calls the plugin for it as root
 *
 *   stepd UID COMMAND [ARGUMENT...] -- [ARGUMENT OF THE PLUGIN...]
 *
 * Prints the task's pid. Options of the job are in stepd's environment: GPU_CLASS, GPU_WEIGHT.
 */
#include <grp.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t task;
static uid_t user;

int spank_option_register(spank_t sp, struct spank_option *opt)
{
	const char *value = getenv(strcmp(opt->name, "gpu-class") ? "GPU_WEIGHT" : "GPU_CLASS");

	if (value)
		opt->cb(opt->val, value, 1);
	return 0;
}

int spank_get_item(spank_t sp, enum spank_item item, ...)
{
	va_list ap;

	va_start(ap, item);
	if (item == S_TASK_PID)
		*va_arg(ap, pid_t *) = task;
	else if (item == S_JOB_UID)
		*va_arg(ap, uid_t *) = user;
	va_end(ap);
	return item != S_TASK_PID && item != S_JOB_UID;
}

enum spank_context spank_context(void)
{
	return S_CTX_REMOTE;
}

void slurm_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* Runs the task's program once the plugin has been called. */
static void run_task(uid_t uid, char *argv[], int from)
{
	char c;

	if (read(from, &c, 1) == 1 && !setgroups(0, NULL) && !setgid(uid) && !setuid(uid))
		execv(argv[0], argv);
	_exit(127);
}

int main(int argc, char *argv[])
{
	int at = 2, go[2];

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	if (at == 2 || at >= argc || pipe(go))
		return 2;
	argv[at++] = NULL;
	user = (uid_t)atoi(argv[1]);
	if (slurm_spank_init(NULL, argc - at, argv + at))
		return 1;
	task = fork();
	if (!task)
		run_task(user, argv + 2, go[0]);
	slurm_spank_task_post_fork(NULL, argc - at, argv + at);
	printf("%d\n", (int)task);
	fflush(stdout);
	if (write(go[1], "", 1) != 1)
		return 1;
	return waitpid(task, NULL, 0) != task;
}
