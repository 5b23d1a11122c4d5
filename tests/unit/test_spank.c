/* SPDX-License-Identifier: MIT */
/* test_spank.c - check the plugin for Slurm, with stand-ins for Slurm and the daemon */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/clock.h"

/* ---- Slurm ----------------------------------------------------------------------------------- */

static struct spank_option *class_option, *weight_option;
static enum spank_context context = S_CTX_REMOTE;
static char said[2000];

int spank_option_register(spank_t sp, struct spank_option *opt)
{
	*(strcmp(opt->name, "gpu-class") ? &weight_option : &class_option) = opt;
	return 0;
}

int spank_get_item(spank_t sp, enum spank_item item, ...)
{
	va_list ap;

	va_start(ap, item);
	if (item == S_JOB_ID)
		*va_arg(ap, uint32_t *) = 1234;
	else if (item == S_JOB_UID)
		*va_arg(ap, uid_t *) = 1000;
	else
		*va_arg(ap, pid_t *) = 4321;
	va_end(ap);
	return 0;
}

enum spank_context spank_context(void)
{
	return context;
}

void slurm_error(const char *format, ...)
{
	size_t at = strlen(said);
	va_list ap;

	va_start(ap, format);
	vsnprintf(said + at, sizeof(said) - at, format, ap);
	va_end(ap);
}

/* ---- the daemon ------------------------------------------------------------------------------ */

static char dir[] = "/tmp/spank.XXXXXX", path[100], asked[4096];
static const char *answer; /* NULL: the daemon never answers */
static int listening = -1;
static pthread_t thread;

static void *serve(void *arg)
{
	int fd;

	while ((fd = accept(listening, NULL, NULL)) >= 0) {
		size_t at = strlen(asked);
		ssize_t n = recv(fd, asked + at, sizeof(asked) - 1 - at, 0);

		asked[at + (n > 0 ? (size_t)n : 0)] = '\0';
		if (answer)
			send(fd, answer, strlen(answer), MSG_NOSIGNAL);
		else
			recv(fd, &(char){ 0 }, 1, 0); /* waits until the plugin gives up */
		close(fd);
	}
	return NULL;
}

static void open_daemon(const char *says)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	answer = says;
	asked[0] = '\0';
	unlink(path);
	strcpy(at.sun_path, path);
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listening, 4), 0);
	pthread_create(&thread, NULL, serve, NULL);
}

static void close_daemon(void)
{
	shutdown(listening, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listening);
	unlink(path);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static int setup(void **state)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/api", dir);
	return 0;
}

static int teardown(void **state)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void init(const char *arg)
{
	char own[120], more[200];
	char *av[] = { own, more };

	snprintf(own, sizeof(own), "socket=%s", path);
	snprintf(more, sizeof(more), "%s", arg);
	said[0] = '\0';
	assert_int_equal(slurm_spank_init(NULL, 2, av), 0);
}

static void post_fork(const char *says)
{
	open_daemon(says);
	said[0] = '\0';
	assert_int_equal(slurm_spank_task_post_fork(NULL, 0, NULL), 0);
	close_daemon();
}

#define OK "HTTP/1.1 200 OK\r\n\r\n{}"

static void test_options(void **state)
{
	init("classes=be,batch");
	assert_string_equal(said, "");
	assert_int_equal(class_option->cb(0, "lc", 0), -1);
	assert_non_null(strstr(said, "be,batch"));
	assert_int_equal(class_option->cb(0, "bat", 0), -1);
	assert_int_equal(class_option->cb(0, "", 0), -1);
	assert_int_equal(class_option->cb(0, "batch", 0), 0);
	init("max_weight=50");
	assert_int_equal(weight_option->cb(0, "51", 0), -1);
	assert_int_equal(weight_option->cb(0, "0", 0), -1);
	assert_int_equal(weight_option->cb(0, "-1", 0), -1);
	assert_int_equal(weight_option->cb(0, "5x", 0), -1);
	assert_int_equal(weight_option->cb(0, "50", 0), 0);
	init("max_weight=70000");
	assert_non_null(strstr(said, "max_weight=70000"));
	init("nonsense");
	assert_non_null(strstr(said, "nonsense"));
}

static void test_a_task_gets_its_class(void **state)
{
	init("classes=be,batch");
	class_option->cb(0, "batch", 1);
	weight_option->cb(0, "7", 1);
	post_fork(OK);
	assert_memory_equal(asked, "POST /v1/class_set HTTP/1.1\r\n", 29);
	assert_non_null(
		strstr(asked, "{\"target\":\"pid:4321\",\"class\":\"batch\",\"as_uid\":1000}"));
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"weight\":7,\"as_uid\":1000}"));
	assert_string_equal(said, "");
	/* on the node, options past the ceiling are ignored */
	assert_int_equal(class_option->cb(0, "lc", 1), 0);
	assert_int_equal(weight_option->cb(0, "100000", 1), 0);
	post_fork(OK);
	assert_null(strstr(asked, "lc"));
	assert_null(strstr(asked, "100000"));
}

/* A weight without a class asks for none: root's rules give it. */
static void test_a_weight_alone_is_no_class(void **state)
{
	init("classes=be,normal");
	weight_option->cb(0, "7", 1);
	post_fork(OK);
	assert_null(strstr(asked, "class\":"));
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"weight\":7,\"as_uid\":1000}"));
	init("shard_weight=10"); /* the number of shards is the user's word */
	assert_non_null(strstr(said, "shard_weight=10"));
}

