// SPDX-License-Identifier: MIT
#include "nri/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "nri.pb-c.h"
#include "nri/pods.h"
#include "process/pod_synonyms.h"

#define PLUGIN_NAME "gpusched"
#define PLUGIN_SERVICE "nri.pkg.api.v1alpha1.Plugin"
#define RUNTIME_SERVICE "nri.pkg.api.v1alpha1.Runtime"
#define REGISTRATION 1 /* stream of the registration: a client's first stream */
#define PREFIX "gpusched.io/"

/* Event numbers begin at 1, but the bits of an event mask at 0. */
enum { RUN_POD = 1, REMOVE_POD = 3 };
#define EVENTS ((1 << (RUN_POD - 1)) | (1 << (REMOVE_POD - 1)))

/* gRPC's error codes, which ttrpc uses. */
#define NOT_IMPLEMENTED 12
#define NOT_VALID 3

/* ---- out ------------------------------------------------------------------------------------- */

static int put(struct gs_nri_session *s, enum gs_nri_connection connection, uint32_t stream,
	       enum gs_nri_type type, const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	CLEANUP_FREE uint8_t *data = malloc(n + 1);
	const struct gs_nri_message out = { connection, stream, (uint8_t)type, data, n };

	if (!data)
		return -ENOMEM;
	protobuf_c_message_pack(m, data);
	return gs_nri_frames_put(&s->frames, &out);
}

/* Answers a call. @m NULL: an empty message, which means success for any call of NRI. */
static int answer(struct gs_nri_session *s, uint32_t stream, const ProtobufCMessage *m)
{
	Nri__Answer a = NRI__ANSWER__INIT;
	uint8_t data[64];

	if (m && protobuf_c_message_get_packed_size(m) <= sizeof(data)) {
		a.payload.len = protobuf_c_message_pack(m, data);
		a.payload.data = data;
	}
	return put(s, GS_NRI_PLUGIN, stream, GS_NRI_RESPONSE, &a.base);
}

static int answer_error(struct gs_nri_session *s, uint32_t stream, int code, const char *text)
{
	Nri__Status status = NRI__STATUS__INIT;
	Nri__Answer a = NRI__ANSWER__INIT;

	status.code = code;
	status.message = (char *)text;
	a.status = &status;
	return put(s, GS_NRI_PLUGIN, stream, GS_NRI_RESPONSE, &a.base);
}

/* ---- pods ------------------------------------------------------------------------------------ */

/* Adds KEY=VALUE. Long parts are cut: the daemon refuses such a word anyway, cut or not. */
static void add_word(struct gs_nri_pod *ret, const char *key, const char *value)
{
	if (ret->nwords < GS_NRI_WORDS)
		snprintf(ret->words[ret->nwords++], GS_NRI_WORD_LEN, "%.40s=%.36s", key, value);
}

/*
 * Adds KEY=NUMBER from another program's annotation, unless one of gpusched's own (the first @nown
 * words) has this key.
 */
static void add_number(struct gs_nri_pod *ret, unsigned int nown, const char *key, uint32_t n)
{
	char value[16];

	for (unsigned int i = 0; i < nown; i++)
		if (!strncmp(ret->words[i], key, strlen(key)) && ret->words[i][strlen(key)] == '=')
			return;
	snprintf(value, sizeof(value), "%u", n);
	if (n)
		add_word(ret, key, value);
}

