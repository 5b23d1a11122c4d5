/* SPDX-License-Identifier: MIT */
/* test_trace.c - check recordings: encoding, packets made from the daemon's lines, and sums */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "trace/chrome.h"
#include "trace/plot.h"
#include "trace/recorder.h"
#include "trace/summary.h"

/* ---- the wire -------------------------------------------------------------------------------- */

static void numbers_come_back(void **state)
{
	static const uint64_t all[] = { 0, 1, 127, 128, 300, 1ull << 35, UINT64_MAX };
	struct gs_pb pb = { 0 };
	const uint8_t *at;
	struct gs_pb_field f;

	for (size_t i = 0; i < GS_COUNT(all); i++)
		gs_pb_uint(&pb, (uint32_t)i + 1, all[i]);
	gs_pb_double(&pb, 99, -2.5);
	at = pb.p;
	for (size_t i = 0; i < GS_COUNT(all); i++) {
		assert_int_equal(gs_pb_next(&at, pb.p + pb.n, &f), 1);
		assert_int_equal(f.number, i + 1);
		assert_true(f.value == all[i]);
	}
	assert_int_equal(gs_pb_next(&at, pb.p + pb.n, &f), 1);
	assert_true(gs_pb_as_double(&f) == -2.5);
	assert_int_equal(gs_pb_next(&at, pb.p + pb.n, &f), 0);
	gs_pb_free(&pb);
}

/* The bytes that the format's own documentation gives for 150 in field 1, and "testing" in 2. */
static void bytes_are_as_documented(void **state)
{
	static const uint8_t want[] = { 0x08, 0x96, 0x01, 0x12, 0x07, 't',
					'e',  's',  't',  'i',  'n',  'g' };
	struct gs_pb pb = { 0 };

	gs_pb_uint(&pb, 1, 150);
	gs_pb_text(&pb, 2, "testing");
	gs_pb_text(&pb, 3, NULL);
	assert_int_equal(pb.n, sizeof(want));
	assert_memory_equal(pb.p, want, sizeof(want));
	gs_pb_free(&pb);
}

/* A message of more than 127 bytes has a longer length before it. */
static void messages_of_any_length(void **state)
{
	char text[20000];

	for (size_t n = 1; n < sizeof(text); n = n * 3 + 1) {
		struct gs_pb pb = { 0 };
		struct gs_pb_field f;
		const uint8_t *at;
		size_t in;

		memset(text, 'x', n);
		text[n] = '\0';
		in = gs_pb_begin(&pb, 7);
		gs_pb_text(&pb, 1, text);
		gs_pb_end(&pb, in);
		gs_pb_uint(&pb, 2, 5);
		at = pb.p;
		assert_int_equal(gs_pb_next(&at, pb.p + pb.n, &f), 1);
		assert_int_equal(f.number, 7);
		assert_true(f.n > n);
		assert_int_equal(gs_pb_next(&at, pb.p + pb.n, &f), 1);
		assert_int_equal(f.value, 5);
		gs_pb_free(&pb);
	}
}

static struct gs_trace_event an_event(void)
{
	struct gs_trace_event ev = {
		.ns = 12345678901234,
		.track = 7,
		.type = GS_TRACE_INSTANT,
		.name = "call",
		.category = "call",
	};

	gs_packet_note_text(&ev, "comm", "train");
	gs_packet_note_number(&ev, "value", -5);
	return ev;
}

static void events_come_back(void **state)
{
	const struct gs_trace_event ev = an_event();
	struct gs_trace_packet p;
	struct gs_pb_field f;
	struct gs_pb pb = { 0 };
	const uint8_t *at;

	gs_packet_put_event(&pb, &ev, true);
	at = pb.p;
	assert_int_equal(gs_pb_next(&at, pb.p + pb.n, &f), 1);
	assert_int_equal(gs_packet_parse(f.data, f.n, &p), 0);
	assert_int_equal(p.kind, GS_TRACE_EVENT);
	assert_true(p.dropped);
	assert_true(p.event.ns == ev.ns && p.event.track == 7);
	assert_string_equal(p.event.name, "call");
	assert_string_equal(gs_packet_find(&p.event, "comm")->text, "train");
	assert_int_equal(gs_packet_find(&p.event, "value")->number, -5);
	assert_null(gs_packet_find(&p.event, "other"));
	gs_pb_free(&pb);
}

