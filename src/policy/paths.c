// SPDX-License-Identifier: MIT
/*
 * paths.c - finds policies and the header that they include
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/similar.h"
#include "policy/priv.h"

/* Number of folders tried, from the executable's upwards: build/tests/unit/test_policy needs 3. */
#define LEVELS 3

static int exe_dir(unsigned int up, char *ret, size_t size)
{
	int r = gs_beside_folder(ret, size);

	for (unsigned int i = 0; !r && i < up; i++) {
		char *slash = strrchr(ret, '/');

		if (!slash || slash == ret)
			return -ENOENT;
		*slash = '\0';
	}
	return r;
}

int gs_policy_paths_each(int (*fn)(const char *dir, void *user), void *user)
{
	const char *list = getenv("GPUSCHED_POLICIES");
	char dir[PATH_MAX], sub[PATH_MAX + 32];
	int r;

	while (list && *list) {
		size_t n = strcspn(list, ":");

		if (n && n < sizeof(dir)) {
			snprintf(dir, sizeof(dir), "%.*s", (int)n, list);
			r = fn(dir, user);
			if (r)
				return r;
		}
		list += n + (list[n] == ':');
	}
	for (unsigned int up = 0; up < LEVELS; up++) {
		if (exe_dir(up, dir, sizeof(dir)) < 0)
			break;
		snprintf(sub, sizeof(sub), "%s/policies", dir);
		r = access(sub, F_OK) == 0 ? fn(sub, user) : 0;
		if (r)
			return r;
	}
	/* installed under a prefix other than /usr */
	if (exe_dir(1, dir, sizeof(dir)) == 0 && strcmp(dir, "/usr") != 0) {
		snprintf(sub, sizeof(sub), "%s/lib/gpusched/policies", dir);
		r = access(sub, F_OK) == 0 ? fn(sub, user) : 0;
		if (r)
			return r;
	}
	return fn("/usr/lib/gpusched/policies", user);
}

struct search {
	const char *name, *end;
	char *path;
};

static int try_dir(const char *dir, void *user)
{
	const struct search *s = user;

	return snprintf(s->path, PATH_MAX, "%s/%s%s", dir, s->name, s->end) < PATH_MAX &&
	       !access(s->path, R_OK);
}

bool gs_policy_path_find(const char *name, const char *end, char *ret)
{
	struct search s = { name, end, ret };

	return gs_policy_paths_each(try_dir, &s) == 1;
}

struct similar {
	const char *name;
	char found[GS_POLICY_NAME_LEN];
};

static int look_for_similar(const char *dir, void *user)
{
	static const char end[] = ".bpf.o";
	CLEANUP_DIR DIR *d = opendir(dir);
	struct similar *s = user;
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name), len = sizeof(end) - 1;
		char known[GS_POLICY_NAME_LEN];

		if (n <= len || n - len >= sizeof(known) || strcmp(e->d_name + n - len, end))
			continue;
		snprintf(known, sizeof(known), "%.*s", (int)(n - len), e->d_name);
		if (!gs_similar(s->name, known))
			continue;
		strcpy(s->found, known);
		return 1;
	}
	return 0;
}

int gs_policy_path_unknown(const char *name, const char *else_do, struct gs_error *err)
{
	struct similar s = { .name = name };

	if (gs_policy_paths_each(look_for_similar, &s) == 1)
		return gs_fail(err, -EINVAL, "no policy '%s': did you mean '%s'? %s", name, s.found,
			       else_do);
	return gs_fail(err, -EINVAL, "no policy '%s': %s", name, else_do);
}

int gs_policy_path_include(char *ret, size_t size)
{
	const char *env = getenv("GPUSCHED_INCLUDE");
	char dir[PATH_MAX], file[PATH_MAX + 64];

	if (env && *env) {
		snprintf(ret, size, "%s", env);
		return 0;
	}
	for (unsigned int up = 0; up <= LEVELS; up++) {
		if (exe_dir(up, dir, sizeof(dir)) < 0)
			break;
		snprintf(file, sizeof(file), "%s/include/gpusched/policy.bpf.h", dir);
		if (access(file, R_OK) == 0) {
			snprintf(ret, size, "%s/include", dir);
			return 0;
		}
	}
	if (access("/usr/include/gpusched/policy.bpf.h", R_OK) == 0) {
		snprintf(ret, size, "/usr/include");
		return 0;
	}
	return -ENOENT;
}

/* True if the name can be a file name and a C identifier. */
bool gs_policy_path_ok(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n >= GS_POLICY_NAME_LEN || !(isalpha((unsigned char)*name) || *name == '_'))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}
