// SPDX-License-Identifier: MIT
/*
 * pod_bundles.c - reads names from the container runtime's bundles
 *
 * Each container has a folder, its bundle, with a config.json. From the environment in that file,
 * only the words in pod_synonyms.c are used. A bundle is read when the names of its container are
 * needed: the container's process then exists, so the file is complete.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "process/pod_source.h"

#define BYTES_MAX (256u << 10)
#define WORD_MAX 64
#define WORDS_MAX 4096 /* variables in an environment */

static const char *probe(const struct gs_pod_places *p)
{
	return p->bundles;
}

/* @folder, unless the configuration names another one. */
static const char *unless_named(const struct gs_pod_places *p, const char *folder)
{
	return p->bundles && !strcmp(p->bundles, GS_POD_BUNDLES) ? folder : NULL;
}

static const char *probe_k3s(const struct gs_pod_places *p) /* and RKE2 */
{
	return unless_named(p, "/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io");
}

static const char *probe_microk8s(const struct gs_pod_places *p)
{
	return unless_named(p, "/var/snap/microk8s/common/run/containerd/"
			       "io.containerd.runtime.v2.task/k8s.io");
}

static const char *probe_k0s(const struct gs_pod_places *p)
{
	return unless_named(p, "/run/k0s/containerd/io.containerd.runtime.v2.task/k8s.io");
}

/*
 * For each runtime: the file's path in a bundle, and the annotations that the runtime itself sets.
 * Other annotations may come from the pod, since CRI-O copies the pod's annotations. So the file's
 * path tells which runtime made it; an annotation cannot.
 */
static const struct runtime {
	const char *file, *uid, *namespace, *pod, *container;
} runtimes[] = {
	{ "config.json", "io.kubernetes.cri.sandbox-uid", "io.kubernetes.cri.sandbox-namespace",
	  "io.kubernetes.cri.sandbox-name", "io.kubernetes.cri.container-name" }, /* containerd */
	{ "userdata/config.json", "io.kubernetes.pod.uid", "io.kubernetes.pod.namespace",
	  "io.kubernetes.pod.name", "io.kubernetes.container.name" }, /* CRI-O */
};

static int read_config(const char *folder, const char *id, const struct runtime **ret_by,
		       json_t **ret)
{
	char entry[GS_CONTAINER_LEN + 32];
	int r = -ENOENT;

	for (size_t i = 0; i < GS_COUNT(runtimes) && r == -ENOENT; i++) {
		*ret_by = &runtimes[i];
		snprintf(entry, sizeof(entry), "%.79s/%s", id, runtimes[i].file);
		r = gs_pod_json(folder, entry, BYTES_MAX, ret);
	}
	return r;
}

static void name(const json_t *annotations, const struct runtime *by, struct gs_pod_names *n)
{
	gs_pod_text(annotations, by->uid, n->uid, sizeof(n->uid));
	gs_pod_text(annotations, by->namespace, n->namespace, sizeof(n->namespace));
	gs_pod_text(annotations, by->pod, n->pod, sizeof(n->pod));
	gs_pod_text(annotations, by->container, n->container, sizeof(n->container));
}

/*
 * Reads the words of pod_synonyms.c from an environment. Skips words with invalid values, and then
 * returns -EINVAL.
 */
static int read_environment(const json_t *list, struct gs_pod_asks *ret)
{
	const json_t *one;
	int r = 0;
	size_t i;

	if (json_array_size(list) > WORDS_MAX)
		return -EFBIG;
	json_array_foreach(list, i, one) {
		const char *text = json_string_value(one);
		const char *value = text ? strchr(text, '=') : NULL;
		char word[WORD_MAX];

		if (!value || (size_t)(value - text) >= sizeof(word))
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)(value - text), text);
		if (gs_pod_synonym(GS_IN_ENVIRONMENT, word, value + 1, ret) < 0)
			r = -EINVAL;
	}
	return r;
}

static int read_one(struct gs_pod_book *b, const char *folder, const char *entry)
{
	CLEANUP_JSON json_t *o = NULL;
	const struct runtime *by = NULL;
	struct gs_pod_names n = { 0 };
	int q, r;

	if (strlen(entry) >= sizeof(n.id))
		return -EINVAL;
	strcpy(n.id, entry);
	r = read_config(folder, entry, &by, &o);
	if (r == -ENOENT)
		return r;
	if (!r && !json_is_object(json_object_get(o, "process")))
		r = -EBADMSG;
	if (!r) {
		name(json_object_get(o, "annotations"), by, &n);
		r = read_environment(json_object_get(json_object_get(o, "process"), "env"),
				     &n.asks);
	}
	q = gs_pod_learn(b, entry, &n);
	if (q == -EINVAL) { /* stores an entry without names, so that it is not read again */
		n = (struct gs_pod_names){ 0 };
		strcpy(n.id, entry);
		gs_pod_learn(b, entry, &n);
	}
	return r ? r : q;
}

#define BUNDLES(folder, folders_probe) \
	{ \
		.name = "bundles" folder, .probe = folders_probe, .read = read_one, \
		.when_asked = true, .look_up = gs_pod_by_book \
	}

const struct gs_pod_source gs_pod_by_bundles = BUNDLES("", probe);
const struct gs_pod_source gs_pod_by_bundles_k3s = BUNDLES(" of k3s", probe_k3s);
const struct gs_pod_source gs_pod_by_bundles_microk8s = BUNDLES(" of MicroK8s", probe_microk8s);
const struct gs_pod_source gs_pod_by_bundles_k0s = BUNDLES(" of k0s", probe_k0s);

/* ---- for doctor ------------------------------------------------------------------------------ */

#define COUNTED_MAX 10000

bool gs_pod_folder_trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & 022);
}

static bool is_bundle(int dir, const char *entry)
{
	char path[NAME_MAX + 32];

	for (size_t i = 0; i < GS_COUNT(runtimes); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", NAME_MAX, entry, runtimes[i].file);
		if (!faccessat(dir, path, F_OK, 0))
			return true;
	}
	return false;
}

static int count(const char *folder)
{
	CLEANUP_DIR DIR *dir = opendir(folder);
	const struct dirent *d;
	int n = 0;

	if (!dir)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (!gs_pod_folder_trusted(dirfd(dir)))
		return -EPERM;
	while (n < COUNTED_MAX && (d = readdir(dir)))
		n += *d->d_name != '.' && is_bundle(dirfd(dir), d->d_name);
	return n;
}

bool gs_pod_bundles(const struct gs_pod_places *places, size_t i, struct gs_bundles *ret)
{
	static const struct {
		const char *key;
		const struct gs_pod_source *source;
	} all[] = {
		{ "bundles", &gs_pod_by_bundles },
		{ "k3s", &gs_pod_by_bundles_k3s },
		{ "microk8s", &gs_pod_by_bundles_microk8s },
		{ "k0s", &gs_pod_by_bundles_k0s },
	};
	const char *folder;

	if (i >= GS_COUNT(all))
		return false;
	folder = all[i].source->probe(places);
	if (folder && !*folder)
		folder = NULL;
	*ret = (struct gs_bundles){ all[i].key, folder, folder ? count(folder) : -ENOENT };
	return true;
}
