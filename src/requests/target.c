// SPDX-License-Identifier: MIT
#include "requests/target.h"

#include <fnmatch.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "process/cgroup.h"
#include "process/pod_names.h"

struct lookup {
	const struct gs_classes *classes;
	const struct gs_gpu *gpus;
	size_t ngpus;
};

static int parse_number(const char *v, uint64_t min, uint64_t max, const char *form,
			struct gs_target_part *t, struct gs_error *err)
{
	struct gs_error why = {};
	int r = gs_parse_u64(v, min, max, &t->number, &why);

	return r ? gs_fail(err, r, "%s: write %s", why.text, form) : 0;
}

static int parse_pid(const char *v, const struct lookup *in, struct gs_target_part *t,
		     struct gs_error *err)
{
	return parse_number(v, 1, 4194304, "pid:N", t, err);
}

static int parse_tsg(const char *v, const struct lookup *in, struct gs_target_part *t,
		     struct gs_error *err)
{
	return parse_number(v, 1, UINT64_MAX, "tsg:N", t, err);
}

static int parse_uid(const char *v, const struct lookup *in, struct gs_target_part *t,
		     struct gs_error *err)
{
	return parse_number(v, 0, UINT32_MAX - 1, "uid:N, or user:NAME", t, err);
}

/*
 * The text of /etc/passwd, read again after a change only: users may watch that file, and each read
 * walks their watches. NULL: it cannot be read.
 */
static char *users_text(size_t *ret_len)
{
	static struct stat known;
	static char *text;
	static size_t len;
	CLEANUP_FILE FILE *f = NULL;
	struct stat st;
	size_t room = 0;
	ssize_t n;

	if (stat("/etc/passwd", &st))
		return NULL;
	if (!text || st.st_ino != known.st_ino || st.st_size != known.st_size ||
	    st.st_mtim.tv_sec != known.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != known.st_mtim.tv_nsec) {
		free(text);
		text = NULL;
		f = fopen("/etc/passwd", "re");
		n = f ? getdelim(&text, &room, '\0', f) : -1;
		len = n > 0 ? (size_t)n : 0;
		known = st;
	}
	*ret_len = len;
	return len ? text : NULL;
}

void gs_target_begin(void)
{
	size_t len;

	users_text(&len);
}

/* Looks only into /etc/passwd: other sources of user names, such as LDAP, may block. */
static int parse_user(const char *v, const struct lookup *in, struct gs_target_part *t,
		      struct gs_error *err)
{
	size_t len = 0;
	char *text = users_text(&len);
	CLEANUP_FILE FILE *f = text ? fmemopen(text, len, "r") : NULL;
	const struct passwd *pw = NULL;

	while (f && (pw = fgetpwent(f)) && strcmp(pw->pw_name, v))
		;
	if (!pw)
		return gs_fail(err, -ENOENT,
			       "there is no user '%s' in /etc/passwd: name it by uid:N", v);
	t->number = pw->pw_uid;
	return 0;
}

static int parse_comm(const char *v, const struct lookup *in, struct gs_target_part *t,
		      struct gs_error *err)
{
	snprintf(t->text, sizeof(t->text), "%s", v);
	return 0;
}

static int parse_cgroup(const char *v, const struct lookup *in, struct gs_target_part *t,
			struct gs_error *err)
{
	const char *root = gs_cgroup_root();
	char path[PATH_MAX];
	struct stat st;
	size_t len;

	if (!root)
		return gs_fail(err, -ENOENT, "cgroup:%s: no cgroup2 file system is mounted here",
			       v);
	if (gs_cgroup_is_in(v, root))
		v += strlen(root);
	while (*v == '/')
		v++;
	if (strstr(v, ".."))
		return gs_fail(err, -EINVAL, "cgroup:%s: '..' is not allowed in a path", v);
	snprintf(t->text, sizeof(t->text), "/%s", v);
	len = strlen(t->text);
	while (len > 1 && t->text[len - 1] == '/')
		t->text[--len] = 0;
	snprintf(path, sizeof(path), "%s%s", root, t->text);
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return gs_fail(err, -ENOENT, "there is no cgroup %s", path);
	return 0;
}

static int parse_class(const char *v, const struct lookup *in, struct gs_target_part *t,
		       struct gs_error *err)
{
	uint32_t id;

