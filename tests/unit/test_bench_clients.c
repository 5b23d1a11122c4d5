// SPDX-License-Identifier: MIT
/* test_bench_clients.c - check loads of clients in JSON, also as attackers write them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "bench/clients.h"
#include "bench/given.h"

static char folder[] = "/tmp/bench-clients.XXXXXX", path[64];

static void write_file(const char *name, const char *text, size_t len)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fwrite(text, 1, len, f);
	fclose(f);
}

static struct bench_clients *read_text(const char *text, size_t len, struct gs_error *err)
{
	struct bench_clients *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	write_file(path, text, len);
	if (!bench_clients_read(path, c, err))
		return c;
	gs_arrivals_free(&c->all);
	free(c);
	return NULL;
}

static void free_clients(struct bench_clients **c)
{
	gs_arrivals_free(&(*c)->all);
	free(*c);
}
#define CLEANUP_CLIENTS CLEANUP(free_clients)

static struct bench_clients *read_good(const char *text)
{
	struct gs_error err = { 0 };
	struct bench_clients *c = read_text(text, strlen(text), &err);

	if (!c)
		fail_msg("%s", err.text);
	return c;
}

static void refused(const char *text, const char *why)
{
	struct gs_error err = { 0 };

	assert_null(read_text(text, strlen(text), &err));
	if (!strstr(err.text, why) || !strstr(err.text, folder))
		fail_msg("'%s' is not in: %s", why, err.text);
	assert_null(strchr(err.text, '\n'));
}

#define TASK(client, load) "{\"client\":{" client "},\"load\":{" load "}}"
#define TASKS(list) "{\"time\":60,\"tasks\":[" list "]}"
#define VGG "\"model_name\":\"vgg19-imagenet\",\"batch_size\":1"
#define RATE "\"type\":\"periodic\",\"frequency\":100"
#define BE TASK("\"model_name\":\"resnet152-imagenet\"", "\"type\":\"continuous\"")
/* a good BE beside a service that has these parts */
#define BESIDE(client, load) TASKS(BE "," TASK(client, load))
#define LC(load) BESIDE(VGG, load)

static void clients_become_programs(void **state)
{
	CLEANUP_CLIENTS struct bench_clients *c = read_good(TASKS(TASK(
		"\"name\":\"x\",\"tfs_grpc_addr\":\"localhost:8500\"," VGG, RATE
		",\"priority\":0") "," BE
				   "," TASK(
					   "\"model_name\":\"own\",\"kernels\":7,\"kernel_us\":2.5",
					   "\"type\":\"poisson\",\"frequency\":0.5")));

	assert_int_equal(c->nlc, 2);
	assert_int_equal(c->nbe, 1);
	assert_string_equal(c->lc[0].arrivals, "periodic");
	assert_true(c->lc[0].period_us == 10000);
	assert_int_equal(c->lc[0].kernels, 19);
	assert_true(c->lc[0].kernel_us == 40);
	assert_string_equal(c->lc[1].arrivals, "poisson");
	assert_true(c->lc[1].period_us == 2e6);
	assert_int_equal(c->lc[1].kernels, 7);
	assert_true(c->lc[1].kernel_us == 2.5);
	assert_string_equal(c->be[0].arrivals, "closed");
	assert_int_equal(c->be[0].kernels, 152);
	assert_int_equal(c->all.n, 0);
}

static void a_client_may_have_a_trace(void **state)
{
	CLEANUP(gs_arrivals_free) struct gs_arrivals kept = { 0 };
	CLEANUP_CLIENTS struct bench_clients *c =
		read_good(LC("\"type\":\"trace\",\"trace\":[1000,1500.5,2000]"));

	assert_int_equal(c->all.n, 3);
	/* clients share one clock: their times do not count from the first arrival */
	assert_int_equal(gs_arrivals_read(c->lc[0].arrivals, false, &kept, NULL), 0);
	assert_int_equal(kept.n, 3);
	assert_int_equal(kept.at[0].ns, 1000000000);
	assert_int_equal(kept.at[1].ns, 1500500000);
	assert_int_equal(kept.at[2].size, 1);
	assert_int_equal(c->lc[0].kernels, 19);
}

static void what_bench_cannot_express_is_said(void **state)
{
	refused(TASKS(TASK(VGG, RATE)), "there must be both");
	refused(TASKS(BE), "there must be both");
	refused(BESIDE("\"model_name\":\"vgg19-imagenet\",\"batch_size\":8", RATE),
		"task 2: bench cannot express batches");
	refused(BESIDE(VGG ",\"deadline\":8", RATE), "task 2: bench cannot express 'deadline'");
	refused(LC("\"type\":\"trace\",\"trace\":[1],\"frequency\":1"),
		"task 2: bench cannot express 'frequency'");
	refused(LC("\"type\":\"dependent\""), "task 2: type of load is periodic, poisson");
	refused("{\"tasks\":[],\"dependencies\":[]}", "bench cannot express 'dependencies'");
	refused(BESIDE("\"model_name\":\"bert\"", RATE),
		"task 2: bench does not know bert: say its kernels and kernel_us");
	refused(BESIDE("\"model_name\":\"vgg1\"", RATE), "bench does not know vgg1");
	refused(BESIDE(VGG ",\"kernels\":3", RATE), "vgg19-imagenet has its kernels already");
	refused(TASKS(BE
		      "," TASK(VGG, RATE ",\"priority\":0") "," TASK(VGG, RATE ",\"priority\":1")),
		"task 3: bench cannot express services of several priorities");
}

