// SPDX-License-Identifier: MIT
/*
 * Where the running policy's calls go. On every host the same taps see, and the same policy
 * decides; on host module gpusched.ko makes the calls, and puts back what it has changed when this
 * daemon dies or does not answer. Settings of people take the same way while such a policy runs.
 */
#include "service/host.h"

#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "rm/module.h"
#include "service/instance.h"
#include "table/cfg.h"

static const char *const words[] = { [GS_HOST_STOCK] = "stock", [GS_HOST_MODULE] = "module" };

const char *gs_host_name(enum gs_host_word host)
{
	return words[host];
}

int gs_host_vet(const char *word, enum gs_host_word *ret, struct gs_error *err)
{
	size_t i = 0;
	int r = 0;

	if (word && !strcmp(word, "hooked"))
		return gs_fail(err, -ENOTSUP,
			       "no policy of the daemon's runs in the driver's hooks: only those "
			       "that are written for gpu_sched_ops do, by driver/loader "
			       "(docs/module.md)");
	while (word && *word && i < GS_COUNT(words) && strcmp(word, words[i]))
		i++;
	if (i == GS_COUNT(words))
		return gs_fail(err, -EINVAL, "'%.32s' is no host of policies: stock or module",
			       word);
	if (i == GS_HOST_MODULE)
		r = gs_module_may_use(err);
	if (!r)
		*ret = (enum gs_host_word)i;
	return r;
}

int gs_host_use(struct gs_service *s, enum gs_host_word host, struct gs_error *err)
{
	return host == GS_HOST_MODULE && !s->opts.dry_run ? gs_module_use(err) : 0;
}

void gs_host_settle(struct gs_service *s)
{
	if (s->host != GS_HOST_MODULE)
		gs_module_leave();
}

/* The module has put everything back, and the records say otherwise: as if another had acted. */
static void put_back(struct gs_service *s)
{
	CLEANUP_FD int lock = -1;
	struct gs_restored done = { 0 };

	gs_count(s, GS_SVC_MODULE_LOST);
	gs_log(LOG_WARNING, "gpusched.ko had not heard this daemon for too long");
	if (gs_lock_overtake(&lock, NULL) || gs_cfg_next_epoch(s->o)) /* the guardian is at it */
		return;
	gs_restore(s->o, s->branch, &done, NULL);
}

void gs_host_beat(struct gs_service *s)
{
	if (s->opts.daemon && gs_module_beat() == -ETIMEDOUT)
		put_back(s);
}
