/* SPDX-License-Identifier: MIT */
/* test_top.c - check the screen of top for given figures, cell by cell */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "top/cell.h"
#include "top/layout.h"

#define TSG(id, pid, comm, class, held, waited, more) \
	"{\"id\":" #id ",\"pid\":" #pid ",\"comm\":\"" comm \
	"\",\"class\":" class ",\"held_pct\":" held ",\"waited_pct\":" waited \
			      ",\"turns_per_s\":200.0," \
			      "\"mean_turn_us\":4700.0,\"slice_ended_pct\":100.0" more "}"

static const char two[] =
	"[{\"gpu\":0,\"reason\":null,\"held_pct\":90.0,\"lost_pct\":5.0,\"open_pct\":5.0,"
	"\"switches_per_s\":398.2,\"tsgs\":[" TSG(1, 100, "train", "\"be\"", "60.0", "6.5", ",\"waiting\":true") "," TSG(
		2, 200, "serve", "\"lc\"", "20.0", "null",
		",\"reason\":\"its requests are not seen\"") "," TSG(3, 100, "train", "\"be\"",
								     "10.0", "1.5",
								     ",\"suspended_by\":"
								     "\"person\"") "," TSG(4, 300,
											   "ot"
											   "he"
											   "r",
											   "\""
											   "be"
											   "\"",
											   "nu"
											   "l"
											   "l",
											   "nu"
											   "l"
											   "l",
											   ","
											   "\""
											   "ov"
											   "er"
											   "ru"
											   "le"
											   "d"
											   "\""
											   ":t"
											   "ru"
											   "e") "]}"
												",{"
												"\""
												"gp"
												"u"
												"\""
												":1"
												","
												"\""
												"re"
												"as"
												"on"
												"\""
												":"
												"\""
												"MI"
												"G "
												"hi"
												"de"
												"s "
												"it"
												"\""
												","
												"\""
												"he"
												"ld"
												"_p"
												"ct"
												"\""
												":"
												"nu"
												"ll"
												","
												"\""
												"ts"
												"gs"
												"\""
												":["
												"]}"
												"]";

struct screen {
	struct gs_top t;
	json_t *gpus, *rows;
	struct gs_grid g;
};

static struct screen begin(unsigned int rows, unsigned int cols)
{
	struct screen s = { .t = { .clock = "12:00:00", .policy = "lcbe" } };

	s.gpus = json_loads(two, 0, NULL);
	assert_non_null(s.gpus);
	s.t.gpus = s.gpus;
	assert_int_equal(gs_grid_new(rows, cols, &s.g), 0);
	return s;
}

static void draw(struct screen *s)
{
	s->rows = gs_top_layout_rows(&s->t);
	gs_top_layout_draw(&s->t, s->rows, &s->g);
}

static void end(struct screen *s)
{
	json_decref(s->gpus);
	json_decref(s->rows);
	gs_grid_free(&s->g);
}

static char *printed(const struct screen *s)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	gs_grid_print(&s->g, f);
	fclose(f);
	return text;
}

static enum gs_style style(const struct screen *s, unsigned int row, unsigned int col)
{
	return s->g.cells[row * s->g.cols + col].style;
}

/* Checks the whole screen on a terminal of 80 by 24. */
static void whole_screen(void **state)
{
	struct screen s = begin(24, 80);
	CLEANUP_FREE char *text = NULL;

	s.t.has_cursor = true;
	draw(&s);
	text = printed(&s);
	assert_string_equal(
		text,
		"top 12:00:00  policy lcbe  4 TSGs by used: 1 waiting, 1 paused\n"
		"GPU 0 [BBBBBBBBBBBBBBBBBBBBBBBBBBBLLLLLLL%%..] had 90, switching 5, free 5 %\n"
		"GPU 1 MIG hides it\n"
		"      PID NAME     CLASS    HAD GPU  WAITED   MEMORY STATE\n"
		"a     100 train    be          60 %   6.5 %        - waits\n"
		"b     200 serve    lc          20 %       -        - runs\n"
		"c     100 train    be          10 %   1.5 %        - paused by a person\n"
		"d     300 other    be             -       -        - runs\n"
		"(too narrow for USER)\n"
		"\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
		"q quit  s sort  w wide  g group  / filter  c class  z pause  r resume  ? help\n");
	assert_int_equal(style(&s, 4, 0), GS_STYLE_CHOSEN);
	assert_int_equal(style(&s, 5, 19), GS_STYLE_LC);
	assert_int_equal(style(&s, 6, 53), GS_STYLE_BAD);
	end(&s);
}

