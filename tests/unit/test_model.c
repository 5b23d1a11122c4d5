/* SPDX-License-Identifier: MIT */
/*
 * test_model.c - check the GPU model's rules for turns
 *
 * Most cases are data in courses[]: a list of events, and the times that must result. The other
 * cases are functions.
 */
#include "model_world.h"

enum op {
	END,
	KERNEL,  /* submit a kernel of @n blocks of @us to channel @who; kernels count from 1 */
	MARK,    /* submit a mark with number @n to channel @who */
	TO,      /* let time pass until @us */
	SLICE,   /* set TSG @who's timeslice to @us */
	MODE,    /* set TSG @who's preemption mode to @n */
	ENABLE,  /* enable channel @who */
	DISABLE, /* disable channel @who */
	LEAVE,   /* take TSG @who off the runlist */
	JOIN,    /* put TSG @who on the runlist */
	PREEMPT, /* preempt TSG @who */
	UNIT,    /* set the unit of slices to @us ns; must come first */
	DONE,    /* check: kernel @n was done at @us; 0: is not done */
	EVER,    /* check: kernel @n is done */
	TURNS,   /* check: TSG @who has had @n turns */
	WAITED,  /* check: TSG @who has waited for @us */
	RAN,     /* check: TSG @who has run for @us */
	SWITCH,  /* check: the log's @n-th entry is the last one, and was at @us */
};

/*
 * @who is a letter: 'a' to 'c' are TSGs and their first channels, 'A' to 'C' the second channels of
 * these TSGs. A step that names a TSG or channel for the first time makes it.
 */
struct step {
	enum op op;
	char who;
	uint64_t n, us;
};

struct course {
	const char *name;
	struct step steps[20];
};

#define K(who, us) \
	{ \
		KERNEL, who, CAPACITY, us \
	}
#define KB(who, blocks, us) \
	{ \
		KERNEL, who, blocks, us \
	}
#define AT(us) \
	{ \
		TO, 0, 0, us \
	}
#define SET(op, who, value) \
	{ \
		op, who, value, value \
	}
#define IS(n, us) \
	{ \
		DONE, 0, n, us \
	}

struct course_world {
	struct world *w;
	struct sim_tsg *tsg[3];
	struct sim_channel *ch[2][3];
	uint64_t kernels;
};

static struct sim_tsg *tsg_of(struct course_world *c, char who)
{
	unsigned int i = (unsigned int)((who | 0x20) - 'a');

	if (!c->tsg[i])
		c->tsg[i] = tsg(c->w, 0, SIM_ENGINE_GR, i + 1);
	return c->tsg[i];
}

static struct sim_channel *channel_of(struct course_world *c, char who)
{
	unsigned int i = (unsigned int)((who | 0x20) - 'a');
	struct sim_channel **ch = &c->ch[who < 'a'][i];

	if (!*ch)
		*ch = channel(tsg_of(c, who), 7 + i);
	return *ch;
}

static void act(struct course_world *c, const struct step *s)
{
	struct sim_work mark = { .kind = SIM_WORK_MARK, .cookie = s->n };

	switch (s->op) {
	case KERNEL:
		kernel(channel_of(c, s->who), s->n, s->us, ++c->kernels);
		break;
	case MARK:
		assert_int_equal(sim_work_submit(channel_of(c, s->who), &mark), 0);
		break;
	case TO:
		sim_model_advance(c->w->m, s->us * US);
		break;
	case SLICE:
		assert_int_equal(sim_model_tsg_set_timeslice(tsg_of(c, s->who), s->us), 0);
		break;
	case MODE:
		assert_int_equal(sim_model_tsg_set_mode(tsg_of(c, s->who), (unsigned int)s->n), 0);
		break;
	case ENABLE:
	case DISABLE:
		sim_work_enable_channel(channel_of(c, s->who), s->op == ENABLE);
		break;
	case LEAVE:
	case JOIN:
		sim_model_tsg_schedule(tsg_of(c, s->who), s->op == JOIN);
		break;
	case PREEMPT:
		sim_model_tsg_preempt(tsg_of(c, s->who));
		break;
	default:
		fail_msg("no act");
	}
}

static void look(struct course_world *c, const struct step *s)
{
	switch (s->op) {
	case DONE:
		assert_int_equal(done_at(c->w, s->n), s->us * US);
		break;
	case EVER:
		assert_int_not_equal(done_at(c->w, s->n), 0);
		break;
	case TURNS:
		assert_int_equal(turns(tsg_of(c, s->who)), s->n);
		break;
	case WAITED:
		assert_int_equal(wait_time(tsg_of(c, s->who)), s->us * US);
		break;
	case RAN:
		assert_int_equal(gpu_time(tsg_of(c, s->who)), s->us * US);
		break;
	case SWITCH:
		assert_int_equal(c->w->nsw, s->n + 1);
		assert_int_equal(c->w->sw[s->n].ns, s->us * US);
		break;
	default:
		act(c, s);
	}
}

