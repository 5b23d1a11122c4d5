// SPDX-License-Identifier: MIT
/*
 * spank_gpusched.c - give Slurm's jobs a class of gpusched before their first GPU call
 *
 * Good for: classes and weights by partition; --gpu-class and --gpu-weight for sbatch, salloc and
 * srun, within ceilings that plugstack.conf sets and what the job's user may; GPU seconds in sacct.
 * Fails open: if anything goes wrong, the job still starts within 100 ms, and Slurm's log has the
 * error. Known weaknesses: each node's daemon decides about classes, so a job may have the class on
 * some nodes only. A process that leaves its step (daemonizes) keeps the class, but the history
 * counts it to no job.
 */
#include <slurm/spank.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"

SPANK_PLUGIN(gpusched, 1)

#define CLASS_LEN 32
#define WEIGHT_MOST 10000
#define ASK_MS 100
#define MAX_GRANTS 32

#ifndef GPUSCHED_RECORD
#define GPUSCHED_RECORD "/usr/lib/gpusched/slurm-record"
#endif
/* Names each job's partition while the job is on the node. Below /run, which is root's. */
#ifndef GPUSCHED_PARTITIONS
#define GPUSCHED_PARTITIONS "/run/gpusched-slurm"
#endif

/* What root grants the jobs of a partition. */
struct grant {
	char partition[64];
	char class[CLASS_LEN];
	unsigned int weight; /* 0: none */
};

/* The arguments of the line in plugstack.conf. */
static struct {
	char socket[108];
	char classes[256];       /* classes that a job may ask for, separated by commas */
	char class[CLASS_LEN];   /* class of a job that asks for none; "": none */
	unsigned int max_weight; /* largest weight that a job may ask for */
	char record[256];        /* program that runs when a job ends; "": none */
	struct grant grants[MAX_GRANTS];
	size_t ngrants;
} conf = {
	.socket = "/run/gpusched/api",
	.classes = "be,normal",
	.max_weight = 100,
	.record = GPUSCHED_RECORD,
};

/* The job's --gpu-class and --gpu-weight; "" and 0 if it has none. */
static char wish_class[CLASS_LEN];
static unsigned int wish_weight;

/* ---- plugstack.conf -------------------------------------------------------------------------- */

static bool take_number(const char *text, unsigned int most, unsigned int *ret)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || v > most)
		return false;
	*ret = (unsigned int)v;
	return true;
}

static bool take_text(const char *text, char *ret, size_t size)
{
	if (strlen(text) >= size)
		return false;
	strcpy(ret, text);
	return true;
}

static const struct grant *grant_of(const char *partition)
{
	for (size_t i = 0; i < conf.ngrants; i++)
		if (!strcmp(conf.grants[i].partition, partition))
			return &conf.grants[i];
	return NULL;
}

/* PARTITION:CLASS or PARTITION:CLASS:WEIGHT. The same argument may be read twice. */
static bool take_grant(const char *text)
{
	struct grant g = { .weight = 0 };
	char copy[sizeof(g.partition) + CLASS_LEN + 8], *name, *weight;

	if (!take_text(text, copy, sizeof(copy)) || !(name = strchr(copy, ':')))
		return false;
	*name++ = '\0';
	weight = strchr(name, ':');
	if (weight)
		*weight++ = '\0';
	if (!*copy || !*name || !take_text(copy, g.partition, sizeof(g.partition)) ||
	    !take_text(name, g.class, sizeof(g.class)) ||
	    (weight && (!take_number(weight, WEIGHT_MOST, &g.weight) || !g.weight)))
		return false;
	if (grant_of(g.partition))
		return true;
	if (conf.ngrants == MAX_GRANTS)
		return false;
	conf.grants[conf.ngrants++] = g;
	return true;
}

static bool take_argument(const char *arg)
{
	const char *value = strchr(arg, '=');
	size_t len = value ? (size_t)(value++ - arg) : 0;

	if (len == 6 && !strncmp(arg, "socket", len))
		return take_text(value, conf.socket, sizeof(conf.socket));
	if (len == 7 && !strncmp(arg, "classes", len))
		return take_text(value, conf.classes, sizeof(conf.classes));
	if (len == 7 && !strncmp(arg, "default", len))
		return take_text(value, conf.class, sizeof(conf.class));
	if (len == 10 && !strncmp(arg, "max_weight", len))
		return take_number(value, WEIGHT_MOST, &conf.max_weight);
	if (len == 9 && !strncmp(arg, "partition", len))
		return take_grant(value);
	if (len == 6 && !strncmp(arg, "record", len))
		return take_text(value, conf.record, sizeof(conf.record));
	return false;
}

