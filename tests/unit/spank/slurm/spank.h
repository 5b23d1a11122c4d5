/* SPDX-License-Identifier: MIT */
/*
 * spank.h - declare the part of Slurm's plugin interface that gpusched's plugin uses
 *
 * The plugin's unit test is built with this header, so it needs no Slurm. The numeric values differ
 * from Slurm's: do not load a plugin that was built with it into Slurm.
 */
#ifndef TESTS_SLURM_SPANK_H
#define TESTS_SLURM_SPANK_H

typedef struct spank_handle *spank_t;
enum spank_item { S_JOB_UID, S_JOB_ID, S_TASK_PID };
enum spank_context { S_CTX_LOCAL, S_CTX_REMOTE, S_CTX_ALLOCATOR, S_CTX_SLURMD, S_CTX_JOB_SCRIPT };

struct spank_option {
	const char *name, *arginfo, *usage;
	int has_arg, val;
	int (*cb)(int val, const char *arg, int remote);
};

int spank_option_register(spank_t sp, struct spank_option *opt);
int spank_get_item(spank_t sp, enum spank_item item, ...);
enum spank_context spank_context(void);
void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

int slurm_spank_init(spank_t sp, int ac, char *av[]);
int slurm_spank_task_post_fork(spank_t sp, int ac, char *av[]);
int slurm_spank_job_prolog(spank_t sp, int ac, char *av[]);
int slurm_spank_job_epilog(spank_t sp, int ac, char *av[]);

#define SPANK_PLUGIN(name, version) extern const unsigned int spank_plugin_version;

#endif /* TESTS_SLURM_SPANK_H */