static void take_course(void **state)
{
	const struct course *course = *state;
	const struct step *s = course->steps;
	struct course_world c = { 0 };
	struct sim_params p;

	params(&p);
	if (s->op == UNIT)
		p.slice_unit_ns = (s++)->us;
	c.w = world(&p, 1);
	for (; s->op; s++) {
		if (s == &course->steps[sizeof(course->steps) / sizeof(*s) - 1])
			fail_msg("%s has too many steps", course->name);
		look(&c, s);
	}
	world_free(c.w);
}

/* TSGs take turns in the order in which they were made, that is, first named. Times are in us. */
static const struct course courses[] = {
	{ "a resident context starts at once",
	  { K('a', 100), AT(10000), K('a', 100), AT(20000), IS(2, 10000 + 100) } },
	{ "a slice goes on while nobody else is ready",
	  { K('a', 20000), K('a', 20000), AT(50000), { TURNS, 'a', 1 }, IS(2, 40055) } },
	/*
	 * a runs from 50 to 1050, and has then done 995 of 3000. Saving it takes 20, the switch
	 * 100. b starts in 5 and runs 100. Saving the idle b takes 40, the switch 50, restoring a
	 * 30. A wait ends at the TSG's START; a waits a second time, from its END at 1070 to its
	 * START at 1365.
	 */
	{ "a slice expires when another is ready",
	  { K('a', 3000), K('b', 100), AT(20000), IS(2, 1050 + 20 + 100 + 5 + 100),
	    IS(1, 1275 + 40 + 50 + 30 + 3000 - 995), SET(WAITED, 'b', 1170),
	    SET(WAITED, 'a', 50 + 1365 - 1070) } },
	/* the fifth period ends at 5050 */
	{ "a late rival waits for the end of the period",
	  { K('a', 30000), SET(JOIN, 'b', 0), AT(4550), K('b', 100), AT(60000),
	    IS(2, 5050 + 20 + 100 + 5 + 100) } },
	/* b becomes ready during the switch to c: too late, since a's turn has ended at 1050 */
	{ "who is next is settled when the turn ends",
	  { SET(JOIN, 'a', 0),
	    SET(JOIN, 'b', 0),
	    K('a', 3000),
	    K('c', 100),
	    AT(1100),
	    K('b', 100),
	    AT(20000),
	    IS(2, 1050 + 20 + 100 + 5 + 100),
	    { EVER, 0, 3 },
	    { TURNS, 'b', 1 },
	    { WAITED, 'c', 0, 1170 } } },
	/* a is done at 155; saving it takes until 195 */
	{ "who is next is settled when an idle turn ends",
	  { SET(JOIN, 'a', 0),
	    SET(JOIN, 'b', 0),
	    K('a', 100),
	    K('c', 100),
	    AT(160),
	    K('b', 100),
	    AT(20000),
	    IS(2, 195 + 50 + 5 + 100),
	    { EVER, 0, 3 } } },
	/* a restore is paid once: after finished work, the next turn is a fresh start */
	{ "restored state is gone",
	  { K('a', 1500), K('b', 100), AT(10000), K('b', 100), AT(20000), K('a', 100), AT(30000),
	    IS(4, 20000 + 50 + 5 + 100) } },
	{ "preempt ends an idle turn",
	  { K('a', 100), AT(160), SET(PREEMPT, 'a', 0), AT(10000), { SWITCH, 0, 1, 160 } } },
	{ "a new timeslice counts at once",
	  { K('a', 30000), K('b', 100), AT(250), SET(SLICE, 'a', 300), AT(60000),
	    IS(2, 350 + 20 + 100 + 5 + 100) } },
	{ "who is drained gives up its turn",
	  { SET(SLICE, 'a', 1000000), K('a', 200), K('b', 100), AT(20000), IS(1, 255),
	    IS(2, 255 + 40 + 50 + 5 + 100) } },
	/* Once all queued kernels have begun, the turn ends, but running kernels keep the GPU. */
	{ "the last kernel runs to its end",
	  { SET(SLICE, 'a', 1000000),
	    K('a', 20000),
	    K('b', 100),
	    AT(30000),
	    { TURNS, 'a', 1 },
	    IS(1, 20055),
	    IS(2, 20055 + 40 + 50 + 5 + 100) } },
	/*
	 * A second kernel of a comes at 200, while its first runs. b has work from 0, 150 or 300
	 * on.
	 */
	{ "what comes after the last has begun waits for the next turn: a rival from the beginning",
	  { SET(SLICE, 'a', 1000000), K('a', 500), K('b', 100), AT(200), K('a', 100), AT(20000),
	    IS(1, 555), IS(2, 555 + 40 + 50 + 5 + 100), IS(3, 555 + 2 * (40 + 50 + 5 + 100)) } },
	{ "... a rival from 150 on",
	  { SET(SLICE, 'a', 1000000), SET(JOIN, 'b', 0), K('a', 500), AT(150), K('b', 100), AT(200),
	    K('a', 100), AT(20000), IS(1, 555), IS(2, 555 + 40 + 50 + 5 + 100),
	    IS(3, 555 + 2 * (40 + 50 + 5 + 100)) } },
	{ "... an event behind the last",
	  { SET(SLICE, 'a', 1000000),
	    K('a', 500),
	    { MARK, 'a', 9 },
	    K('b', 100),
	    AT(200),
	    K('a', 100),
	    AT(20000),
	    IS(1, 555),
	    IS(2, 555 + 40 + 50 + 5 + 100),
	    IS(3, 555 + 2 * (40 + 50 + 5 + 100)) } },
	{ "... nobody waited then",
	  { SET(SLICE, 'a', 1000000), SET(JOIN, 'b', 0), K('a', 500), AT(200), K('a', 100), AT(300),
	    K('b', 100), AT(20000), IS(1, 555), IS(2, 655), IS(3, 655 + 40 + 50 + 5 + 100) } },
	/* A kernel that did not fit begins when the last of the others has ended. */
	{ "a turn takes work again when nobody waits any more",
	  { SET(SLICE, 'a', 1000000), KB('a', CAPACITY / 2, 500), K('b', 100), AT(150),
	    KB('A', CAPACITY / 2, 100), AT(300), SET(LEAVE, 'b', 0), AT(20000), IS(1, 555),
	    IS(3, 400) } },
	/* a is done at 155, and stays loaded, since no TSG waits; it is done again at 270 */
	{ "what comes while an idle context is saved waits for the next turn",
	  { SET(JOIN, 'a', 0), SET(JOIN, 'b', 0), K('a', 100), AT(170), K('a', 100), K('b', 100),
	    AT(280), K('a', 100), AT(10000), IS(2, 270), IS(3, 270 + 40 + 50 + 5 + 100),
	    IS(4, 465 + 40 + 50 + 5 + 100) } },
	{ "a slice is counted in its unit",
	  { { UNIT, 0, 0, 1024 },
	    K('a', 3000),
	    K('b', 100),
	    AT(20000),
	    IS(2, 50 + 1024 + 20 + 100 + 5 + 100) } },
	{ "a turn is held by a second kernel",
	  { SET(SLICE, 'a', 1000000), K('a', 20000), KB('a', 1, 10), K('b', 100), AT(1000),
	    K('a', 100), AT(30000), IS(1, 20055), IS(4, 20165),
	    IS(3, 20165 + 40 + 50 + 5 + 100) } },
	/*
	 * a has 10 waves of 300 us from 55 on. Its slice ends at 1050, in the fourth wave (955 to
	 * 1255).
	 */
	{ "CILP saves at once",
	  { SET(MODE, 'a', 2),
	    KB('a', 10 * CAPACITY, 300),
	    K('b', 100),
	    AT(60000),
	    { EVER, 0, 1 },
	    IS(2, 1050 + 20 + 100 + 5 + 100) } },
	{ "CTA waits for running blocks",
	  { SET(MODE, 'a', 1),
	    KB('a', 10 * CAPACITY, 300),
	    K('b', 100),
	    AT(60000),
	    { EVER, 0, 1 },
	    IS(2, 1255 + 10 + 100 + 5 + 100) } },
	{ "WFI waits for the kernel",
	  { SET(MODE, 'a', 0),
	    KB('a', 10 * CAPACITY, 300),
	    K('b', 100),
	    AT(60000),
	    { EVER, 0, 1 },
	    IS(2, 3055 + 10 + 100 + 5 + 100) } },
	/*
	 * a starts in 5, runs 400, and is saved in 20: it ran 425. Suspended time is not waiting.
	 */
	{ "a disabled one is skipped and keeps its progress",
	  { K('a', 1000), AT(455), SET(DISABLE, 'a', 0), AT(5000), SET(RAN, 'a', 425), AT(10000),
	    SET(RAN, 'a', 425), SET(WAITED, 'a', 50), IS(1, 0), SET(ENABLE, 'a', 0), AT(20000),
	    IS(1, 10000 + 50 + 30 + 600) } },
	{ "one disabled channel leaves the others",
	  { KB('a', CAPACITY / 2, 1000),
	    KB('A', CAPACITY / 2, 1000),
	    AT(555),
	    SET(DISABLE, 'a', 0),
	    AT(10000),
	    IS(2, 1055),
	    IS(1, 0),
	    SET(ENABLE, 'a', 0),
	    AT(20000),
	    { EVER, 0, 1 } } },
	{ "an unscheduled one does not run",
	  { SET(LEAVE, 'a', 0),
	    KB('a', 1, 100),
	    AT(10000),
	    IS(1, 0),
	    SET(JOIN, 'a', 0),
	    AT(20000),
	    { EVER, 0, 1 } } },
	/* preempting b does nothing, since b is not loaded */
	{ "preempt ends the turn",
	  { SET(SLICE, 'a', 1000000),
	    K('a', 20000),
	    K('b', 100),
	    AT(555),
	    SET(PREEMPT, 'a', 0),
	    SET(PREEMPT, 'b', 0),
	    AT(30000),
	    IS(2, 555 + 20 + 100 + 5 + 100),
	    { EVER, 0, 1 } } },
	/* work */
	{ "the first kernel pays switch and start",
	  { K('a', 100), AT(10000), IS(1, 50 + 5 + 100) } },
	{ "a kernel runs in waves",
	  { KB('a', 2 * CAPACITY + 1, 100), AT(10000), IS(1, 50 + 5 + 300) } },
	{ "a channel is in order",
	  { KB('a', 1, 100), KB('a', 1, 10), AT(10000), IS(1, 155), IS(2, 165) } },
	/* the fourth kernel has no room until the third one's wave is over */
	{ "channels of a TSG run side by side",
	  { KB('a', CAPACITY / 2, 100), KB('A', CAPACITY / 2, 60), AT(10000), IS(1, 155),
	    IS(2, 115), K('a', 100), K('A', 100), AT(20000), IS(3, 10000 + 100),
	    IS(4, 10000 + 200) } },
};

