// SPDX-License-Identifier: MIT
/*
 * policy_check.c - checks whether a policy may run: its declaration, its code, and the verifier
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "gate/gate.h"
#include "policy/host.h"

int gs_policy_check_numbers(const struct gs_policy_info *i, struct gs_policy_exit *x,
			    struct gs_error *err)
{
	if (i->tick_us && (i->tick_us < GPUSCHED_TICK_MIN_US || i->tick_us > GPUSCHED_TICK_MAX_US))
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, -ERANGE, i->name, NULL,
				    "policy %s asks for a tick of %u us: %u to %u, or 0 for none",
				    i->name, i->tick_us, GPUSCHED_TICK_MIN_US,
				    GPUSCHED_TICK_MAX_US);
	if (i->timeout_ms < GPUSCHED_TIMEOUT_MIN_MS || i->timeout_ms > GPUSCHED_TIMEOUT_MAX_MS)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, -ERANGE, i->name, NULL,
				    "policy %s asks for a timeout of %u ms: %u to %u", i->name,
				    i->timeout_ms, GPUSCHED_TIMEOUT_MIN_MS,
				    GPUSCHED_TIMEOUT_MAX_MS);
	if (i->flags & ~GPUSCHED_F_ALL)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, -EINVAL, i->name, NULL,
				    "policy %s has unknown flags 0x%x", i->name,
				    i->flags & ~GPUSCHED_F_ALL);
	return 0;
}

static int vet_deny(const struct gs_policy_info *i, uint32_t flags, struct gs_policy_exit *x,
		    struct gs_error *err)
{
	if (i->flags & GPUSCHED_F_DENY & ~flags) {
		struct gs_error why = { 0 };

		if (!gs_gate_probe(&why))
			snprintf(why.text, sizeof(why.text), "it is off");
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, -ENOTSUP, i->name, NULL,
				    "policy %s denies TSGs, which the stock host cannot without "
				    "the gate (%s): use GPUSCHED_HOLD, or the sim host",
				    i->name, why.text);
	}
	return 0;
}

/* @flags: GPUSCHED_F_* that the host supports. */
static int vet(const struct gs_polobj *obj, struct gs_policy_info *ret, uint32_t flags,
	       struct gs_policy_exit *x, struct gs_error *err)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };
	struct gs_error inner = { 0 };
	char why[200];
	int r;

	r = gs_polobj_declared(obj, &info, &inner);
	if (r < 0)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, r, "", NULL, "%s", inner.text);
	if (info.abi != GPUSCHED_ABI_VERSION)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, -ENOTSUP, info.name, NULL,
				    "%s is written for policy ABI %u, this gpusched has %u: %s",
				    obj->path, info.abi, GPUSCHED_ABI_VERSION,
				    info.abi > GPUSCHED_ABI_VERSION ? "use a newer gpusched"
								    : "build it again");
	if (!gs_policy_path_ok(info.name))
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, -EINVAL, "", NULL,
				    "%s has no usable name in GPUSCHED_POLICY()", obj->path);
	r = gs_policy_check_numbers(&info, x, err);
	if (r == 0)
		r = vet_deny(&info, flags, x, err);
	if (r < 0)
		return r;
	r = gs_options_vet(&info, &inner);
	if (r < 0)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, r, info.name, NULL, "%s",
				    inner.text);
	if (gs_polobj_refuse(obj, why, sizeof(why)) < 0)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, -EINVAL, info.name, NULL,
				    "policy %s is refused: it has %s", info.name, why);
	*ret = info;
	info.options = NULL;
	return 0;
}

int gs_policy_check_object(struct gs_policy *p, const char *name, struct gs_policy_exit *x,
			   struct gs_error *err)
{
	int r = gs_polobj_open(name, &p->obj, err);

	return r < 0 ? r : vet(&p->obj, &p->info, p->host->flags(&p->world), x, err);
}

int gs_policy_info(const char *name_or_path, struct gs_policy_info *ret, struct gs_error *err)
{
	CLEANUP(gs_polobj_close) struct gs_polobj obj = { 0 };
	int r = gs_polobj_open(name_or_path, &obj, err);

	return r < 0 ? r : gs_polobj_declared(&obj, ret, err);
}

int gs_policy_check_options(const char *name_or_path, const char *const *options, size_t n,
			    struct gs_error *err)
{
	struct gs_policy_info info = { 0 };
	int r = gs_policy_info(name_or_path, &info, err);

	if (r)
		return r;
	r = gs_options_set(&info, options, n, err);
	gs_policy_info_free(&info);
	return r;
}
