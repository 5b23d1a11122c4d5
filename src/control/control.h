/* SPDX-License-Identifier: MIT */
/*
 * control.h - the choices of people and of the configuration: a policy and its host, counting
 * launches, agents' pages; everything put back; and what is kept of that for the next start
 */
#ifndef GPUSCHED_CONTROL_CONTROL_H
#define GPUSCHED_CONTROL_CONTROL_H

#include "control/host.h"
#include "control/saved.h"
#include "hub/hub.h"

struct gs_agents;
struct gs_budgets;
struct gs_errand;
struct gs_restoring;
struct gs_starting;

/* A policy that ended by itself, and no other one has come since. */
struct gs_died {
	char policy[GS_POLICY_NAME_LEN]; /* "": none */
	char message[256];
	uint64_t ns;
};

struct gs_control {
	struct gs_hub *hub;
	sd_event_source *ticks;   /* of the running policy */
	enum gs_host_word host;   /* ... its host */
	struct gs_hooked *hooked; /* with which the driver's hooks ask it; NULL: they do not */
	struct gs_policy_exit last_exit;
	struct gs_died died; /* nobody has taken note of it yet */
	uint64_t policy_ends[GS_POLICY_EXITS];
	uint32_t overruled_logged;    /* 1 << enum gs_overrule: said of the running policy */
	struct gs_starting *starting; /* NULL: nothing is being started */
	struct gs_errand *discarding; /* the last policy that is still being freed; NULL: none is */
	struct gs_launches *ending;   /* no more, when its errand is over */
	struct gs_errand *launching;  /* a library is probed, or counting ends */
	bool launching_ends;          /* no other one will be */
	bool launches_asked;          /* a person wants them counted */
	unsigned int launch_leases;   /* requests that do, as long as they are under way */
	uint64_t launched[GPUSCHED_MAX_CLASSES]; /* by class, while counting was on before */
	sd_event_source *launch_again;
	struct gs_agents *agents;       /* in programs; NULL: not a daemon, or none can come */
	struct gs_budgets *budgets;     /* NULL: none are configured */
	struct gs_restoring *restoring; /* NULL: nothing is being put back */
	struct gs_parking *parking;     /* processes that have no TSG for a while */
	struct gs_saved saved;
	struct gs_past past;
};

int gs_control_new(struct gs_hub *hub, struct gs_control **ret);
/* When nothing runs any more. */
void gs_control_free(struct gs_control *ctl);

#endif /* GPUSCHED_CONTROL_CONTROL_H */
