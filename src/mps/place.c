// SPDX-License-Identifier: MIT
#include "mps/place.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "gpusched/gpusched.h"
#include "local/ask.h"
#include "rm/rm.h"

static void close_(struct gpusched **g)
{
	gpusched_close(*g);
}

int gs_mps_place_daemon(const char *verb, json_t *args, json_t **ret, struct gs_error *err)
{
	CLEANUP(close_) struct gpusched *g = NULL;
	CLEANUP_JSON json_t *owned = args, *answer = NULL;
	int r = gpusched_open(NULL, &g);

	if (!r)
		r = gs_ask(g, verb, owned, &answer);
	if (r == -ECONNREFUSED)
		r = -ENOTSUP;
	if (r)
		return gs_fail(err, r, "%s", *gpusched_error(g) ? gpusched_error(g) : strerror(-r));
	if (ret)
		*ret = TAKE_PTR(answer);
	return 0;
}

static bool name_ok(const char *name)
{
	size_t n = strlen(name);

	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
			return false;
	return n && n <= GS_MPS_NAME_MAX && *name != '.';
}

static bool is_ours(const char *dir)
{
	struct stat st;

	return !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * Returns $XDG_RUNTIME_DIR if it belongs to this user: the variable may be left from another user's
 * session, or name a folder that cannot be entered.
 */
static const char *runtime_dir(void)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	return dir && *dir == '/' && is_ours(dir) && !access(dir, W_OK | X_OK) ? dir : NULL;
}

static int make(const char *dir, struct gs_error *err)
{
	if ((mkdir(dir, 0700) && errno != EEXIST) || !is_ours(dir) || chmod(dir, 0700))
		return gs_fail(err, errno == EEXIST ? -EPERM : -errno,
			       "%s cannot be made for this user alone: %s", dir, strerror(errno));
	return 0;
}

const char *gs_mps_place_kind(const struct gs_mps_place *p)
{
	return p->share ? "share" : "pool";
}

int gs_mps_place(const char *name, bool share, struct gs_mps_place *ret, struct gs_error *err)
{
	const char *own = runtime_dir();
	struct gs_mps_place p = { .share = share };
	CLEANUP_JSON json_t *answer = NULL;
	const char *given;
	char dir[PATH_MAX];
	int r;

	if (!*name)
		name = share ? "share" : "pool";
	if (!name_ok(name))
		return gs_fail(err, -EINVAL,
			       "'%s' is not a name: letters, digits, _ - ., at most %d", name,
			       GS_MPS_NAME_MAX);
	snprintf(p.name, sizeof(p.name), "%s", name);
	r = gs_mps_place_daemon("pool_dir", json_pack("{s:i}", "pid", (int)getpid()), &answer, err);
	if (r)
		return r;
	given = json_string_value(json_object_get(answer, "dir"));
	if (!own && !given)
		return gs_fail(err, -ENOTSUP, "%s",
			       json_string_value(json_object_get(answer, "reason")));
	snprintf(dir, sizeof(dir), "%s%s", own ? own : given, own ? "/gpusched" : "");
	r = make(dir, err);
	if (r)
		return r;
	if (snprintf(p.dir, sizeof(p.dir), "%s/%s-%s", dir, gs_mps_place_kind(&p), name) >=
	    (int)sizeof(p.dir))
		return gs_fail(err, -ENAMETOOLONG,
			       "%s/%s-%s is longer than %d characters: take a shorter name, or "
			       "unset XDG_RUNTIME_DIR",
			       dir, gs_mps_place_kind(&p), name, GS_MPS_DIR_MAX);
	r = make(p.dir, err);
	if (!r)
		*ret = p;
	return r;
}

/* Removes all files and sockets, since it is not known how NVIDIA's programs name theirs. */
void gs_mps_place_clear(const struct gs_mps_place *p, const char *folder)
{
	CLEANUP_DIR DIR *d = NULL;
	const struct dirent *e;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", p->dir, folder);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static int add_uuid(char ret[GS_MPS_UUIDS], const struct gs_gpu *gpu, struct gs_error *err)
{
	size_t at = strlen(ret);

	if (!gpu->uuid[0])
		return gs_fail(err, -ENODEV, "GPU %u has no UUID that can be read", gpu->index);
	snprintf(ret + at, GS_MPS_UUIDS - at, "%s%s", at ? "," : "", gpu->uuid);
	return 0;
}

int gs_mps_place_gpus(char ret[GS_MPS_UUIDS], struct gs_error *err)
{
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	CLEANUP_FREE char *copy = visible ? strdup(visible) : NULL;
	char *at = copy, *word;
	size_t n = 0;
	int r = gs_gpus_read(&gpus, &n, err);

	ret[0] = '\0';
	for (size_t i = 0; !r && !copy && i < n; i++)
		r = add_uuid(ret, &gpus[i], err);
	while (!r && (word = strsep(&at, ","))) {
		const struct gs_gpu *gpu = gs_gpu_find(gpus, n, word);

		if (!strncmp(word, "MIG-", 4))
			r = gs_fail(
				err, -ENOTSUP,
				"CUDA_VISIBLE_DEVICES names %s: pools do not work on MIG instances",
				word);
		else
			r = gpu ? add_uuid(ret, gpu, err)
				: gs_fail(err, -ENODEV,
					  "CUDA_VISIBLE_DEVICES names '%s', and there is no such "
					  "GPU",
					  word);
	}
	if (!r && !ret[0])
		r = gs_fail(err, -ENODEV, "there is no GPU");
	return r;
}

bool gs_mps_place_same_gpus(const char *a, const char *b)
{
	CLEANUP_FREE char *copy = strdup(a);
	char *at = copy, *word;

	if (!copy || strlen(a) != strlen(b))
		return false;
	while ((word = strsep(&at, ",")))
		if (!strstr(b, word))
			return false;
	return true;
}
