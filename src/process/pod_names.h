/* SPDX-License-Identifier: MIT */
/*
 * pod_names.h - finds the names of a cgroup's namespace, pod and container
 *
 * A cgroup's path contains only ids. The programs that start containers write files with the names
 * for these ids. Each kind of file is a source. Sources are asked in order, and each adds names
 * that earlier sources did not know. We watch their folders, so most names are known before they
 * are needed. A file is ignored, and counted, if it is torn, too large, of an unknown format, or
 * writable by users other than root. The names belong to the process; any thread may ask.
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
	/* how the pod's claim shares the GPU, such as "TimeSlicing Long" */
	char sharing[GS_SHARING_LEN];
	/* settings that claim and environment ask for (pod_synonyms.h); rights are not checked */
	struct gs_pod_asks asks;
};

/* The folders that the sources read; NULL or "": that source is not used. */
struct gs_pod_places {
	const char *pod_logs, *container_logs; /* of the kubelet */
	const char *fractions; /* of NVIDIA's GPU fractioning, with ID.json for each container */
	const char *claims;    /* of the DRA driver, with checkpoint.json */
	/*
	 * of the container runtime, with ID/config.json for each one. GS_POD_BUNDLES stands for
	 * the folders of k3s, RKE2, MicroK8s and k0s as well
	 */
	const char *bundles;
};

/* Where containerd has bundles: the default of Bundles=. */
#define GS_POD_BUNDLES "/run/containerd/io.containerd.runtime.v2.task/k8s.io"

/*
 * Begins to watch the folders, and reads their entries. *ret_fd becomes readable when the caller
 * should call gs_pods_read(). -ENOMEM, -EMFILE: there is no watch, and *ret_fd is -1. Then names
 * are looked for when they are asked for.
 */
int gs_pods_start(const struct gs_pod_places *places, int *ret_fd);
void gs_pods_end(void);
/* Reads new and changed entries. True: names may have changed since the last call. */
bool gs_pods_read(void);
/*
 * Finds the names for a cgroup's path. False: the cgroup is in no pod or container. A pod or
 * container counts only if root owns its cgroup.
 */
bool gs_pod_names(const char *cgroup, struct gs_pod_names *ret);
/* True if Kubernetes allows all of the names, and @n has a uid or an id. */
bool gs_pod_names_valid(const struct gs_pod_names *n);
/* A folder where a container runtime has bundles. */
struct gs_bundles {
	const char *key;    /* "bundles", or the name of a Kubernetes, such as "k3s" */
	const char *folder; /* NULL: not used, since the configuration names another one */
	/*
	 * Number of containers, counted up to 10,000; -ENOENT: no folder; -EPERM: others than root
	 * can write it; other -errno: it cannot be read
	 */
	int n;
};
/* Looks at the @i-th such folder, as of now. False: there are no more. */
bool gs_pod_bundles(const struct gs_pod_places *places, size_t i, struct gs_bundles *ret);
/* An entry of a folder that was not read. */
struct gs_pod_unread {
	char path[512];
	const char *why; /* for a person */
};
/* The @i-th such entry about the container or pod @n. False: there are no more. */
bool gs_pods_unread(const struct gs_pod_names *n, size_t i, struct gs_pod_unread *ret);
/*
 * Reads all entries anew, beside what is watched. Returns how many cannot be read; @ret: the first
 * of them.
 */
size_t gs_pods_check(const struct gs_pod_places *places, struct gs_pod_unread *ret);
/* How many of the folders are there and not watched: a pod may then get its class late. */
unsigned int gs_pods_unwatched(void);
/* How many entries and folders were not used, as invalid, not trusted or too many. */
uint64_t gs_pods_left(void);

#endif /* GPUSCHED_PROCESS_POD_NAMES_H */