/* No word of a finding is lost on a narrow screen. */
static void findings_are_wrapped(void **state)
{
	static const char one[] = "[{\"level\":\"wrong\",\"text\":\"train and serve wait for each "
				  "other, and 14 % of the "
				  "time of GPU 0 goes into 1200 switches a second\"}]";
	struct screen s = begin(24, 80);
	json_t *findings = json_loads(one, 0, NULL);
	CLEANUP_FREE char *text = NULL;
	unsigned int without = gs_top_layout_height(&s.t, NULL, 80),
		     wide = gs_top_layout_height(&s.t, NULL, 200);

	s.t.findings = findings;
	assert_int_equal(gs_top_layout_height(&s.t, NULL, 80), without + 2);
	assert_int_equal(gs_top_layout_height(&s.t, NULL, 200), wide + 1);
	draw(&s);
	text = printed(&s);
	assert_non_null(strstr(
		text, "\nwrong: train and serve wait for each other, and 14 % of the time of GPU 0 "
		      "goes\n       into 1200 switches a second\n      PID NAME"));
	json_decref(findings);
	end(&s);
}

/* A suspension does not wait until its program has left the GPU: the screens say so. */
static void paused_programs_may_be_leaving(void **state)
{
	static const char paused[] = "{\"suspended_by\":\"policy\",\"turns\":{\"loaded\":%s}}";
	static const char *const cells[][2] = { { "true", "leaving the GPU" },
						{ "false", "paused by the policy" },
						{ "null", "paused by the policy" } };

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		CLEANUP_FREE char *cell = NULL;
		json_t *row;
		char text[80];

		snprintf(text, sizeof(text), paused, cells[i][0]);
		row = json_loads(text, 0, NULL);
		assert_non_null(row);
		cell = gs_cell_state(row, NULL);
		assert_string_equal(cell, cells[i][1]);
		json_decref(row);
	}
}

static void wide_has_more(void **state)
{
	struct screen s = begin(10, 120);
	CLEANUP_FREE char *text = NULL;
	json_t *tsg = json_array_get(json_object_get(json_array_get(s.gpus, 0), "tsgs"), 0);

	json_object_set_new(tsg, "memory_bytes", json_integer(31744ll << 20));
	s.t.wide = true;
	draw(&s);
	text = printed(&s);
	assert_non_null(strstr(text, "TURNS/S    TURN WHOLE SLICES   MEMORY STATE"));
	assert_non_null(strstr(text, "200  4.7 ms        100 %   31 GiB waits"));
	assert_non_null(strstr(text, "       - ")); /* this figure is not known for the others */
	end(&s);
}

static void identity_where_there_is_room(void **state)
{
	struct screen narrow = begin(10, 127), wide = begin(10, 160);
	CLEANUP_FREE char *text = NULL, *less = NULL;
	json_t *tsg = json_array_get(json_object_get(json_array_get(wide.gpus, 0), "tsgs"), 0);

	json_object_set_new(tsg, "user", json_string("alice"));
	json_object_set_new(tsg, "cgroup", json_string("/a/very/long/path/of/a/cgroup/the.scope"));
	json_object_set_new(tsg, "command", json_string("python3 train.py --epochs 3"));
	narrow.t.wide = wide.t.wide = true;
	draw(&narrow);
	draw(&wide);
	less = printed(&narrow);
	text = printed(&wide);
	assert_null(strstr(less, "CGROUP"));
	assert_non_null(strstr(text, "STATE                CGROUP, POD              COMMAND"));
	assert_non_null(strstr(text, "alice    train"));
	assert_non_null(strstr(text, "waits                /a/very/lon.../the.scope python3"));
	end(&narrow);
	end(&wide);
}