#define NCOURSES (sizeof(courses) / sizeof(courses[0]))

static void unknown_settings_are_refused(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t = tsg(w, 0, SIM_ENGINE_GR, 1), *none = NULL;

	assert_int_equal(sim_model_tsg_set_mode(t, 3), -EINVAL);
	assert_int_equal(sim_model_tsg_set_interleave(t, 3), -EINVAL);
	assert_int_equal(sim_model_tsg_set_timeslice(t, 0), -EINVAL);
	assert_int_equal(sim_model_tsg_set_timeslice(t, 100000001), -EINVAL);
	assert_int_equal(sim_model_tsg_new(w->m, 1, SIM_ENGINE_GR, NULL, &none), -EINVAL);
	assert_int_equal(sim_model_tsg_new(w->m, 0, 8, NULL, &none), -EINVAL);
	assert_int_equal(
		sim_model_tsg_new(w->m, 0, SIM_ENGINE_COPY0 + w->p.copy_engines, NULL, &none),
		-EINVAL);
	assert_null(none);
	world_free(w);
}

/* The numbers of further copy engines (from the 11th) and graphics engines do not overlap. */
static void engines_have_their_numbers(void **state)
{
	struct sim_tsg *t = NULL;
	struct sim_params p;
	struct world *w;

	params(&p);
	p.copy_engines = 12;
	p.gr_engines = 3;
	w = world(&p, 1);
	assert_int_equal(sim_model_tsg_new(w->m, 0, 3, NULL, &t), 0);
	assert_int_equal(sim_model_tsg_new(w->m, 0, 4, NULL, &t), -EINVAL);
	assert_int_equal(sim_model_tsg_new(w->m, 0, 18, NULL, &t), 0);
	assert_int_equal(sim_model_tsg_new(w->m, 0, 19, NULL, &t), -EINVAL);
	assert_int_equal(sim_model_tsg_new(w->m, 0, 0x35, NULL, &t), 0);
	assert_int_equal(sim_model_tsg_new(w->m, 0, 0x36, NULL, &t), -EINVAL);
	world_free(w);
}

