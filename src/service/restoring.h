/* SPDX-License-Identifier: MIT */
/*
 * restoring.h - everything back to what the owners asked, while the loop goes on
 */
#ifndef GPUSCHED_SERVICE_RESTORING_H
#define GPUSCHED_SERVICE_RESTORING_H

#include "engine/engine.h"
#include "service/errand.h"

struct gs_service;

struct gs_restoring {
	struct gs_errand errand;
	int code;
	struct gs_restored done;
	struct gs_error err;
};
/* Joins the one that is under way. *ret is the caller's reference. */
int gs_restoring_begin(struct gs_service *s, struct gs_restoring **ret, struct gs_error *err);

#endif /* GPUSCHED_SERVICE_RESTORING_H */
