/* SPDX-License-Identifier: MIT */
/*
 * instance.h - one running instance: its rooms, its locks and its guardian
 */
#ifndef GPUSCHED_SERVICE_INSTANCE_H
#define GPUSCHED_SERVICE_INSTANCE_H

#include "requests/requests.h"
#include "service/service.h"

struct gs_guardian;

/* The rooms, as the table of observers names them. */
enum gs_room {
	GS_ROOM_INTAKE,
	GS_ROOM_FIGURES,
	GS_ROOM_MEANS,
	GS_ROOM_PARK,
	GS_ROOM_CONTROL,
	GS_ROOM_REQUESTS,
	GS_ROOM_TOP,
	GS_ROOM_MAX
};

struct gs_service {
	struct gs_hub *hub;
	struct gs_intake *intake;
	struct gs_figures *figures;
	struct gs_means_known *means;
	struct gs_parking *parking;
	struct gs_control *control;
	struct gs_requests *requests;
	void *selves[GS_ROOM_MAX]; /* the same rooms, for the observers */
	int lock_fd, table_fd;     /* held: the instance's lock and its table's (gs_lock_*()) */
	bool self_added;
	struct gs_guardian *guardian; /* NULL: none */
	sd_event_source *guardian_ended;
};

/* Hands the table of observers (observed.c) to the hub. */
void gs_service_observe(struct gs_service *s);

#endif /* GPUSCHED_SERVICE_INSTANCE_H */
