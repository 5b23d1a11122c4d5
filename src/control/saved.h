/* SPDX-License-Identifier: MIT */
/*
 * saved.h - what a person has set, kept beside the table for the daemon's next start
 *
 * Settings and suspensions, their authors, the chosen policy, and whether launches are counted: in
 * memory, and in RUN_DIR/saved.json (root's, 0600), which is replaced as a whole. A TSG is the same
 * one as before where id, handles, process and its start time are the same.
 */
#ifndef GPUSCHED_CONTROL_SAVED_H
#define GPUSCHED_CONTROL_SAVED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/clock.h"
#include "basic/error.h"
#include "gpusched/abi.h"

struct gs_control;
struct gs_peer;

#define GS_SAVED_TWICE_NS (60 * NS_PER_S)
#define GS_SAVED_TSGS 4096
#define GS_SAVED_TSGS_USER 1024 /* of one user other than root */

struct gs_saved_tsg {
	uint64_t id, start_ns; /* of the TSG; of its process */
	struct gpusched_key key;
	uint32_t pid, uid;
	struct gpusched_settings set;
	uint64_t until_ns;     /* end of a suspension; 0: until resume */
	uint32_t suspended_by; /* uid */
	uint32_t users;        /* settings of @set that a user set, not root */
	uint32_t own;          /* ... where root had set none: the owner may take them back */
	bool pending;          /* of an earlier daemon, not reapplied (yet): not in the table */
	bool reapplied;
	bool away;            /* its process is parked, or on its way back; pending as well */
	uint32_t engine, gpu; /* ... where it was */
};

struct gs_saved_policy {
	bool chosen;    /* by a person: this one started, or (no name) the one before stopped */
	char *name;     /* as for a start; an object named by its path: our copy of it */
	char *host;     /* NULL: stock */
	char **options; /* key=value */
	size_t noptions;
	char *configured; /* the configuration's policy when it was chosen */
	void *object;     /* named by its path, and not copied yet */
	size_t object_len;
};

struct gs_saved {
	struct gs_saved_tsg *tsgs; /* by id */
	size_t ntsgs, naway;
	struct gs_saved_policy policy;
	bool launches;       /* a person turned their counting on */
	bool running;        /* a daemon runs, or has ended without a word */
	uint64_t crashed_ns; /* when a daemon last did; 0: never */
	bool loaded, dirty;
	bool failed; /* the last write */
	uint64_t tried_ns;
};

/* The content of the file, if it is of this boot. Nothing of it is in force yet. */
void gs_saved_load(struct gs_control *ctl);
void gs_saved_free(struct gs_saved *saved);
/* @saved from @text, a file of the boot @boot. -EINVAL. */
int gs_saved_parse(struct gs_saved *saved, const char *text, const char *boot,
		   struct gs_error *err);
/* malloc'd; NULL: out of memory */
char *gs_saved_text(const struct gs_saved *saved, const char *boot);
/* The daemon before crashed at @died_ns, less than a minute after the one before it did. */
bool gs_saved_crashed_twice(const struct gs_saved *saved, uint64_t died_ns);

/* NULL: no person set anything. */
struct gs_saved_tsg *gs_saved_find(struct gs_saved *saved, uint64_t id);
/* After @by (NULL: not known, somebody without a daemon) set or cleared the fields @which. */
void gs_saved_note(struct gs_control *ctl, const struct gpusched_key *key, const struct gs_peer *by,
		   uint32_t which);
/* The owner of TSG @id has just set the fields @which, which nobody had set. */
void gs_saved_own(struct gs_control *ctl, uint64_t id, uint32_t which);
/* A person started policy @name, which runs, or (NULL) stopped it. */
void gs_saved_choose(struct gs_control *ctl, const char *name, const char *host,
		     const char *const *options, size_t n);
void gs_saved_launches(struct gs_control *ctl, bool on);
/* A person restored everything: nothing is reapplied. */
void gs_saved_forget(struct gs_control *ctl);
/* The same where no instance is open. */
void gs_saved_forget_file(void);
/* "lcbe\nkey=value" of the configuration, malloc'd. */
char *gs_saved_configured(const struct gs_control *ctl);

/*
 * Writes what has changed, if the last time is not just past (@now: in any case). A write that fails
 * leaves the file of before, and the daemon tries again.
 */
void gs_saved_write(struct gs_control *ctl, bool now);
/* As an observer: after each source of the loop. */
void gs_saved_dispatched(void *self);
/* The daemon ends in order. */
void gs_saved_end(struct gs_control *ctl);

void gs_saved_policy_done(struct gs_saved_policy *p);
int gs_saved_policy_parse(struct gs_saved_policy *p, json_t *o);

/* ---- permanent.c: starts with the daemon, kept in the state directory ------------------------- */

/* -EBUSY: the configuration names one. */
int gs_permanent_may(const struct gs_control *ctl, struct gs_error *err);
/* The policy that runs, as it was loaded. */
int gs_permanent_keep(const struct gs_control *ctl, const char *const *options, size_t n,
		      struct gs_error *err);
/* -ENOENT: there is none. */
int gs_permanent_load(struct gs_saved_policy *ret, struct gs_error *err);
void gs_permanent_forget(void);

/* ---- reapply.c: at a daemon's start ---------------------------------------------------------- */

/* How the daemon before ended, and what became of what it had. For `ping`. */
struct gs_past {
	bool crashed, twice;
	uint64_t died_ns;
	unsigned int restored, gone, failed, continued; /* put back after the crash */
	unsigned int reapplied, ended, refused;         /* settings: TSGs */
};

/* Settings that were put back after the death of the daemon before, by its guardian or just now. */
void gs_past_learn(struct gs_control *ctl);
/* Settings and suspensions. */
void gs_reapply_settings(struct gs_control *ctl);
/* The policy that starts now: a person's choice, the configuration's, the permanent one. */
int gs_reapply_policy(struct gs_control *ctl, struct gs_error *err);

#endif /* GPUSCHED_CONTROL_SAVED_H */