static void read_annotations(const Nri__Pod *pod, struct gs_nri_pod *ret)
{
	struct gs_pod_asks asks = { .weight = 0 };
	unsigned int nown;

	for (size_t i = 0; i < pod->n_annotations; i++) {
		const Nri__Annotation *a = pod->annotations[i];

		if (!strncmp(a->key, PREFIX, strlen(PREFIX)))
			add_word(ret, a->key + strlen(PREFIX), a->value);
	}
	nown = ret->nwords;
	for (size_t i = 0; i < pod->n_annotations; i++) {
		const Nri__Annotation *a = pod->annotations[i];

		if (gs_pod_synonym(GS_IN_ANNOTATION, a->key, a->value, &asks) < 0)
			add_word(ret, a->key, a->value); /* the daemon refuses it with a reason */
	}
	add_number(ret, nown, "weight", asks.weight);
	add_number(ret, nown, "request", asks.request_pct);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void put_pod(struct gs_nri_session *s, const Nri__Pod *pod)
{
	struct gs_nri_pod p = { .nwords = 0 };
	int r;

	if (!pod) {
		s->unread++;
		return;
	}
	p.uid = pod->uid;
	p.namespace = pod->namespace_;
	p.name = pod->name;
	read_annotations(pod, &p);
	/* Annotations are a map without a fixed order: sort, so that equal pods compare equal. */
	qsort(p.words, p.nwords, sizeof(p.words[0]), by_text);
	r = gs_nri_pods_put(s->pods, &p);
	s->unread += r != 0;
	if (r)
		gs_log(LOG_WARNING, "pod %.64s/%.64s is left out: %s", p.namespace, p.name,
		       strerror(-r));
}

static void drop_pod(struct gs_nri_session *s, const Nri__Pod *pod)
{
	if (pod)
		gs_nri_pods_drop(s->pods, pod->uid);
}

static void start_pod(struct gs_nri_session *s, const Nri__Pod *pod)
{
	put_pod(s, pod);
	gs_nri_pods_wait_told(s->pods, s->wait_ms);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int on_configure(struct gs_nri_session *s, const Nri__Call *call, uint32_t stream)
{
	Nri__Configured events = NRI__CONFIGURED__INIT;

	events.events = EVENTS;
	s->configured = true;
	return answer(s, stream, &events.base);
}

/* Handles a part of the runtime's list of pods; more parts may follow. */
static int on_synchronize(struct gs_nri_session *s, const Nri__Call *call, uint32_t stream)
{
	Nri__Synchronized more = NRI__SYNCHRONIZED__INIT;
	Nri__Synchronize *sync =
		nri__synchronize__unpack(NULL, call->payload.len, call->payload.data);

	s->unread += !sync;
	for (size_t i = 0; sync && i < sync->n_pods; i++)
		put_pod(s, sync->pods[i]);
	more.more = sync && sync->more;
	if (sync && !sync->more)
		gs_nri_pods_complete(s->pods);
	if (sync)
		nri__synchronize__free_unpacked(sync, NULL);
	return answer(s, stream, &more.base);
}

static void on_pod(struct gs_nri_session *s, const Nri__Call *call,
		   void (*fn)(struct gs_nri_session *s, const Nri__Pod *pod))
{
	Nri__PodCall *pod = nri__pod_call__unpack(NULL, call->payload.len, call->payload.data);

	s->unread += !pod;
	if (pod) {
		fn(s, pod->pod);
		nri__pod_call__free_unpacked(pod, NULL);
	}
}

static int on_run(struct gs_nri_session *s, const Nri__Call *call, uint32_t stream)
{
	on_pod(s, call, start_pod);
	return answer(s, stream, NULL);
}

static int on_remove(struct gs_nri_session *s, const Nri__Call *call, uint32_t stream)
{
	on_pod(s, call, drop_pod);
	return answer(s, stream, NULL);
}

/* Runtimes up to NRI 0.11 have one call for all events that need no answer. */
static int on_state(struct gs_nri_session *s, const Nri__Call *call, uint32_t stream)
{
	Nri__StateChange *e =
		nri__state_change__unpack(NULL, call->payload.len, call->payload.data);

	s->unread += !e;
	if (e && e->event == RUN_POD)
		start_pod(s, e->pod);
	else if (e && e->event == REMOVE_POD)
		drop_pod(s, e->pod);
	if (e)
		nri__state_change__free_unpacked(e, NULL);
	return answer(s, stream, NULL);
}

static const struct {
	const char *method;
	int (*fn)(struct gs_nri_session *s, const Nri__Call *call, uint32_t stream);
} calls[] = {
	{ "Configure", on_configure }, { "Synchronize", on_synchronize },
	{ "RunPodSandbox", on_run },   { "RemovePodSandbox", on_remove },
	{ "StateChange", on_state },
};

static int on_call(struct gs_nri_session *s, const Nri__Call *call, uint32_t stream)
{
	s->calls++;
	if (strcmp(call->service, PLUGIN_SERVICE) != 0) {
		s->unread++;
		return answer_error(s, stream, NOT_IMPLEMENTED, "no such service");
	}
	for (size_t i = 0; i < GS_COUNT(calls); i++)
		if (!strcmp(call->method, calls[i].method))
			return calls[i].fn(s, call, stream);
	return answer(s, stream, NULL);
}

static int on_request(struct gs_nri_session *s, const struct gs_nri_message *m)
{
	Nri__Call *call = nri__call__unpack(NULL, m->n, m->data);
	int r;

	if (!call) {
		s->unread++;
		return answer_error(s, m->stream, NOT_VALID, "the request cannot be read");
	}
	r = on_call(s, call, m->stream);
	nri__call__free_unpacked(call, NULL);
	return r;
}

/* Handles the runtime's answer to our registration. */
static int on_response(struct gs_nri_session *s, const struct gs_nri_message *m)
{
	Nri__Answer *a = nri__answer__unpack(NULL, m->n, m->data);
	int r = 0;

	s->unread += !a;
	if (!a)
		return 0;
	if (a->status && a->status->code) {
		snprintf(s->refused, sizeof(s->refused), "%.120s", a->status->message);
		r = -EACCES;
	}
	nri__answer__free_unpacked(a, NULL);
	return r;
}

static int on_message(const struct gs_nri_message *m, void *user)
{
	struct gs_nri_session *s = user;

	if (m->connection == GS_NRI_PLUGIN && m->type == GS_NRI_REQUEST)
		return on_request(s, m);
	if (m->connection == GS_NRI_RUNTIME && m->type == GS_NRI_RESPONSE &&
	    m->stream == REGISTRATION)
		return on_response(s, m);
	s->unread++;
	return 0;
}

/* ---- public functions ------------------------------------------------------------------------ */

int gs_nri_session_begin(struct gs_nri_session *s, struct gs_nri_pods *pods, const char *index)
{
	Nri__Register about = NRI__REGISTER__INIT;
	Nri__Call call = NRI__CALL__INIT;
	uint8_t data[64];

	*s = (struct gs_nri_session){ .pods = pods };
	about.name = PLUGIN_NAME;
	about.index = (char *)index;
	if (nri__register__get_packed_size(&about) > sizeof(data))
		return -EINVAL;
	call.service = RUNTIME_SERVICE;
	call.method = "RegisterPlugin";
	call.payload.len = nri__register__pack(&about, data);
	call.payload.data = data;
	gs_nri_pods_begin(pods);
	return put(s, GS_NRI_RUNTIME, REGISTRATION, GS_NRI_REQUEST, &call.base);
}

void gs_nri_session_end(struct gs_nri_session *s)
{
	gs_nri_frames_free(&s->frames);
}

int gs_nri_session_in(struct gs_nri_session *s, const uint8_t *data, size_t n)
{
	return gs_nri_frames_in(&s->frames, data, n, on_message, s);
}
