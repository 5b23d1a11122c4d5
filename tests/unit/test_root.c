// SPDX-License-Identifier: MIT
/* test_root.c - check that a container's root is told from the machine's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "cgroups.h"
#include "process/root.h"

#define PODS "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-"
#define OUR_POD PODS ID ".scope"
#define OUR_NODE "0::/docker/" ID "/system.slice/gpuschedd.service"

enum { UNKNOWN, OURS, OTHER }; /* numbers of pids, and maps of users */
static const char *const maps[] = { NULL, "0 0 4294967295\n", "0 100000 65536\n" };
static struct gs_root_place place(unsigned int pids, unsigned int map, const char *cgroups)
{
	return (struct gs_root_place){ pids, maps[map], cgroups };
}
#define HOST "0::/system.slice/gpuschedd.service\n"

static const struct {
	uid_t uid;
	unsigned int pids, map;
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
	{ 0, UNKNOWN, OURS, "0::/\n", HOST, GS_ROOT_UNKNOWN },
	{ 0, OURS, UNKNOWN, "0::/\n", HOST, GS_ROOT_UNKNOWN },
	{ 0, OURS, OURS, NULL, HOST, GS_ROOT_UNKNOWN },
	{ 0, OURS, OURS, "0::/\n", NULL, GS_ROOT_UNKNOWN },
};

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		const struct gs_root_place its =
			place(cases[i].pids, cases[i].map, cases[i].cgroups);
		const struct gs_root_place ours = place(OURS, OURS, cases[i].our_cgroups);

		if (gs_root_judge(cases[i].uid, &its, &ours) != cases[i].is)
			fail_msg("case %zu: '%s'", i, cases[i].cgroups ? cases[i].cgroups : "");
	}
}

static void test_same_pod(void **state)
{
	static const struct {
		unsigned int pids, map;
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
		const struct gs_root_place its = place(pods[i].pids, pods[i].map, pods[i].cgroups);
		const struct gs_root_place ours = place(OURS, OURS, pods[i].our_cgroups);

		if (gs_root_same_pod(&its, &ours) != pods[i].same)
			fail_msg("case %zu", i);
	}
}

/* What root may have made inside a container is after the "|". */
static void folders_below_a_container_are_its_own(void **state)
{
	static const struct {
		unsigned int pids, map;
		const char *path, *our_cgroups;
	} paths[] = {
		{ OURS, OURS, "/", HOST },
		{ OURS, OURS, "/system.slice/slurmstepd.scope/job_42/step_0", HOST },
		/* containers' own folders */
		{ OTHER, OURS, "/kubepods/pod" UID "/" ID "|/kubepods/pod" OTHER_UID "/x", HOST },
		{ OURS, OURS, "/kubepods/pod" UID "/" ID, HOST },
		{ OURS, OURS, "/kubepods/pod" UID "|/sandbox", HOST },
		{ OURS, OURS,
		  "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope|/" ID,
		  HOST },
		{ OURS, OURS, "/system.slice/kubepods-pod" UID_ ".slice:cri-containerd:" ID "|/" ID,
		  HOST },
		{ OTHER, OURS, "/docker/" ID "|/kubepods/pod" UID "/" OTHER_ID, HOST },
		{ OTHER, OURS, "/system.slice/docker-" ID ".scope|/" ID, HOST },
		/* the daemon's own container, and one in the node that the daemon is in */
		{ OURS, OURS, "/docker/" ID "/system.slice/a.service", OUR_NODE },
		{ OTHER, OURS, "/docker/" ID "/docker/" OTHER_ID "|/a", OUR_NODE },
		/* other namespaces: up to the unit, or the manager's folder for it */
		{ OTHER, OURS, "/machine.slice/m.scope|/payload/a.slice/b.service", HOST },
		{ OTHER, OURS, "/lxc.payload.gpu1|/system.slice/a.service", HOST },
		{ OTHER, OURS, "/lxc/gpu1|/system.slice", HOST },
		{ OTHER, OURS, "/lxc", HOST },
		{ OURS, OTHER, "/user.slice/user-7.slice/user@7.service|/app.slice/a.scope", HOST },
		{ OTHER, OURS, "/a.slice/a.slicex|/b", HOST },
		{ OTHER, OURS, "/a.slice/b.slice", HOST },
		{ UNKNOWN, OURS, "/a.service|/b", HOST },
		/* nothing is known of the daemon */
		{ OURS, OURS, "|/a.service/b", NULL },
	};

	(void)state;
	for (size_t i = 0; i < GS_COUNT(paths); i++) {
		const struct gs_root_place its = place(paths[i].pids, paths[i].map, NULL);
		const struct gs_root_place ours = place(OURS, OURS, paths[i].our_cgroups);
		size_t made = strcspn(paths[i].path, "|"), is;
		char path[512];

		snprintf(path, sizeof(path), "%.*s%s", (int)made, paths[i].path,
			 paths[i].path + made + (paths[i].path[made] == '|'));
		is = gs_root_made_of(path, &its, &ours);
		if (is != made)
			fail_msg("%s: %.*s", path, (int)is, path);
	}
	assert_int_equal(gs_root_made(getpid(), "/a/b"), strlen("/a/b"));
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
		cmocka_unit_test(folders_below_a_container_are_its_own),
		cmocka_unit_test(test_own_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