static void help_explains_the_keys(void **state)
{
	static const char *const symbols[] = { "(B)",        "(L)",       "(#)",
					       "(%)",        "(.)",       "row's letter",
					       "+ from row", "# for one", ". for nobody" };
	struct screen s = begin(24, 80);
	CLEANUP_FREE char *text = NULL;

	s.t.help = true;
	draw(&s);
	text = printed(&s);
	assert_non_null(strstr(text, "pause the chosen row"));
	/* each symbol of the bar and of the strip */
	for (size_t i = 0; i < GS_COUNT(symbols); i++)
		assert_non_null(strstr(text, symbols[i]));
	assert_null(strstr(text, "TURNS/S"));
	end(&s);
}

/* Checks the rows' ids, in order. */
static void order(struct screen *s, const char *want)
{
	CLEANUP_JSON json_t *rows = gs_top_layout_rows(&s->t);
	char got[64] = "";
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		sprintf(got + strlen(got), "%lld ",
			(long long)json_integer_value(json_object_get(row, "id")));
	assert_string_equal(got, want);
}

static void set_held(struct screen *s, size_t i, double held)
{
	json_t *tsgs = json_object_get(json_array_get(s->gpus, 0), "tsgs");

	json_object_set_new(json_array_get(tsgs, i), "held_pct", json_real(held));
}

/* Two programs with similar figures keep their places when the screen is drawn again. */
static void rows_do_not_jump(void **state)
{
	static const double helds[][2] = { { 49.9, 49.2 }, { 49.1, 49.8 }, { 48.5, 50.3 } };
	struct screen s = begin(24, 80);

	for (size_t i = 0; i < 3; i++) {
		json_t *rows;

		set_held(&s, 0, helds[i][0]);
		set_held(&s, 1, helds[i][1]);
		rows = gs_top_layout_rows(&s.t);
		assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 0), "id")),
				 1);
		json_decref(s.rows);
		s.t.before = s.rows = rows;
	}
	set_held(&s, 1, 60);
	order(&s, "2 1 3 4 ");
	end(&s);
}

static void sorted_and_filtered(void **state)
{
	struct screen s = begin(24, 80);

	order(&s, "1 2 3 4 ");
	s.t.sort = GS_SORT_WAITED;
	order(&s, "1 3 2 4 ");
	s.t.sort = GS_SORT_PID;
	order(&s, "1 3 2 4 ");
	strcpy(s.t.filter, "tra");
	order(&s, "1 3 ");
	strcpy(s.t.filter, "lc");
	order(&s, "2 ");
	strcpy(s.t.filter, "300");
	order(&s, "4 ");
	strcpy(s.t.filter, "nobody");
	order(&s, "");
	end(&s);
}

static void processes(void **state)
{
	struct screen s = begin(24, 80);
	CLEANUP_FREE char *text = NULL;

	s.t.by_process = true;
	draw(&s);
	text = printed(&s);
	assert_non_null(strstr(text, "3 programs by used"));
	assert_non_null(
		strstr(text, "a     100 train    be          70 %     8 %        - paused"));
	/* unknown figures stay unknown */
	assert_non_null(strstr(text, "c     300 other    be             -       -        - runs"));
	end(&s);
}

/*
 * With a window of any size and the cursor anywhere, nothing outside the screen is written (the
 * sanitizer checks).
 */
static void any_size(void **state)
{
	for (unsigned int rows = 1; rows < 14; rows++) {
		for (unsigned int cols = 1; cols < 130; cols += 7) {
			struct screen s = begin(rows, cols);

			s.t.has_cursor = true;
			s.t.chosen = 3;
			draw(&s);
			end(&s);
		}
	}
}

/* If there is room for only one row, the chosen row is shown. */
static void scrolls(void **state)
{
	struct screen s = begin(8, 80);
	CLEANUP_FREE char *text = NULL;

	s.t.has_cursor = true;
	s.t.chosen = 3;
	draw(&s);
	text = printed(&s);
	assert_null(strstr(text, "\na     100"));
	assert_non_null(strstr(text, "\nd     300"));
	end(&s);
}

