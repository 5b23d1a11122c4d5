// SPDX-License-Identifier: MIT
#include "nri/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_HEAD 8
#define MESSAGE_HEAD 10
#define FIRST_ROOM 4096
#define OUT_MAX (1u << 20) /* most unsent bytes; an answer has only some ten bytes */

static uint32_t number_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_number(uint8_t *at, uint32_t n)
{
	at[0] = (uint8_t)(n >> 24);
	at[1] = (uint8_t)(n >> 16);
	at[2] = (uint8_t)(n >> 8);
	at[3] = (uint8_t)n;
}

/* Appends bytes. The buffer grows only as bytes arrive, not by the length that a header claims. */
static int append(struct gs_nri_bytes *b, const void *data, size_t n)
{
	if (b->n + n > b->room) {
		size_t room = b->room ? 2 * b->room : FIRST_ROOM;
		uint8_t *grown;

		while (room < b->n + n)
			room *= 2;
		grown = realloc(b->at, room);
		if (!grown)
			return -ENOMEM;
		b->at = grown;
		b->room = room;
	}
	if (n)
		memcpy(b->at + b->n, data, n);
	b->n += n;
	return 0;
}

static void drop_front(struct gs_nri_bytes *b, size_t n)
{
	b->n -= n;
	if (n && b->n)
		memmove(b->at, b->at + n, b->n);
	if (!b->n && b->room > 16 * FIRST_ROOM) { /* large messages are rare: free the memory */
		free(b->at);
		*b = (struct gs_nri_bytes){ 0 };
	}
}

void gs_nri_frames_free(struct gs_nri_frames *f)
{
	for (size_t i = 0; i < 2; i++)
		free(f->in[i].at);
	free(f->out.at);
	*f = (struct gs_nri_frames){ 0 };
}

/* ---- in -------------------------------------------------------------------------------------- */

/* Passes complete messages to @fn. */
static int take_messages(struct gs_nri_frames *f, enum gs_nri_connection connection,
			 gs_nri_message_fn fn, void *user)
{
	struct gs_nri_bytes *b = &f->in[connection - GS_NRI_PLUGIN];
	size_t at = 0;
	int r = 0;

	while (!r && b->n - at >= MESSAGE_HEAD) {
		const uint8_t *head = b->at + at;
		struct gs_nri_message m = { connection, number_at(head + 4), head[8],
					    head + MESSAGE_HEAD, number_at(head) };

		if (m.n > GS_NRI_MESSAGE_MAX)
			return -EPROTO;
		if (b->n - at - MESSAGE_HEAD < m.n)
			break;
		r = fn(&m, user);
		at += MESSAGE_HEAD + m.n;
	}
	drop_front(b, at);
	return r;
}

/* Takes the missing bytes of a piece's header from @data. Returns how many it took. */
static size_t take_head(struct gs_nri_frames *f, const uint8_t *data, size_t n)
{
	size_t part = PIECE_HEAD - f->nhead < n ? PIECE_HEAD - f->nhead : n;

	memcpy(f->head + f->nhead, data, part);
	f->nhead += part;
	if (f->nhead == PIECE_HEAD)
		f->left = number_at(f->head + 4);
	return part;
}

int gs_nri_frames_in(struct gs_nri_frames *f, const uint8_t *data, size_t n, gs_nri_message_fn fn,
		     void *user)
{
	while (n) {
		size_t part;
		uint32_t id;
		int r = 0;

		if (f->nhead < PIECE_HEAD) {
			part = take_head(f, data, n);
			data += part;
			n -= part;
			if (f->nhead < PIECE_HEAD)
				break;
			if (f->left > MESSAGE_HEAD + GS_NRI_MESSAGE_MAX)
				return -EPROTO;
		}
		part = f->left < n ? f->left : n;
		id = number_at(f->head);
		if (id == GS_NRI_PLUGIN || id == GS_NRI_RUNTIME) {
			r = append(&f->in[id - GS_NRI_PLUGIN], data, part);
			r = r ? r : take_messages(f, id, fn, user);
		}
		if (r)
			return r;
		data += part;
		n -= part;
		f->left -= part;
		if (!f->left)
			f->nhead = 0;
	}
	return 0;
}

bool gs_nri_frames_is_torn(const struct gs_nri_frames *f)
{
	return f->nhead || f->in[0].n || f->in[1].n;
}

/* ---- out ------------------------------------------------------------------------------------- */

int gs_nri_frames_put(struct gs_nri_frames *f, const struct gs_nri_message *m)
{
	uint8_t head[PIECE_HEAD + MESSAGE_HEAD] = { 0 };
	int r;

	if (m->n > OUT_MAX || f->out.n > OUT_MAX)
		return -EMSGSIZE;
	put_number(head, m->connection);
	put_number(head + 4, (uint32_t)(MESSAGE_HEAD + m->n));
	put_number(head + 8, (uint32_t)m->n);
	put_number(head + 12, m->stream);
	head[16] = m->type;
	r = append(&f->out, head, sizeof(head));
	return r ? r : append(&f->out, m->data, m->n);
}

void gs_nri_frames_sent(struct gs_nri_frames *f, size_t n)
{
	drop_front(&f->out, n);
}