static void interleave_counts_turns(void **state)
{
	struct sim_params p;
	struct world *w;
	struct sim_tsg *t[5];
	const unsigned int level[5] = { 0, 0, 1, 1, 2 };

	params(&p);
	p.interleave_honoured = true;
	w = world(&p, 1);
	for (unsigned int i = 0; i < 5; i++) {
		t[i] = tsg(w, 0, SIM_ENGINE_GR, i);
		assert_int_equal(sim_model_tsg_set_interleave(t[i], level[i]), 0);
		keep_busy(w, channel(t[i], i));
	}
	sim_model_advance(w->m, 1120 * MS * 12); /* a round: 2 low, 2 x 2 medium, 6 high turns */
	assert_in_range(turns(t[0]), 990, 1010);
	assert_in_range(turns(t[2]), 2 * turns(t[0]) - 3, 2 * turns(t[0]) + 3);
	assert_in_range(turns(t[4]), 6 * turns(t[0]) - 7, 6 * turns(t[0]) + 7);
	world_free(w);
}

static void interleave_is_ignored_where_the_gpu_does(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t[3];

	for (unsigned int i = 0; i < 3; i++) {
		t[i] = tsg(w, 0, SIM_ENGINE_GR, i);
		assert_int_equal(sim_model_tsg_set_interleave(t[i], i), 0);
		keep_busy(w, channel(t[i], i));
	}
	sim_model_advance(w->m, 1000 * MS);
	assert_in_range(turns(t[2]), turns(t[0]) - 1, turns(t[0]) + 1);
	world_free(w);
}

