// SPDX-License-Identifier: MIT
/* test_root.c - check that a container's root is told from the machine's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "cgroups.h"
#include "process/root.h"

#define PODS "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-"
#define OUR_POD PODS ID ".scope"
#define OUR_NODE "0::/docker/" ID "/system.slice/gpuschedd.service"

enum { OURS = 10, OTHER = 11 };
#define HOST "0::/system.slice/gpuschedd.service\n"

static const struct {
	uid_t uid;
	uint64_t pid_ns, user_ns;
	const char *cgroups, *our_cgroups;
	enum gs_root is;
} cases[] = {
	{ 0, OURS, OURS, "0::/system.slice/a.service\n", HOST, GS_ROOT_MACHINES },
	{ 0, OURS, OURS, "0::/\n", HOST, GS_ROOT_MACHINES },
	{ 0, OURS, OURS, "", "", GS_ROOT_MACHINES },
	{ 1000, OURS, OURS, "0::/system.slice/a.service\n", HOST, GS_ROOT_NOT },
	{ 1000, OTHER, OTHER, "0::/docker/" ID "\n", HOST, GS_ROOT_NOT },
	/* docker and a pod, and the same with the host's pids */
	{ 0, OTHER, OURS, "0::/docker/" ID "\n", HOST, GS_ROOT_CONTAINERS },
	{ 0, OURS, OURS, "0::/docker/" ID "\n", HOST, GS_ROOT_CONTAINERS },
	{ 0, OURS, OURS, OUR_POD "\n", HOST, GS_ROOT_CONTAINERS },
	{ 0, OURS, OURS, OUR_POD "/system.slice\n", HOST, GS_ROOT_CONTAINERS },
	/* nspawn, whose cgroup has no container's name; a user namespace */
	{ 0, OTHER, OURS, "0::/machine.slice/m.scope\n", HOST, GS_ROOT_CONTAINERS },
	{ 0, OURS, OTHER, "0::/system.slice/a.service\n", HOST, GS_ROOT_CONTAINERS },
	/* cgroup v1 */
	{ 0, OURS, OURS, "2:cpu:/a\n1:pids:/docker/" ID "\n0::/\n", HOST, GS_ROOT_CONTAINERS },
	{ 0, OURS, OURS, "2:cpu:/docker/" ID "/a\n0::/a\n", "2:cpu:/docker/" ID "\n0::/\n",
	  GS_ROOT_MACHINES },
	{ 0, OURS, OURS, "2:cpu:/docker/" ID "/a\n0::/a\n", "0::/docker/" ID "\n",
	  GS_ROOT_CONTAINERS },
	/* the daemon in a pod: the HOST, its own container, another one, another pod */
	{ 0, OURS, OURS, "0::/system.slice/a.service\n", OUR_POD, GS_ROOT_MACHINES },
	{ 0, OURS, OURS, OUR_POD "\n", OUR_POD "\n", GS_ROOT_MACHINES },
	{ 0, OURS, OURS, PODS OTHER_ID ".scope\n", OUR_POD "\n", GS_ROOT_CONTAINERS },
	{ 0, OURS, OURS, "0::/kubepods/pod" OTHER_UID "/" ID "\n", OUR_POD "\n",
	  GS_ROOT_CONTAINERS },
	/* its cgroup namespace is its own */
	{ 0, OURS, OURS, "0::/../cri-containerd-" OTHER_ID ".scope\n", "0::/\n",
	  GS_ROOT_CONTAINERS },
	{ 0, OURS, OURS, "0::/../../../system.slice/a.service\n", "0::/\n", GS_ROOT_MACHINES },
	/* the node is a container, and has containers */
	{ 0, OURS, OURS, "0::/docker/" ID "/system.slice/a.service\n", OUR_NODE, GS_ROOT_MACHINES },
	{ 0, OURS, OURS, "0::/docker/" ID "/docker/" OTHER_ID "\n", OUR_NODE, GS_ROOT_CONTAINERS },
	{ 0, OURS, OURS, "0::/docker/" OTHER_ID "\n", OUR_NODE, GS_ROOT_CONTAINERS },
	/* what cannot be read */
	{ 0, 0, OURS, "0::/\n", HOST, GS_ROOT_UNKNOWN },
	{ 0, OURS, 0, "0::/\n", HOST, GS_ROOT_UNKNOWN },
	{ 0, OURS, OURS, NULL, HOST, GS_ROOT_UNKNOWN },
	{ 0, OURS, OURS, "0::/\n", NULL, GS_ROOT_UNKNOWN },
};

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		const struct gs_root_place its = { cases[i].pid_ns, cases[i].user_ns,
						   cases[i].cgroups };
		const struct gs_root_place ours = { OURS, OURS, cases[i].our_cgroups };

		if (gs_root_judge(cases[i].uid, &its, &ours) != cases[i].is)
			fail_msg("case %zu: '%s'", i, cases[i].cgroups ? cases[i].cgroups : "");
	}
}

