// SPDX-License-Identifier: MIT
#include "classify/patterns.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#define MOUNT "/sys/fs/cgroup"
#define COMM_MOST 15u /* characters of a name that the kernel keeps */

static bool is_literal(const char *pattern)
{
	return !strpbrk(pattern, "*?[\\");
}

/* The least length of a name that the pattern matches: each set and each "?" is one character. */
static size_t least_length(const char *pattern)
{
	size_t n = 0;

	for (const char *p = pattern; *p; p++) {
		size_t first = 1 + (p[1] == '!' || p[1] == '^'); /* a "]" there is of the set */
		const char *end = *p == '[' && p[1] && p[first] ? strchr(p + first + 1, ']') : NULL;

		n += *p != '*';
		if (end)
			p = end;
		else if (*p == '\\' && p[1])
			p++;
	}
	return n;
}

static int form_comm(char *pattern, struct gs_error *err)
{
	size_t n = strlen(pattern);

	if (is_literal(pattern) && n > COMM_MOST)
		pattern[COMM_MOST] = '\0';
	else if (least_length(pattern) > COMM_MOST)
		return gs_fail(
			err, -EINVAL,
			"'comm=%s' matches nothing: the kernel keeps %u characters of a name",
			pattern, COMM_MOST);
	return 0;
}

static int form_cgroup(char *pattern)
{
	size_t mount = sizeof(MOUNT) - 1;

	if (!strncmp(pattern, MOUNT, mount) && (pattern[mount] == '/' || !pattern[mount]))
		memmove(pattern, pattern + mount, strlen(pattern + mount) + 1);
	if (*pattern && strchr("/*?[\\", *pattern))
		return 0;
	memmove(pattern + 1, pattern, strlen(pattern) + 1);
	*pattern = '/';
	return 0;
}

int gs_pattern_form(enum gs_pattern_of what, char *pattern, struct gs_error *err)
{
	switch (what) {
	case GS_PATTERN_COMM:
		return form_comm(pattern, err);
	case GS_PATTERN_CGROUP:
		return form_cgroup(pattern);
	case GS_PATTERN_EXE:
		if (*pattern && strchr("/*?[\\", *pattern))
			return 0;
		return gs_fail(err, -EINVAL, "'exe=%s' matches nothing: it is a path, such as */%s",
			       pattern, pattern);
	case GS_PATTERN_NAME:
		if (!strchr(pattern, '/'))
			return 0;
		return gs_fail(err, -EINVAL,
			       "'%s' matches nothing: names of Kubernetes have no '/'; write "
			       "namespace=NAME pod=NAME",
			       pattern);
	default:
		return 0;
	}
}

bool gs_pattern_matches(const char *pattern, const char *text)
{
	return *text && (!strcmp(pattern, text) || fnmatch(pattern, text, 0) == 0);
}
