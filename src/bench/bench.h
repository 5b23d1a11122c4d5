/* SPDX-License-Identifier: MIT */
/*
 * bench.h - measures loads (an LC and some BEs) under several schemes, and keeps the results
 *
 * A cell is one load under one scheme, measured once in one block. A block is one pass over all
 * loads and schemes; their order differs from block to block. So a drift of the machine affects all
 * schemes alike, and figures are compared within a block.
 */
#ifndef GPUSCHED_BENCH_BENCH_H
#define GPUSCHED_BENCH_BENCH_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"
#include "basic/sample.h"

enum bench_mode { BENCH_REAL, BENCH_PATH, BENCH_SIM, BENCH_MODES };
extern const char *const bench_mode_names[BENCH_MODES]; /* names of the modes, for --gpu */

/* ---- what is measured: tables.c -------------------------------------------------------- */

enum bench_work {
	BENCH_REQUESTS, /* one request at a time, with gaps */
	BENCH_BATCH,    /* kernels back to back, without requests */
	BENCH_MEMORY,   /* kernels back to back that use all of the memory's bandwidth */
	BENCH_COPY,     /* copies to the GPU back to back */
	BENCH_TORCH,    /* a PyTorch program; real GPU only */
};

/*
 * Describes a program to gsload, the model or torch_load.py. Times are in us; 0: the program's
 * default.
 */
struct bench_program {
	enum bench_work work;
	/*
	 * REQUESTS: poisson or periodic (latency counts from the arrival), closed, or the path of a
	 * trace. A request of the trace's size n has n times the kernels, or tokens.
	 */
	const char *arrivals;
	double period_us, kernel_us, block_us, gap_us;
	double cv; /* coefficient of variation of the gaps between requests; above 1: bursts */
	unsigned int kernels, burst;
	/*
	 * REQUESTS: tokens of a request, one after the other. Each runs the kernels as one CUDA
	 * graph. 0: kernels are launched singly
	 */
	unsigned int tokens;
	const char *torch; /* TORCH: the script's argument */
	bool loop;         /* TORCH: a service without gaps between its requests */
};

struct bench_load {
	const char *name, *text;
	/* measured in 5 blocks under all schemes; other loads in 3 blocks under few */
	bool core;
	bool held_out; /* measured only on request: by --held-out, or by its name */
	const struct bench_program *lc, *be;
	unsigned int nlc, nbe;
	/* lc and be are lists of nlc and nbe programs; else one program each, so many times */
	bool each;
	bool asked;                      /* measured only by its name; --held-out leaves it out */
	const struct bench_given *given; /* the file it was read from; NULL: it is one of ours */
};
#define BENCH_LOADS_MAX 80
extern struct bench_load bench_loads[BENCH_LOADS_MAX];
size_t bench_table_nloads(void);

enum bench_mps { BENCH_NO_MPS, BENCH_MPS, BENCH_MPS_PRIORITY };

struct bench_scheme {
	const char *name, *text;
	bool everywhere; /* used also on loads that are not core */
	bool alone;      /* the LC without the BE */
	bool be_alone;   /* the BE without the LC */
	bool slices;     /* static slices for the BE: bench_table_slice_us() */
	bool bare;       /* without daemon and taps */
	enum bench_mps mps;
	/* % of the SMs that the BE may use in an MPS server; 0: no cap */
	unsigned int be_sm_percent;
	const char *policy; /* policy to start: its name or a path; NULL: none */
	const char *runs;   /* the policy's own name; NULL: as in @policy */
	bool told;          /* programs are given their classes */
	/* further options for `gpusched run`; NULL: none */
	const char *run_lc, *run_be;
};
#define BENCH_SCHEMES_MAX 24
#define BENCH_GPUS 4 /* most GPUs side by side */
extern struct bench_scheme bench_schemes[BENCH_SCHEMES_MAX];
size_t bench_table_nschemes(void);
/*
 * Adds a scheme with that policy's name. @given: an installed policy, or the path of the user's own
 * source or object.
 */
int bench_table_add_policy(const char *given, struct gs_error *err);

/*
 * True if @name is this load's name, or the part of it before a dash. A load from a file has its
 * path for a name here.
 */
bool bench_table_load_is(const struct bench_load *load, const char *name, size_t length);
/* The commit that this program was built from. */
extern const char *const bench_build;

/* The load of that name; NULL: none. */
const struct bench_load *bench_table_load(const char *name);
const struct bench_scheme *bench_table_scheme(const char *name);
/*
 * The slice for the scheme of static slices: the shortest one with which the BE still works.
 * Several BEs need a longer one.
 */
