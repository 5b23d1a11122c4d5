// SPDX-License-Identifier: MIT
#include "trace/pb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VARINT_MAX 10

void gs_pb_free(struct gs_pb *pb)
{
	free(pb->p);
	*pb = (struct gs_pb){ 0 };
}

static uint8_t *reserve(struct gs_pb *pb, size_t n)
{
	size_t room = pb->room ? pb->room : 256;
	uint8_t *grown;

	while (room < pb->n + n)
		room *= 2;
	if (room != pb->room) {
		grown = realloc(pb->p, room);
		if (!grown) {
			pb->failed = true;
			return NULL;
		}
		pb->p = grown;
		pb->room = room;
	}
	return pb->p + pb->n;
}

static size_t varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

static void put_varint(struct gs_pb *pb, uint64_t v)
{
	uint8_t *to = reserve(pb, VARINT_MAX);

	if (to)
		pb->n += varint(to, v);
}

static void put_bytes(struct gs_pb *pb, const void *data, size_t n)
{
	uint8_t *to = reserve(pb, n);

	if (!to)
		return;
	memcpy(to, data, n);
	pb->n += n;
}

static void put_tag(struct gs_pb *pb, uint32_t field, enum gs_pb_wire wire)
{
	put_varint(pb, (uint64_t)field << 3 | wire);
}

void gs_pb_uint(struct gs_pb *pb, uint32_t field, uint64_t value)
{
	put_tag(pb, field, GS_PB_VARINT);
	put_varint(pb, value);
}

void gs_pb_double(struct gs_pb *pb, uint32_t field, double value)
{
	put_tag(pb, field, GS_PB_64);
	/* the format is little-endian, and so are all our processors */
	put_bytes(pb, &value, sizeof(value));
}

void gs_pb_text(struct gs_pb *pb, uint32_t field, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	if (!text)
		return;
	put_tag(pb, field, GS_PB_BYTES);
	put_varint(pb, n);
	put_bytes(pb, text, n);
}

size_t gs_pb_begin(struct gs_pb *pb, uint32_t field)
{
	put_tag(pb, field, GS_PB_BYTES);
	return pb->n;
}

void gs_pb_end(struct gs_pb *pb, size_t at)
{
	uint8_t length[VARINT_MAX];
	size_t n = pb->n - at, more = varint(length, n);

	if (!reserve(pb, more))
		return;
	memmove(pb->p + at + more, pb->p + at, n);
	memcpy(pb->p + at, length, more);
	pb->n += more;
}

static int take_varint(const uint8_t **at, const uint8_t *end, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < VARINT_MAX && *at < end; i++) {
		uint8_t b = *(*at)++;

		v |= (uint64_t)(b & 0x7f) << (7 * i);
		if (!(b & 0x80)) {
			*ret = v;
			return 0;
		}
	}
	return -EBADMSG;
}

static int take_fixed(const uint8_t **at, const uint8_t *end, size_t n, uint64_t *ret)
{
	if ((size_t)(end - *at) < n)
		return -EBADMSG;
	*ret = 0;
	memcpy(ret, *at, n);
	*at += n;
	return 0;
}

static int take_bytes(const uint8_t **at, const uint8_t *end, struct gs_pb_field *f)
{
	if (take_varint(at, end, &f->value) || f->value > (size_t)(end - *at))
		return -EBADMSG;
	f->n = f->value;
	f->data = *at;
	*at += f->n;
	return 0;
}

int gs_pb_next(const uint8_t **at, const uint8_t *end, struct gs_pb_field *ret)
{
	struct gs_pb_field f = { 0 };
	uint64_t tag;
	int r;

	if (*at == end)
		return 0;
	if (take_varint(at, end, &tag) || tag >> 3 > UINT32_MAX)
		return -EBADMSG;
	f.number = (uint32_t)(tag >> 3);
	f.wire = tag & 7;
	if (f.wire == GS_PB_VARINT)
		r = take_varint(at, end, &f.value);
	else if (f.wire == GS_PB_BYTES)
		r = take_bytes(at, end, &f);
	else if (f.wire == GS_PB_64 || f.wire == GS_PB_32)
		r = take_fixed(at, end, f.wire == GS_PB_64 ? 8 : 4, &f.value);
	else
		r = -EBADMSG;
	*ret = f;
	return r ? r : 1;
}

double gs_pb_as_double(const struct gs_pb_field *f)
{
	double d;

	memcpy(&d, &f->value, sizeof(d));
	return d;
}
