// SPDX-License-Identifier: MIT
/* test_completion.c - check completions, with a clock that the test sets */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "basic/completion.h"

#define ENGINE 1u
#define START 2u

struct thing {
	struct gs_completion c;
	unsigned int asked, told, released;
	int code; /* the result of a check */
};

static int check(struct gs_completion *c, uint64_t now_ns)
{
	struct thing *t = (struct thing *)c;

	t->asked++;
	return t->code;
}

static void done(struct gs_completion *c, void *user)
{
	struct thing *t = user;

	assert_true(gs_completion_is_over(c));
	t->told++;
}

static void release(struct gs_completion *c)
{
	((struct thing *)c)->released++;
}

static struct thing thing_of(unsigned int on)
{
	return (struct thing){
		.c = { .check = check, .on = on, .done = done, .release = release },
		.code = -EINPROGRESS,
	};
}

static void begin(struct thing *t, struct gs_completions *w, uint64_t now)
{
	t->c.user = t;
	gs_completion_begin(&t->c, w, now);
}

static void at_once(void **state)
{
	struct gs_completions w = { 0 };
	struct thing t = thing_of(ENGINE);

	t.code = -EPERM;
	begin(&t, &w, 1);
	assert_true(gs_completion_is_over(&t.c));
	assert_int_equal(t.c.code, -EPERM);
	assert_int_equal(t.told, 0);
	assert_null(w.first);
	assert_true(gs_completions_next(&w) == UINT64_MAX);
	gs_completion_free(&t.c);
	assert_int_equal(t.released, 1);
}

static void asked_of_what_concerns_it(void **state)
{
	struct gs_completions w = { 0 };
	struct thing engine = thing_of(ENGINE), start = thing_of(START);

	begin(&engine, &w, 1);
	begin(&start, &w, 1);
	assert_int_equal(engine.asked, 1);
	gs_completions_run(&w, 2);
	assert_int_equal(engine.asked, 1);
	gs_completions_happened(&w, ENGINE);
	assert_true(gs_completions_next(&w) == 0);
	gs_completions_run(&w, 3);
	assert_int_equal(engine.asked, 2);
	assert_int_equal(start.asked, 1);
	assert_true(gs_completions_next(&w) == UINT64_MAX);
	gs_completions_run(&w, 4); /* nothing new has happened: the check does not run again */
	assert_int_equal(engine.asked, 2);
	engine.code = 0;
	gs_completions_happened(&w, ENGINE | START);
	gs_completions_run(&w, 5);
	assert_true(gs_completion_is_over(&engine.c));
	assert_int_equal(engine.c.code, 0);
	assert_int_equal(engine.told, 1);
	assert_false(gs_completion_is_over(&start.c));
	gs_completions_happened(&w, ENGINE);
	gs_completions_run(&w, 6);
	assert_int_equal(engine.asked, 3);
	gs_completion_free(&engine.c);
	gs_completion_free(&start.c); /* freed while it waits: its callback is not called */
	assert_int_equal(start.told, 0);
	assert_null(w.first);
}

static void times(void **state)
{
	struct gs_completions w = { 0 };
	struct thing t = thing_of(0);

	t.c.look_ns = 100;
	t.c.until_ns = 1000;
	begin(&t, &w, 1);
	assert_true(gs_completions_next(&w) == 100);
	gs_completions_run(&w, 99);
	assert_int_equal(t.asked, 1);
	gs_completions_run(&w, 100);
	assert_int_equal(t.asked, 2);
	t.c.look_ns = 0;
	assert_true(gs_completions_next(&w) == 1000);
	gs_completions_run(&w, 1000);
	assert_int_equal(t.c.code, -ETIMEDOUT);
	assert_string_equal(t.c.err.text, "it takes too long");
	assert_int_equal(t.told, 1);
	gs_completion_free(&t.c);
}

/* A check that moves its own deadline, once. */
static int longer(struct gs_completion *c, uint64_t now_ns)
{
	if (c->until_ns == 1000)
		c->until_ns = 3000;
	return -EINPROGRESS;
}

static void time_that_is_given(void **state)
{
	struct gs_completions w = { 0 };
	struct thing t = thing_of(0);

	t.c.check = longer;
	t.c.until_ns = 1000;
	begin(&t, &w, 1);
	gs_completions_run(&w, 1500);
	assert_false(gs_completion_is_over(&t.c));
	gs_completions_run(&w, 3000);
	assert_int_equal(t.c.code, -ETIMEDOUT);
	gs_completion_free(&t.c);
}

static void called_off(void **state)
{
	struct gs_completions w = { 0 };
	struct thing a = thing_of(ENGINE), b = thing_of(START);

	begin(&a, &w, 1);
	begin(&b, &w, 1);
	gs_completions_cancel(&w, -ECANCELED, "it ends");
	assert_null(w.first);
	assert_int_equal(a.c.code, -ECANCELED);
	assert_string_equal(b.c.err.text, "it ends");
	assert_int_equal(a.told + b.told, 2);
	gs_completion_cancel(&a.c, -EPERM, "again");
	assert_int_equal(a.c.code, -ECANCELED);
	assert_int_equal(a.told, 1);
	gs_completion_free(&a.c);
	gs_completion_free(&b.c);
}

static void free_when_told(struct gs_completion *c, void *user)
{
	gs_completion_free(c);
}

static void freed_by_who_is_told(void **state)
{
	struct gs_completions w = { 0 };
	struct thing a = thing_of(ENGINE), b = thing_of(ENGINE);

	begin(&a, &w, 1);
	begin(&b, &w, 1);
	a.c.done = free_when_told;
	a.code = b.code = 0;
	gs_completions_happened(&w, ENGINE);
	gs_completions_run(&w, 2);
	assert_int_equal(a.released, 1);
	assert_int_equal(b.told, 1);
	gs_completion_free(&b.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_once),    cmocka_unit_test(asked_of_what_concerns_it),
		cmocka_unit_test(times),      cmocka_unit_test(time_that_is_given),
		cmocka_unit_test(called_off), cmocka_unit_test(freed_by_who_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