unsigned int bench_table_slice_us(const struct bench_load *load);
/* The load that stands for all loads with the same LC, when the LC runs alone. */
const struct bench_load *bench_table_alone(const struct bench_load *load);
/* Returns true if this cell cannot be measured here, with the reason in @ret. */
bool bench_table_absent(const struct bench_load *load, const struct bench_scheme *scheme,
			enum bench_mode mode, char *ret, size_t size);

/* The @i-th LC or BE program of the load. */
static inline const struct bench_program *bench_program_of(const struct bench_load *l, bool is_lc,
							   unsigned int i)
{
	return (is_lc ? l->lc : l->be) + (l->each ? i : 0);
}
/* Kernels in one request; 1 for a program without requests. */
unsigned int bench_table_kernels(const struct bench_program *p);
/* True if $PATH has such a program. */
bool bench_table_in_path(const char *program);
/* Finds torch_load.py, beside this program or installed. */
void bench_program_torch_script(char *ret, size_t size);

/* ---- measuring -------------------------------------------------------------------------------- */

struct bench_cell;
struct bench_run {
	enum bench_mode mode;
	double seconds, warmup_s; /* length and warm-up of each cell, in the GPU's time */
	double dilate;            /* PATH: how many times slower the GPU's time runs; else 1 */
	/* SIM: a file with the model's parameters; NULL: those of the H200 */
	const char *params;
	unsigned int gpus; /* REAL and PATH: number of GPUs side by side */
	char machine[200]; /* rows of different machines are never mixed */
	char gpu[96];
	char driver[32];         /* "": unknown, or the model is used */
	unsigned int host_gpus;  /* 0: unknown */
	struct bench_path *path; /* REAL and PATH: paths of tools, and the bench's folder */
	/*
	 * REAL and PATH, may be NULL: 300 bytes, filled with the name of the bench's folder once it
	 * is made
	 */
	char *note_dir;
	bool dry_run;       /* REAL and PATH: the daemon makes a dry run */
	bool beside_others; /* REAL and PATH: measure even if others have TSGs */
	bool any_driver; /* REAL and PATH: the daemon makes RM calls with an unknown driver too */
	/* REAL and PATH, may be NULL: when non-zero, the measurement stops and ends in order */
	const volatile sig_atomic_t *stop;
	/* REAL and PATH, may be NULL: called when the window is over and everything still runs */
	void (*before_end)(void *user, const struct bench_cell *cell);
	void *user;
};

/* The warm-up of a cell: longer if a policy has to find out what each program does. */
double bench_table_warmup_s(const struct bench_run *run, const struct bench_scheme *scheme);

/* The result of a cell, as in a line of the raw data. */
struct bench_cell {
	const struct bench_load *load;
	const struct bench_scheme *scheme;
	unsigned int block;
	double *latency_us; /* in the order of measurement, but sorted in a result; malloc'd */
	size_t n;
	double *token_us; /* times of tokens, kept in the same way */
	size_t ntokens;
	double late_p99_us;              /* lateness of the load generator itself; NAN: unknown */
	double be_rate;                  /* NAN: there was no BE, or it is unknown */
	double lost_pct, switches_per_s; /* NAN: unknown */
	json_t *in_force;                /* settings in force during the measurement */
	json_t *where;                   /* driver, build, GPUs on the host */
	bool proved;                     /* the settings were really those of the scheme */
	char failed[200];                /* why the cell was not measured; "": it was */
};
void bench_result_free_cell(struct bench_cell *cell);

/* The name of the model's GPU. 0, or -errno: the run's parameters are wrong. */
int bench_model_name(const struct bench_run *run, char *ret, size_t size, struct gs_error *err);
/*
 * Measures one cell on the model; @cell has load, scheme and block. 0, or -errno: the bench must
 * end.
 */
int bench_on_model(const struct bench_run *run, struct bench_cell *cell, struct gs_error *err);

/* Prepares for real programs. Call it once, before the first cell. */
int bench_path_begin(struct bench_run *run, struct gs_error *err);
/*
 * True if cells of both schemes can use the same programs, since the schemes differ only in the
 * policy.
 */
bool bench_path_same_programs(const struct bench_scheme *a, const struct bench_scheme *b);
/*
 * Measures @n cells of one load, one after the other with the same programs, in @ngpus blocks. Each
 * block runs on its own GPU, all at the same time. @cells has the @n cells of the first block, then
 * those of the next ones. Returns -EINTR after SIGINT or SIGTERM: programs and daemon have been
 * ended.
 */
int bench_on_path(struct bench_run *run, struct bench_cell *cells, size_t n, unsigned int ngpus,
		  struct gs_error *err);
void bench_path_end(struct bench_run *run);

#endif /* GPUSCHED_BENCH_BENCH_H */
