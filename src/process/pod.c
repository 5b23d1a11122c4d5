// SPDX-License-Identifier: MIT
#include "process/pod.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define UID_LEN 36
#define STATIC_LEN 32 /* length of a static pod's uid; the kubelet reads such pods from files */
#define ID_LEN 64

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Parses a uid: a UUID, with '-' or (in systemd's unit names) '_', or hexadecimal digits only. */
static bool take_uid(const char *text, size_t len, char *ret)
{
	for (size_t i = 0; i < len; i++) {
		bool dash = len == UID_LEN && (i == 8 || i == 13 || i == 18 || i == 23);

		if (dash ? text[i] != '-' && text[i] != '_' : !is_hex(text[i]))
			return false;
	}
	for (size_t i = 0; i < len; i++)
		ret[i] = (char)(text[i] == '_' ? '-' : text[i]);
	ret[len] = '\0';
	return true;
}

static size_t without(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(name + len - n, end, n) ? len - n : len;
}

/* Recognizes a pod's part of a path: "kubepods-burstable-podUID.slice" or "podUID". */
static bool is_pod(const char *name, size_t len, char *pod)
{
	static const size_t lens[] = { UID_LEN, STATIC_LEN };

	len = without(name, len, ".slice");
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		size_t n = lens[i];

		if (len >= n + 3 && !memcmp(name + len - n - 3, "pod", 3) &&
		    take_uid(name + len - n, n, pod))
			return true;
	}
	return false;
}

static bool all_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_hex(text[i]))
			return false;
	return true;
}

/* Recognizes a task of Amazon ECS: 32 digits and a number, "TASK-1234567890". */
static bool is_ecs(const char *name, size_t len, char *container)
{
	if (len <= STATIC_LEN + 1 || len >= GS_CONTAINER_LEN || name[STATIC_LEN] != '-' ||
	    !all_hex(name, STATIC_LEN))
		return false;
	for (size_t i = STATIC_LEN + 1; i < len; i++)
		if (name[i] < '0' || name[i] > '9')
			return false;
	memcpy(container, name, len);
	container[len] = '\0';
	return true;
}

/*
 * Recognizes a container's part: "cri-containerd-ID.scope", "docker-ID.scope", "cri-containerd:ID"
 * or "ID". A "conmon" is the program on the host that watches a container.
 */
static bool is_container(const char *name, size_t len, char *container)
{
	static const char conmon[] = "conmon-";
	size_t before;

	len = without(name, len, " (deleted)");
	len = without(name, len, ".scope");
	if (len < ID_LEN)
		return is_ecs(name, len, container);
	before = len - ID_LEN;
	if ((before && !strchr("-:", name[before - 1])) || !all_hex(name + before, ID_LEN))
		return false;
	if (without(name, before, conmon) != before)
		return false;
	memcpy(container, name + before, ID_LEN);
	container[ID_LEN] = '\0';
	return true;
}

/*
 * The length of the pod's part in a name that systemd's cgroup driver makes where the container has
 * no scope: "kubepods-burstable-podUID.slice:cri-containerd:ID".
 */
static size_t pod_len(const char *name, size_t len)
{
	const char *colon = memchr(name, ':', len);

	return colon ? (size_t)(colon - name) : len;
}

size_t gs_pod_of(const char *cgroup, char pod[GS_POD_LEN], char container[GS_CONTAINER_LEN])
{
	bool below = false; /* the pod's own folder is the one above */
	size_t end = 0;

	pod[0] = container[0] = '\0';
	for (const char *at = cgroup; *at;) {
		size_t len = strcspn(at, "/"), n = pod_len(at, len);

		if (!*pod && is_pod(at, n, pod)) {
			/* a container above the pod does not count: the node itself runs in it */
			container[0] = '\0';
			end = (size_t)(at - cgroup) + len;
			below = n == len || !is_container(at, len, container);
		} else if (*pod ? below : !*container) {
			if (is_container(at, len, container) && !*pod)
				end = (size_t)(at - cgroup) + len;
			below = false;
		}
		at += len + (at[len] == '/');
	}
	return end;
}
