/* SPDX-License-Identifier: MIT */
/* harm_priv.h - declares what harm.c and harm_tsgs.c share */
#ifndef GPUSCHED_CONTROL_HARM_PRIV_H
#define GPUSCHED_CONTROL_HARM_PRIV_H

#include <uthash.h>

#include "control/harm.h"

#define HARM_TOLD 64u
#define HARM_COUNTS 256u /* pairs of GPU and Xid that are counted */

/* A TSG on which gpusched acted, or that may be in quarantine; kept for a while after its end. */
struct harm_tsg {
	UT_hash_handle hh;
	uint64_t id;
	struct gpusched_key key;
	uint32_t pid, gpu;
	uid_t uid;
	uint64_t start_ns; /* of its process */
	char comm[GPUSCHED_COMM_LEN + 1];
	uint64_t called_ns, ended_ns;
	enum gs_rm_op op;             /* the last call */
	struct gpusched_settings set; /* what the last successful calls set */
	uint64_t failed_ns;           /* the last call that RM failed */
	enum gs_rm_op failed_op;
	uint32_t failed_status;
	bool asked, known; /* @program was asked for; is known */
	struct gs_program_id program;
	bool inside; /* it is in quarantine, until @until_ns */
	uint64_t until_ns;
};

struct harm_count {
	int gpu;
	uint32_t xid;
	uint64_t times;
};

struct gs_harm {
	struct gs_control *ctl;
	struct gs_figures *fig;
	struct gs_klog *log; /* NULL: it cannot be read */
	bool pids;           /* the log's pids are those that we see */
	struct gs_quarantines book;
	struct harm_tsg *tsgs;
	struct gs_harm_told told[HARM_TOLD];
	struct harm_count counts[HARM_COUNTS];
	size_t ncounts;
	uint64_t looked_ns;
};

/* Notes the report, or counts it in the one that is like it. Returns the note. */
struct gs_harm_told *harm_note(struct gs_harm *h, const struct gs_harm_told *told);

struct harm_tsg *harm_tsg_find(const struct gs_harm *h, uint64_t id);
/* Finds or makes the entry; NULL: the record is gone, or there is no memory. */
struct harm_tsg *harm_tsg_get(struct gs_harm *h, const struct gpusched_key *key, uint64_t id);
void harm_tsg_called(struct harm_tsg *t, const struct gs_engine_call *call, uint64_t now);
void harm_tsg_ended(struct gs_harm *h, uint64_t id, uint64_t now);
/* The TSG of the process on that GPU (-1: on any) that was called last. */
struct harm_tsg *harm_tsg_of(struct gs_harm *h, uint32_t pid, int gpu);
/* Writes what gpusched had done to the TSG. */
void harm_tsg_had(const struct harm_tsg *t, uint64_t now, char *ret, size_t size);
/* Its program; if that is unknown, a name made of its user and comm. */
void harm_tsg_program(struct gs_harm *h, struct harm_tsg *t, struct gs_program_id *ret);
void harm_tsg_each(struct gs_harm *h, void (*fn)(struct harm_tsg *t, void *user), void *user);
/* Once a second: learns programs, and drops what ended long ago. @all: takes in every TSG. */
void harm_tsgs_look(struct gs_harm *h, bool all, uint64_t now);
void harm_tsgs_free(struct gs_harm *h);

#endif /* GPUSCHED_CONTROL_HARM_PRIV_H */
