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

/* Recognizes a container's part: "cri-containerd-ID.scope", "docker-ID.scope" or "ID". */
static bool is_container(const char *name, size_t len, char *container)
{
	const char *id;

	len = without(name, len, ".scope");
	if (len < ID_LEN)
		return false;
	id = name + len - ID_LEN;
	if (len > ID_LEN && id[-1] != '-')
		return false;
	for (size_t i = 0; i < ID_LEN; i++)
		if (!is_hex(id[i]))
			return false;
	memcpy(container, id, ID_LEN);
	container[ID_LEN] = '\0';
	return true;
}

size_t gs_pod_of(const char *cgroup, char pod[GS_POD_LEN], char container[GS_CONTAINER_LEN])
{
	size_t end = 0;

	pod[0] = container[0] = '\0';
	for (const char *at = cgroup; *at;) {
		size_t len = strcspn(at, "/");

		if (!*pod && is_pod(at, len, pod)) {
			/* a container above the pod does not count: the node itself runs in it */
			container[0] = '\0';
			end = (size_t)(at - cgroup) + len;
		} else if (!*container && is_container(at, len, container) && !end) {
			end = (size_t)(at - cgroup) + len;
		}
		at += len + (at[len] == '/');
	}
	return end;
}
