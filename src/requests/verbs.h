/* SPDX-License-Identifier: MIT */
/*
 * verbs.h - declares the handlers of verbs, which docs/api.md describes
 */
#ifndef GPUSCHED_REQUESTS_VERBS_H
#define GPUSCHED_REQUESTS_VERBS_H

struct gs_request;
struct gs_requests;

int gs_verb_history(struct gs_request *rq);
int gs_verb_list(struct gs_request *rq);
int gs_verb_status(struct gs_request *rq);
int gs_verb_stats(struct gs_request *rq);
int gs_verb_set(struct gs_request *rq);
int gs_verb_preempt(struct gs_request *rq);
int gs_verb_suspend(struct gs_request *rq);
int gs_verb_resume(struct gs_request *rq);
int gs_verb_restore(struct gs_request *rq);
int gs_verb_class_set(struct gs_request *rq);
int gs_verb_class_clear(struct gs_request *rq);
int gs_verb_class_get(struct gs_request *rq);
int gs_verb_class_list(struct gs_request *rq);
int gs_verb_class_explain(struct gs_request *rq);
int gs_verb_pool_set(struct gs_request *rq);
int gs_verb_pool_end(struct gs_request *rq);
int gs_verb_pool_dir(struct gs_request *rq);
int gs_verb_policy_get(struct gs_request *rq);
int gs_verb_policy_start(struct gs_request *rq);
int gs_verb_policy_stop(struct gs_request *rq);
int gs_verb_observe_status(struct gs_request *rq);
int gs_verb_observe_on(struct gs_request *rq);
int gs_verb_observe_off(struct gs_request *rq);
int gs_verb_observe_launches(struct gs_request *rq);
int gs_verb_ping(struct gs_request *rq);

#endif /* GPUSCHED_REQUESTS_VERBS_H */