/* A name cannot move the cursor, and a character of two columns shifts no other cell. */
static void hostile_names(void **state)
{
	struct gs_grid g;
	char *text = NULL;
	size_t n = 0;
	FILE *f;

	setlocale(LC_CTYPE, "C.UTF-8");
	assert_int_equal(gs_grid_new(1, 20, &g), 0);
	gs_grid_put(&g, 0, 0, GS_STYLE_PLAIN, "%s",
		    "a\033[2Jb\xff"
		    "c\xe4\xb8\xad"
		    "d\xc3\xa4");
	f = open_memstream(&text, &n);
	gs_grid_print(&g, f);
	fclose(f);
	assert_string_equal(text, "a?[2Jb?c\xe4\xb8\xad"
				  "d\xc3\xa4\n");
	/* the wide character has two cells, and at the edge none */
	assert_int_equal(g.cells[9].ch, 0);
	assert_int_equal(g.cells[10].ch, L'd');
	gs_grid_put(&g, 0, 19, GS_STYLE_PLAIN, "\xe4\xb8\xad");
	assert_int_equal(g.cells[19].ch, L'?');
	free(text);
	gs_grid_free(&g);
}

/* ---- the strip ------------------------------------------------------------------------------- */

static void feed(struct gs_strip *s, const char *text)
{
	CLEANUP_JSON json_t *o = json_loads(text, 0, NULL);

	assert_non_null(o);
	gs_strip_line(s, o);
}

static void strip_of_a_second(void **state)
{
	struct gs_strip *s = NULL;
	uint64_t ids[10];

	assert_int_equal(gs_strip_new(&s), 0);
	assert_int_equal(gs_strip_read(s, 0, ids, 10), -ENODATA);
	feed(s, "{\"event\":\"tsg\",\"id\":1,\"gpu\":0}");
	feed(s, "{\"event\":\"tsg\",\"id\":2,\"gpu\":1}");
	/* from 5.0 to 6.0 s: 200 ms of the first TSG, 300 ms of none, the rest under way */
	feed(s, "{\"event\":\"turns\",\"turns\":[[1,4000000000,5200000000,0,\"slice\"],"
		"[2,5000000000,5900000000,0,null],[9,5000000000,5900000000,0,null]]}");
	feed(s, "{\"event\":\"counters\",\"open\":[[1,5500000000,6000000000]]}");
	assert_int_equal(gs_strip_read(s, 0, ids, 10), 0);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(ids[i], i < 2 || i >= 5 ? 1 : 0);
	assert_int_equal(gs_strip_read(s, 1, ids, 10), 0);
	assert_int_equal(ids[0], 2);
	assert_int_equal(ids[9], 0);
	gs_strip_free(s);
}

/*
 * A TSG with a tenth of the time gets a tenth of the cells, although it never has most of one
 * cell's time.
 */
static void strip_in_proportion(void **state)
{
	struct gs_strip *s = NULL;
	unsigned int shown = 0;
	uint64_t ids[50];

	assert_int_equal(gs_strip_new(&s), 0);
	feed(s, "{\"event\":\"tsg\",\"id\":1,\"gpu\":0}");
	feed(s, "{\"event\":\"tsg\",\"id\":2,\"gpu\":0}");
	for (unsigned long i = 0; i < 200; i++) {
		unsigned long at = 1000000000 + i * 5000000;
		char text[200];

		snprintf(text, sizeof(text),
			 "{\"event\":\"turns\",\"turns\":[[1,%lu,%lu,0,null],[2,%lu,%lu,0,null]]}",
			 at, at + 4500000, at + 4500000, at + 5000000);
		feed(s, text);
	}
	assert_int_equal(gs_strip_read(s, 0, ids, 50), 0);
	for (size_t i = 0; i < 50; i++)
		shown += ids[i] == 2;
	assert_in_range(shown, 4, 6);
	gs_strip_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_screen),
		cmocka_unit_test(paused_programs_may_be_leaving),
		cmocka_unit_test(wide_has_more),
		cmocka_unit_test(identity_where_there_is_room),
		cmocka_unit_test(help_explains_the_keys),
		cmocka_unit_test(findings_are_wrapped),
		cmocka_unit_test(rows_do_not_jump),
		cmocka_unit_test(sorted_and_filtered),
		cmocka_unit_test(processes),
		cmocka_unit_test(any_size),
		cmocka_unit_test(scrolls),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(strip_of_a_second),
		cmocka_unit_test(strip_in_proportion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
