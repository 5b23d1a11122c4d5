/* SPDX-License-Identifier: MIT */
/*
 * priv.h - declares what src/classify shares: classes, rules, and a process's facts
 */
#ifndef GPUSCHED_CLASSIFY_PRIV_H
#define GPUSCHED_CLASSIFY_PRIV_H

#include "classify/classify.h"
#include "classify/rules.h"
#include "classify/grants.h"
#include "process/cgroup.h"
#include "process/pod_names.h"
#include "process/root.h"

#define GS_MAX_RULES 256
#define GS_MAX_ALLOWS 64
#define GS_CGROUP_LEVELS 32

/* ---- facts ----------------------------------------------------------------------------------- */
/* Decisions depend on nothing else. facts.c reads facts; tests make them up. */

/* One directory of the process's cgroup path. */
struct gs_cgroup_fact {
	char path[GS_CGROUP_PATH_LEN];      /* path below the cgroup2 mount, "/" first */
	bool owners;                        /* a user's, or made in a container */
	char attr[GPUSCHED_CLASS_NAME_LEN]; /* user.gpusched.class; "": none */
	/* user.gpusched.limit, .request, .weight; 0: none, or invalid */
	struct gs_cgroup_parts parts;
	uint32_t weight;
	const char *bad; /* the first invalid attribute; NULL: none */
};

struct gs_facts {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	enum gs_root root; /* if its uid is 0: the machine's root, or a container's */
	char comm[64];
	char exe[512];           /* "": unknown */
	char args[4096];         /* each argument ends with a NUL */
	size_t nargs;            /* used bytes of args */
	struct gs_pod_names pod; /* "": unknown, or in no pod */
	enum gpusched_program program;
	/* exe and args could not be read, or not yet */
	bool unread;
	struct gs_cgroup_fact cgroups[GS_CGROUP_LEVELS]; /* the nearest comes first */
	size_t ncgroups;
};
/* Reads everything except executable and arguments. -ESRCH if the process is gone. */
int gs_facts_read(pid_t pid, struct gs_facts *ret, struct gs_error *err);
/* Reads executable and arguments, if that is possible without waiting for the owner. */
void gs_facts_read_program(struct gs_facts *f);

/* ---- rules -------------------------------------------------------------------------------- */

struct gs_rule {
	char *comm, *exe, *cgroup, *arg; /* glob patterns; NULL: any */
	char *exe_real;                  /* @exe without links; NULL: it names no file */
	char *namespace, *pod, *container;
	enum gpusched_program program; /* _UNKNOWN: any */
	bool has_uid;
	bool waits; /* its user is not known: it matches nobody */
	uid_t uid;
	uint32_t class_id;
	char *text; /* the line, with what has become of it in brackets */
	size_t line_len;
};
/* From now on the program that exe= names is the file @real. NULL: it is no link. -ENOMEM. */
int gs_rule_leads_to(struct gs_rule *r, const char *real);
void gs_rule_done(struct gs_rule *r);
/*
 * True if the rule matches. @ret_trusted: it names a fact that the process's owner cannot choose.
 */
bool gs_rule_matches(const struct gs_rule *r, const struct gs_facts *f, bool *ret_trusted);
/* True if all but the user matches, for a rule that waits for its user. */
bool gs_rule_may_match(const struct gs_rule *r, const struct gs_facts *f);
/*
 * True if the rule came near: all matches but one, which is known; or its only one names something
 * similar. Writes that one as text, such as "its exe is /usr/bin/vim here".
 */
bool gs_rule_is_near(const struct gs_rule *r, const struct gs_facts *f, char *ret, size_t size);

/* A user's or group's right to raise to a class. */
struct gs_allow {
	uint32_t class_id;
	struct gs_who who;
};

/* A class that a command gave to a cgroup. */
struct gs_cgroup_class {
	char path[GS_CGROUP_PATH_LEN];
	uint32_t class_id, weight;
};

/* The most that annotations can give to pods of a namespace. */
struct gs_ceiling {
	char *namespace; /* glob pattern */
	uint32_t class_id;
	uint32_t weight; /* 0: the class's weight */
	uint16_t request_pct;
	uint32_t slice_us;
};

struct gs_pod_words;

struct gs_classes {
	struct gpusched_class cls[GPUSCHED_MAX_CLASSES]; /* the classes by id; id 0 is no class */
	bool redefined[GPUSCHED_CLASS_FIRST_USER];
	struct gs_class_extras extras[GPUSCHED_MAX_CLASSES];
	uint32_t n; /* number of ids in use */
	uint32_t default_class;
	enum gs_naming naming;
	struct gs_rule rules[GS_MAX_RULES];
	size_t nrules;
	struct gs_cgroup_class cgroups[GS_MAX_CGROUPS];
	size_t ncgroups;
	struct gs_allow allows[GS_MAX_ALLOWS];
	size_t nallows;
	struct gs_who tracers[GS_MAX_ALLOWS];
	size_t ntracers;
	struct gs_pod_words *words; /* hash table of pods, by uid */
	size_t nparts;              /* number of pods that ask for a limit or a request */
	struct gs_ceiling ceilings[GS_MAX_ALLOWS];
	size_t nceilings;
	const char *no_slices; /* why slices of pods' claims are ignored; NULL: they count */
};

/* True if AllowClass= holds for this user or one of the user's groups. */
bool gs_class_allowed(const struct gs_classes *c, const struct gs_asker *by, uint32_t class_id);
/*
 * Adds weight, limit and request to @a, which has the class. @own: zeroes if no command gave the
 * process anything. @losers may be NULL.
 */
void gs_parts_give(const struct gs_classes *c, const struct gpusched_proc *own,
		   const struct gs_facts *f, struct gs_class_answer *a,
		   struct gs_class_losers *losers);
/* Finds the class from all sources but the explicit command. @losers may be NULL. */
void gs_classify_facts(const struct gs_classes *c, const struct gs_facts *f,
		       struct gs_class_answer *ret, struct gs_class_losers *losers);

#endif /* GPUSCHED_CLASSIFY_PRIV_H */