/* For any damage of a file there is an answer, and no read past its end (the sanitizer checks). */
static void damage_is_told(void **state)
{
	const struct gs_trace_event ev = an_event();
	struct gs_pb pb = { 0 };

	gs_packet_put_event(&pb, &ev, false);
	for (size_t n = 0; n < pb.n; n++) {
		uint8_t *part = malloc(n ? n : 1);
		struct gs_trace_packet p;

		memcpy(part, pb.p, n);
		assert_int_equal(gs_packet_whole(part, n), 0);
		gs_packet_parse(part, n, &p);
		for (unsigned int i = 0; i < 2000 && n; i++) {
			part[(size_t)rand() % n] = (uint8_t)rand();
			gs_packet_parse(part, n, &p);
		}
		free(part);
	}
	assert_int_equal(gs_packet_whole(pb.p, pb.n), pb.n);
	gs_pb_free(&pb);
}

/* ---- recording ------------------------------------------------------------------------------- */

struct made {
	struct gs_recorder *r;
	struct gs_pb pb;
};

static struct made begin(void)
{
	struct made m = { 0 };

	assert_int_equal(gs_recorder_new(&m.r), 0);
	return m;
}

static void line(struct made *m, const char *text)
{
	CLEANUP_JSON json_t *o = json_loads(text, 0, NULL);

	assert_non_null(o);
	assert_int_equal(gs_recorder_line(m->r, o, &m->pb), 0);
}

static FILE *done(struct made *m)
{
	FILE *f = tmpfile();

	assert_int_equal(gs_recorder_end(m->r, &m->pb), 0);
	assert_int_equal(fwrite(m->pb.p, 1, m->pb.n, f), m->pb.n);
	rewind(f);
	gs_recorder_free(m->r);
	gs_pb_free(&m->pb);
	return f;
}

static json_t *sums(struct made *m)
{
	CLEANUP_FILE FILE *f = done(m);
	struct gs_error err = { 0 };
	json_t *rows = NULL;

	assert_int_equal(gs_trace_summary(f, &rows, &err), 0);
	return rows;
}

static json_int_t number(const json_t *rows, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(rows, i), key));
}

static bool is_null(const json_t *rows, size_t i, const char *key)
{
	return json_is_null(json_object_get(json_array_get(rows, i), key));
}

#define FIRST \
	"{\"event\":\"trace\",\"time_ns\":1000000,\"realtime_ns\":5,\"boottime_ns\":6," \
	"\"dilate\":1.0,\"others\":true,\"gpus\":[]}"
#define TSG(id, pid, turns) \
	"{\"event\":\"tsg\",\"time_ns\":1000001,\"id\":" id ",\"gpu\":0,\"pid\":" pid \
	",\"uid\":0,\"comm\":\"p" pid "\",\"class\":\"be\",\"turns\":" turns "}"

static void two_take_turns(void **state)
{
	struct made m = begin();
	CLEANUP_JSON json_t *rows = NULL;

	line(&m, FIRST);
	line(&m, TSG("1", "100", "true"));
	line(&m, TSG("2", "200", "true"));
	/* The first turn and its wait began before the recording, and count only from its begin. */
	line(&m, "{\"event\":\"turns\",\"time_ns\":9000000,\"turns\":["
		 "[1,500000,2000000,0,\"slice\",900000],[2,2100000,2200000,0,\"drained\",null],"
		 "[1,2300000,4300000,0,\"slice\",200000],[2,4400000,4500000,0,null,null]]}");
	line(&m, "{\"event\":\"counters\",\"time_ns\":6000000,\"gpus\":[],\"launches\":[[1,7]],"
		 "\"open\":[[1,4600000,6000000,300000]],\"log_lost\":3}");
	gs_recorder_stop(m.r, 6000000);
	rows = sums(&m);
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(number(rows, 0, "pid"), 100);
	assert_int_equal(number(rows, 0, "gpu_time_us"), 1000 + 2000 + 1400);
	assert_int_equal(number(rows, 0, "turns"), 2);
	assert_int_equal(number(rows, 0, "waits"), 2);
	assert_int_equal(number(rows, 0, "wait_p50_us"), 200);
	assert_int_equal(number(rows, 0, "wait_p99_us"), 300);
	/* records lost before the recording began do not count */
	assert_int_equal(number(rows, 0, "dropped"), 0);
	assert_int_equal(number(rows, 1, "gpu_time_us"), 200);
	assert_int_equal(number(rows, 1, "turns"), 2);
	assert_true(is_null(rows, 1, "waits"));
	assert_true(is_null(rows, 1, "wait_p99_us"));
}

