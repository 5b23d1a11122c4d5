/* SPDX-License-Identifier: MIT */
/* test_pod.c - check that pod and container are found by a cgroup's path */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "process/pod.h"

#define UID "6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab"
#define UID_ "6f7d3c5e_0a1b_4c2d_8e9f_0123456789ab"
#define OTHER_UID "11111111-0a1b-4c2d-8e9f-0123456789ab"
#define STATIC "0123456789abcdef0123456789abcdef"
#define OTHER_ID "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_paths) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