/*
 * At a job's end Slurm does not call slurm_spank_init(), so each entry point reads the arguments.
 */
static void take_arguments(int ac, char *av[])
{
	for (int i = 0; i < ac; i++)
		if (!take_argument(av[i]))
			slurm_error("gpusched: plugstack.conf: '%s' is left out", av[i]);
}

static bool is_allowed(const char *class)
{
	size_t len = strlen(class);

	for (const char *at = conf.classes; len && *at; at += *at == ',') {
		size_t n = strcspn(at, ",");

		if (n == len && !strncmp(at, class, len))
			return true;
		at += n;
	}
	return false;
}

/* ---- options --------------------------------------------------------------------------------- */

/*
 * A bad option ends the command that submits the job. On a node, whose ceilings may differ, the
 * option is ignored.
 */
static int on_class(int val, const char *arg, int remote)
{
	if (!arg || !is_allowed(arg) || !take_text(arg, wish_class, sizeof(wish_class))) {
		slurm_error("gpusched: --gpu-class=%s: one of %s", arg ? arg : "", conf.classes);
		return remote ? 0 : -1;
	}
	return 0;
}

static int on_weight(int val, const char *arg, int remote)
{
	unsigned int weight = 0;

	if (!arg || !take_number(arg, conf.max_weight, &weight) || !weight) {
		slurm_error("gpusched: --gpu-weight=%s: a number from 1 to %u", arg ? arg : "",
			    conf.max_weight);
		return remote ? 0 : -1;
	}
	wish_weight = weight;
	return 0;
}

static struct spank_option options[] = {
	{ .name = "gpu-class",
	  .arginfo = "CLASS",
	  .usage = "class of the job's processes on the GPU (gpusched)",
	  .has_arg = 1,
	  .cb = on_class },
	{ .name = "gpu-weight",
	  .arginfo = "N",
	  .usage = "their weight beside others of that class (gpusched)",
	  .has_arg = 1,
	  .cb = on_weight },
};

int slurm_spank_init(spank_t sp, int ac, char *av[])
{
	take_arguments(ac, av);
	if (spank_context() != S_CTX_LOCAL && spank_context() != S_CTX_ALLOCATOR &&
	    spank_context() != S_CTX_REMOTE)
		return 0;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (spank_option_register(sp, &options[i]))
			slurm_error("gpusched: no option --%s", options[i].name);
	return 0;
}

/* ---- partitions ------------------------------------------------------------------------------ */

static void path_of(char *ret, size_t size, uint32_t job)
{
	snprintf(ret, size, "%s/%u", GPUSCHED_PARTITIONS, job);
}

/*
 * Notes the job's partition, before any of the job's programs runs. slurmd sets this environment. A
 * step's environment is the user's, and proves nothing.
 */
int slurm_spank_job_prolog(spank_t sp, int ac, char *av[])
{
	const char *partition = getenv("SLURM_JOB_PARTITION");
	char path[96];
	uint32_t job;
	FILE *f;
	int fd;

	take_arguments(ac, av);
	if (!conf.ngrants)
		return 0;
	if (!partition || spank_get_item(sp, S_JOB_ID, &job)) {
		slurm_error("gpusched: a job's partition is not known");
		return 0;
	}
	path_of(path, sizeof(path), job);
	mkdir(GPUSCHED_PARTITIONS, 0700);
	unlink(path); /* of an earlier run of the job */
	if (!grant_of(partition))
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f || fputs(partition, f) < 0 || fclose(f))
		slurm_error("gpusched: %s: %s", path, strerror(errno));
	return 0;
}