/*
 * A turn that is first reported as open, and later as ended, counts once. Turns after the
 * recording's end do not count.
 */
static void open_turns_count_once(void **state)
{
	struct made m = begin();
	CLEANUP_JSON json_t *rows = NULL;

	line(&m, FIRST);
	line(&m, TSG("1", "100", "true"));
	line(&m, "{\"event\":\"counters\",\"time_ns\":3000000,\"gpus\":[],\"launches\":[],"
		 "\"open\":[[1,2000000,3000000]],\"log_lost\":0}");
	gs_recorder_stop(m.r, 5000000);
	line(&m, "{\"event\":\"turns\",\"time_ns\":9000000,\"turns\":["
		 "[1,2000000,4000000,0,\"drained\"],[1,4500000,7000000,0,\"slice\"],"
		 "[1,8000000,9000000,0,\"slice\"]]}");
	line(&m, "{\"event\":\"missed\",\"lines\":4}");
	line(&m, "{\"event\":\"counters\",\"time_ns\":9000000,\"gpus\":[],\"launches\":[],"
		 "\"open\":[],\"log_lost\":2}");
	rows = sums(&m);
	assert_int_equal(number(rows, 0, "gpu_time_us"), 2000 + 500);
	assert_int_equal(number(rows, 0, "turns"), 1);
	assert_int_equal(number(rows, 0, "dropped"), 6);
}

/* Figures are unknown for hidden TSGs, and for a TSG that was alone since before the log began. */
static void unknown_is_null(void **state)
{
	struct made m = begin();
	CLEANUP_JSON json_t *rows = NULL;

	line(&m, FIRST);
	line(&m, TSG("1", "100", "false"));
	line(&m, TSG("2", "200", "true"));
	line(&m, TSG("3", "300", "true"));
	line(&m, "{\"event\":\"turns\",\"turns\":[[2,2000000,3000000,0,\"drained\"]]}");
	rows = sums(&m);
	assert_int_equal(json_array_size(rows), 3);
	for (size_t i = 0; i < 3; i++) {
		bool seen = number(rows, i, "pid") == 200;

		assert_int_equal(is_null(rows, i, "gpu_time_us"), !seen);
		assert_int_equal(is_null(rows, i, "turns"), !seen);
	}
}

/* The simulated GPU may run slower than real time; GPU time is in the GPU's own clock. */
static void dilated(void **state)
{
	struct made m = begin();
	CLEANUP_JSON json_t *rows = NULL;

	line(&m, "{\"event\":\"trace\",\"time_ns\":1000000,\"dilate\":4.0,\"gpus\":[]}");
	line(&m, TSG("1", "100", "true"));
	line(&m, "{\"event\":\"turns\",\"turns\":[[1,2000000,6000000,0,\"drained\",700000]]}");
	rows = sums(&m);
	assert_int_equal(number(rows, 0, "gpu_time_us"), 1000);
	assert_int_equal(number(rows, 0, "wait_p99_us"), 700);
}

/* A PID that is used again belongs to another process. */
static void pids_come_again(void **state)
{
	struct made m = begin();
	CLEANUP_JSON json_t *rows = NULL;

	line(&m, FIRST);
	line(&m, TSG("1", "100", "true"));
	line(&m, "{\"event\":\"tsg-free\",\"time_ns\":1500000,\"pid\":100,\"id\":1}");
	line(&m, "{\"event\":\"exit\",\"time_ns\":1600000,\"pid\":100}");
	line(&m, "{\"event\":\"turns\",\"turns\":[[1,1100000,1400000,0,\"drained\"]]}");
	line(&m, TSG("2", "100", "true"));
	line(&m, "{\"event\":\"turns\",\"turns\":[[2,2000000,2100000,0,\"drained\"]]}");
	rows = sums(&m);
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(number(rows, 0, "gpu_time_us"), 300);
	assert_int_equal(number(rows, 1, "gpu_time_us"), 100);
}

/* ---- export ---------------------------------------------------------------------------------- */

