// SPDX-License-Identifier: MIT
#include "trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "basic/cleanup.h"

#define PACKET_MAX (1u << 20)
#define PACKET_TAG (1u << 3 | GS_PB_BYTES)

struct track {
	UT_hash_handle hh;
	struct gs_trace_track is;
	/* start event of the track's open slice; NULL: none is open */
	struct gs_trace_event *begun;
};

struct reader {
	struct track *tracks;
	gs_trace_item_fn item;
	gs_trace_track_fn track;
	void *user;
};

static struct track *find(const struct reader *r, uint64_t uuid)
{
	struct track *t = NULL;

	HASH_FIND(hh, r->tracks, &uuid, sizeof(uuid), t);
	return t;
}

static const struct gs_trace_track *process_of(const struct reader *r, const struct track *t)
{
	for (unsigned int depth = 0; t && depth < 8; depth++) {
		if (t->is.pid)
			return &t->is;
		t = t->is.parent ? find(r, t->is.parent) : NULL;
	}
	return NULL;
}

static int take_track(struct reader *r, const struct gs_trace_track *track)
{
	struct track *t = find(r, track->uuid);

	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return -ENOMEM;
		t->is.uuid = track->uuid;
		HASH_ADD(hh, r->tracks, is.uuid, sizeof(t->is.uuid), t);
	}
	t->is = *track;
	if (r->track)
		r->track(&t->is, process_of(r, t), r->user);
	return 0;
}

static int begin(struct track *t, const struct gs_trace_event *ev)
{
	if (!t->begun)
		t->begun = malloc(sizeof(*t->begun));
	if (!t->begun)
		return -ENOMEM;
	*t->begun = *ev;
	return 0;
}

static int take_event(struct reader *r, const struct gs_trace_packet *p)
{
	const struct gs_trace_event *ev = &p->event;
	struct track *t = find(r, ev->track);
	CLEANUP_FREE struct gs_trace_event *begun = NULL;
	struct gs_trace_item item = { .event = ev, .end_ns = ev->ns, .dropped = p->dropped };

	if (!t)
		return 0;
	if (ev->type == GS_TRACE_BEGIN)
		return begin(t, ev);
	if (ev->type == GS_TRACE_END) {
		begun = TAKE_PTR(t->begun);
		if (!begun)
			return 0;
		item.event = begun;
	}
	item.track = &t->is;
	item.process = process_of(r, t);
	return r->item(&item, r->user);
}

static int take(struct reader *r, const uint8_t *data, size_t n)
{
	struct gs_trace_packet p;

	if (gs_packet_parse(data, n, &p))
		return -EBADMSG;
	if (p.kind == GS_TRACE_TRACK)
		return take_track(r, &p.track);
	return p.kind == GS_TRACE_EVENT ? take_event(r, &p) : 0;
}

/* Reads the length of the next packet. 1; 0: at the end; -EBADMSG; -EIO. */
static int next_length(FILE *in, size_t *ret)
{
	int c = getc(in);
	size_t n = 0;

	if (c == EOF)
		return ferror(in) ? -EIO : 0;
	if (c != PACKET_TAG)
		return -EBADMSG;
	for (unsigned int shift = 0; shift < 28; shift += 7) {
		c = getc(in);
		if (c == EOF)
			return -EBADMSG;
		n |= (size_t)(c & 0x7f) << shift;
		if (c & 0x80)
			continue;
		*ret = n;
		return n <= PACKET_MAX ? 1 : -EBADMSG;
	}
	return -EBADMSG;
}

static int read_all(struct reader *r, FILE *in, uint8_t *buffer, uint64_t *ret_packets)
{
	size_t n = 0;
	int code;

	while ((code = next_length(in, &n)) > 0) {
		if (fread(buffer, 1, n, in) != n)
			return -EBADMSG;
		code = take(r, buffer, n);
		if (code)
			return code;
		++*ret_packets;
	}
	return code;
}

int gs_trace_read(FILE *in, gs_trace_item_fn item, gs_trace_track_fn track, void *user,
		  struct gs_error *err)
{
	struct reader r = { .item = item, .track = track, .user = user };
	CLEANUP_FREE uint8_t *buffer = malloc(PACKET_MAX);
	uint64_t packets = 0;
	struct track *t, *next;
	int code = buffer ? read_all(&r, in, buffer, &packets) : -ENOMEM;

	HASH_ITER(hh, r.tracks, t, next) {
		HASH_DEL(r.tracks, t);
		free(t->begun);
		free(t);
	}
	if (!code && !packets)
		return gs_fail(err, -EBADMSG, "it is empty");
	if (code == -EBADMSG && packets)
		return gs_fail(err, code, "it is cut off or damaged after %llu packets",
			       (unsigned long long)packets);
	if (code == -EBADMSG)
		return gs_fail(err, code, "it is no recording");
	return code;
}
