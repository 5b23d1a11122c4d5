// SPDX-License-Identifier: MIT
/*
 * polobj.c - opens a policy's object file by name or path, and builds a source first
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "policy/build.h"
#include "policy/priv.h"

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static int open_built(const char *source, struct gs_polobj *obj, struct gs_error *err)
{
	char tmp[] = "/tmp/gpusched-XXXXXX";
	char out[64];
	int fd, r;

	fd = mkstemp(tmp);
	if (fd < 0)
		return gs_fail(err, -errno, "no temporary file in /tmp for the build");
	close(fd);
	snprintf(out, sizeof(out), "%s", tmp);
	r = gs_policy_build(source, out, err);
	if (r == 0) {
		r = gs_read_file(out, GS_MAX_OBJECT, &obj->data, &obj->len, NULL);
		if (r < 0)
			gs_fail(err, r, "%s: cannot read what was built", source);
	}
	unlink(out);
	return r;
}

int gs_polobj_open(const char *name_or_path, struct gs_polobj *ret, struct gs_error *err)
{
	struct gs_polobj obj = { 0 };
	const char *path = name_or_path;
	char found[PATH_MAX];
	int r;

	if (!*name_or_path)
		return gs_fail(err, -EINVAL, "no policy named");
	if (!strpbrk(path, "/.")) {
		if (!gs_policy_path_ok(path))
			return gs_fail(err, -EINVAL,
				       "'%s' is not a policy name: letters, digits and _", path);
		if (!gs_policy_path_find(path, ".bpf.o", found))
			return gs_policy_path_unknown(
				path, "see 'gpusched policy list', or give a path", err);
		path = found;
	}
	if (strlen(path) >= sizeof(obj.path))
		return gs_fail(err, -ENAMETOOLONG, "path of the policy is too long");
	snprintf(obj.path, sizeof(obj.path), "%s", path);
	if (ends_with(path, ".c")) {
		r = open_built(path, &obj, err);
	} else {
		r = gs_read_file(path, GS_MAX_OBJECT, &obj.data, &obj.len, NULL);
		if (r < 0)
			gs_fail(err, r, "%s: cannot read the policy: %s", path, strerror(-r));
	}
	if (r < 0)
		return r;
	*ret = obj;
	return 0;
}

void gs_polobj_close(struct gs_polobj *obj)
{
	free(obj->data);
	obj->data = NULL;
	obj->len = 0;
}
