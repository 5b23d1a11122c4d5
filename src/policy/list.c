// SPDX-License-Identifier: MIT
/*
 * list.c - lists the policies of the search path; of two with the same name, the first counts
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "policy/priv.h"

struct list {
	struct gs_policy_info *infos;
	size_t n;
	int error;
};

static bool known(const struct list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->infos[i].name, name) == 0)
			return true;
	return false;
}

static int add(struct list *l, const char *path)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };
	struct gs_policy_info *grown;

	if (gs_policy_info(path, &info, NULL) < 0 || known(l, info.name))
		return 0;
	grown = reallocarray(l->infos, l->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->infos = grown;
	grown[l->n++] = info;
	info.options = NULL;
	return 0;
}

static int scan(const char *dir, void *user)
{
	CLEANUP_DIR DIR *d = opendir(dir);
	struct list *l = user;
	struct dirent *entry;
	char path[PATH_MAX];

	while (d && (entry = readdir(d))) {
		size_t n = strlen(entry->d_name);

		if (n <= 6 || strcmp(entry->d_name + n - 6, ".bpf.o") ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) >=
			    sizeof(path))
			continue;
		l->error = add(l, path);
		if (l->error < 0)
			return 1;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct gs_policy_info *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int gs_policy_list(struct gs_policy_info **ret, size_t *ret_n, struct gs_error *err)
{
	struct list l = { 0 };

	gs_policy_paths_each(scan, &l);
	if (l.error < 0) {
		for (size_t i = 0; i < l.n; i++)
			gs_policy_info_free(&l.infos[i]);
		free(l.infos);
		return gs_fail(err, l.error, "out of memory");
	}
	if (l.n)
		qsort(l.infos, l.n, sizeof(*l.infos), by_name);
	*ret = l.infos;
	*ret_n = l.n;
	return 0;
}
