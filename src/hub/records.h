/* SPDX-License-Identifier: MIT */
/*
 * records.h - finds facts about one record
 */
#ifndef GPUSCHED_HUB_RECORDS_H
#define GPUSCHED_HUB_RECORDS_H

#include "classify/classify.h"
#include "table/table.h"

struct gs_hub;

/*
 * Does as gs_classify(), with a cache for one selection of records: a process may have many TSGs in
 * it.
 */
int gs_record_classify(struct gs_hub *hub, pid_t pid, struct gs_class_answer *ret);
/* Returns NULL if the GPU is unknown. */
const struct gs_gpu *gs_record_gpu(const struct gs_hub *hub, const struct gpusched_tsg *rec);
/* True if the process is worth a check of its executable: gs_reader_is_mps(). */
bool gs_record_calls_itself_mps(const struct gpusched_tsg *rec);
/*
 * The settings in the hardware. `is` holds settings that we made, and settings that the owner made
 * after ours. A setting that we never changed, or have restored, is what the owner asked for.
 */
struct gpusched_settings gs_record_is(const struct gpusched_tsg *rec);

#endif /* GPUSCHED_HUB_RECORDS_H */
