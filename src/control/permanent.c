// SPDX-License-Identifier: MIT
/*
 * Keeps the policy that a person made permanent: a copy of its object, and its options. It starts
 * with the daemon.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/file.h"
#include "control/control.h"

#define MAX_BYTES (64u << 10)

static void path_of(char ret[300])
{
	snprintf(ret, 300, "%s/policy.json", gs_env()->state_dir);
}

int gs_permanent_may(const struct gs_control *ctl, struct gs_error *err)
{
	return ctl->hub->config->policy[0]
		       ? gs_fail(err, -EBUSY, "the configuration says Policy=%s: change it there",
				 ctl->hub->config->policy)
		       : 0;
}

/* Removes the policy's object: our own copy, which no other policy uses. */
static void forget_object(const struct gs_saved_policy *p)
{
	size_t len = strlen(gs_env()->state_dir);

	if (p->name && !strncmp(p->name, gs_env()->state_dir, len) && p->name[len] == '/')
		unlink(p->name);
}

static int write_policy(const char *object, const char *host, const char *const *options, size_t n,
			struct gs_error *err)
{
	CLEANUP_FREE char *text = NULL;
	CLEANUP_JSON json_t *o = NULL;
	json_t *list = json_array();
	char path[300];

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(options[i]));
	o = json_pack("{s:b,s:s,s:s,s:o}", "chosen", 1, "name", object, "host", host, "options",
		      list);
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	if (!text)
		return gs_fail(err, -ENOMEM, "out of memory");
	path_of(path);
	return gs_file_replace(path, text, strlen(text), err);
}

int gs_permanent_keep(const struct gs_control *ctl, const char *const *options, size_t n,
		      struct gs_error *err)
{
	struct gs_saved_policy old = { 0 };
	const void *object;
	char path[300];
	size_t len;
	int r;

	gs_permanent_load(&old, NULL);
	snprintf(path, sizeof(path), "%s/%s-%llu.bpf.o", gs_env()->state_dir,
		 gs_policy_running(ctl->hub->policy)->name, (unsigned long long)gs_now_ns());
	object = gs_stock_object(ctl->hub->policy, &len);
	if (mkdir(gs_env()->state_dir, 0700) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", gs_env()->state_dir, strerror(errno));
	r = gs_file_replace(path, object, len, err);
	if (!r)
		r = write_policy(path, gs_host_name(ctl->host), options, n, err);
	if (r)
		unlink(path);
	else
		forget_object(&old);
	gs_saved_policy_done(&old);
	return r;
}

int gs_permanent_load(struct gs_saved_policy *ret, struct gs_error *err)
{
	CLEANUP_FREE unsigned char *text = NULL;
	CLEANUP_JSON json_t *o = NULL;
	char path[300];
	size_t len;
	int r;

	path_of(path);
	r = gs_file_read_own(path, MAX_BYTES, &text, &len, err);
	if (r)
		return r;
	o = json_loads((const char *)text, JSON_REJECT_DUPLICATES, NULL);
	return gs_saved_policy_parse(ret, o) ? gs_fail(err, -EINVAL, "%s cannot be read", path) : 0;
}

void gs_permanent_forget(void)
{
	struct gs_saved_policy old = { 0 };
	char path[300];

	if (!gs_permanent_load(&old, NULL))
		forget_object(&old);
	gs_saved_policy_done(&old);
	path_of(path);
	unlink(path);
}
