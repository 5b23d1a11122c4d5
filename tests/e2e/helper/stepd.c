// SPDX-License-Identifier: MIT
/*
 * stepd.c - stands in for slurmstepd: starts a user's task, and calls the plugin for it as root
 *
 *   stepd UID COMMAND [ARGUMENT...] -- [ARGUMENT OF THE PLUGIN...]
 *
 * Prints the task's pid. The plugin's spank_getenv() reads the job's environment, which is the
 * user's: here that of stepd.
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

int spank_option_register(spank_t sp, struct spank_option *opt)
{
	return 0;
}

int spank_get_item(spank_t sp, enum spank_item item, ...)
{
	va_list ap;

	va_start(ap, item);
	if (item == S_TASK_PID)
		*va_arg(ap, pid_t *) = task;
	va_end(ap);
	return item != S_TASK_PID;
}

int spank_getenv(spank_t sp, const char *name, char *buf, int len)
{
	const char *value = getenv(name);

	if (value)
		snprintf(buf, (size_t)len, "%s", value);
	return !value;
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
	if (slurm_spank_init(NULL, argc - at, argv + at))
		return 1;
	task = fork();
	if (!task)
		run_task((uid_t)atoi(argv[1]), argv + 2, go[0]);
	slurm_spank_task_post_fork(NULL, argc - at, argv + at);
	printf("%d\n", (int)task);
	fflush(stdout);
	if (write(go[1], "", 1) != 1)
		return 1;
	return waitpid(task, NULL, 0) != task;
}
