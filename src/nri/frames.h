/* SPDX-License-Identifier: MIT */
/*
 * frames.h - reads and writes messages on the socket between a container runtime and an NRI plugin
 *
 * Two connections share the socket. Each piece of data has a header of 8 bytes: the number of its
 * connection and its length. Within a connection, each ttrpc message has a header of 10 bytes:
 * length, stream, type, flags. Numbers are big-endian. A message may come in many pieces, and a
 * piece may have parts of several messages. Pure: these functions do no I/O. A peer can make this
 * code use at most four times GS_NRI_MESSAGE_MAX bytes of memory.
 */
#ifndef GPUSCHED_NRI_FRAMES_H
#define GPUSCHED_NRI_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GS_NRI_MESSAGE_MAX (4u << 20)

enum gs_nri_connection {
	GS_NRI_PLUGIN = 1,  /* the runtime calls the plugin */
	GS_NRI_RUNTIME = 2, /* the plugin calls the runtime */
};

enum gs_nri_type {
	GS_NRI_REQUEST = 1,
	GS_NRI_RESPONSE = 2,
};

struct gs_nri_message {
	enum gs_nri_connection connection;
	uint32_t stream;
	uint8_t type; /* enum gs_nri_type, or another value */
	const uint8_t *data;
	size_t n;
};
/* Handles one message. A non-zero result ends gs_nri_frames_in(), which returns that result. */
typedef int (*gs_nri_message_fn)(const struct gs_nri_message *m, void *user);

struct gs_nri_bytes {
	uint8_t *at;
	size_t n, room;
};

struct gs_nri_frames {
	uint8_t head[8]; /* header of the present piece */
	size_t nhead;
	size_t left;               /* bytes of the present piece that are still missing */
	struct gs_nri_bytes in[2]; /* incomplete messages of the two connections */
	struct gs_nri_bytes out;   /* bytes to send */
};

void gs_nri_frames_free(struct gs_nri_frames *f);
/*
 * Takes received bytes, and calls @fn for each complete message. -EPROTO: a length that ttrpc
 * forbids; -ENOMEM. After an error the socket cannot be used any more.
 */
int gs_nri_frames_in(struct gs_nri_frames *f, const uint8_t *data, size_t n, gs_nri_message_fn fn,
		     void *user);
/* True if a piece or a message has arrived only in part. */
bool gs_nri_frames_is_torn(const struct gs_nri_frames *f);
/*
 * Appends a message to f->out. -EMSGSIZE: too many bytes are unsent, since the peer does not read;
 * -ENOMEM.
 */
int gs_nri_frames_put(struct gs_nri_frames *f, const struct gs_nri_message *m);
/* Removes the first @n bytes of f->out, which were sent. */
void gs_nri_frames_sent(struct gs_nri_frames *f, size_t n);

#endif /* GPUSCHED_NRI_FRAMES_H */
