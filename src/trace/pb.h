/* SPDX-License-Identifier: MIT */
/*
 * pb.h - writes and reads the wire format of protocol buffers: numbered fields, no schema
 */
#ifndef GPUSCHED_TRACE_PB_H
#define GPUSCHED_TRACE_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes written so far; begins all zero. */
struct gs_pb {
	uint8_t *p;
	size_t n, room;
	bool failed; /* out of memory, so that the bytes are incomplete */
};

void gs_pb_free(struct gs_pb *pb);
void gs_pb_uint(struct gs_pb *pb, uint32_t field, uint64_t value);
void gs_pb_double(struct gs_pb *pb, uint32_t field, double value);
/* Writes a text. NULL: leaves the field out. */
void gs_pb_text(struct gs_pb *pb, uint32_t field, const char *text);
/* Fields written between begin and end form a nested message. @at: the result of begin. */
size_t gs_pb_begin(struct gs_pb *pb, uint32_t field);
void gs_pb_end(struct gs_pb *pb, size_t at);

enum gs_pb_wire { GS_PB_VARINT = 0, GS_PB_64 = 1, GS_PB_BYTES = 2, GS_PB_32 = 5 };

struct gs_pb_field {
	uint32_t number;
	enum gs_pb_wire wire;
	uint64_t value;      /* the number as transmitted, for all wire types except GS_PB_BYTES */
	const uint8_t *data; /* GS_PB_BYTES: the @n bytes of the field */
	size_t n;
};

/* Reads the next field at *at and moves *at on. 1; 0: at the end; -EBADMSG: cut off or invalid. */
int gs_pb_next(const uint8_t **at, const uint8_t *end, struct gs_pb_field *ret);
double gs_pb_as_double(const struct gs_pb_field *f);

#endif /* GPUSCHED_TRACE_PB_H */
