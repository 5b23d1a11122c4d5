// SPDX-License-Identifier: MIT
#include "process/pod.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define UID_LEN 36
#define ID_LEN 64

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* A UUID, in which systemd's names have '_' for '-'. */
static bool take_uid(const char *text, size_t len, char *ret)
{
	if (len != UID_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' && text[i] != '_' : !is_hex(text[i]))
			return false;
		ret[i] = (char)(dash ? '-' : text[i]);
	}
	ret[len] = '\0';
	return true;
}

static size_t without(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(name + len - n, end, n) ? len - n : len;
}

/* "kubepods-burstable-podUID.slice", "podUID" */
static void look_for_pod(const char *name, size_t len, char *pod)
{
	len = without(name, len, ".slice");
	if (len > UID_LEN + 2 && !memcmp(name + len - UID_LEN - 3, "pod", 3))
		take_uid(name + len - UID_LEN, UID_LEN, pod);
}

/* "cri-containerd-ID.scope", "docker-ID.scope", "ID" */
static void look_for_container(const char *name, size_t len, char *container)
{
	const char *id;

	len = without(name, len, ".scope");
	id = name + len - ID_LEN;
	if (len < ID_LEN || (len > ID_LEN && id[-1] != '-'))
		return;
	for (size_t i = 0; i < ID_LEN; i++)
		if (!is_hex(id[i]))
			return;
	memcpy(container, id, ID_LEN);
	container[ID_LEN] = '\0';
}

void gs_pod_of(const char *cgroup, char pod[GS_POD_LEN], char container[GS_CONTAINER_LEN])
{
	pod[0] = container[0] = '\0';
	while (*cgroup) {
		size_t len = strcspn(cgroup, "/");

		look_for_pod(cgroup, len, pod);
		look_for_container(cgroup, len, container);
		cgroup += len + (cgroup[len] == '/');
	}
}
