// SPDX-License-Identifier: MIT
#include "process/root.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/procfs.h"
#include "process/cgroup.h"
#include "process/pod.h"

/* ---- decisions ------------------------------------------------------------------------------- */

/* Finds the path in a line such as "0::/path" or "4:memory:/path"; NULL: this is no such line. */
static const char *path_in(const char *line)
{
	const char *at = strchr(line, ':');

	at = at ? strchr(at + 1, ':') : NULL;
	return at ? at + 1 : NULL;
}

/* The daemon's path in the hierarchy that @line is about, or "". */
static const char *our_path(const char *ours, const char *line, size_t head)
{
	for (const char *at = ours; at && *at;) {
		if (!strncmp(at, line, head))
			return at + head;
		at = strchr(at, '\n');
		at += at != NULL;
	}
	return "";
}

/*
 * Skips the folders in which the daemon is as well: they are its own container, or the node is a
 * container.
 */
static const char *below_ours(const char *path, const char *ours)
{
	const char *ret = path;

	for (size_t i = 0;; i++) {
		bool ends = !path[i] || path[i] == '/';
		bool ends_ours = !ours[i] || ours[i] == '/' || ours[i] == '\n';

		if (ends && ends_ours)
			ret = path + i;
		if (!path[i] || path[i] != ours[i])
			return ret;
	}
}

/* True if a hierarchy, of either version of cgroups, shows a container that is not the daemon's. */
static bool is_contained(const char *cgroups, const char *ours)
{
	CLEANUP_FREE char *copy = strdup(cgroups);
	char pod[GS_POD_LEN], container[GS_CONTAINER_LEN], *save = NULL;

	if (!copy)
		return true;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *path = path_in(line);

		if (!path)
			continue;
		path = below_ours(path, our_path(ours, line, (size_t)(path - line)));
		if (gs_pod_of(path, pod, container))
			return true;
	}
	return false;
}

static bool is_known(const struct gs_root_place *p)
{
	return p->pids && p->user_map && p->cgroups;
}

static bool has_our_namespaces(const struct gs_root_place *its, const struct gs_root_place *ours)
{
	return its->pids == 1 && ours->pids == 1 && its->user_map && ours->user_map &&
	       !strcmp(its->user_map, ours->user_map);
}

enum gs_root gs_root_judge(uid_t uid, const struct gs_root_place *its,
			   const struct gs_root_place *ours)
{
	if (uid)
		return GS_ROOT_NOT;
	if (!is_known(its) || !is_known(ours))
		return GS_ROOT_UNKNOWN;
	if (!has_our_namespaces(its, ours) || is_contained(its->cgroups, ours->cgroups))
		return GS_ROOT_CONTAINERS;
	return GS_ROOT_MACHINES;
}

/*
 * True if the part that two paths have in common names a pod. Two pods have no such part in common,
 * and a container cannot make one above itself.
 */
static bool share_pod(const char *path, const char *ours)
{
	char common[GS_CGROUP_PATH_LEN], pod[GS_POD_LEN], container[GS_CONTAINER_LEN];
	size_t n = 0;

	while (n + 1 < sizeof(common) && path[n] && path[n] != '\n' && path[n] == ours[n])
		n++;
	memcpy(common, path, n);
	common[n] = '\0';
	gs_pod_of(common, pod, container);
	return *pod;
}

bool gs_root_same_pod(const struct gs_root_place *its, const struct gs_root_place *ours)
{
	if (!is_known(its) || !is_known(ours) || !has_our_namespaces(its, ours))
		return false;
	for (const char *line = its->cgroups; line; line = strchr(line, '\n')) {
		const char *path;

		line += *line == '\n';
		path = path_in(line);
		if (path && share_pod(path, our_path(ours->cgroups, line, (size_t)(path - line))))
			return true;
	}
	return false;
}

/*
 * The length of a path up to the outermost container's folder, or 0: it names none. The runtime makes
 * the folder right below a pod's.
 */
