// SPDX-License-Identifier: MIT
/*
 * exit_log.c - fills exit records, and reads policies' log lines
 */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "policy/priv.h"

_Static_assert((int)GS_POLICY_EXIT_STALLED == (int)GPUSCHED_EXIT_STALLED &&
		       (int)GS_POLICY_EXIT_SWITCHED == (int)GPUSCHED_EXIT_SWITCHED,
	       "policies see the same numbers");

const char *gs_policy_exit_name(enum gs_policy_exit_kind kind)
{
	static const char *const names[] = {
		[GS_POLICY_EXIT_NONE] = "none",         [GS_POLICY_EXIT_STOPPED] = "stopped",
		[GS_POLICY_EXIT_SWITCHED] = "switched", [GS_POLICY_EXIT_VERIFIER] = "verifier",
		[GS_POLICY_EXIT_REFUSED] = "refused",   [GS_POLICY_EXIT_ERROR] = "error",
		[GS_POLICY_EXIT_STALLED] = "stalled",
	};

	return (size_t)kind < GS_COUNT(names) ? names[kind] : "unknown";
}

int gs_exit_fill(struct gs_policy_exit *x, struct gs_error *err, enum gs_policy_exit_kind kind,
		 int code, const char *policy, char *dump, const char *format, ...)
{
	char message[256];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (x && x->kind == GS_POLICY_EXIT_NONE) {
		x->kind = kind;
		x->code = code;
		x->ns = gs_now_ns();
		snprintf(x->policy, sizeof(x->policy), "%s", policy ? policy : "");
		snprintf(x->message, sizeof(x->message), "%s", message);
		free(x->dump);
		x->dump = TAKE_PTR(dump);
	}
	free(dump);
	return gs_fail(err, code, "%s", message);
}

static bool log_line(const struct gs_loaded *l, uint64_t seq, struct gs_plog *ret)
{
	uint32_t at = (uint32_t)(seq % GS_PLOG_LINES);

	return bpf_map_lookup_elem(l->log_fd, &at, ret) == 0 && ret->seq == seq;
}

static void print_line(FILE *f, const struct gs_plog *line)
{
	fprintf(f, "%.*s %" PRIu64, GPUSCHED_TEXT_LEN, line->text.s, (uint64_t)line->value);
}

char *gs_loaded_log_line(const struct gs_loaded *l, uint64_t seq)
{
	struct gs_plog line;
	char *text = NULL;
	size_t size;
	FILE *f;

	f = seq && log_line(l, seq, &line) ? open_memstream(&text, &size) : NULL;
	if (!f)
		return NULL;
	print_line(f, &line);
	fclose(f);
	return text;
}

char *gs_loaded_log_text(const struct gs_loaded *l)
{
	uint64_t last = l->state ? __atomic_load_n(&l->state->log_seq, __ATOMIC_ACQUIRE) : 0;
	uint64_t seq = last > GS_PLOG_LINES ? last - GS_PLOG_LINES : 0;
	char *text = NULL;
	size_t size;
	FILE *f;

	f = last ? open_memstream(&text, &size) : NULL;
	if (!f)
		return NULL;
	while (seq++ < last) {
		struct gs_plog line;

		if (!log_line(l, seq, &line))
			continue;
		print_line(f, &line);
		fputc('\n', f);
	}
	fclose(f);
	return text;
}

void gs_loaded_logs(const struct gs_loaded *l, const char *name, const char *when,
		    uint64_t *inout_seen)
{
	uint64_t last = l->state ? __atomic_load_n(&l->state->log_seq, __ATOMIC_ACQUIRE) : 0;

	if (last - *inout_seen > GS_PLOG_LINES)
		*inout_seen = last - GS_PLOG_LINES;
	while (*inout_seen < last) {
		uint64_t seq = ++*inout_seen;
		struct gs_plog line;

		if (!log_line(l, seq, &line))
			continue;
		gs_log(LOG_INFO, "policy %s%s: %.*s %" PRIu64, name, when, GPUSCHED_TEXT_LEN,
		       line.text.s, (uint64_t)line.value);
	}
}
