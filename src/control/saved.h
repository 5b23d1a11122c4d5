/* SPDX-License-Identifier: MIT */
/*
 * saved.h - keeps what people have set, for the daemon's next start
 *
 * It keeps settings and suspensions with their authors, the chosen policy, and whether launches are
 * counted. They are in memory, and in RUN_DIR/saved.json (root's, 0600), which is replaced as a
 * whole. A TSG is the same as before if id, handles, process and its start time are the same.
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

struct gs_saved_tsg {
	uint64_t id, start_ns; /* id of the TSG; start time of its process */
	struct gpusched_key key;
	uint32_t pid, uid;
	struct gpusched_settings set;
	uint64_t until_ns;     /* end of a suspension; 0: until `resume` */
	uint32_t suspended_by; /* uid of the person who did */
	uint32_t users;        /* settings of @set that a user other than root made */
	/* the part of @users where root had set nothing: the owner may undo these */
	uint32_t own;
	/*
	 * The entry is from an earlier daemon and not applied again (yet): the table does not have
	 * it.
	 */
	bool pending;
	bool reapplied;
	bool away;            /* the process is parked or on its way back; pending is set as well */
	uint32_t engine, gpu; /* where the TSG was */
};

struct gs_saved_policy {
	/* A person started this policy, or stopped the last one (then there is no name). */
	bool chosen;
	/* as a person gave it; if that was a path, the path of our copy of the object */
	char *name;
	char *host;     /* NULL: stock */
	char **options; /* key=value */
	size_t noptions;
	char *configured; /* the policy that the configuration named at that time */
	/* contents of an object that was named by its path and is not copied yet */
	void *object;
	size_t object_len;
};

struct gs_saved {
	struct gs_saved_tsg *tsgs; /* sorted by id */
	size_t ntsgs, naway;
	struct gs_saved_policy policy;
	bool launches;       /* a person turned launch counting on */
	bool running;        /* a daemon runs, or has died */
	uint64_t crashed_ns; /* when a daemon last crashed; 0: never */
	bool loaded, dirty;
	bool failed; /* the last write failed */
	uint64_t tried_ns;
};

/* Reads the file if it is of this boot. Applies nothing yet. */
void gs_saved_load(struct gs_control *ctl);
void gs_saved_free(struct gs_saved *saved);
/*
 * Parses @text, the content of a file. Takes nothing from the file of another boot than @boot.
 * -EINVAL: the file is invalid.
 */
int gs_saved_parse(struct gs_saved *saved, const char *text, const char *boot,
		   struct gs_error *err);
/* The file's text, malloc'd; NULL if out of memory. */
char *gs_saved_text(const struct gs_saved *saved, const char *boot);
/* True if the last daemon crashed at @died_ns, less than a minute after the one before it. */
bool gs_reapply_crashed_twice(const struct gs_saved *saved, uint64_t died_ns);

/* Returns NULL if no person set anything for the TSG. */
struct gs_saved_tsg *gs_saved_find(struct gs_saved *saved, uint64_t id);
/* Call this after @by (NULL: unknown, without a daemon) set or cleared the fields @which. */
void gs_saved_note(struct gs_control *ctl, const struct gpusched_key *key, const struct gs_peer *by,
		   uint32_t which);
/* The owner of TSG @id has just set the fields @which. No person had set these. */
void gs_saved_own(struct gs_control *ctl, uint64_t id, uint32_t which);
/* A person started policy @name, which now runs; NULL: a person stopped the policy. */
void gs_saved_choose(struct gs_control *ctl, const char *name, const char *host,
		     const char *const *options, size_t n);
void gs_saved_launches(struct gs_control *ctl, bool on);
/* A person restored everything: nothing will be applied again. */
void gs_saved_forget(struct gs_control *ctl);
/* Does as gs_saved_forget(), when no instance is open. */
void gs_saved_forget_file(void);
/* The configuration's policy as text: "lcbe\nkey=value", malloc'd. */
char *gs_saved_configured(const struct gs_control *ctl);

/*
 * Writes changes, unless a write came just before (@now: writes in any case). After a failed write
 * the old file stays, and the daemon tries again.
 */
void gs_saved_write(struct gs_control *ctl, bool now);
/* The observer's function: after each source of the loop. */
void gs_saved_dispatched(void *self);
/* The daemon ends in order. */
void gs_saved_end(struct gs_control *ctl);

void gs_saved_policy_done(struct gs_saved_policy *p);
int gs_saved_policy_parse(struct gs_saved_policy *p, json_t *o);

/*
 * ---- permanent.c: the policy that starts with the daemon, kept in the state directory ---------
 */

/* -EBUSY: the configuration already names a policy. */
int gs_permanent_may(const struct gs_control *ctl, struct gs_error *err);
/* Makes the running policy permanent: its object, as it was loaded. */
int gs_permanent_keep(const struct gs_control *ctl, const char *const *options, size_t n,
		      struct gs_error *err);
/* -ENOENT: no policy is permanent. */
int gs_permanent_load(struct gs_saved_policy *ret, struct gs_error *err);
void gs_permanent_forget(void);

/* ---- reapply.c: at a daemon's start ---------------------------------------------------------- */

/* How the last daemon ended, and what became of its settings. For `ping`. */
struct gs_past {
	bool crashed, twice;
	uint64_t died_ns;
	/* TSGs restored after the crash, and stopped processes that were continued */
	unsigned int restored, gone, failed, continued;
	/* numbers of TSGs: settings applied again; TSG ended; settings refused */
	unsigned int reapplied, ended, refused;
};

/* Finds out what was restored after the last daemon's death, by its guardian or just now. */
void gs_reapply_learn(struct gs_control *ctl);
/* Applies saved settings and suspensions again. */
void gs_reapply_settings(struct gs_control *ctl);
/* Starts the policy that a person chose, else the configuration's, else the permanent one. */
int gs_reapply_policy(struct gs_control *ctl, struct gs_error *err);

#endif /* GPUSCHED_CONTROL_SAVED_H */