/* The class of plugstack.conf is root's word, a weight beside it is not. */
static void test_the_default_class_is_roots(void **state)
{
	init("default=be");
	weight_option->cb(0, "7", 1);
	post_fork(OK);
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"class\":\"be\"}"));
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"weight\":7,\"as_uid\":1000}"));
}

/* Slurm does not call slurm_spank_init() for a job's scripts. */
static void prolog(const char *partition, const char *grant)
{
	char own[80];

	snprintf(own, sizeof(own), "%s", grant);
	setenv("SLURM_JOB_PARTITION", partition, 1);
	context = S_CTX_JOB_SCRIPT;
	said[0] = '\0';
	assert_int_equal(slurm_spank_job_prolog(NULL, 1, (char *[]){ own }), 0);
	context = S_CTX_REMOTE;
}

static void test_a_partition_has_its_grant(void **state)
{
	char record[] = "record=";

	prolog("serving", "partition=serving:lc:300");
	assert_string_equal(said, "");
	setenv("SLURM_JOB_PARTITION", "best", 1); /* what a job writes there is not asked */
	init("partition=best:be");
	init("default=be");
	post_fork(OK);
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"class\":\"lc\"}"));
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"weight\":300}"));
	/* what the job asks for comes first, and is the user's word */
	weight_option->cb(0, "7", 1);
	post_fork(OK);
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"class\":\"lc\"}"));
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"weight\":7,\"as_uid\":1000}"));
	assert_null(strstr(asked, "300"));
	/* a partition without a grant, also after an earlier run in one with a grant; the job's end */
	prolog("other", "partition=serving:lc:300");
	post_fork(OK);
	assert_non_null(strstr(asked, "{\"target\":\"pid:4321\",\"class\":\"be\"}"));
	prolog("serving", "partition=serving:lc:300");
	context = S_CTX_JOB_SCRIPT;
	slurm_spank_job_epilog(NULL, 1, (char *[]){ record });
	context = S_CTX_REMOTE;
	post_fork(OK);
	assert_non_null(strstr(asked, "\"class\":\"be\"}"));
	init("default=");
}

static void test_bad_grants_are_left_out(void **state)
{
	static const char *const bad[] = { "partition=a",          "partition=:be",
					   "partition=a:",         "partition=a:be:0",
					   "partition=a:be:10001", "partition=a:be:5:5",
					   "partition=a:be:" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		init(bad[i]);
		if (!strstr(said, bad[i]))
			fail_msg("%s was taken", bad[i]);
	}
}

static void test_it_fails_open(void **state)
{
	uint64_t began;

	init("default=be");
	post_fork("HTTP/1.1 403 Forbidden\r\n\r\n{\"error\": \"not yours\", \"errno\": \"EPERM\"}");
	assert_non_null(strstr(said, "not yours"));
	began = gs_now_ns();
	post_fork(NULL); /* the daemon never answers */
	assert_true(gs_now_ns() - began < 2 * NS_PER_S);
	assert_non_null(strstr(said, "timed out"));
	said[0] = '\0';
	assert_int_equal(slurm_spank_task_post_fork(NULL, 0, NULL), 0); /* there is no daemon */
	assert_non_null(strstr(said, "No such file"));
}

static void test_nothing_is_asked_for(void **state)
{
	init("default=");
	said[0] = '\0';
	assert_int_equal(slurm_spank_task_post_fork(NULL, 0, NULL), 0);
	assert_string_equal(said, ""); /* there is no daemon, and it was not asked */
}

static void test_the_end_of_a_job(void **state)
{
	char script[120], arg[200], job[16] = "", written[140];
	FILE *f;

	snprintf(script, sizeof(script), "%s/record", dir);
	snprintf(written, sizeof(written), "%s/job", dir);
	f = fopen(script, "w");
	fprintf(f, "#!/bin/sh\nsleep 1; echo $1 >%s.new; mv %s.new %s\n", written, written,
		written);
	fclose(f);
	chmod(script, 0755);
	snprintf(arg, sizeof(arg), "record=%s", script);
	context = S_CTX_JOB_SCRIPT; /* Slurm does not call slurm_spank_init() there */
	assert_int_equal(slurm_spank_job_epilog(NULL, 1, (char *[]){ arg }), 0);
	assert_int_not_equal(access(written, F_OK), 0); /* the plugin did not wait for it */
	for (int i = 0; i < 300 && access(written, F_OK); i++)
		gs_sleep_ns(NS_PER_S / 10);
	f = fopen(written, "r");
	assert_non_null(f);
	assert_non_null(fgets(job, sizeof(job), f));
	fclose(f);
	assert_string_equal(job, "1234\n");
	context = S_CTX_REMOTE;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_asked_for),
		cmocka_unit_test(test_bad_grants_are_left_out),
		cmocka_unit_test(test_a_partition_has_its_grant),
		cmocka_unit_test(test_a_weight_alone_is_no_class),
		cmocka_unit_test(test_the_default_class_is_roots),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_a_task_gets_its_class),
		cmocka_unit_test(test_it_fails_open),
		cmocka_unit_test(test_the_end_of_a_job),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