static size_t container_end(const char *path)
{
	char part[GS_CGROUP_PATH_LEN], pod[GS_POD_LEN], container[GS_CONTAINER_LEN];
	size_t end = 0;

	for (size_t i = 1; !end && i < sizeof(part) && path[i - 1]; i++) {
		if (path[i] && path[i] != '/')
			continue;
		snprintf(part, i + 1, "%s", path);
		end = gs_pod_of(part, pod, container);
	}
	if (!end || *container || path[end] != '/')
		return end;
	snprintf(part, sizeof(part), "%.*s", (int)(end + 1 + strcspn(path + end + 1, "/")), path);
	gs_pod_of(part, pod, container);
	return *container ? strlen(part) : end;
}

/*
 * The length up to the first folder that is not a slice. The service manager makes units, and LXC
 * the top folders "lxc.payload.NAME"; a manager without units has a folder, and containers in it.
 */
static size_t unit_end(const char *path)
{
	for (size_t at = 0; path[at] == '/';) {
		size_t len = 1 + strcspn(path + at + 1, "/");
		const char *dot = memrchr(path + at, '.', len);

		at += len;
		if (!dot)
			return at + (path[at] ? 1 + strcspn(path + at + 1, "/") : 0);
		if (strncmp(dot, ".slice", strlen(".slice")) || dot + strlen(".slice") != path + at)
			return at;
	}
	return strlen(path);
}

size_t gs_root_made_of(const char *path, const struct gs_root_place *its,
		       const struct gs_root_place *ours)
{
	const char *below;
	size_t end;

	if (!is_known(ours))
		return 0;
	below = below_ours(path, our_path(ours->cgroups, "0::", 3));
	end = container_end(below);
	if (!end && has_our_namespaces(its, ours))
		return strlen(path);
	return (size_t)(below - path) + (end ? end : unit_end(below));
}

/* ---- /proc ----------------------------------------------------------------------------------- */

/* The text of one of the process's files in /proc, or NULL. */
static char *read_text(pid_t pid, const char *name)
{
	CLEANUP_FILE FILE *f = NULL;
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	char path[64];

	snprintf(path, sizeof(path), "%s/%d/%s", gs_procfs(), (int)pid, name);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) < 0)
		return ferror(f) ? NULL : strdup("");
	return TAKE_PTR(text);
}

/* Counts the pids in a line such as "NSpid:\t4711\t17". */
static unsigned int read_pids(pid_t pid)
{
	CLEANUP_FREE char *status = read_text(pid, "status");
	const char *at = status ? strstr(status, "\nNSpid:") : NULL;
	unsigned int n = 0;

	for (at = at ? at + 1 : ""; *at && *at != '\n'; at++)
		n += *at == '\t';
	return n;
}

/* Where a process is, with the texts that gs_root_place points to. */
struct place {
	struct gs_root_place at;
	char *cgroups, *user_map;
};

static void free_place(struct place *p)
{
	free(p->cgroups);
	free(p->user_map);
}

static struct place place_of(pid_t pid)
{
	struct place p = { .cgroups = read_text(pid, "cgroup"),
			   .user_map = read_text(pid, "uid_map") };

	p.at = (struct gs_root_place){ read_pids(pid), p.user_map, p.cgroups };
	return p;
}

enum gs_root gs_root_of(pid_t pid, uid_t uid)
{
	__attribute__((cleanup(free_place))) struct place its = { 0 }, ours = { 0 };

	if (uid)
		return GS_ROOT_NOT;
	its = place_of(pid);
	ours = place_of(getpid());
	return gs_root_judge(uid, &its.at, &ours.at);
}

size_t gs_root_made(pid_t pid, const char *path)
{
	__attribute__((cleanup(free_place))) struct place its = place_of(pid),
							  ours = place_of(getpid());

	return gs_root_made_of(path, &its.at, &ours.at);
}

bool gs_root_in_our_pod(pid_t pid)
{
	__attribute__((cleanup(free_place))) struct place its = place_of(pid),
							  ours = place_of(getpid());

	return gs_root_same_pod(&its.at, &ours.at);
}
