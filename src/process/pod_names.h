/* SPDX-License-Identifier: MIT */
/*
 * pod_names.h - namespace, pod and container of a cgroup, by name
 *
 * A cgroup's path contains only ids. The programs that start containers leave files with the names
 * for these ids. Each kind of file is a source. Sources are asked in order, and each adds what
 * earlier ones did not know. We watch their folders, so that names are known before anybody asks. A
 * file is counted but not believed if it is torn, too large, of no known form, or writable by users
 * other than root. One set of names per process; for any thread.
 */
#ifndef GPUSCHED_PROCESS_POD_NAMES_H
#define GPUSCHED_PROCESS_POD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "process/pod.h"
#include "process/pod_synonyms.h"

#define GS_NAMESPACE_LEN 64
#define GS_POD_NAME_LEN 254
#define GS_SHARING_LEN 32

struct gs_pod_names {
	char uid[GS_POD_LEN];      /* uid of the pod; "" here and below: unknown */
	char id[GS_CONTAINER_LEN]; /* id of the container */
	char namespace[GS_NAMESPACE_LEN];
	char pod[GS_POD_NAME_LEN];
	char container[GS_NAMESPACE_LEN];
	/* sharing that the pod's claim asks for: "TimeSlicing Long" */
	char sharing[GS_SHARING_LEN];
	/* what claim and environment ask for, by other programs' words: not judged yet */
	struct gs_pod_asks asks;
};

/* Where the sources look; NULL or "": that source is not used. */
struct gs_pod_places {
	const char *pod_logs, *container_logs; /* folders of the kubelet */
	const char *fractions; /* NVIDIA's GPU fractioning: ID.json of a container */
	const char *claims;    /* the DRA driver's checkpoint.json */
	const char *bundles;   /* the container runtime: ID/config.json of each container */
};

/*
 * Reads all entries, and begins to watch. *ret_fd is readable when gs_pods_read() has something to
 * do. -ENOMEM, -EMFILE.
 */
int gs_pods_start(const struct gs_pod_places *places, int *ret_fd);
void gs_pods_end(void);
/* Reads news. Returns true if something was learned since the last call. */
bool gs_pods_read(void);
/* Returns false if the cgroup is no pod's. A pod counts only below folders that root alone made. */
bool gs_pod_names(const char *cgroup, struct gs_pod_names *ret);
/* True if Kubernetes allows such names; uid, or id, is needed. */
bool gs_pod_names_valid(const struct gs_pod_names *n);
/* Number of entries that were dropped as invalid. */
uint64_t gs_pods_left(void);

#endif /* GPUSCHED_PROCESS_POD_NAMES_H */
