// SPDX-License-Identifier: MIT
#include "requests/trace_lines.h"

#include <time.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "basic/json_sheet.h"
#include "requests/requests.h"
#include "figures/gpu_time.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts = { 0 };

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

bool gs_trace_sees_turns(const struct gs_view *v, uid_t owner)
{
	unsigned int sees = gs_view_process(v, owner);

	return sees & GS_SEES_WHO && sees & GS_SEES_TIMES;
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* Returns null for 0, which means unknown. */
static json_t *known(uint64_t n)
{
	return n ? number(n) : json_null();
}

/* ---- lines ------------------------------------------------------------------------------------- */

static json_t *line(const char *event)
{
	json_t *o = json_object();

	json_object_set_new(o, "event", json_string(event));
	json_object_set_new(o, "time_ns", number(gs_now_ns()));
	return o;
}

json_t *gs_trace_first_line(struct gs_requests *rs, const struct gs_view *v)
{
	json_t *o = line("trace");

	json_object_set_new(o, "realtime_ns", number(clock_ns(CLOCK_REALTIME)));
	json_object_set_new(o, "boottime_ns", number(clock_ns(CLOCK_BOOTTIME)));
	json_object_set_new(o, "dilate", json_real(gs_env()->dilate));
	json_object_set_new(o, "others", json_boolean(v->others & GS_SEES_TIMES));
	json_object_set_new(o, "gpus", gs_gpu_time_gpus_json(rs->figures));
	return o;
}

json_t *gs_trace_tsg_line(struct gs_requests *rs, uint64_t id, const struct gs_traced_what *what,
			  bool turns)
{
	const char *class = what->class_id ? gs_class_name(rs->hub->classes, what->class_id) : NULL;
	json_t *o = line("tsg");

	json_object_set_new(o, "id", number(id));
	json_object_set_new(o, "gpu", number(what->gpu));
	json_object_set_new(o, "pid", number(what->pid));
	json_object_set_new(o, "uid", number(what->uid));
	json_object_set_new(o, "comm", gs_json_text(what->comm));
	gs_json_put_text(o, "class", class);
	json_object_set_new(o, "turns", json_boolean(turns));
	return o;
}

json_t *gs_trace_turn_json(const struct gs_turn *turn)
{
	static const char *const ends[GS_TURN_ENDS] = { NULL, "slice", "drained" };

	return json_pack("[I, I, I, I, s?, o]", (json_int_t)turn->id, (json_int_t)turn->start_ns,
			 (json_int_t)turn->end_ns, (json_int_t)turn->contended_ns, ends[turn->end],
			 known(turn->waited_ns));
}

json_t *gs_trace_turns_line(json_t *take_turns)
{
	json_t *o = line("turns");

	json_object_set_new(o, "turns", take_turns);
	return o;
}

json_t *gs_trace_request_json(const struct gs_request_split *split)
{
	return json_pack("[I, I, I, I, I, I, I]", (json_int_t)split->id,
			 (json_int_t)split->begin_ns, (json_int_t)split->end_ns,
			 (json_int_t)split->itself_ns, (json_int_t)split->others_ns,
			 (json_int_t)split->neither_ns, (json_int_t)split->unknown_ns);
}

json_t *gs_trace_requests_line(json_t *take_requests)
{
	json_t *o = line("requests");

	json_object_set_new(o, "requests", take_requests);
	return o;
}

json_t *gs_trace_open_turn_json(const struct gs_turn *turn)
{
	return json_pack("[I, I, I, o]", (json_int_t)turn->id, (json_int_t)turn->start_ns,
			 (json_int_t)turn->end_ns, known(turn->waited_ns));
}

json_t *gs_trace_counters_line(struct gs_requests *rs)
{
	json_t *o = line("counters");

	json_object_set_new(o, "gpus", gs_gpu_time_gpus_json(rs->figures));
	json_object_set_new(o, "log_lost",
			    number(gs_account_counter(rs->hub->account, GS_ACC_LOST)));
	return o;
}
