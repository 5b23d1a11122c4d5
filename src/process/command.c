// SPDX-License-Identifier: MIT
#include "process/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"

#define FIRST_LINE 256 /* bytes of a script's first line that the kernel reads at most */

/* Finds the file that execvp() would execute. */
static int find(const char *name, char ret[PATH_MAX])
{
	const char *path = getenv("PATH");
	CLEANUP_FREE char *copy = strdup(path ? path : "/usr/bin:/bin");
	char *at = copy, *dir;

	if (!copy)
		return -ENOMEM;
	if (strchr(name, '/')) {
		snprintf(ret, PATH_MAX, "%s", name);
		return access(ret, X_OK) ? -ENOENT : 0;
	}
	while ((dir = strsep(&at, ":"))) {
		if (snprintf(ret, PATH_MAX, "%s/%s", *dir ? dir : ".", name) < PATH_MAX &&
		    !access(ret, X_OK))
			return 0;
	}
	return -ENOENT;
}

static int add(struct gs_program *p, const char *arg)
{
	size_t n = strlen(arg) + 1;

	if (p->nargs + n > sizeof(p->args) - 1)
		return -E2BIG;
	memcpy(p->args + p->nargs, arg, n);
	p->nargs += (uint32_t)n;
	return 0;
}

/* Parses a first line "#! INTERPRETER [ARGUMENT]". False: the file is no script. */
static bool read_first_line(const char *file, char line[FIRST_LINE], char **ret_name,
			    char **ret_arg)
{
	CLEANUP_FD int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, FIRST_LINE - 1);

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	*ret_name = line + 2 + strspn(line + 2, " \t");
	*ret_arg = *ret_name + strcspn(*ret_name, " \t");
	if (**ret_arg)
		*(*ret_arg)++ = 0;
	*ret_arg += strspn(*ret_arg, " \t");
	return **ret_name;
}

static bool is_env(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(slash ? slash + 1 : name, "env");
}

/*
 * If the file is a script, puts the interpreter into @exe, and interpreter, its argument and script
 * into the arguments. Else adds only the file's name to the arguments.
 */
static int take_interpreter(const char *script, char exe[PATH_MAX], struct gs_program *p)
{
	char line[FIRST_LINE], *name, *arg;
	int r;

	if (!read_first_line(script, line, &name, &arg))
		return add(p, script);
	if (is_env(name) && !strncmp(arg, "-S", 2))
		arg += 2 + strspn(arg + 2, " \t");
	if (is_env(name) && *arg) {
		name = arg;
		arg = name + strcspn(name, " \t");
		if (*arg)
			*arg++ = 0;
	}
	r = find(name, exe);
	if (!r)
		r = add(p, name);
	if (!r && *arg)
		r = add(p, arg);
	return r ? r : add(p, script);
}

int gs_command_program(char *const argv[], struct gs_program *ret)
{
	char file[PATH_MAX], exe[PATH_MAX];
	CLEANUP_FREE char *real = NULL;
	int r = find(argv[0], file);

	*ret = (struct gs_program){ .nargs = 0 };
	memcpy(exe, file, sizeof(exe));
	if (!r)
		r = take_interpreter(file, exe, ret);
	if (!r)
		real = realpath(exe, NULL);
	if (r || !real || strlen(real) >= sizeof(ret->exe))
		return r ? r : -ENOENT;
	strcpy(ret->exe, real);
	for (char *const *arg = argv + 1; !r && *arg; arg++)
		r = add(ret, *arg);
	return r;
}
