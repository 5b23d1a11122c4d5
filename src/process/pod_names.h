/* SPDX-License-Identifier: MIT */
/*
 * pod_names.h - namespace, pod and container of a cgroup, by name
 *
 * A cgroup's path has ids alone. The container's starter left files that say which names
 * they stand for: sources, asked in an order, each of which fills in what those before did not
 * know. Their folders are watched, so that names are there before anybody asks. A file that is
 * torn, too large, of no known form or writable by others than root is counted, not believed. One
 * book a process; any thread.
 */
#ifndef GPUSCHED_PROCESS_POD_NAMES_H
#define GPUSCHED_PROCESS_POD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "process/pod.h"

#define GS_NAMESPACE_LEN 64
#define GS_POD_NAME_LEN 254
#define GS_SHARING_LEN 32

struct gs_pod_names {
	char uid[GS_POD_LEN];      /* of the pod; "" here and below: not known */
	char id[GS_CONTAINER_LEN]; /* of the container */
	char namespace[GS_NAMESPACE_LEN];
	char pod[GS_POD_NAME_LEN];
	char container[GS_NAMESPACE_LEN];
	char sharing[GS_SHARING_LEN]; /* that its claim asks for: "TimeSlicing Long" */
};

/* Where the sources look; NULL or "": that one is not asked. */
struct gs_pod_places {
	const char *pod_logs, *container_logs; /* kubelet's */
	const char *fractions; /* NVIDIA's GPU fractioning: ID.json of a container */
	const char *claims;    /* the DRA driver's checkpoint.json */
};

/* Reads what is there, and watches. *ret_fd: gs_pods_read() has something to do. -ENOMEM, -EMFILE. */
int gs_pods_start(const struct gs_pod_places *places, int *ret_fd);
void gs_pods_end(void);
/* True: something was learned since the last call. */
bool gs_pods_read(void);
/* False: it is no pod's. A pod is one only below folders that root alone made. */
bool gs_pod_names(const char *cgroup, struct gs_pod_names *ret);
/* Entries that were not believed, since the beginning. */
uint64_t gs_pods_left(void);

#endif /* GPUSCHED_PROCESS_POD_NAMES_H */
