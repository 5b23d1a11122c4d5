// SPDX-License-Identifier: MIT
/* Finds the files of the configuration: the main one, then its drop-ins in the order of names. */
#include <dirent.h>
#include <limits.h>
#include <string.h>

#include "basic/cleanup.h"
#include "config/config.h"

#define MAIN_FILE "/etc/gpusched/gpusched.conf"

static int parse_file(struct gs_config *c, const char *path, bool must_exist, struct gs_error *err)
{
	CLEANUP_FILE FILE *f = fopen(path, "re");

	if (!f && errno == ENOENT && !must_exist)
		return 0;
	if (!f)
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	return gs_config_parse(c, f, path, err);
}

static int is_conf(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return d->d_name[0] != '.' && len > 5 && !strcmp(d->d_name + len - 5, ".conf");
}

static int parse_drop_ins(struct gs_config *c, const char *main_file, struct gs_error *err)
{
	char dir[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	struct dirent **entries;
	int n, r = 0;

	snprintf(dir, sizeof(dir), "%s.d", main_file);
	n = scandir(dir, &entries, is_conf, alphasort);
	if (n < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : gs_fail(err, -errno, "%s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		if (!r)
			r = parse_file(c, path, true, err);
		free(entries[i]);
	}
	free(entries);
	return r;
}

/* Reads into @c; after a mistake, @c keeps all that came before it. @path NULL: the usual file. */
static int parse_all(struct gs_config *c, const char *path, struct gs_error *err)
{
	const char *main_file = path ? path : secure_getenv("GPUSCHED_CONFIG");
	bool named = main_file && *main_file;
	int r;

	if (!named)
		main_file = MAIN_FILE;
	r = parse_file(c, main_file, named, err);
	return r ? r : parse_drop_ins(c, main_file, err);
}

static int load(const char *path, bool lenient, struct gs_config **ret, struct gs_error *err)
{
	struct gs_config *c;
	int r;

	r = gs_config_new(&c);
	if (r)
		return r;
	c->lenient = lenient;
	r = parse_all(c, path, err);
	if (!r && lenient)
		r = gs_config_prune(c, err);
	if (r) {
		gs_config_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

int gs_config_load_file(const char *path, struct gs_config **ret, struct gs_error *err)
{
	return load(path, false, ret, err);
}

int gs_config_load_start(const char *path, struct gs_config **ret, struct gs_error *err)
{
	return load(path, true, ret, err);
}

int gs_config_load(struct gs_config **ret, struct gs_error *err)
{
	return gs_config_load_file(NULL, ret, err);
}

bool gs_config_if_possible(void)
{
	struct gs_config *c;
	bool yes;

	if (gs_config_new(&c))
		return false;
	parse_all(c, NULL, NULL);
	yes = c->if_possible;
	gs_config_free(c);
	return yes;
}