static void wrong_values_are_refused(void **state)
{
	refused("", "line 1: ");
	refused("{\n\"tasks\": [\n}", "line 3: ");
	refused("[]", "not an object with tasks");
	refused("{}", "tasks must be a list of 1 to 32");
	refused("{\"tasks\":{}}", "tasks must be a list");
	refused("{\"tasks\":[1]}", "task 1: not an object with client");
	refused("{\"tasks\":[{\"client\":1,\"load\":{}}]}", "task 1: not an object with name");
	refused("{\"tasks\":[{\"load\":{}}]}", "task 1: not an object with name");
	refused("{\"tasks\":[],\"tasks\":[]}", "line 1: duplicate");
	refused(LC(RATE ",\"priority\":\"high\""), "task 2: priority must be a number");
	refused(BESIDE("\"name\":\"x\"", RATE), "task 2: kernels must be a number from 1 to 10000");
	refused(BESIDE("\"kernels\":1e9,\"kernel_us\":1", RATE), "kernels must be");
	refused(BESIDE("\"kernels\":1,\"kernel_us\":0", RATE), "kernel_us must be");
	refused(LC("\"type\":7"), "type of load is");
	refused(LC("\"type\":\"periodic\""), "task 2: frequency must be a number");
	refused(LC("\"type\":\"poisson\",\"frequency\":0"), "frequency must be a number");
	refused(LC("\"type\":\"poisson\",\"frequency\":1e999"), "line 1: ");
	refused(LC("\"type\":\"trace\""), "task 2: trace must be a list of times in ms");
	refused(LC("\"type\":\"trace\",\"trace\":[]"), "trace must be a list");
	refused(LC("\"type\":\"trace\",\"trace\":[0,\"x\"]"), "time 2 of its trace");
	refused(LC("\"type\":\"trace\",\"trace\":[5,4]"), "time 2 of its trace");
	refused(LC("\"type\":\"trace\",\"trace\":[-1]"), "time 1 of its trace");
	refused(LC("\"type\":\"trace\",\"trace\":[1e12]"), "time 1 of its trace");
	refused(LC("\"type\":\"a\\nb\""), "not 'a?b'");
}

static void too_many_tasks_are_refused(void **state)
{
	char text[4000] = "{\"tasks\":[" BE;

	for (unsigned int i = 0; i < BENCH_CLIENTS_MAX; i++)
		strcat(text, "," BE);
	strcat(text, "]}");
	refused(text, "tasks must be a list of 1 to 32");
}

/* Each text that a good one is cut to, and each with a wrong byte, is read or refused. */
static void broken_bytes_do_no_harm(void **state)
{
	static const char good[] = LC("\"type\":\"trace\",\"trace\":[0,1]");
	char text[sizeof(good)];

	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		struct gs_error cut = { 0 }, changed = { 0 };
		struct bench_clients *c = read_text(good, i, &cut);

		assert_null(c);
		assert_true(cut.text[0]);
		memcpy(text, good, sizeof(good));
		text[i] = (char)(text[i] ^ 0x15);
		c = read_text(text, sizeof(good) - 1, &changed);
		assert_true(c || changed.text[0]);
		if (c)
			free_clients(&c);
	}
}

static void disb_loads_are_the_held_out_ones(void **state)
{
	static const char *const letters[] = { "a", "b", "c", "d", "e" };
	char one[32], other[32];

	for (size_t i = 0; i < GS_COUNT(letters); i++) {
		const struct bench_load *a, *b;

		snprintf(one, sizeof(one), "disb-%s", letters[i]);
		snprintf(other, sizeof(other), "held-disb-%s", letters[i]);
		a = bench_table_load(one);
		b = bench_table_load(other);
		assert_true(a && b && a->asked && !a->held_out);
		assert_true(a->lc == b->lc && a->be == b->be);
		assert_true(a->nlc == b->nlc && a->nbe == b->nbe);
	}
}

static void a_load_of_clients_has_each_of_them(void **state)
{
	static const char text[] = LC(RATE);
	struct gs_error err = { 0 };
	const struct bench_load *l;

	write_file(path, text, sizeof(text) - 1);
	assert_int_equal(bench_given_add(path, &err), 0);
	l = bench_table_load("clients.json");
	assert_non_null(l);
	assert_true(l->each);
	assert_int_equal(bench_program_of(l, true, 0)->kernels, 19);
	assert_int_equal(bench_program_of(l, false, 0)->kernels, 152);
	assert_int_equal(bench_given_add(path, &err), 0);
	assert_true(bench_table_load_is(l, path, strlen(path)));
	assert_false(bench_table_load_is(l, "clients", 7));
}

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/clients.json", folder);
	return 0;
}

static int remove_folder(void **state)
{
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_become_programs),
		cmocka_unit_test(a_client_may_have_a_trace),
		cmocka_unit_test(what_bench_cannot_express_is_said),
		cmocka_unit_test(wrong_values_are_refused),
		cmocka_unit_test(too_many_tasks_are_refused),
		cmocka_unit_test(broken_bytes_do_no_harm),
		cmocka_unit_test(disb_loads_are_the_held_out_ones),
		cmocka_unit_test(a_load_of_clients_has_each_of_them),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
