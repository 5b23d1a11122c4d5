/* SPDX-License-Identifier: MIT */
/*
 * priv.h - what the files of this room share: the TSGs that are watched, and what is known
 */
#ifndef GPUSCHED_MEANS_PRIV_H
#define GPUSCHED_MEANS_PRIV_H

#include <uthash.h>

#include "basic/share.h"
#include "figures/rates.h"
#include "means/beside.h"
#include "means/leaving.h"
#include "means/means.h"
#include "policy/polmaps.h"

#define MEANS_WINDOW_NS (5 * NS_PER_S)

/* A compute TSG that is watched. */
struct watched {
	UT_hash_handle hh;
	uint64_t id;
	struct gpusched_key key;
	uint32_t pid, uid, gpu, class_id;
	bool asked, known; /* asked: the reader has answered; known: @program is valid */
	bool mps;          /* an MPS server, by that answer */
	struct gs_program_id program;
	/* the present window: when it began, and the sums at that time */
	uint64_t began_ns;
	struct gs_tsg_sums before;
	bool counted; /* launches were counted during the whole window */
	uint64_t launches, launches_before;
	uint32_t timeslice_us;
	struct gs_leaving leaving;
	/* what the process's agent counted, also when the window began; @agent: there is one */
	struct gs_told told, told_before;
	bool agent;
	/* of an LC: its work in the last window that shows it; 0: none has yet */
	struct gs_service_work work;
};

struct gs_means_known {
	struct gs_hub *hub;
	struct gs_figures *fig;
	gs_means_told_fn told;
	void *told_user;
	struct gs_memory_of_programs memory;
	struct gs_shares shares;
	struct watched *all, *next; /* @next: the TSG to look at next; NULL: the first one */
	uint64_t look_ns, save_ns;
	struct gs_starts starts;
	/* what the policy knows of TSGs; fd -1: nothing, or the policy was not asked yet */
	struct gs_polmap says;
	bool asked_policy;
	bool keeps; /* the file may be written: it is not from a newer gpusched */
	bool started;
	struct gs_task *saving; /* the thread that writes the file; NULL: none */
};

/*
 * The window of an LC is over: takes its work, tells the records of the BEs beside it, and adds what
 * the policy knows to *inout. Source: services.c.
 */
void means_judge_service(struct gs_means_known *k, struct watched *w, const struct gs_tsg_sums *now,
			 uint64_t ns, struct gs_evidence *inout);
/* How the services on a GPU work: the longest work, and whether one of them launches graphs. */
struct gs_service_work means_services_on(const struct gs_means_known *k, uint32_t gpu);

#endif /* GPUSCHED_MEANS_PRIV_H */
