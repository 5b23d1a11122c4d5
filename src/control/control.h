/* SPDX-License-Identifier: MIT */
/*
 * control.h - holds what people and the configuration choose
 *
 * These are a policy and its host, launch counting, agents' pages, budgets and restores. A part of
 * these choices is kept for the next start.
 */
#ifndef GPUSCHED_CONTROL_CONTROL_H
#define GPUSCHED_CONTROL_CONTROL_H

#include "control/host.h"
#include "control/saved.h"
#include "hub/hub.h"

struct gs_agents;
struct gs_budgets;
struct gs_counted;
struct gs_task;
struct gs_harm;
struct gs_restoring;
struct gs_starting;

/* A policy that ended by itself; empty once another one has started. */
struct gs_died {
	char policy[GS_POLICY_NAME_LEN]; /* "": there is none */
	char message[256];
	uint64_t ns;
};

/* The policy that the configuration names, and the one that runs. */
struct gs_wanted {
	bool by_config; /* the configuration decides; false: a person has, or the policy failed */
	bool gave_up;   /* it could not be started */
	char *runs;     /* what the running policy was started as; NULL: none runs */
};

struct gs_control {
	struct gs_hub *hub;
	struct gs_wanted wanted;
	sd_event_source *ticks; /* ticks of the running policy */
	enum gs_host_word host; /* the running policy's host */
	/* Lets the driver's hooks ask the policy; NULL: they do not ask. */
	struct gs_hooked *hooked;
	struct gs_policy_exit last_exit;
	char *started_as;    /* what starts the last policy again: name or path; NULL: not known */
	struct gs_died died; /* no person has acknowledged it yet */
	uint64_t policy_ends[GS_POLICY_EXITS];
	/* reasons already logged for the running policy, as 1 << enum gs_overrule */
	uint32_t overruled_logged;
	struct gs_starting *starting; /* NULL: nothing is being started */
	bool ends;                    /* nothing is started any more */
	struct gs_task *discarding;   /* the task that frees the last policy; NULL: none */
	struct gs_launches *ending;   /* counting that ends when its task is over */
	struct gs_task *launching;    /* the task that probes a library or ends counting */
	bool launching_ends;          /* no further task will start */
	bool launches_asked;          /* a person turned counting on */
	/* Number of requests under way that need counting. */
	unsigned int launch_leases;
	/* launches counted before the present counting, by class */
	uint64_t launched[GPUSCHED_MAX_CLASSES];
	sd_event_source *launch_again;
	/* Agents in programs; NULL: no daemon, or no agent can connect. */
	struct gs_agents *agents;
	struct gs_counted *counted;     /* NULL: there is no daemon */
	struct gs_budgets *budgets;     /* NULL: none are configured */
	struct gs_harm *harm;           /* NULL: there is no daemon */
	struct gs_restoring *restoring; /* NULL: no restore is under way */
	struct gs_parking *parking;     /* parked processes */
	struct gs_saved saved;
	struct gs_past past;
};

int gs_control_new(struct gs_hub *hub, struct gs_control **ret);
/* Call this when nothing runs any more. */
void gs_control_free(struct gs_control *ctl);

/* True if @name is our copy of an object that a person named by its path: it goes with the choice. */
bool gs_saved_is_copy(const char *name);

#endif /* GPUSCHED_CONTROL_CONTROL_H */
