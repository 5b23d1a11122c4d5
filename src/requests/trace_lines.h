/* SPDX-License-Identifier: MIT */
/*
 * trace_lines.h - formats the lines of a recording as JSON, for a viewer with given rights
 */
#ifndef GPUSCHED_REQUESTS_TRACE_LINES_H
#define GPUSCHED_REQUESTS_TRACE_LINES_H

#include <jansson.h>

#include "account/account.h"
#include "requests/view.h"

struct gs_request_split;
struct gs_requests;

/* The facts about a compute TSG in the line that was last sent about it. */
struct gs_traced_what {
	uint32_t pid, uid, gpu, class_id;
	char comm[GPUSCHED_COMM_LEN];
};

/* True if the viewer may see the turns of TSGs of user @owner. */
bool gs_trace_sees_turns(const struct gs_view *v, uid_t owner);

json_t *gs_trace_first_line(struct gs_requests *rs, const struct gs_view *v);
/* @turns: the viewer may see the turns of this TSG. */
json_t *gs_trace_tsg_line(struct gs_requests *rs, uint64_t id, const struct gs_traced_what *what,
			  bool turns);
json_t *gs_trace_turns_line(json_t *take_turns);
json_t *gs_trace_turn_json(const struct gs_turn *turn);
json_t *gs_trace_requests_line(json_t *take_requests);
json_t *gs_trace_request_json(const struct gs_request_split *split);
/* The line of counters; the caller adds the open turns and the launches. */
json_t *gs_trace_counters_line(struct gs_requests *rs);
json_t *gs_trace_open_turn_json(const struct gs_turn *turn);

#endif /* GPUSCHED_REQUESTS_TRACE_LINES_H */