	if (!in->classes || gs_class_id(in->classes, v, &id))
		return gs_fail(err, -EINVAL,
			       "there is no class '%s': 'gpusched class list' shows them", v);
	t->number = id;
	return 0;
}

/* Parses "2" (a GPU instance) or "2/0" (a compute instance in that GPU instance). */
static int parse_partition(char *v, struct gs_target_part *t, struct gs_error *err)
{
	uint64_t gi, ci = GPUSCHED_NO_INSTANCE;
	char *compute = strchr(v, '/');
	int r;

	if (compute)
		*compute++ = 0;
	r = gs_parse_u64(v, 0, GPUSCHED_MAX_GPU_INSTANCES - 1, &gi, err);
	if (!r && compute)
		r = gs_parse_u64(compute, 0, GPUSCHED_MAX_COMPUTE_INSTANCES - 1, &ci, err);
	if (r)
		return r;
	t->engine = gpusched_engine_in(0, (uint32_t)gi, (uint32_t)ci);
	t->of_engine = compute ? 0xff00 : 0xf000;
	return 0;
}

int gs_target_refuse_mig(const char *v, struct gs_error *err)
{
	return strncmp(v, "MIG-", 4) != 0
		       ? 0
		       : gs_fail(err, -ENOENT,
				 "'gpu:%s': the UUIDs of MIG partitions are not known here: name "
				 "the GPU and its instances, as in gpu:0/GI/CI",
				 v);
}

static int parse_gpu(const char *v, const struct lookup *in, struct gs_target_part *t,
		     struct gs_error *err)
{
	const struct gs_gpu *gpu;
	char text[256], *slash;
	int r;

	r = gs_target_refuse_mig(v, err);
	if (r)
		return r;
	snprintf(text, sizeof(text), "%s", v);
	slash = strchr(text, '/');
	if (slash) {
		*slash = 0;
		r = parse_partition(slash + 1, t, err);
		if (r)
			return r;
	}
	gpu = gs_gpu_find(in->gpus, in->ngpus, text);
	if (!gpu)
		return gs_fail(err, -ENOENT,
			       "there is no GPU '%s' (or several): an index, a UUID or a PCI id",
			       v);
	t->number = gpu->index;
	return 0;
}

static int parse_namespace(const char *v, const struct lookup *in, struct gs_target_part *t,
			   struct gs_error *err)
{
	snprintf(t->text, sizeof(t->text), "%s", v);
	return strchr(v, '/') ? gs_fail(err, -EINVAL, "'namespace:%s': a namespace has no '/'", v)
			      : 0;
}

static int parse_pod(const char *v, const struct lookup *in, struct gs_target_part *t,
		     struct gs_error *err)
{
	const char *slash = strchr(v, '/');

	if (!slash || slash == v || !slash[1] || strchr(slash + 1, '/'))
		return gs_fail(err, -EINVAL, "'pod:%s': write pod:NAMESPACE/NAME", v);
	snprintf(t->text, sizeof(t->text), "%s", v);
	return 0;
}

static const struct kind {
	const char *prefix;
	enum gs_target_kind kind;
	int (*parse)(const char *v, const struct lookup *in, struct gs_target_part *t,
		     struct gs_error *err);
} kinds[] = {
	{ "pid:", GS_TARGET_PID, parse_pid },
	{ "tid:", GS_TARGET_TID, parse_pid },
	{ "tsg:", GS_TARGET_TSG, parse_tsg },
	{ "uid:", GS_TARGET_UID, parse_uid },
	{ "user:", GS_TARGET_UID, parse_user },
	{ "comm:", GS_TARGET_COMM, parse_comm },
	{ "cgroup:", GS_TARGET_CGROUP, parse_cgroup },
	{ "class:", GS_TARGET_CLASS, parse_class },
	{ "gpu:", GS_TARGET_GPU, parse_gpu },
	{ "pod:", GS_TARGET_POD, parse_pod },
	{ "namespace:", GS_TARGET_NAMESPACE, parse_namespace },
};

static const struct kind *kind_of(const char *text)
{
	for (size_t i = 0; i < GS_COUNT(kinds); i++)
		if (!strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)))
			return &kinds[i];
	return NULL;
}

/*
 * Returns the comma at the end of this part; NULL: it is the last part. A comma inside a name ends
 * nothing: only a comma with a prefix such as "gpu:" behind it does.
 */
static char *end_of_part(char *text)
{
	char *comma = strchr(text, ',');

	while (comma && !kind_of(comma + 1))
		comma = strchr(comma + 1, ',');
	return comma;
}

