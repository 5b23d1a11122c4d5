/* SPDX-License-Identifier: MIT */
/*
 * policy_host.h - how a scenario runs a policy: a table of calls that a host implements
 *
 * Everything happens in virtual time and in one thread. Calls change @want and @priv of the tasks
 * they are given; the scenario's reconciler makes the RM calls that follow from that, with the
 * model's times. A negative return of any call means that the policy has failed: the scenario puts
 * every TSG back to what its owner asked for and counts the policy as ended.
 */
#ifndef GPUSCHED_SIM_POLICY_HOST_H
#define GPUSCHED_SIM_POLICY_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"
#include "gpusched/policy_types.h"

/* What the host may ask the scenario while one of its calls runs. */
struct sim_policy_view {
	uint64_t (*now_ns)(void *user);
	/* all TSGs that exist; valid until the call returns */
	struct gpusched_task *const *(*tasks)(void *user, size_t *ret_n);
	uint64_t seed; /* of the policy's random numbers */
	void *user;
};

struct sim_policy_host {
	const char *name; /* "native" */
	/* @policy: a name or a path; @options: "key=value". *ret_state is handed to all other
	 * calls. */
	int (*init)(const struct sim_policy_view *view, const char *policy,
		    const char *const *options, size_t noptions, void **ret_state,
		    struct gs_error *err);
	/* period of the tick (0: none) and GPUSCHED_F_* */
	uint32_t (*tick_us)(void *state);
	uint32_t (*flags)(void *state);
	int (*task_init)(void *state, struct gpusched_task *t);
	/* GPUSCHED_ADMIT, GPUSCHED_HOLD or GPUSCHED_DENY */
	int (*schedule)(void *state, struct gpusched_task *t);
	int (*timeslice_set)(void *state, struct gpusched_task *t, uint64_t us);
	/* only called when flags() has GPUSCHED_F_WORK; t->launches counts @w already */
	int (*work_submit)(void *state, struct gpusched_task *t, const struct gpusched_work *w);
	int (*task_destroy)(void *state, struct gpusched_task *t);
	/* one whole round: begin, all passes over @tasks, end */
	int (*tick)(void *state, struct gpusched_task *const *tasks, size_t n);
	/* Why the policy failed, after a negative return. May be NULL. */
	const char *(*failure)(void *state);
	/* calls exit(reason) and frees the state */
	void (*exit)(void *state, enum gpusched_exit_reason reason);
};

/*
 * Hosts that scenarios with a policy can run in; the program names them before any sim_cmd_*()
 * call, e.g. sim_policy_host_set(&gs_native_host). The first is the default, `sim run --host NAME`
 * chooses another. Without any such scenarios fail with that reason.
 */
void sim_policy_host_set(const struct sim_policy_host *host);
/* NULL: the default. Returns NULL when there is none of that name. */
const struct sim_policy_host *sim_policy_host(const char *name);

#endif /* GPUSCHED_SIM_POLICY_HOST_H */