static FILE *a_recording(void)
{
	struct made m = begin();

	line(&m, FIRST);
	line(&m, TSG("1", "100", "true"));
	line(&m, "{\"event\":\"call\",\"time_ns\":1900000,\"pid\":100,\"id\":1,\"gpu\":0,"
		 "\"call\":\"set-timeslice\",\"call_ns\":300000,\"done\":true}");
	line(&m, "{\"event\":\"want\",\"time_ns\":1950000,\"pid\":100,\"id\":1,"
		 "\"want\":{\"timeslice_us\":20}}");
	line(&m, "{\"event\":\"turns\",\"turns\":[[1,2000000,6000000,0,\"slice\"]]}");
	return done(&m);
}

static void as_json(void **state)
{
	CLEANUP_FILE FILE *in = a_recording(), *out = tmpfile();
	CLEANUP_JSON json_t *all = NULL;
	json_t *event;
	struct gs_error err = { 0 };
	unsigned int turns = 0, calls = 0, wants = 0;
	size_t i;

	assert_int_equal(gs_trace_to_chrome(in, out, &err), 0);
	rewind(out);
	all = json_loadf(out, 0, NULL);
	assert_non_null(all);
	json_array_foreach(json_object_get(all, "traceEvents"), i, event) {
		const char *cat = json_string_value(json_object_get(event, "cat"));
		double dur = json_number_value(json_object_get(event, "dur"));
		const char *name = json_string_value(json_object_get(event, "name"));
		const char *ph = json_string_value(json_object_get(event, "ph"));

		if (cat && !strcmp(cat, "turn")) { /* one slice, with its begin and its end */
			assert_string_equal(name, "slice over");
			assert_string_equal(ph, "X");
			turns += dur == 4000;
		}
		if (cat && !strcmp(cat, "call")) {
			assert_string_equal(name, "call set-timeslice");
			assert_string_equal(ph, "X");
			calls += dur == 300;
		}
		wants += cat && !strcmp(cat, "want") &&
			 json_integer_value(json_object_get(json_object_get(event, "args"),
							    "want.timeslice_us")) == 20;
	}
	assert_int_equal(turns, 1);
	assert_int_equal(calls, 1);
	assert_int_equal(wants, 1);
}

/* The number of the event's note @key; -1: it has no such note. */
static json_int_t note(const json_t *event, const char *key)
{
	const json_t *n = json_object_get(json_object_get(event, "args"), key);

	return n ? json_integer_value(n) : -1;
}

static double length_us(const json_t *event)
{
	return json_number_value(json_object_get(event, "dur"));
}

/* All requests of the recording @in, as JSON's trace events. */
static json_t *requests_in(FILE *in)
{
	CLEANUP_FILE FILE *out = tmpfile();
	CLEANUP_JSON json_t *all = NULL;
	json_t *list = json_array(), *event;
	struct gs_error err = { 0 };
	size_t i;

	assert_int_equal(gs_trace_to_chrome(in, out, &err), 0);
	rewind(out);
	all = json_loadf(out, 0, NULL);
	json_array_foreach(json_object_get(all, "traceEvents"), i, event) {
		const char *cat = json_string_value(json_object_get(event, "cat"));

		if (cat && !strcmp(cat, "request"))
			json_array_append(list, event);
	}
	return list;
}

/*
 * Requests are slices of their process's track. One that began before the recording is cut, but
 * its notes are whole. One that overlaps with the one before begins after it. Nobody knows TSG 9.
 */
static void requests_have_their_parts(void **state)
{
	struct made m = begin();
	CLEANUP_FILE FILE *in = NULL;
	CLEANUP_JSON json_t *all = NULL;
	json_t *first, *second, *other;

	line(&m, FIRST);
	line(&m, TSG("1", "100", "true"));
	line(&m, TSG("2", "200", "true"));
	gs_recorder_stop(m.r, 6000000);
	line(&m, "{\"event\":\"requests\",\"time_ns\":9000000,\"requests\":["
		 "[1,500000,2000000,700000,600000,150000,50000],"
		 "[1,1900000,3000000,1000000,100000,0,0],[9,2000000,3000000,0,0,0,1000000],"
		 "[2,2000000,2500000,500000,0,0,0],[1,8000000,9000000,1000000,0,0,0]]}");
	in = done(&m);
	all = requests_in(in);
	assert_int_equal(json_array_size(all), 3);
	first = json_array_get(all, 0);
	second = json_array_get(all, 1);
	other = json_array_get(all, 2);
	assert_true(length_us(first) == 1000);
	assert_int_equal(note(first, "took_ns"), 1500000);
	assert_int_equal(note(first, "itself_ns"), 700000);
	assert_int_equal(note(first, "others_ns"), 600000);
	assert_int_equal(note(first, "neither_ns"), 150000);
	assert_int_equal(note(first, "unknown_ns"), 50000);
	assert_true(length_us(second) == 1000);
	assert_int_equal(note(second, "took_ns"), 1100000);
	assert_true(json_equal(json_object_get(first, "tid"), json_object_get(second, "tid")));
	assert_false(json_equal(json_object_get(first, "tid"), json_object_get(other, "tid")));
	assert_int_equal(json_integer_value(json_object_get(first, "pid")), 100);
	assert_int_equal(json_integer_value(json_object_get(other, "pid")), 200);
}

