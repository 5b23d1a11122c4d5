// SPDX-License-Identifier: MIT
/*
 * pod_logs.c - reads names from the two folders of the kubelet's logs
 *
 * One has folders NAMESPACE_POD_UID, the other has links POD_NAMESPACE_CONTAINER-ID.log. The
 * kubelet cuts a link's name at 255 bytes, which first removes the id at its end. For such a
 * container, only the pod is then known, by its uid.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/pod_source.h"

#define ID_LEN 64
#define CUT_FROM 250 /* a name of this length or more may have been cut, which is no error */

static const char *probe_logs(const struct gs_pod_places *p)
{
	return p->pod_logs;
}

static const char *probe_containers(const struct gs_pod_places *p)
{
	return p->container_logs;
}

/* Splits "a_b_c" into three parts. -EINVAL: it has other parts, or a part does not fit. */
static int cut_in_three(const char *text, char *a, size_t na, char *b, size_t nb, char *c,
			size_t nc)
{
	const char *first = strchr(text, '_'), *second = first ? strchr(first + 1, '_') : NULL;
	size_t la, lb, lc;

	if (!second || strchr(second + 1, '_'))
		return -EINVAL;
	la = (size_t)(first - text);
	lb = (size_t)(second - first - 1);
	lc = strlen(second + 1);
	if (!la || !lb || !lc || la >= na || lb >= nb || lc >= nc)
		return -EINVAL;
	snprintf(a, na, "%.*s", (int)la, text);
	snprintf(b, nb, "%.*s", (int)lb, first + 1);
	snprintf(c, nc, "%s", second + 1);
	return 0;
}

static int names_of_folder(const char *entry, struct gs_pod_names *ret)
{
	return cut_in_three(entry, ret->namespace, sizeof(ret->namespace), ret->pod,
			    sizeof(ret->pod), ret->uid, sizeof(ret->uid));
}

static int read_logs(struct gs_pod_book *b, const char *folder, const char *entry)
{
	struct gs_pod_names n = { 0 };
	char path[PATH_MAX];
	struct stat st;
	int r = names_of_folder(entry, &n);

	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/%s", folder, entry);
	if (lstat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? gs_pod_learn(b, entry, &n) : -ENOTDIR;
}

const struct gs_pod_source gs_pod_by_logs = {
	.name = "pod logs", .probe = probe_logs, .read = read_logs, .look_up = gs_pod_by_book
};

/* ---- containers ------------------------------------------------------------------------------ */

/*
 * Checks that the link points to .../NAMESPACE_POD_UID/CONTAINER/N.log, with the same names as in
 * @n, and takes the pod's uid from there.
 */
static int check_link(const char *path, struct gs_pod_names *n)
{
	struct gs_pod_names by_link = { 0 };
	char to[PATH_MAX], *end, *container;
	ssize_t len = readlink(path, to, sizeof(to) - 1);

	if (len < 0)
		return -errno;
	to[len] = '\0';
	end = strrchr(to, '/');
	if (!end)
		return -EINVAL;
	*end = '\0';
	container = strrchr(to, '/');
	if (!container || strcmp(container + 1, n->container))
		return -EINVAL;
	*container = '\0';
	end = strrchr(to, '/');
	if (names_of_folder(end ? end + 1 : to, &by_link) || strcmp(by_link.pod, n->pod) ||
	    strcmp(by_link.namespace, n->namespace))
		return -EINVAL;
	snprintf(n->uid, sizeof(n->uid), "%s", by_link.uid);
	return 0;
}

static int read_containers(struct gs_pod_book *b, const char *folder, const char *entry)
{
	size_t len = strlen(entry);
	const char *id = entry + len - ID_LEN - 4;
	struct gs_pod_names n = { 0 };
	char path[PATH_MAX], names[NAME_MAX + 1];
	int r;

	if (len < ID_LEN + 6 || strcmp(entry + len - 4, ".log") != 0 || id[-1] != '-' ||
	    strspn(id, "0123456789abcdef") != ID_LEN)
		return len >= CUT_FROM ? 0 : -EINVAL;
	snprintf(n.id, sizeof(n.id), "%.*s", ID_LEN, id);
	snprintf(names, sizeof(names), "%.*s", (int)(id - 1 - entry), entry);
	r = cut_in_three(names, n.pod, sizeof(n.pod), n.namespace, sizeof(n.namespace), n.container,
			 sizeof(n.container));
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/%s", folder, entry);
	r = check_link(path, &n);
	return r ? r : gs_pod_learn(b, entry, &n);
}

const struct gs_pod_source gs_pod_by_containers = { .name = "container logs",
						    .probe = probe_containers,
						    .read = read_containers,
						    .look_up = gs_pod_by_book };
