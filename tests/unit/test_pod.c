/* SPDX-License-Identifier: MIT */
/* test_pod.c - check that pod and container are found by a cgroup's path */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "cgroups.h"
#include "process/pod.h"

static void test_paths(void **state)
{
	static const struct {
		const char *path, *pod, *container;
	} cases[] = {
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  UID, ID },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container", UID,
		  ID },
		{ "/kubepods/besteffort/pod" UID "/" ID, UID, ID },
		{ "/kubepods/pod" UID, UID, "" },
		{ "/system.slice/docker-" ID ".scope", "", ID },
		{ "/docker/" ID, "", ID },
		{ "/user.slice/user-1000.slice/user@1000.service/libpod-" ID ".scope", "", ID },
		{ "/", "", "" },
		{ "", "", "" },
		{ "/user.slice/session-1.scope", "", "" },
		{ "/kubepods/podGATTACA", "", "" },
		{ "/kubepods/pod" UID "0", "", "" },
		{ "/x" ID, "", "" },
		{ "/0" ID, "", "" },
		{ "/ABCDEF" ID, "", "" },
		{ "/pod" UID ".slice.slice", "", "" },
		{ "/kubepods/burstable/pod" STATIC "/" ID, STATIC, ID },
		{ "/kubepods/podG" STATIC, "", "" },
		/* a node that is itself a container; a container that makes further cgroups */
		{ "/docker/" OTHER_ID "/kubelet/kubepods/pod" UID "/" ID, UID, ID },
		{ "/kubepods/pod" UID "/" ID "/kubepods/pod" OTHER_UID "/" OTHER_ID, UID, ID },
	};

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		char pod[GS_POD_LEN] = "?", container[GS_CONTAINER_LEN] = "?";

		size_t len = gs_pod_of(cases[i].path, pod, container);

		assert_string_equal(pod, cases[i].pod);
		assert_string_equal(container, cases[i].container);
		assert_int_equal(len != 0, *pod || *container);
	}
}

static void test_real_paths(void **state)
{
	char pod[GS_POD_LEN], container[GS_CONTAINER_LEN];

	for (size_t i = 0; i < GS_COUNT(real_cgroups); i++) {
		gs_pod_of(real_cgroups[i].path, pod, container);
		assert_string_equal(pod, real_cgroups[i].pod);
		assert_string_equal(container, real_cgroups[i].container);
	}
}

/* A path that is cut or has a wrong letter gives whole ids or none. */
static void test_no_part_of_an_id(void **state)
{
	char path[512], pod[GS_POD_LEN], container[GS_CONTAINER_LEN];

	for (size_t i = 0; i < GS_COUNT(real_cgroups); i++) {
		size_t len = strlen(real_cgroups[i].path);

		for (size_t at = 0; at < 2 * len; at++) {
			assert_true(len < sizeof(path));
			strcpy(path, real_cgroups[i].path);
			if (at < len)
				path[at] = '\0';
			else
				path[at - len] = "/x-:.0"[at % 6];
			gs_pod_of(path, pod, container);
			assert_true(!*pod || strlen(pod) == 36 || strlen(pod) == 32);
			assert_true(!*container || strlen(container) == 64 ||
				    strchr(container, '-'));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_real_paths),
		cmocka_unit_test(test_no_part_of_an_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
