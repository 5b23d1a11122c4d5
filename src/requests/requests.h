/* SPDX-License-Identifier: MIT */
/*
 * requests.h - answers requests to an instance, and sends events to its watchers
 */
#ifndef GPUSCHED_REQUESTS_REQUESTS_H
#define GPUSCHED_REQUESTS_REQUESTS_H

#include "control/control.h"
#include "figures/figures.h"
#include "intake/intake.h"
#include "means/means.h"
#include "park/parking.h"
#include "requests/api.h"
#include "requests/audit.h"
#include "requests/target.h"
#include "requests/verb.h"

struct gs_alerting;
struct gs_metrics;
struct gs_tracing;
struct gs_status_watch;
struct gs_unread_user;
struct gs_watch;

#define GS_OWNERS 1024
struct gs_owner {
	uint64_t tsg; /* id of the TSG; 0: this row is unused */
	uid_t uid;
};

struct gs_requests {
	struct gs_hub *hub;
	struct gs_intake *intake;
	struct gs_figures *figures;
	struct gs_control *control;
	struct gs_parking *parking;
	struct gs_means_known *means;
	struct gs_watch *watches;
	bool emitting; /* events are being sent to watchers */
	unsigned int next_token;
	struct gs_tracing *tracing; /* NULL: there is no recording */
	/* the query of the history that a thread runs now; NULL: none */
	struct gs_task *question;
	struct gs_status_watch *status_watches; /* status requests that watch for a given time */
	struct gs_audit audit;
	struct gs_alerting *alerting;  /* NULL: the instance is no daemon */
	struct gs_metrics *metrics;    /* NULL: no request has asked for metrics yet */
	struct gs_unread_user *unread; /* users with unread answers */
	/* owners of the TSGs with recent events, by TSG id: the processes may have ended */
	struct gs_owner owners[GS_OWNERS];
	struct gs_hidepid hidepid;
	uint64_t hidepid_ns; /* when @hidepid was read from /proc's mount options; 0: never */
};

int gs_requests_new(struct gs_hub *hub, struct gs_intake *intake, struct gs_figures *figures,
		    struct gs_control *control, struct gs_requests **ret);
void gs_requests_free(struct gs_requests *rs);

/* These are described in service.h. */
int gs_requests_verb(struct gs_requests *rs, const struct gs_peer *peer, const char *verb,
		     const json_t *args, json_t **ret_answer, struct gs_error *err);
void gs_verbs_cancel(struct gs_requests *rs, const char *text);
struct gs_completion *gs_verbs_ask_text(struct gs_requests *rs, const struct gs_peer *peer,
					const char *verb, char *body, size_t n);
struct gs_completion *gs_requests_ask_metrics(struct gs_requests *rs, const struct gs_peer *peer);
void gs_requests_add_metrics(struct gs_requests *rs, void (*put)(FILE *f, void *user), void *user);
int gs_requests_watch(struct gs_requests *rs, const struct gs_peer *peer, gs_watch_fn fn,
		      void *user, unsigned int *ret_token);
int gs_watch_trace(struct gs_requests *rs, const struct gs_peer *peer, gs_watch_fn fn,
		   const struct gs_trace_to *to, void *user, unsigned int *ret_token);
void gs_watch_trace_go_on(struct gs_requests *rs, unsigned int token);
void gs_requests_unwatch(struct gs_requests *rs, unsigned int token);

#endif /* GPUSCHED_REQUESTS_REQUESTS_H */
