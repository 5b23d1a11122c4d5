// SPDX-License-Identifier: MIT
#include "classify/patterns.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define MOUNT "/sys/fs/cgroup"
#define COMM_MOST (GS_PATTERN_COMM_LEN - 1u) /* characters of a name that the kernel keeps */
#define NAME_MOST 253u                       /* of a pod's name */

static bool is_literal(const char *pattern)
{
	return !strpbrk(pattern, "*?[\\");
}

/* The "]" of a set that begins at @p; NULL: none begins there. */
static const char *end_of_set(const char *p)
{
	size_t first = 1 + (p[1] == '!' || p[1] == '^'); /* a "]" there is of the set */

	return *p == '[' && p[1] && p[first] ? strchr(p + first + 1, ']') : NULL;
}

/* The least length of a name that the pattern matches: each set and each "?" is one character. */
static size_t least_length(const char *pattern)
{
	size_t n = 0;

	for (const char *p = pattern; *p; p++) {
		const char *end = end_of_set(p);

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

/* systemd writes "\x2d" for a "-" in a name. glob(7) would take that for "x2d". */
static void keep_escapes(char *pattern)
{
	if (!strpbrk(pattern, "*?["))
		return; /* it is compared as it is */
	for (char *p = pattern; (p = strstr(p, "\\x")); p += 2) {
		if (p > pattern && p[-1] == '\\')
			continue;
		if (!isxdigit((unsigned char)p[2]) || !isxdigit((unsigned char)p[3]))
			continue;
		memmove(p + 1, p, strlen(p) + 1);
		p++;
	}
}

static int form_cgroup(char *pattern)
{
	size_t mount = sizeof(MOUNT) - 1, n;

	if (!strncmp(pattern, MOUNT, mount) && (pattern[mount] == '/' || !pattern[mount]))
		memmove(pattern, pattern + mount, strlen(pattern + mount) + 1);
	if (!*pattern || !strchr("/*?[\\", *pattern)) {
		memmove(pattern + 1, pattern, strlen(pattern) + 1);
		*pattern = '/';
	}
	for (n = strlen(pattern); n > 1 && pattern[n - 1] == '/';)
		pattern[--n] = '\0';
	keep_escapes(pattern);
	return 0;
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* True if Kubernetes allows a name that the pattern matches, as far as its plain characters say. */
static bool may_be_name(const char *pattern)
{
	for (const char *p = pattern; *p; p++) {
		const char *end = end_of_set(p);

		p += *p == '\\' && p[1];
		if (end)
			p = end;
		else if (!strchr("*?[", *p) && !is_alnum(*p) &&
			 (!strchr("-.", *p) || p == pattern || !p[1]))
			return false;
	}
	return least_length(pattern) <= NAME_MOST;
}

static int form_name(const char *pattern, struct gs_error *err)
{
	if (strchr(pattern, '/'))
		return gs_fail(err, -EINVAL,
			       "'%s' matches nothing: names of Kubernetes have no '/'; write "
			       "namespace=NAME pod=NAME",
			       pattern);
	if (!may_be_name(pattern))
		return gs_fail(err, -EINVAL,
			       "'%s' matches nothing: names of Kubernetes have small letters and "
			       "digits, and '-' and '.' between them",
			       pattern);
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
		return form_name(pattern, err);
	default:
		return 0;
	}
}

bool gs_pattern_is_cut(const char *rule, char ret[GS_PATTERN_COMM_LEN])
{
	const char *at = strstr(rule, "comm=");
	size_t n;

	while (at && at > rule && !strchr(" \t", at[-1]))
		at = strstr(at + 1, "comm=");
	if (!at)
		return false;
	at += strlen("comm=");
	n = strcspn(at, " \t");
	if (n <= COMM_MOST || strcspn(at, "*?[\\") < n)
		return false;
	snprintf(ret, GS_PATTERN_COMM_LEN, "%s", at);
	return true;
}

bool gs_pattern_matches(const char *pattern, const char *text)
{
	return *text && (!strcmp(pattern, text) || fnmatch(pattern, text, 0) == 0);
}
