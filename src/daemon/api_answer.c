// SPDX-License-Identifier: MIT
/*
 * api_answer.c - answers a request that is over
 *
 * Until the request is over, its connection sleeps. A user's connections are woken one after the
 * other, so that users take turns, however many answers one of them waits for.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "daemon/api_link.h"
#include "daemon/api_priv.h"

#define API_LARGE (1 << 20)

/* ---- answers --------------------------------------------------------------------------------- */

static unsigned int status_of(int code)
{
	switch (code) {
	case -EINVAL:
	case -ERANGE:
		return MHD_HTTP_BAD_REQUEST;
	case -EPERM:
	case -EACCES:
		return MHD_HTTP_FORBIDDEN;
	case -ENOENT:
		return MHD_HTTP_NOT_FOUND;
	case -EBUSY:
		return MHD_HTTP_CONFLICT;
	case -EMSGSIZE:
		return MHD_HTTP_CONTENT_TOO_LARGE;
	case -ENOTSUP:
		return MHD_HTTP_NOT_IMPLEMENTED;
	case -EREMOTEIO:
		return MHD_HTTP_BAD_GATEWAY;
	case -ETIMEDOUT:
		return MHD_HTTP_GATEWAY_TIMEOUT;
	default:
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
}

static void free_asked(void *asked)
{
	gs_completion_free(asked);
}

/*
 * Frees an answer, and gives its memory back: an answer about 10,000 TSGs takes 90 MiB, which
 * malloc would not give back to the system.
 */
static void free_large(void *asked)
{
	gs_completion_free(asked);
	malloc_trim(0);
}

/* Takes *take_asked, which has the text, and frees it when the text was sent. */
static struct MHD_Response *response_of(struct gs_completion **take_asked)
{
	struct gs_completion *asked = *take_asked;
	const char *text = asked->shared ? asked->shared : asked->text;
	struct MHD_Response *r = NULL;
	size_t n;

	if (!text)
		return NULL;
	n = strlen(text);
	r = MHD_create_response_from_buffer_with_free_callback_cls(
		n, (void *)text, n < API_LARGE ? free_asked : free_large, asked);
	if (r)
		*take_asked = NULL;
	return r;
}

static enum MHD_Result queue(struct MHD_Connection *c, unsigned int status, const char *type,
			     struct MHD_Response *r)
{
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", type);
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

enum MHD_Result api_answer_error(struct MHD_Connection *c, int code, const char *text)
{
	/* the text may be cut in the middle of a character: gs_json_text() makes it valid */
	CLEANUP_JSON json_t *o = json_pack("{s:o, s:s?, s:i}", "error", gs_json_text(text), "errno",
					   strerrorname_np(-code), "code", code);

	char *answer = o ? json_dumps(o, JSON_COMPACT) : NULL;
	struct MHD_Response *r = NULL;

	if (answer)
		r = MHD_create_response_from_buffer(strlen(answer), answer, MHD_RESPMEM_MUST_FREE);
	if (!r)
		free(answer);
	return queue(c, status_of(code), "application/json", r);
}

enum MHD_Result api_answer_method(struct MHD_Connection *c, const char *allow)
{
	char text[128];
	struct MHD_Response *r;

	snprintf(text, sizeof(text),
		 "{\"error\":\"this path is asked by %s\",\"errno\":\"EINVAL\",\"code\":%d}", allow,
		 -EINVAL);
	r = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);
	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, allow);
	return queue(c, MHD_HTTP_METHOD_NOT_ALLOWED, "application/json", r);
}

enum MHD_Result api_answer_verbs(struct MHD_Connection *c)
{
	CLEANUP_JSON json_t *verbs = gs_verbs_json();
	char *text = verbs ? json_dumps(verbs, JSON_COMPACT) : NULL;
	struct MHD_Response *r =
		text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE)
		     : NULL;

	if (!r)
		free(text);
	return queue(c, MHD_HTTP_OK, "application/json", r);
}

enum MHD_Result api_answer(struct MHD_Connection *c, struct gs_completion **take_asked,
			   const char *type)
{
	struct gs_completion *asked = *take_asked;

	if (asked->code)
		return api_answer_error(c, asked->code, asked->err.text);
	return queue(c, MHD_HTTP_OK, type, response_of(take_asked));
}

/* ---- in turn --------------------------------------------------------------------------------- */

static void on_over(struct gs_completion *asked, void *user)
{
	struct api_request *rq = user;

	rq->over = true;
	DL_APPEND(rq->of->over, rq);
	api_kick(rq->a);
}

static void leave(struct api_request *rq)
{
	if (rq->over)
		DL_DELETE(rq->of->over, rq);
	rq->over = false;
}

static void wake(struct api_request *rq)
{
	leave(rq);
	MHD_resume_connection(rq->c);
}

enum MHD_Result api_sleep(struct api *a, struct MHD_Connection *c, struct api_request *rq)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (!rq->asked || !info)
		return MHD_NO;
	rq->a = a;
	rq->c = c;
	rq->of = api_link_uid(info->socket_context);
	if (a->ending) { /* nobody would wake it, and MHD does not end before it is awake */
		gs_completion_cancel(rq->asked, -ECANCELED, "gpuschedd ends");
		return api_answer(c, &rq->asked, "application/json");
	}
	rq->asked->done = on_over;
	rq->asked->user = rq;
	MHD_suspend_connection(c);
	if (gs_completion_is_over(rq->asked))
		on_over(rq->asked, rq);
	return MHD_YES;
}

bool api_wake_next(struct api *a)
{
	bool more = false;

	for (struct api_uid *u = a->uids; u; u = u->next) {
		if (u->over)
			wake(u->over);
		while (!u->uid && u->over)
			wake(u->over);
		more |= u->over != NULL;
	}
	return more;
}

void api_request_free(struct api_request *rq)
{
	if (!rq)
		return;
	leave(rq);
	free(rq->body);
	gs_completion_free(rq->asked);
	free(rq);
}
