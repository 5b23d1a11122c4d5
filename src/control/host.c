// SPDX-License-Identifier: MIT
/*
 * Chooses how the running policy's calls are made. On every host the taps see the same, and the
 * same policy decides. On hosts module and hooked, gpusched.ko makes the calls, and restores its
 * changes if this daemon dies or does not respond. While such a policy runs, people's settings go
 * through the module too.
 */
#include "control/host.h"

#include <string.h>

#include "basic/cleanup.h"
#include "gpusched/module.h"
#include "rm/module.h"
#include "control/control.h"
#include "table/cfg.h"

static const char *const words[] = {
	[GS_HOST_STOCK] = "stock", [GS_HOST_MODULE] = "module", [GS_HOST_HOOKED] = "hooked"
};

const char *gs_host_name(enum gs_host_word host)
{
	return words[host];
}

int gs_host_vet(const struct gs_control *ctl, const char *word, enum gs_host_word *ret,
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
		r = gs_module_may_use(i == GS_HOST_HOOKED, ctl->hooked, err);
	if (!r && i == GS_HOST_HOOKED)
		r = gs_hooked_found(err);
	if (!r)
		*ret = (enum gs_host_word)i;
	return r;
}

int gs_host_use(struct gs_control *ctl, enum gs_host_word host, struct gs_error *err)
{
	return host != GS_HOST_STOCK && !ctl->hub->opts.dry_run ? gs_module_use(err) : 0;
}

bool gs_host_gate(const struct gs_control *ctl)
{
	return ctl->hub->opts.daemon && !ctl->hub->opts.dry_run && ctl->hub->config->gate &&
	       !ctl->hooked;
}

static void put_hooked(struct gs_control *ctl, struct gs_hooked *hooked)
{
	gs_hooked_free(ctl->hooked);
	ctl->hooked = hooked;
	gs_cfg_gate(ctl->hub->table, gs_host_gate(ctl));
}

void gs_host_put(struct gs_control *ctl, enum gs_host_word host, struct gs_hooked *hooked)
{
	ctl->host = host;
	put_hooked(ctl, hooked);
	if (hooked)
		gs_hooked_attach(hooked);
}

void gs_host_settle(struct gs_control *ctl)
{
	if (ctl->host == GS_HOST_STOCK)
		gs_module_leave();
	if (ctl->host != GS_HOST_HOOKED && ctl->hooked)
		put_hooked(ctl, NULL);
}