static void round_is_in_order(void **state)
{
	struct world *w = world(NULL, 1);

	for (unsigned int i = 0; i < 4; i++)
		keep_busy(w, channel(tsg(w, 0, SIM_ENGINE_GR, i), i));
	sim_model_advance(w->m, 20 * MS);
	assert_true(w->nsw > 16);
	for (size_t i = 0; i < w->nsw; i++)
		assert_int_equal((uintptr_t)w->sw[i].user, i / 2 % 4);
	world_free(w);
}

static void slice_shorter_than_the_restore_makes_no_progress(void **state)
{
	struct world *w = world(NULL, 1);
	struct sim_tsg *t[2];
	struct sim_tsg_state s;

	for (unsigned int i = 0; i < 2; i++) {
		t[i] = tsg(w, 0, SIM_ENGINE_GR, i);
		assert_int_equal(sim_model_tsg_set_timeslice(t[i], 1), 0);
		keep_busy(w, channel(t[i], i));
	}
	sim_model_advance(w->m, 1000 * MS);
	sim_model_tsg_state(t[0], &s);
	assert_int_equal(s.work_done, 0);
	assert_true(s.switches_in > 1000);
	/* with longer slices, the thrashing ends */
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(sim_model_tsg_set_timeslice(t[i], 2000), 0);
	sim_model_advance(w->m, 1100 * MS);
	sim_model_tsg_state(t[0], &s);
	assert_in_range(s.work_done, 80, 100);
	world_free(w);
}

static void log_is_balanced_and_numbered(void **state)
{
	struct world *w = world(NULL, 1);

	for (unsigned int i = 0; i < 3; i++)
		keep_busy(w, channel(tsg(w, 0, SIM_ENGINE_GR, i), 100 + i));
	sim_model_advance(w->m, 50 * MS);
	assert_true(w->nsw > 60);
	for (size_t i = 0; i < w->nsw; i++) {
		assert_int_equal(w->sw[i].seqno, i);
		assert_int_equal(w->sw[i].start, i % 2 == 0);
		assert_int_equal(w->sw[i].engine, SIM_ENGINE_GR);
		assert_int_equal(w->sw[i].context_id, 100 + (uintptr_t)w->sw[i].user);
		if (i && w->sw[i].start)
			assert_int_equal(w->sw[i].ns - w->sw[i - 1].ns, 100 * US);
		else if (i)
			assert_ptr_equal(w->sw[i].user, w->sw[i - 1].user);
	}
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(unknown_settings_are_refused),
		cmocka_unit_test(engines_have_their_numbers),
		cmocka_unit_test(interleave_counts_turns),
		cmocka_unit_test(interleave_is_ignored_where_the_gpu_does),
		cmocka_unit_test(round_is_in_order),
		cmocka_unit_test(slice_shorter_than_the_restore_makes_no_progress),
		cmocka_unit_test(log_is_balanced_and_numbered),
	};
	const size_t n = sizeof(others) / sizeof(others[0]);
	struct CMUnitTest tests[NCOURSES + sizeof(others) / sizeof(others[0])] = { 0 };

	memcpy(tests, others, sizeof(others));
	for (size_t i = 0; i < NCOURSES; i++)
		tests[n + i] =
			(struct CMUnitTest){ .name = courses[i].name,
					     .test_func = take_course,
					     .initial_state = (void *)(uintptr_t)&courses[i] };
	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
