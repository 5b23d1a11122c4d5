// SPDX-License-Identifier: MIT
/* pod_unread.c - keeps which entries of the sources' folders were not read, and why */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "process/pod_source.h"

const char *gs_pod_unread_why(int code)
{
	switch (code) {
	case -EBADMSG:
		return "it is incomplete, or no JSON of the form that is expected";
	case -EFBIG:
		return "it is too large";
	case -EPERM:
		return "others than root can write it";
	case -EINVAL:
		return "a name or value in it is none that is known";
	case -EEXIST:
		return "another entry has other names for the same id";
	case -ENOSPC:
		return "too many entries are known already";
	default:
		return strerror(-code);
	}
}

static size_t find(const struct gs_pod_unreads *u, const char *path)
{
	size_t i = 0;

	while (i < u->n && strcmp(u->one[i].path, path) != 0)
		i++;
	return i;
}

/* Where a new entry goes; GS_POD_UNREAD_MAX: there is no room. */
static size_t place_for_new(const struct gs_pod_unreads *u)
{
	size_t i = 0;

	while (i < u->n && (u->n < GS_POD_UNREAD_MAX || u->one[i].why))
		i++;
	return i;
}

bool gs_pod_unread_set(struct gs_pod_unreads *u, const char *folder, const char *entry, int code)
{
	char path[sizeof(u->one[0].path)];
	bool is_new;
	size_t i;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry) >= sizeof(path))
		return false;
	i = find(u, path);
	is_new = i == u->n;
	if (!code && !is_new)
		u->one[i] = u->one[--u->n];
	if (is_new)
		i = place_for_new(u);
	if (!code || i == GS_POD_UNREAD_MAX)
		return false;
	snprintf(u->one[i].path, sizeof(u->one[i].path), "%s", path);
	u->one[i].why = gs_pod_unread_why(code);
	u->n += i == u->n;
	return is_new;
}

void gs_pod_unread_forget(struct gs_pod_unreads *u, const char *folder)
{
	size_t len = strlen(folder);

	for (size_t i = 0; i < u->n; i++)
		if (!strncmp(u->one[i].path, folder, len) && u->one[i].path[len] == '/')
			u->one[i].why = NULL;
}

bool gs_pod_unread_concerns(const struct gs_pod_unread *one, const struct gs_pod_names *n)
{
	const char *entry = strrchr(one->path, '/') + 1;

	return one->why &&
	       ((*n->id && strstr(entry, n->id)) || (*n->uid && strstr(entry, n->uid)) ||
		(*n->uid && !strcmp(entry, GS_POD_CHECKPOINT)));
}
