/* SPDX-License-Identifier: MIT */
/* harm.h - finds damage: the driver's errors, failed calls, programs in quarantine */
#ifndef GPUSCHED_REQUESTS_HARM_H
#define GPUSCHED_REQUESTS_HARM_H

#include "figures/verdict.h"

struct gs_requests;
struct gs_view;

/* @view: leaves out what the viewer may not see; NULL: nothing. */
void gs_harm_judge(const struct gs_requests *rs, const struct gs_view *view,
		   struct gs_findings *ret);

#endif /* GPUSCHED_REQUESTS_HARM_H */
