/* SPDX-License-Identifier: MIT */
/*
 * figures.h - collects figures of TSGs and GPUs: GPU time, sums, metrics
 */
#ifndef GPUSCHED_FIGURES_FIGURES_H
#define GPUSCHED_FIGURES_FIGURES_H

#include "hub/hub.h"

struct gs_finding;
struct gs_ledger;
struct gs_memory;
struct gs_request_costs;

struct gs_call_stats {
	uint64_t count, failed, ns, max_ns;
};

struct gs_figures {
	struct gs_hub *hub;
	/* returns the pid of the MPS server of the pool in which @pid works; 0: none */
	uint32_t (*server_of)(uint32_t pid, void *user);
	void *server_user;
	sd_event_source *sight;
	unsigned int sight_skips;       /* samples to skip before launches are read again */
	struct gs_cost_book *book;      /* NULL: no log is read */
	struct gs_ledger *ledger;       /* NULL: the instance is no daemon */
	struct gs_memory *memory;       /* NULL: the instance is no daemon */
	struct gs_request_costs *costs; /* NULL: no request was told */
	struct gs_call_stats calls[GS_RM_OP_MAX];
	/*
	 * called for each finding about a GPU or TSG, once a second as long as it lasts; may be
	 * NULL
	 */
	void (*found)(const struct gs_finding *f, void *user);
	void *found_user;
	/* called when a process has used GPU time; may be NULL */
	void (*charged)(uid_t uid, const char *cgroup, uint64_t ns, void *user);
	void *charged_user;
};

int gs_figures_new(struct gs_hub *hub, struct gs_figures **ret);
/* Call this after the ledger and GPU time have ended. */
void gs_figures_free(struct gs_figures *fig);
/*
 * For a daemon that reads the GPUs' logs and keeps a history. @server_of: as in struct gs_figures.
 */
int gs_figures_start(struct gs_figures *fig, uint32_t (*server_of)(uint32_t pid, void *user),
		     void *user, struct gs_error *err);

#endif /* GPUSCHED_FIGURES_FIGURES_H */
