/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - defines tracepoints gpusched:*, which fire if the driver has hooks
 *
 * They are for perf, ftrace and bpftrace.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gpusched

#if !defined(GPUSCHED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define GPUSCHED_TRACE_H

#include <linux/tracepoint.h>

/* clang-format off */
TRACE_EVENT(tsg_create,
	TP_PROTO(u32 client, u32 tsg, u32 pid, u32 tid),
	TP_ARGS(client, tsg, pid, tid),
	TP_STRUCT__entry(__field(u32, client) __field(u32, tsg) __field(u32, pid) __field(u32, tid)),
	TP_fast_assign(
		__entry->client = client;
		__entry->tsg = tsg;
		__entry->pid = pid;
		__entry->tid = tid;
	),
	TP_printk("client=%#x tsg=%#x pid=%u tid=%u",
		__entry->client, __entry->tsg, __entry->pid, __entry->tid)
);

TRACE_EVENT(tsg_schedule,
	TP_PROTO(u32 client, u32 tsg, bool enable, u32 verdict),
	TP_ARGS(client, tsg, enable, verdict),
	TP_STRUCT__entry(
		__field(u32, client) __field(u32, tsg) __field(bool, enable) __field(u32, verdict)
	),
	TP_fast_assign(
		__entry->client = client;
		__entry->tsg = tsg;
		__entry->enable = enable;
		__entry->verdict = verdict;
	),
	TP_printk("client=%#x tsg=%#x enable=%d verdict=%u",
		__entry->client, __entry->tsg, __entry->enable, __entry->verdict)
);

TRACE_EVENT(timeslice_set,
	TP_PROTO(u32 client, u32 tsg, u64 asked_us, u64 set_us),
	TP_ARGS(client, tsg, asked_us, set_us),
	TP_STRUCT__entry(
		__field(u32, client) __field(u32, tsg) __field(u64, asked_us) __field(u64, set_us)
	),
	TP_fast_assign(
		__entry->client = client;
		__entry->tsg = tsg;
		__entry->asked_us = asked_us;
		__entry->set_us = set_us;
	),
	TP_printk("client=%#x tsg=%#x asked_us=%llu set_us=%llu",
		__entry->client, __entry->tsg, __entry->asked_us, __entry->set_us)
);

TRACE_EVENT(work_token,
	TP_PROTO(u32 client, u32 tsg, u32 channel, u32 token),
	TP_ARGS(client, tsg, channel, token),
	TP_STRUCT__entry(
		__field(u32, client) __field(u32, tsg) __field(u32, channel) __field(u32, token)
	),
	TP_fast_assign(
		__entry->client = client;
		__entry->tsg = tsg;
		__entry->channel = channel;
		__entry->token = token;
	),
	TP_printk("client=%#x tsg=%#x channel=%#x token=%#x",
		__entry->client, __entry->tsg, __entry->channel, __entry->token)
);

TRACE_EVENT(tsg_destroy,
	TP_PROTO(u32 client, u32 tsg),
	TP_ARGS(client, tsg),
	TP_STRUCT__entry(__field(u32, client) __field(u32, tsg)),
	TP_fast_assign(__entry->client = client; __entry->tsg = tsg;),
	TP_printk("client=%#x tsg=%#x", __entry->client, __entry->tsg)
);

/* Fires for a program's own PREEMPT, and for the other controls that the preempt hook sees. */
TRACE_EVENT(preempt,
	TP_PROTO(u32 client, u32 object, u32 cmd),
	TP_ARGS(client, object, cmd),
	TP_STRUCT__entry(__field(u32, client) __field(u32, object) __field(u32, cmd)),
	TP_fast_assign(__entry->client = client; __entry->object = object; __entry->cmd = cmd;),
	TP_printk("client=%#x object=%#x cmd=%#x", __entry->client, __entry->object, __entry->cmd)
);
/* clang-format on */

#endif /* GPUSCHED_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