/* What the job's partition grants; NULL: nothing. */
static const struct grant *grant_of_job(spank_t sp)
{
	char path[96], partition[sizeof(conf.grants[0].partition)] = "";
	uint32_t job;
	FILE *f;

	if (!conf.ngrants || spank_get_item(sp, S_JOB_ID, &job))
		return NULL;
	path_of(path, sizeof(path), job);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	if (!fgets(partition, sizeof(partition), f))
		*partition = '\0';
	fclose(f);
	return grant_of(partition);
}

static void forget_partition(uint32_t job)
{
	char path[96];

	path_of(path, sizeof(path), job);
	unlink(path);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* @more: the rest of the arguments, in JSON. */
static void ask(pid_t pid, const char *more, const char *what)
{
	char args[256], why[200];
	int r;

	snprintf(args, sizeof(args), "{\"target\":\"pid:%d\",%s}", (int)pid, more);
	r = gs_ask(conf.socket, "class_set", args, ASK_MS, why, sizeof(why));
	if (r)
		slurm_error("gpusched: a task has no %s: %s", what, *why ? why : strerror(-r));
}

/*
 * The daemon judges the job's wishes by what its user may. A weight alone leaves the class that
 * root's rules give.
 */
static void ask_for_user(spank_t sp, pid_t pid)
{
	char more[100], what[64];
	uid_t uid;

	if (spank_get_item(sp, S_JOB_UID, &uid)) {
		slurm_error("gpusched: what the job asks for is left out: its user is not known");
		return;
	}
	if (*wish_class) {
		snprintf(more, sizeof(more), "\"class\":\"%s\",\"as_uid\":%u", wish_class,
			 (unsigned int)uid);
		snprintf(what, sizeof(what), "class '%s'", wish_class);
		ask(pid, more, what);
	}
	if (wish_weight) {
		snprintf(more, sizeof(more), "\"weight\":%u,\"as_uid\":%u", wish_weight,
			 (unsigned int)uid);
		snprintf(what, sizeof(what), "weight %u", wish_weight);
		ask(pid, more, what);
	}
}

/* Root's word, by the job's partition or for all jobs. */
static void ask_for_root(pid_t pid, const char *class, unsigned int weight)
{
	char more[100], what[64];

	if (*class) {
		snprintf(more, sizeof(more), "\"class\":\"%s\"", class);
		snprintf(what, sizeof(what), "class '%s'", class);
		ask(pid, more, what);
	}
	if (weight) {
		snprintf(more, sizeof(more), "\"weight\":%u", weight);
		snprintf(what, sizeof(what), "weight %u", weight);
		ask(pid, more, what);
	}
}

/* The task's program has not begun, so the program and its children inherit the class. */
int slurm_spank_task_post_fork(spank_t sp, int ac, char *av[])
{
	const struct grant *grant = grant_of_job(sp);
	const char *class = grant ? grant->class : conf.class;
	pid_t pid = 0;

	if (!*wish_class && !*class && !wish_weight)
		return 0;
	if (spank_get_item(sp, S_TASK_PID, &pid) || pid <= 0)
		return 0;
	if (!*wish_class)
		ask_for_root(pid, class, grant && !wish_weight ? grant->weight : 0);
	if (*wish_class || wish_weight)
		ask_for_user(sp, pid);
	return 0;
}

/* ---- the end of a job ------------------------------------------------------------------------ */

/*
 * Runs the record program in the background, since the daemon and Slurm's accounting may be slow.
 */
static void record_later(const char *job)
{
	int null = open("/dev/null", O_RDWR);

	if (setsid() < 0 || fork())
		_exit(0);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	signal(SIGCHLD, SIG_DFL);
	execl(conf.record, conf.record, job, (char *)NULL);
	_exit(127);
}

int slurm_spank_job_epilog(spank_t sp, int ac, char *av[])
{
	uint32_t job = 0;
	char text[16];
	pid_t pid;

	take_arguments(ac, av);
	if (spank_get_item(sp, S_JOB_ID, &job))
		return 0;
	forget_partition(job);
	if (!*conf.record || access(conf.record, X_OK))
		return 0;
	snprintf(text, sizeof(text), "%u", job);
	pid = fork();
	if (!pid)
		record_later(text);
	if (pid < 0)
		slurm_error("gpusched: job %s is not recorded: %s", text, strerror(errno));
	else
		waitpid(pid, NULL, 0);
	return 0;
}