static void as_a_picture(void **state)
{
	static const struct gs_plot_opts whole = { .for_ns = 10 * NS_PER_MS },
					 late = { .from_ns = NS_PER_S, .for_ns = NS_PER_MS };
	CLEANUP_FILE FILE *in = a_recording(), *out = tmpfile();
	struct gs_error err = { 0 };
	char text[8192] = "";

	assert_int_equal(gs_trace_plot(in, &whole, out, &err), 0);
	rewind(out);
	assert_true(fread(text, 1, sizeof(text) - 1, out) > 0);
	assert_non_null(strstr(text, "p100 100 be  40 %%"));
	assert_non_null(strstr(text, "\n1.000000 0 1.000000 5.000000"));
	rewind(in);
	assert_int_equal(gs_trace_plot(in, &late, out, &err), -ENODATA);
}

#define ON_GPU(id, pid, gpu) \
	"{\"event\":\"tsg\",\"time_ns\":1000000,\"new\":true,\"id\":" id ",\"pid\":" pid \
	",\"gpu\":" gpu ",\"comm\":\"p" pid "\",\"class\":\"be\"}"

/*
 * The recording has GPU 1's TSG between two TSGs of GPU 0. Their turns end by the slice, for an
 * unknown reason, and because the TSG has drained.
 */
static void two_gpus_in_a_picture(void **state)
{
	static const struct gs_plot_opts whole = { .for_ns = 10 * NS_PER_MS, .png = true };
	CLEANUP_FILE FILE *in = NULL, *out = tmpfile();
	struct made m = begin();
	char text[8192] = "";

	line(&m, FIRST);
	line(&m, ON_GPU("1", "100", "0"));
	line(&m, ON_GPU("2", "200", "1"));
	line(&m, ON_GPU("3", "300", "0"));
	line(&m, "{\"event\":\"turns\",\"turns\":[[1,2000000,3000000,0,\"slice\"],"
		 "[2,3000000,4000000,0,\"\"],[3,4000000,5000000,0,\"drained\"]]}");
	in = done(&m);
	assert_int_equal(gs_trace_plot(in, &whole, out, NULL), 0);
	rewind(out);
	assert_true(fread(text, 1, sizeof(text) - 1, out) > 0);
	assert_non_null(strstr(text, "set terminal pngcairo"));
	assert_non_null(strstr(text, "\"GPU 0  p100 100 be  10 %%\" 0"));
	assert_non_null(strstr(text, "\"GPU 1  p200 200 be  10 %%\" 2"));
	assert_non_null(strstr(text, "\"GPU 0  p300 300 be  10 %%\" 1"));
	assert_non_null(strstr(text, "\n1.000000 0 1.000000 2.000000 -0.38 0.38 2056104\n"));
	assert_non_null(strstr(text, "\n2.000000 2 2.000000 3.000000 1.62 2.38 12895428\n"));
	assert_non_null(strstr(text, "\n3.000000 1 3.000000 4.000000 0.62 1.38 "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(bytes_are_as_documented),
		cmocka_unit_test(messages_of_any_length),
		cmocka_unit_test(events_come_back),
		cmocka_unit_test(damage_is_told),
		cmocka_unit_test(two_take_turns),
		cmocka_unit_test(open_turns_count_once),
		cmocka_unit_test(unknown_is_null),
		cmocka_unit_test(dilated),
		cmocka_unit_test(pids_come_again),
		cmocka_unit_test(as_json),
		cmocka_unit_test(requests_have_their_parts),
		cmocka_unit_test(as_a_picture),
		cmocka_unit_test(two_gpus_in_a_picture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
