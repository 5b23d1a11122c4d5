/* SPDX-License-Identifier: MIT */
/*
 * stub_askers.h - the table, the account and the loop, as far as those who ask see them
 */
#ifndef GPUSCHED_FUZZ_STUB_ASKERS_H
#define GPUSCHED_FUZZ_STUB_ASKERS_H

#include "requests/requests.h"

#define STUB_RECORDS 64

extern struct gpusched_tsg stub_table[STUB_RECORDS]; /* id 0: none */
extern uint64_t stub_open;                           /* id of a TSG whose turn goes on; 0: none */

#endif /* GPUSCHED_FUZZ_STUB_ASKERS_H */
