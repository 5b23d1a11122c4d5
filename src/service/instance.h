/* SPDX-License-Identifier: MIT */
/*
 * instance.h - declares the state of a running instance: its rooms, locks and guardian
 *
 * A room is a directory of src. Here it stands for the state that its code keeps for an instance.
 */
#ifndef GPUSCHED_SERVICE_INSTANCE_H
#define GPUSCHED_SERVICE_INSTANCE_H

#include "requests/requests.h"
#include "service/service.h"

struct gs_guardian;

/* Indices of the rooms, for the table of observers. */
enum gs_room {
	GS_ROOM_HUB,
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
	void *selves[GS_ROOM_MAX];    /* pointers to these rooms, as arguments for observers */
	int lock_fd, table_fd;        /* locks of the instance and of its table; -1: not held */
	bool self_added;              /* our pid was entered by gs_cfg_self_add() */
	struct gs_guardian *guardian; /* NULL: none */
	sd_event_source *guardian_ended;
	struct gs_reload *reload; /* the reload under way; NULL: none */
	/* names.c: the thread that asks for names; NULL: none runs. When the next one begins. */
	struct gs_names *names;
	sd_event_source *names_due;
	unsigned int names_wait_s;
	bool names_told; /* the log has the lines that wait */
	/* links.c: the thread that follows links; NULL: none runs. When the next one begins. */
	struct gs_link_task *links;
	sd_event_source *links_due;
	bool acts; /* budgets are counted; before that, nothing is classified */
	struct gs_budget_rules budgets; /* of the configuration, until the rooms have started */
};

/*
 * Puts other classes in force, and frees the old ones. On failure the old ones stay, and @classes
 * is the caller's.
 */
int gs_service_classes(struct gs_service *s, struct gs_classes *classes, struct gs_error *err);

/*
 * Asks for the names that lines of the configuration wait for, again and again. Call this at a
 * start after the last fork, and before anything is classified.
 */
void gs_names_start(struct gs_service *s);
/* Another configuration is in force, in which no line waits. */
void gs_names_replaced(struct gs_service *s);
void gs_names_end(struct gs_service *s);

/*
 * Follows the links that rules name, again and again. Call this at a start after gs_names_start(),
 * and before anything is classified.
 */
void gs_links_start(struct gs_service *s);
void gs_links_end(struct gs_service *s);

/* The instance ends: a reload under way has no effect any more. */
void gs_reload_end(struct gs_service *s);

/* Gives the table of observers (observed.c) to the hub. */
void gs_service_observe(struct gs_service *s);

#endif /* GPUSCHED_SERVICE_INSTANCE_H */
