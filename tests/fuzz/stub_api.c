// SPDX-License-Identifier: MIT
/*
 * stub_api.c - a service that has a verb for each type of argument, and does what the real one does with
 * them before a handler sees them
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/target.h"
#include "service/verb.h"

#define TARGET \
	{ \
		"target", GS_ARG_TARGET, true, "" \
	}

const struct gs_verb gs_verbs[] = {
	{ "set",
	  NULL,
	  0,
	  { TARGET, { "", GS_ARG_SETTINGS }, { "clear", GS_ARG_BOOL, false, "" } } },
	{ "suspend", NULL, 0, { TARGET, { "for_us", GS_ARG_NUMBER, false, "", 0, 1000000 } } },
	{ "policy_start",
	  NULL,
	  0,
	  { { "name", GS_ARG_TEXT, true, "" }, { "options", GS_ARG_TEXTS, false, "", 0, 4 } } },
};
const size_t gs_nverbs = sizeof(gs_verbs) / sizeof(gs_verbs[0]);

static const struct gs_verb *find(const char *name)
{
	for (size_t i = 0; i < gs_nverbs; i++)
		if (!strcmp(name, gs_verbs[i].name))
			return &gs_verbs[i];
	return NULL;
}

int gs_verb_flags(const char *name)
{
	return find(name) ? 0 : -ENOENT;
}

int gs_service_verb_begin(struct gs_service *s, const struct gs_peer *peer, const char *verb,
			  const json_t *args, json_t **ret_answer, struct gs_pending **ret_pending,
			  struct gs_error *err)
{
	const char *text = json_string_value(json_object_get(args, "target"));
	struct gpusched_settings settings;
	struct gs_target target;
	int r = gs_args_check(find(verb), args, err);

	if (!r && text)
		r = gs_target_parse(text, NULL, NULL, 0, &target, err);
	/* A refusal says why. */
	if (r && !err->text[0])
		abort();
	if (r)
		return r;
	gs_args_settings(args, &settings);
	*ret_answer = json_deep_copy(args);
	return 0;
}

int gs_class_id(const struct gs_classes *c, const char *name, uint32_t *ret)
{
	return -ENOENT;
}

const struct gs_gpu *gs_gpu_find(const struct gs_gpu *gpus, size_t n, const char *selector)
{
	return NULL;
}

int gs_pending_poll(struct gs_pending *p, json_t **ret_answer, struct gs_error *err)
{
	return -EIO;
}

void gs_pending_free(struct gs_pending *p)
{
}

int gs_service_metrics(struct gs_service *s, char **ret_text)
{
	*ret_text = strdup("");
	return *ret_text ? 0 : -ENOMEM;
}

int gs_service_watch(struct gs_service *s, gs_watch_fn fn, void *user, unsigned int *ret_token)
{
	*ret_token = 1;
	return 0;
}

void gs_service_unwatch(struct gs_service *s, unsigned int token)
{
}
