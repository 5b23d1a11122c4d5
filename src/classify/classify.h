/* SPDX-License-Identifier: MIT */
/*
 * classify.h - finds which class a process has
 *
 * Precedence: explicit command (run, class set; inherited by descendants), command for a cgroup,
 * the cgroup's user.gpusched.class attribute, rules of the configuration, default. Some facts can
 * be chosen by users: comm, arguments, an attribute of their own cgroup. Such facts never raise a
 * process. grants.h finds which part of a GPU a process may have, or is promised.
 */
#ifndef GPUSCHED_CLASSIFY_CLASSIFY_H
#define GPUSCHED_CLASSIFY_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "classify/grants.h"
#include "classify/user_names.h"
#include "gpusched/abi.h"
#include "table/table.h"

struct gs_classes;

/* Makes the table of classes, with lc, be and normal. */
int gs_classes_new(struct gs_classes **ret);
void gs_classes_free(struct gs_classes *c);
/*
 * Says how names in lines that are added from now on are found; at first GS_NAMING_STRICT. The
 * functions that add a line return GS_NAME_WAITS, with the reason in @err, if it waits for a name.
 */
void gs_classes_naming(struct gs_classes *c, enum gs_naming naming);
enum gs_naming gs_classes_naming_of(const struct gs_classes *c);

/* Adds a class of the configuration. -EEXIST, -ENOSPC, -EINVAL (bad name), with one line in err. */
int gs_classes_add(struct gs_classes *c, const char *name, const struct gpusched_class *cls,
		   struct gs_error *err);
int gs_classes_set_default(struct gs_classes *c, const char *name, struct gs_error *err);
/*
 * Adds a rule "comm=python3 uid=1000 -> be". All matchers in it must hold; rules are tried in
 * order. A rule that waits for its user holds down what later rules give: see by_rule().
 */
int gs_classes_add_rule(struct gs_classes *c, const char *rule, struct gs_error *err);
/* Adds a uid or group that may raise processes to a class: AllowClass= of the configuration. */
int gs_classes_allow(struct gs_classes *c, const char *allow, struct gs_error *err);

struct gs_who {
	bool is_group;
	uid_t uid;
	gid_t gid;
};
/* Adds a uid or group that may see others' GPU times: AllowTrace= of the configuration. */
int gs_classes_allow_trace(struct gs_classes *c, const char *who, struct gs_error *err);
/* The @i-th user or group that may see others' times; NULL: no more. */
const struct gs_who *gs_classes_tracer(const struct gs_classes *c, size_t i);

/* Finds a class by name. -ENOENT. */
int gs_class_id(const struct gs_classes *c, const char *name, uint32_t *ret);
const char *gs_class_name(const struct gs_classes *c, uint32_t id); /* NULL: unknown id */
/* Words of the class's line that no policy sees. */
struct gs_class_extras {
	bool means_auto; /* means=auto: gpusched run chooses the means */
	uint64_t slo_ns; /* slo=: the time that a request may take; 0: none */
};
struct gs_class_extras gs_class_extras(const struct gs_classes *c, uint32_t id);
void gs_class_set_extras(struct gs_classes *c, uint32_t id, const struct gs_class_extras *extras);
const struct gpusched_class *gs_class_of(const struct gs_classes *c, uint32_t id);
/* Compares by rank: lc comes above normal, then the configuration's classes by weight, then be. */
int gs_class_compare(const struct gs_classes *c, uint32_t a, uint32_t b);
/*
 * True if class @a gives more than class @b: a larger request, a higher limit, or no limit where @b
 * has one. A user needs the same right for this as for raising.
 */
bool gs_class_gives_more(const struct gs_classes *c, uint32_t a, uint32_t b);
/*
 * A user who wants a class. The groups are those of the process that asks or is classified, so no
 * name is looked up: a directory that does not answer would stop the loop.
 */
struct gs_asker {
	uid_t uid;
	bool root; /* the machine's root; uid 0 alone may be a container's */
	bool (*in_group)(const void *self, gid_t gid);
	const void *self;
};
/* True if @by may change the class of a process of @owner_uid from @from to @to. */
bool gs_class_may(const struct gs_classes *c, const struct gs_asker *by, uid_t owner_uid,
		  uint32_t from, uint32_t to);

#define GS_WHY_LEN 256
struct gs_class_answer {
	uint32_t class_id;
	enum gpusched_class_source source;
	uint32_t weight;
	bool weight_set; /* `class set` gave its cgroup a weight */
	/* an attribute of root's cgroup gave the weight: no owner's command raises it */
	bool weight_kept;
	/* it has no class, as a rule was passed over: a container's root chose what it matches */
	bool root_passed;
	uint32_t slice_us;    /* slice that its pod's claim asks for, within a ceiling; 0: none */
	char why[GS_WHY_LEN]; /* for `class explain` */
	struct gs_grants grants;
};
/*
 * Finds the class of @pid: that of an explicit command, if the process map has one; else from the
 * other sources, in order.
 */
int gs_classify(struct gs_classes *c, struct gs_table *o, pid_t pid, struct gs_class_answer *ret,
		struct gs_error *err);
/* The same for a process that is about to run a program of user @uid. */
int gs_classify_as(struct gs_classes *c, struct gs_table *o, pid_t pid, uid_t uid,
		   struct gs_class_answer *ret, struct gs_error *err);
/* Sources that would give a class, but come later in the order of precedence. */
struct gs_class_losers {
	char text[16][256]; /* "class be: rule 2: comm=x -> be" */
	size_t n;           /* number of texts; further sources are dropped */
	/*
	 * Why the process has its limit and its request, and which sources were passed over. "": it
	 * has none.
	 */
	char part[GS_PARTS][GS_WHY_LEN];
};
/* gs_classify() that also fills in the sources that lost. */
int gs_classify_all(struct gs_classes *c, struct gs_table *o, pid_t pid,
		    struct gs_class_answer *ret, struct gs_class_losers *losers,
		    struct gs_error *err);
/* Writes the class table into the maps. */
int gs_classes_publish(struct gs_classes *c, struct gs_table *o);

#endif /* GPUSCHED_CLASSIFY_CLASSIFY_H */
