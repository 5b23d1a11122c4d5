/* SPDX-License-Identifier: MIT */
/* verbs_pods.h - handles the verbs by which a container runtime reports its pods (docs/api.md) */
#ifndef GPUSCHED_REQUESTS_VERBS_PODS_H
#define GPUSCHED_REQUESTS_VERBS_PODS_H

#include <jansson.h>
#include <sys/types.h>

struct gs_request;

int gs_verb_pod_set(struct gs_request *rq);
int gs_verb_pod_clear(struct gs_request *rq);
int gs_verb_pod_list(struct gs_request *rq);

/* Adds to the steps of `class explain` the files about the pod or container that were not read. */
void gs_pods_add_unread(json_t *steps, pid_t pid);

#endif /* GPUSCHED_REQUESTS_VERBS_PODS_H */
