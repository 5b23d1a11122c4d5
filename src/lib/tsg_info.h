/* SPDX-License-Identifier: MIT */
#ifndef GPUSCHED_LIB_TSG_INFO_H
#define GPUSCHED_LIB_TSG_INFO_H

#include <jansson.h>

#include "gpusched/gpusched.h"

/* Reads the JSON object of one TSG: -EPROTO if a key is missing or has another type. */
int tsg_info_read(const json_t *o, struct gpusched_tsg_info *ret);

#endif /* GPUSCHED_LIB_TSG_INFO_H */
