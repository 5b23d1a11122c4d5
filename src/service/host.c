// SPDX-License-Identifier: MIT
/*
 * Where the running policy's calls go. On every host the same taps see, and the same policy
 * decides; on hosts module and hooked gpusched.ko makes the calls, and puts back what it has changed
 * when this daemon dies or does not answer. Settings of people take the same way while such a policy
 * runs.
 */
#include "service/host.h"

#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "gpusched/module.h"
#include "rm/module.h"
#include "service/ends.h"
#include "service/instance.h"
#include "service/policy.h"
#include "table/cfg.h"

static const char *const words[] = {
	[GS_HOST_STOCK] = "stock", [GS_HOST_MODULE] = "module", [GS_HOST_HOOKED] = "hooked"
};

const char *gs_host_name(enum gs_host_word host)
{
	return words[host];
}

int gs_host_vet(const struct gs_service *s, const char *word, enum gs_host_word *ret,
		struct gs_error *err)
{
	size_t i = 0;
	int r = 0;

	while (word && *word && i < GS_COUNT(words) && strcmp(word, words[i]))
		i++;
	if (i == GS_COUNT(words))
		return gs_fail(err, -EINVAL,
			       "'%.32s' is no host of policies: stock, module or hooked", word);
	if (i != GS_HOST_STOCK)
		r = gs_module_may_use(i == GS_HOST_HOOKED, s->hooked, err);
	if (!r && i == GS_HOST_HOOKED)
		r = gs_hooked_found(err);
	if (!r)
		*ret = (enum gs_host_word)i;
	return r;
}

int gs_host_use(struct gs_service *s, enum gs_host_word host, struct gs_error *err)
{
	return host != GS_HOST_STOCK && !s->opts.dry_run ? gs_module_use(err) : 0;
}

bool gs_host_gate(const struct gs_service *s)
{
	return s->opts.daemon && !s->opts.dry_run && s->config->gate && !s->hooked;
}

static void put_hooked(struct gs_service *s, struct gs_hooked *hooked)
{
	gs_hooked_free(s->hooked);
	s->hooked = hooked;
	gs_cfg_gate(s->o, gs_host_gate(s));
}

void gs_host_put(struct gs_service *s, enum gs_host_word host, struct gs_hooked *hooked)
{
	s->host = host;
	put_hooked(s, hooked);
	if (hooked)
		gs_hooked_attach(hooked);
}

void gs_host_settle(struct gs_service *s)
{
	if (s->host == GS_HOST_STOCK)
		gs_module_leave();
	if (s->host != GS_HOST_HOOKED && s->hooked)
		put_hooked(s, NULL);
}

/* The hooks have stopped asking: a policy that is asked too late is not what somebody has chosen. */
static void look_at_hooks(struct gs_service *s)
{
	struct gs_policy_exit exit = { .kind = GS_POLICY_EXIT_ERROR };
	struct gs_error err = { 0 };
	struct gs_module m = { 0 };

	if (!s->hooked)
		return;
	exit.code = gs_hooked_state(s->hooked, &err);
	if (!exit.code || (exit.code > 0 && gs_module_about(&m, NULL)))
		return;
	if (exit.code < 0) {
		snprintf(exit.message, sizeof(exit.message), "%.255s", err.text);
	} else if (m.ended == GPUSCHED_MODULE_EXIT_TIMEOUT) {
		exit.kind = GS_POLICY_EXIT_STALLED;
		exit.code = -ETIME;
		snprintf(exit.message, sizeof(exit.message),
			 "policy %.31s: a callback took %d ms in the driver's hooks",
			 gs_policy_running(s->p)->name, m.ended_code);
	} else {
		return;
	}
	gs_service_policy_failed(s, &exit);
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
	gs_ends_check(s);
}

void gs_host_beat(struct gs_service *s)
{
	if (s->opts.daemon && gs_module_beat() == -ETIMEDOUT)
		put_back(s);
	look_at_hooks(s);
}
