/* SPDX-License-Identifier: MIT */
/* test_pod_names.c - check what each source of pods' names accepts and rejects */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "process/pod_source.h"

#define UID "6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab"
#define OTHER "11111111-0a1b-4c2d-8e9f-0123456789ab"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char dir[] = "/tmp/pod_names.XXXXXX";
static struct gs_pod_book book;

static const char *at(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text, size_t len)
{
	CLEANUP_FD int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, len), len);
}

static int take(const struct gs_pod_source *s, const char *entry)
{
	return s->read(&book, dir, entry);
}

static int take_file(const struct gs_pod_source *s, const char *name, const char *text)
{
	put(name, text, strlen(text));
	return take(s, name);
}

static int make(void **state)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop(void **state)
{
	char command[PATH_MAX];

	gs_pod_forget(&book, NULL);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static struct gs_pod_names known(const char *uid, const char *id)
{
	struct gs_pod_names n = { 0 };

	snprintf(n.uid, sizeof(n.uid), "%s", uid);
	snprintf(n.id, sizeof(n.id), "%s", id);
	gs_pod_find(&book, &n);
	return n;
}

static void test_logs(void **state)
{
	static const char *const bad[] = { "web_server",       "web_a_b_" UID,     "_server_" UID,
					   "we b_server_" UID, "web_-server_" UID, "web_server_x" };
	struct gs_pod_names n;

	mkdir(at("web_server-0_" UID), 0755);
	assert_int_equal(take(&gs_pod_by_logs, "web_server-0_" UID), 0);
	n = known(UID, "");
	assert_string_equal(n.namespace, "web");
	assert_string_equal(n.pod, "server-0");
	for (size_t i = 0; i < GS_COUNT(bad); i++) {
		mkdir(at(bad[i]), 0755);
		assert_int_not_equal(take(&gs_pod_by_logs, bad[i]), 0);
	}
	/* the same pod under another name: the first one stays */
	mkdir(at("bank_vault_" UID), 0755);
	assert_int_equal(take(&gs_pod_by_logs, "bank_vault_" UID), -EEXIST);
	put("web_file_" OTHER, "", 0);
	assert_int_equal(take(&gs_pod_by_logs, "web_file_" OTHER), -ENOTDIR);
	assert_string_equal(known(UID, "").namespace, "web");
	gs_pod_forget(&book, "web_server-0_" UID);
	assert_string_equal(known(UID, "").pod, "");
}

/* An entry that is not read is told once, also if its folder is read again and again. */
static void test_unread(void **state)
{
	struct gs_pod_names pod = { .uid = UID, .id = ID }, other = { .uid = OTHER };
	static struct gs_pod_unreads u;
	char entry[16];

	assert_true(gs_pod_unread_set(&u, "/a", ID, -EFBIG));
	assert_false(gs_pod_unread_set(&u, "/a", ID, -EBADMSG));
	assert_non_null(strstr(u.one[0].why, "incomplete"));
	assert_true(gs_pod_unread_concerns(&u.one[0], &pod));
	assert_false(gs_pod_unread_concerns(&u.one[0], &other));
	gs_pod_unread_forget(&u, "/");
	assert_true(gs_pod_unread_concerns(&u.one[0], &pod));
	gs_pod_unread_forget(&u, "/a");
	assert_false(gs_pod_unread_concerns(&u.one[0], &pod));
	assert_false(gs_pod_unread_set(&u, "/a", ID, -EFBIG));
	assert_true(gs_pod_unread_concerns(&u.one[0], &pod));
	assert_false(gs_pod_unread_set(&u, "/a", ID, 0));
	assert_int_equal(u.n, 0);
	assert_true(gs_pod_unread_set(&u, "/c", GS_POD_CHECKPOINT, -EPERM));
	assert_true(gs_pod_unread_concerns(&u.one[0], &other));
	for (int i = 0; i < 2 * GS_POD_UNREAD_MAX; i++) {
		snprintf(entry, sizeof(entry), "%d", i);
		assert_true(gs_pod_unread_set(&u, "/b", entry, -EINVAL) ==
			    (i < GS_POD_UNREAD_MAX - 1));
	}
	gs_pod_unread_forget(&u, "/b");
	assert_true(gs_pod_unread_set(&u, "/d", ID, -EINVAL));
	assert_int_equal(u.n, GS_POD_UNREAD_MAX);
}

static int link_to(const char *entry, const char *to)
{
	unlink(at(entry));
	assert_int_equal(symlink(to, at(entry)), 0);
	return take(&gs_pod_by_containers, entry);
}

static void test_containers(void **state)
{
	static const char entry[] = "server-0_web_app-" ID ".log";
	char cut[NAME_MAX + 1];
	struct gs_pod_names n;

	assert_int_equal(link_to(entry, "/var/log/pods/web_server-0_" UID "/app/0.log"), 0);
	n = known("", ID);
	assert_string_equal(n.uid, UID);
	assert_string_equal(n.namespace, "web");
	assert_string_equal(n.pod, "server-0");
	assert_string_equal(n.container, "app");
	/* the path of a cgroup says which pod it is */
	assert_string_equal(known(OTHER, ID).pod, "");
	gs_pod_forget(&book, NULL);
	assert_int_equal(link_to(entry, "/var/log/pods/bank_vault_" UID "/app/0.log"), -EINVAL);
	assert_int_equal(link_to(entry, "/var/log/pods/web_server-0_" UID "/other/0.log"), -EINVAL);
	assert_int_equal(link_to(entry, "nowhere"), -EINVAL);
	assert_int_equal(link_to("server-0_web_app.log", "x"), -EINVAL);
	/* a truncated file gives nothing, and is not an error */
	memset(cut, 'a', 251);
	strcpy(cut + 251, ".log");
	assert_int_equal(take(&gs_pod_by_containers, cut), 0);
	assert_string_equal(known("", ID).pod, "");
}

static void test_fractions(void **state)
{
	static const char good[] =
		"{\"schemaVersion\":1,\"pod\":\"train-7d9f\",\"namespace\":\"ml\","
		"\"podUID\":\"" UID "\",\"gpuDevices\":[{\"index\":0}]}";
	static char huge[200000];
	struct gs_pod_names n;

	assert_int_equal(take_file(&gs_pod_by_fractions, ID ".json", good), 0);
	n = known("", ID);
	assert_string_equal(n.uid, UID);
	assert_string_equal(n.namespace, "ml");
	assert_string_equal(n.pod, "train-7d9f");
	for (size_t len = 0; len < strlen(good); len++) { /* truncated at any byte */
		put(ID ".json", good, len);
		assert_int_not_equal(take(&gs_pod_by_fractions, ID ".json"), 0);
	}
	assert_string_equal(known("", ID).pod, "train-7d9f");
	assert_int_not_equal(take_file(&gs_pod_by_fractions, "b.json", "{\"schemaVersion\":2}"), 0);
	assert_int_not_equal(take_file(&gs_pod_by_fractions, "b.json", "[1]"), 0);
	memset(huge, ' ', sizeof(huge) - 1);
	assert_int_equal(take_file(&gs_pod_by_fractions, "b.json", huge), -EFBIG);
	assert_int_equal(mkfifo(at("c.json"), 0600), 0);
	assert_int_not_equal(take(&gs_pod_by_fractions, "c.json"), 0);
	assert_int_equal(symlink(ID ".json", at("d.json")), 0);
	assert_int_not_equal(take(&gs_pod_by_fractions, "d.json"), 0);
	put("e.json", good, strlen(good));
	chmod(at("e.json"), 0666);
	assert_int_equal(take(&gs_pod_by_fractions, "e.json"), -EPERM);
	assert_int_equal(take(&gs_pod_by_fractions, ".tmp-1"), 0);
}

#define CLAIM(ns, pod, uid, interval) \
	"{\"checkpointState\":\"PrepareCompleted\",\"namespace\":\"" ns "\",\"status\":{" \
	"\"allocation\":{\"devices\":{\"config\":[{\"opaque\":{\"driver\":\"gpu.nvidia.com\"," \
	"\"parameters\":{\"kind\":\"GpuConfig\",\"sharing\":{\"strategy\":\"TimeSlicing\"," \
	"\"timeSlicingConfig\":{\"interval\":\"" interval "\"}}}}}]}}," \
	"\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"" pod "\",\"uid\":\"" uid "\"}]}}"

static void test_claims(void **state)
{
	static const char one[] =
		"{\"checksum\":1,\"v1\":{},\"v2\":{\"checksum\":2,\"preparedClaims\":{"
		"\"c1\":" CLAIM("ml", "train", UID, "Long") ",\"c2\":" CLAIM("ml", "eval", OTHER,
									     "Short") "}}}";
	static const char bad[] =
		"{\"v2\":{\"preparedClaims\":{\"c1\":" CLAIM("ml/../x", "train", UID, "Long") "}}}";

	assert_int_equal(take_file(&gs_pod_by_claims, "checkpoint.json", one), 0);
	assert_string_equal(known(UID, "").pod, "train");
	assert_string_equal(known(UID, "").namespace, "ml");
	assert_string_equal(known(UID, "").sharing, "TimeSlicing Long");
	assert_string_equal(known(OTHER, "").sharing, "TimeSlicing Short");
	put("checkpoint.json", one, sizeof(one) / 2);
	assert_int_equal(take(&gs_pod_by_claims, "checkpoint.json"), -EBADMSG);
	assert_string_equal(known(UID, "").pod, "train");
	assert_int_equal(take_file(&gs_pod_by_claims, "other.json", "{"), 0);
	assert_int_equal(take_file(&gs_pod_by_claims, "checkpoint.json", bad), -EINVAL);
	assert_string_equal(known(UID, "").pod, "");
	assert_int_equal(take_file(&gs_pod_by_claims, "checkpoint.json", one), 0);
	assert_int_equal(
		take_file(&gs_pod_by_claims, "checkpoint.json", "{\"v2\":{\"preparedClaims\":{}}}"),
		0);
	assert_string_equal(known(OTHER, "").pod, "");
}

#define OPAQUE(source, interval) \
	"{\"source\":\"" source "\",\"opaque\":{\"driver\":\"gpu.nvidia.com\",\"parameters\":{" \
	"\"sharing\":{\"strategy\":\"TimeSlicing\",\"timeSlicingConfig\":{\"interval\":" \
	"\"" interval "\"}}}}}"
#define CLAIMS(configs) \
	"{\"namespace\":\"ml\",\"status\":{\"allocation\":{\"devices\":{\"config\":[" configs \
	"]}},\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"train\",\"uid\":\"" UID "\"}]}}"
#define CHECKPOINT(claims) "{\"v2\":{\"preparedClaims\":{" claims "}}}"

static struct gs_pod_asks claimed(const char *checkpoint, int r)
{
	assert_int_equal(take_file(&gs_pod_by_claims, "checkpoint.json", checkpoint), r);
	return known(UID, "").asks;
}

static void test_intervals(void **state)
{
	struct gs_pod_asks a =
		claimed(CHECKPOINT("\"c\":" CLAIMS(OPAQUE("FromClaim", "Short"))), 0);

	assert_int_equal(a.slice_us, 1000);
	assert_false(a.slice_by_admin);
	a = claimed(CHECKPOINT("\"c\":" CLAIMS(OPAQUE("FromClass", "Long"))), 0);
	assert_int_equal(a.slice_us, 8000);
	assert_true(a.slice_by_admin);
	/* a claim's own slice comes before its class's, in any order */
	a = claimed(CHECKPOINT("\"c\":" CLAIMS(
			    OPAQUE("FromClaim", "Long") "," OPAQUE("FromClass", "Short"))),
		    0);
	assert_int_equal(a.slice_us, 8000);
	assert_false(a.slice_by_admin);
	/* two claims of a pod */
	a = claimed(CHECKPOINT("\"c\":" CLAIMS(OPAQUE("FromClaim", "Medium")) ",\"d\":" CLAIMS(
			    OPAQUE("FromClass", "Long"))),
		    0);
	assert_int_equal(a.slice_us, 2000);
	assert_false(a.slice_by_admin);
	assert_string_equal(known(UID, "").sharing, "TimeSlicing Medium");
	/* of two claims with the same slice, the administrator's counts, in any order */
	a = claimed(CHECKPOINT("\"c\":" CLAIMS(OPAQUE("FromClass", "Long")) ",\"d\":" CLAIMS(
			    OPAQUE("FromClaim", "Long"))),
		    0);
	assert_true(a.slice_by_admin);
	a = claimed(CHECKPOINT("\"c\":" CLAIMS(OPAQUE("FromClaim", "Long")) ",\"d\":" CLAIMS(
			    OPAQUE("FromClass", "Long"))),
		    0);
	assert_true(a.slice_by_admin);
	a = claimed(CHECKPOINT("\"c\":" CLAIMS(OPAQUE("FromClaim", "Default"))), 0);
	assert_int_equal(a.slice_us, 0);
	a = claimed(CHECKPOINT("\"c\":" CLAIMS(OPAQUE("FromClaim", "Forever"))), -EINVAL);
	assert_int_equal(a.slice_us, 0);
	assert_string_equal(known(UID, "").pod, "train"); /* the name is still used */
}

#define BUNDLE(env) \
	"{\"ociVersion\":\"1.1.0\",\"process\":{\"rlimits\":[{\"hard\":18446744073709551615}]," \
	"\"args\":[\"/app\"],\"env\":[\"PATH=/bin\"," env \
	"\"A\"]},\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\"," \
	"\"io.kubernetes.cri.sandbox-uid\":\"" UID \
	"\",\"io.kubernetes.cri.sandbox-name\":\"p-0\"," \
	"\"io.kubernetes.cri.sandbox-namespace\":\"web\"}}"

static int take_bundle(const char *text, size_t len)
{
	mkdir(at(ID), 0755);
	gs_pod_forget(&book, NULL);
	put(ID "/config.json", text, len);
	return take(&gs_pod_by_bundles, ID);
}

static void test_bundles(void **state)
{
	static const char good[] =
		BUNDLE("\"CUDA_DEVICE_SM_LIMIT=30\",\"CUDA_TASK_PRIORITY=0\",\"GPU_PORTION=0.25\","
		       "\"RUNAI_GPU_COMPUTE_REQUEST=0.2\",");
	static const char crio[] =
		"{\"process\":{},\"annotations\":{\"io.container.manager\":\"cri-o\","
		"\"io.kubernetes.pod.uid\":\"" UID "\",\"io.kubernetes.pod.namespace\":\"web\","
		"\"io.kubernetes.pod.name\":\"q\",\"io.kubernetes.cri.sandbox-uid\":\"" UID
		"\",\"io.kubernetes.cri.sandbox-namespace\":\"bank\","
		"\"io.kubernetes.cri.sandbox-name\":\"vault\"}}";
	struct gs_pod_names n;

	assert_int_equal(take(&gs_pod_by_bundles, ID), -ENOENT);
	assert_false(gs_pod_is_known(&book, ID)); /* not known, so it is looked for again */
	assert_int_equal(take_bundle(good, strlen(good)), 0);
	n = known(UID, ID);
	assert_string_equal(n.namespace, "web");
	assert_string_equal(n.pod, "p-0");
	assert_string_equal(n.container, "app");
	assert_string_equal(n.asks.class_name, "lc");
	assert_int_equal(n.asks.limit_pct, 30);
	assert_int_equal(n.asks.request_pct, 20);
	assert_int_equal(n.asks.weight, 25);
	/* the path of a cgroup says which pod it is */
	assert_int_equal(known(OTHER, ID).asks.limit_pct, 0);
	for (size_t len = 0; len < strlen(good); len += 7) { /* torn anywhere */
		assert_int_not_equal(take_bundle(good, len), 0);
		assert_int_equal(known(UID, ID).asks.limit_pct, 0);
		assert_true(gs_pod_is_known(&book, ID)); /* so it is counted once */
	}
	/* only this runtime's annotations count: the pod may have set those of another runtime */
	assert_int_equal(take_bundle(crio, strlen(crio)), 0);
	assert_string_equal(known(UID, ID).namespace, "bank");
	/* CRI-O has the file elsewhere, and other annotations */
	unlink(at(ID "/config.json"));
	mkdir(at(ID "/userdata"), 0755);
	gs_pod_forget(&book, NULL);
	put(ID "/userdata/config.json", crio, strlen(crio));
	assert_int_equal(take(&gs_pod_by_bundles, ID), 0);
	assert_string_equal(known(UID, ID).pod, "q");
	assert_string_equal(known(UID, ID).namespace, "web");
}

static void bundles_of_other_distributions(void **state)
{
	static const struct gs_pod_source *const others[] = { &gs_pod_by_bundles_k3s,
							      &gs_pod_by_bundles_microk8s,
							      &gs_pod_by_bundles_k0s };
	struct gs_pod_places places = { .bundles = GS_POD_BUNDLES };

	for (size_t i = 0; i < GS_COUNT(others); i++) {
		const char *folder = others[i]->probe(&places);

		assert_non_null(strstr(folder, "/io.containerd.runtime.v2.task/k8s.io"));
		assert_string_not_equal(folder, GS_POD_BUNDLES);
	}
	places.bundles = "/elsewhere"; /* the configuration's choice replaces all of them */
	assert_string_equal(gs_pod_by_bundles.probe(&places), "/elsewhere");
	for (size_t i = 0; i < GS_COUNT(others); i++)
		assert_null(others[i]->probe(&places));
}

static void test_hostile_bundles(void **state)
{
	static const char *const wrong[] = {
		BUNDLE("\"CUDA_DEVICE_SM_LIMIT=101\","),
		BUNDLE("\"CUDA_DEVICE_SM_LIMIT=\","),
		BUNDLE("\"CUDA_DEVICE_SM_LIMIT=-1\","),
		BUNDLE("\"CUDA_TASK_PRIORITY=high\","),
		BUNDLE("\"RUNAI_GPU_COMPUTE_LIMIT=1.5\","),
		BUNDLE("\"RUNAI_GPU_COMPUTE_LIMIT=0\","),
		BUNDLE("\"RUNAI_GPU_COMPUTE_LIMIT=nan\","),
		BUNDLE("\"RUNAI_GPU_COMPUTE_REQUEST=0x1p-3 \","),
		BUNDLE("\"GPU_PORTION=-0.5\","),
		"{\"process\":[]}",
		"[]",
		"{\"process\":{},\"annotations\":{\"io.kubernetes.cri.sandbox-uid\":\"" UID
		"\",\"io.kubernetes.cri.sandbox-name\":\"../x\"}}",
	};
	static char huge[(256 << 10) + 1], many[32768] = "{\"process\":{\"env\":[";
	size_t len = strlen(many);
	struct gs_pod_names n;

	for (size_t i = 0; i < GS_COUNT(wrong); i++) {
		assert_int_not_equal(take_bundle(wrong[i], strlen(wrong[i])), 0);
		n = known(UID, ID);
		assert_false(gs_pod_asks_any(&n.asks));
	}
	/* a wrong word does not spoil the others */
	assert_int_equal(take_bundle(BUNDLE("\"CUDA_DEVICE_SM_LIMIT=x\",\"CUDA_TASK_PRIORITY=1\","),
				     strlen(BUNDLE("\"CUDA_DEVICE_SM_LIMIT=x\","
						   "\"CUDA_TASK_PRIORITY=1\","))),
			 -EINVAL);
	assert_string_equal(known(UID, ID).asks.class_name, "be");
	memset(huge, ' ', sizeof(huge));
	assert_int_equal(take_bundle(huge, sizeof(huge)), -EFBIG);
	for (int i = 0; i < 4096; i++)
		len += (size_t)snprintf(many + len, sizeof(many) - len, "\"A=\",");
	strcpy(many + len, "0]}}");
	assert_int_equal(take_bundle(many, strlen(many)), -EFBIG);
	strcpy(many + len - 1, "]}}");
	assert_int_equal(take_bundle(many, strlen(many)), 0);
	unlink(at(ID "/config.json"));
	assert_int_equal(mkfifo(at(ID "/config.json"), 0600), 0);
	gs_pod_forget(&book, NULL);
	assert_int_not_equal(take(&gs_pod_by_bundles, ID), 0);
	unlink(at(ID "/config.json"));
	assert_int_equal(take_bundle("{\"process\":{}}", 14), 0);
	chmod(at(ID "/config.json"), 0622);
	gs_pod_forget(&book, NULL);
	assert_int_equal(take(&gs_pod_by_bundles, ID), -EPERM);
}

static void test_synonyms(void **state)
{
	static const char kai[] = "nvidia.com/container.trainer.gpu-compute.";
	struct gs_pod_asks a = { 0 };
	char key[80];

	assert_int_equal(gs_pod_synonym(GS_IN_ANNOTATION, "gpu-fraction", "0.5", &a), 1);
	assert_int_equal(a.weight, 50);
	assert_int_equal(gs_pod_synonym(GS_IN_ANNOTATION, "gpu-fraction", "2", &a), 0);
	assert_int_equal(a.weight, 50);
	snprintf(key, sizeof(key), "%srequest", kai);
	assert_int_equal(gs_pod_synonym(GS_IN_ANNOTATION, key, "0.001", &a), 1);
	assert_int_equal(a.request_pct, 1);
	assert_int_equal(gs_pod_synonym(GS_IN_ANNOTATION, key, "1.01", &a), -EINVAL);
	snprintf(key, sizeof(key), "%sportion", kai);
	assert_int_equal(gs_pod_synonym(GS_IN_ANNOTATION, key, "0.29", &a), 1);
	assert_int_equal(a.request_pct, 29); /* the largest of several containers' */
	snprintf(key, sizeof(key), "%smode", kai);
	assert_int_equal(gs_pod_synonym(GS_IN_ANNOTATION, key, "sm-sharing", &a), 0);
	/* a word is ignored in the wrong place (annotation or environment) */
	assert_int_equal(gs_pod_synonym(GS_IN_ANNOTATION, "CUDA_TASK_PRIORITY", "0", &a), 0);
	assert_int_equal(gs_pod_synonym(GS_IN_ENVIRONMENT, "interval", "Long", &a), 0);
	assert_string_equal(a.class_name, "");
	assert_int_equal(a.slice_us, 0);
}

/* A huge folder does not make the daemon's memory grow without limit. */
static void test_many(void **state)
{
	struct gs_pod_names n = { .namespace = "a", .pod = "b" };
	int r = 0;
	unsigned int i;

	for (i = 0; i < 20000 && !r; i++) {
		snprintf(n.uid, sizeof(n.uid), "%x", i);
		r = gs_pod_learn(&book, n.uid, &n);
	}
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(i, 16385);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_logs, make, drop),
		cmocka_unit_test_setup_teardown(test_containers, make, drop),
		cmocka_unit_test_setup_teardown(test_fractions, make, drop),
		cmocka_unit_test_setup_teardown(test_claims, make, drop),
		cmocka_unit_test_setup_teardown(test_intervals, make, drop),
		cmocka_unit_test_setup_teardown(test_bundles, make, drop),
		cmocka_unit_test(bundles_of_other_distributions),
		cmocka_unit_test_setup_teardown(test_hostile_bundles, make, drop),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_synonyms),
		cmocka_unit_test_setup_teardown(test_many, make, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
