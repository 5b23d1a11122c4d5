/* SPDX-License-Identifier: MIT */
/*
 * records.h - what is asked about one record
 */
#ifndef GPUSCHED_HUB_RECORDS_H
#define GPUSCHED_HUB_RECORDS_H

#include "classify/classify.h"
#include "table/table.h"

struct gs_hub;

/* gs_classify(), for the records of one selection: a process has many TSGs. */
int gs_record_classify(struct gs_hub *hub, pid_t pid, struct gs_class_answer *ret);
/* NULL when unknown. */
const struct gs_gpu *gs_record_gpu(const struct gs_hub *hub, const struct gpusched_tsg *rec);
/* Worth a look at its executable: gs_reader_is_mps(). */
bool gs_record_calls_itself_mps(const struct gpusched_tsg *rec);
/*
 * The settings in the hardware: `is` holds ours and those that the owner set since; a setting that
 * we never changed, or put back, is as the owner asked.
 */
struct gpusched_settings gs_record_is(const struct gpusched_tsg *rec);

#endif /* GPUSCHED_HUB_RECORDS_H */
