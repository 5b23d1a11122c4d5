// SPDX-License-Identifier: MIT
#include "means/program.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"

#define DELETED " (deleted)" /* /proc adds this if the file was replaced, for example upgraded */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* @name: the executable's name, such as "python3.11" or "bash". */
static bool is_interpreter(const char *name)
{
	static const char *const names[] = { "python", "pypy", "bash", "sh",    "dash", "zsh",
					     "perl",   "ruby", "node", "julia", "lua",  "Rscript" };

	for (size_t i = 0; i < GS_COUNT(names); i++) {
		size_t n = strlen(names[i]);

		if (!strncmp(name, names[i], n) && !isalpha((unsigned char)name[n]))
			return true;
	}
	return false;
}

static const char *next_arg(const char *at, const char *end)
{
	at = memchr(at, 0, (size_t)(end - at));
	return at && at + 1 < end ? at + 1 : NULL;
}

/*
 * Returns the argument if it is a plain word, such as "serve" in `llm serve --port 8080`; else "",
 * since other arguments may differ at each start.
 */
static const char *plain_word(const char *arg)
{
	size_t len = arg ? strspn(arg, "abcdefghijklmnopqrstuvwxyz-_") : 0;

	return len && !arg[len] && *arg != '-' && len < 24 ? arg : "";
}

/*
 * Finds an interpreter's script. Skips options, and the values of options that have one. After "-m"
 * comes a module; with "-c" or "-e" there is no script.
 */
static void find_script(const char *args, size_t n, char *ret, size_t size)
{
	const char *end = args + n, *at = n ? next_arg(args, end) : NULL, *word;
	bool is_module = false;

	for (; at && *at == '-'; at = next_arg(at, end)) {
		is_module = !strcmp(at, "-m");
		if (!strcmp(at, "-c") || !strcmp(at, "-e"))
			return;
		if (!is_module && strcmp(at, "-X") && strcmp(at, "-W") && strcmp(at, "-o"))
			continue;
		at = next_arg(at, end);
		if (!at || is_module)
			break;
	}
	if (!at)
		return;
	word = plain_word(next_arg(at, end));
	snprintf(ret, size, "%s%s%s%s", is_module ? "-m " : "", is_module ? at : base_of(at),
		 *word ? " " : "", word);
}

/*
 * Finds the service's name if a person chose it. The names of a user's manager and of units of
 * `systemd-run` do not count.
 */
static void find_service(const char *cgroup, char *ret, size_t size)
{
	const char *name = base_of(cgroup);

	if (!fnmatch("*.service", name, 0) && fnmatch("run-*", name, 0) &&
	    fnmatch("user@*", name, 0) && strlen(name) < size)
		snprintf(ret, size, "%s", name);
}

int gs_program_id(uid_t uid, const char *exe, const char *args, size_t n, const char *cgroup,
		  const struct gs_pod_names *pod, struct gs_program_id *ret)
{
	struct gs_program_id id;
	size_t len = strlen(exe), cut = strlen(DELETED);

	memset(&id, 0, sizeof(id));
	if (len > cut && !strcmp(exe + len - cut, DELETED))
		len -= cut;
	if (*exe != '/' || len >= sizeof(id.exe))
		return -EINVAL;
	id.uid = uid;
	memcpy(id.exe, exe, len);
	if (n && !args[n - 1] && is_interpreter(base_of(id.exe)))
		find_script(args, n, id.script, sizeof(id.script));
	else if (n && !args[n - 1])
		snprintf(id.script, sizeof(id.script), "%s", plain_word(next_arg(args, args + n)));
	if (pod && *pod->namespace)
		snprintf(id.place, sizeof(id.place), "%s/%s", pod->namespace, pod->container);
	else if (cgroup)
		find_service(cgroup, id.place, sizeof(id.place));
	*ret = id;
	return 0;
}