static void test_same_pod(void **state)
{
	static const struct {
		uint64_t pid_ns, user_ns;
		const char *cgroups, *our_cgroups;
		bool same;
	} pods[] = {
		{ OURS, OURS, PODS OTHER_ID ".scope\n", OUR_POD "\n", true },
		{ OURS, OURS, OUR_POD "\n", OUR_POD "\n", true },
		{ OURS, OURS, "0::/kubepods/pod" UID "/" OTHER_ID "\n",
		  "0::/kubepods/pod" UID "/" ID "\n", true },
		{ OURS, OURS,
		  "0::/system.slice/kubepods-pod" UID_ ".slice:cri-containerd:" OTHER_ID "\n",
		  "0::/system.slice/kubepods-pod" UID_ ".slice:cri-containerd:" ID "\n", true },
		{ OURS, OURS, "2:cpu:/kubepods/pod" UID "/" OTHER_ID "\n0::/\n",
		  "2:cpu:/kubepods/pod" UID "/" ID "\n0::/\n", true },
		{ OTHER, OURS, PODS OTHER_ID ".scope\n", OUR_POD "\n", false },
		{ OURS, OTHER, PODS OTHER_ID ".scope\n", OUR_POD "\n", false },
		{ OURS, OURS, "0::/kubepods/pod" OTHER_UID "/" ID "\n",
		  "0::/kubepods/pod" UID "/" ID "\n", false },
		{ OURS, OURS, "0::/docker/" OTHER_ID "/kubepods/pod" UID "/" ID "\n",
		  "0::/kubepods/pod" UID "/" ID "\n", false },
		{ OURS, OURS, "0::/docker/" ID "\n", "0::/docker/" ID "\n", false },
		{ OURS, OURS, PODS OTHER_ID ".scope\n", HOST, false },
		{ OURS, OURS, "0::/system.slice/a.service\n", HOST, false },
		{ OURS, OURS, "0::/\n", "0::/\n", false },
		{ OURS, OURS, NULL, OUR_POD "\n", false },
		{ OURS, OURS, "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < GS_COUNT(pods); i++) {
		const struct gs_root_place its = { pods[i].pid_ns, pods[i].user_ns,
						   pods[i].cgroups };
		const struct gs_root_place ours = { OURS, OURS, pods[i].our_cgroups };

		if (gs_root_same_pod(&its, &ours) != pods[i].same)
			fail_msg("case %zu", i);
	}
}

static void test_own_process(void **state)
{
	(void)state;
	assert_int_equal(gs_root_of(getpid(), 0), GS_ROOT_MACHINES);
	assert_int_equal(gs_root_of(getpid(), 1000), GS_ROOT_NOT);
	assert_int_equal(gs_root_of(0x7ffffff0, 0), GS_ROOT_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_same_pod),
		cmocka_unit_test(test_own_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