static int parse_part(const char *text, const struct lookup *in, struct gs_target *t,
		      struct gs_error *err)
{
	const struct kind *k = kind_of(text);
	int r;

	if (!k && *text && strspn(text, "0123456789") == strlen(text))
		return gs_fail(err, -EINVAL, "'%s' is not a target: pid:%s or tsg:%s?", text, text,
			       text);
	if (!k)
		return gs_fail(err, -EINVAL, "'%.8s%s': write " GS_TARGET_KINDS ":X, or all", text,
			       strlen(text) > 8 ? "..." : "");
	text += strlen(k->prefix);
	if (!*text)
		return gs_fail(err, -EINVAL, "'%s': something must follow the colon", t->whole);
	if (t->n == GS_TARGET_PARTS)
		return gs_fail(err, -EINVAL, "'%s' has more than %d parts", t->whole,
			       GS_TARGET_PARTS);
	t->part[t->n].kind = k->kind;
	r = k->parse(text, in, &t->part[t->n++], err);
	return r == -ERANGE ? -EINVAL : r;
}

int gs_target_parse(const char *text, const struct gs_classes *classes, const struct gs_gpu *gpus,
		    size_t ngpus, struct gs_target *ret, struct gs_error *err)
{
	const struct lookup in = { classes, gpus, ngpus };
	struct gs_target t = { .n = 0 };
	char copy[256], *at = copy;
	int r = 0;

	if (strlen(text) >= sizeof(copy))
		return gs_fail(err, -EINVAL, "the target is longer than 255 characters");
	snprintf(t.whole, sizeof(t.whole), "%s", text);
	snprintf(copy, sizeof(copy), "%s", text);
	while (!r && at && strcmp(text, "all")) {
		char *part = at;

		at = end_of_part(part);
		if (at)
			*at++ = 0;
		r = parse_part(part, &in, &t, err);
	}
	if (!r)
		*ret = t;
	return r;
}

/*
 * Looks up the cgroup that the process is in now; the record has only the cgroup of its start. A
 * process that has ended is in no cgroup.
 */
static bool in_cgroup(const struct gs_target_part *t, const struct gpusched_tsg *rec)
{
	char path[GS_CGROUP_PATH_LEN];

	return !gs_cgroup_path((pid_t)rec->task.pid, path) && gs_cgroup_is_in(path, t->text);
}

static bool in_pod(const struct gs_target_part *t, const struct gpusched_tsg *rec)
{
	char path[GS_CGROUP_PATH_LEN];
	struct gs_pod_names n;
	size_t len;

	if (gs_cgroup_path((pid_t)rec->task.pid, path) || !gs_pod_names(path, &n))
		return false;
	if (t->kind == GS_TARGET_NAMESPACE)
		return !strcmp(n.namespace, t->text);
	len = strlen(n.namespace);
	return len && !strncmp(t->text, n.namespace, len) && t->text[len] == '/' &&
	       !strcmp(t->text + len + 1, n.pod);
}

static bool match_part(const struct gs_target_part *t, const struct gpusched_tsg *rec, uint32_t tid)
{
	char comm[GPUSCHED_COMM_LEN + 1];

	switch (t->kind) {
	case GS_TARGET_PID:
		return rec->task.pid == t->number;
	case GS_TARGET_TID:
		return tid == t->number;
	case GS_TARGET_TSG:
		return rec->task.id == t->number;
	case GS_TARGET_UID:
		return rec->task.uid == t->number;
	case GS_TARGET_COMM:
		snprintf(comm, sizeof(comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
		return !fnmatch(t->text, comm, 0);
	case GS_TARGET_CGROUP:
		return in_cgroup(t, rec);
	case GS_TARGET_CLASS:
		return rec->task.class_id == t->number;
	case GS_TARGET_GPU:
		return rec->task.gpu == t->number && (rec->task.engine & t->of_engine) == t->engine;
	case GS_TARGET_NAMESPACE:
	case GS_TARGET_POD:
		return in_pod(t, rec);
	case GS_TARGET_ALL:
	case GS_TARGET_SEVERAL:
		break;
	}
	return true;
}

bool gs_target_match(const struct gs_target *t, const struct gpusched_tsg *rec, uint32_t tid)
{
	for (size_t i = 0; i < t->n; i++)
		if (!match_part(&t->part[i], rec, tid))
			return false;
	return true;
}
