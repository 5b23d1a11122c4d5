/* SPDX-License-Identifier: MIT */
/* verbs_pods.h - handles the verbs by which a container runtime reports its pods (docs/api.md) */
#ifndef GPUSCHED_REQUESTS_VERBS_PODS_H
#define GPUSCHED_REQUESTS_VERBS_PODS_H

struct gs_request;

int gs_verb_pod_set(struct gs_request *rq);
int gs_verb_pod_clear(struct gs_request *rq);
int gs_verb_pod_list(struct gs_request *rq);

#endif /* GPUSCHED_REQUESTS_VERBS_PODS_H */
