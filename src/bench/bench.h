/* SPDX-License-Identifier: MIT */
/*
 * bench.h - loads beside each other under several schemes: what is measured, and what came out
 *
 * A cell is one load under one scheme in one block, measured once. Blocks are passes over all cells
 * in an order that changes with the block, so a drift of the machine meets all alike, and figures
 * are compared within a block.
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
extern const char *const bench_mode_names[BENCH_MODES]; /* of --gpu */

/* ---- what is measured: tables.c -------------------------------------------------------- */

enum bench_work {
	BENCH_REQUESTS, /* one at a time, with gaps */
	BENCH_BATCH,    /* kernels back to back */
	BENCH_MEMORY,   /* the same; they read and write all of the memory's bandwidth */
	BENCH_COPY,     /* copies to the GPU back to back */
	BENCH_TORCH,    /* a PyTorch program; real GPU only */
};

/* One program, as gsload, the model and torch_load.py are told. Times in us; 0: their default. */
struct bench_program {
	enum bench_work work;
	/* REQUESTS: poisson or periodic (latency from the arrival), or closed */
	const char *arrivals;
	double period_us, kernel_us, block_us, gap_us;
	double cv; /* of the time between two requests; above 1 they come in bursts */
	unsigned int kernels, burst;
	/* REQUESTS: so many times the kernels, which are one CUDA graph, one after the other */
	unsigned int tokens;
	const char *torch; /* TORCH: its argument */
	bool loop;         /* TORCH: a service without gaps between its requests */
};

struct bench_load {
	const char *name, *text;
	bool core;     /* 5 blocks and all schemes; else 3 blocks of few */
	bool held_out; /* measured only where --held-out or its name asks for it */
	const struct bench_program *lc, *be;
	unsigned int nlc, nbe;
};
extern const struct bench_load bench_loads[];
extern const size_t bench_nloads;

enum bench_mps { BENCH_NO_MPS, BENCH_MPS, BENCH_MPS_PRIORITY };

struct bench_scheme {
	const char *name, *text;
	bool everywhere; /* also on loads that are not core */
	bool alone;      /* the LC without the BE */
	bool be_alone;   /* the BE without the LC */
	bool slices;     /* static slices of the BE: bench_slice_us() */
	bool bare;       /* no daemon, no taps */
	enum bench_mps mps;
	unsigned int be_sm_percent; /* with an MPS server; 0: no cap */
	const char *policy;         /* to start: a name or a path; NULL: none */
	const char *runs;           /* what it then calls itself; NULL: the same */
	bool told;                  /* the programs have their classes */
	/* further options of `gpusched run`, one each; NULL: none */
	const char *run_lc, *run_be;
};
#define BENCH_SCHEMES_MAX 24
#define BENCH_GPUS 4 /* side by side at most */
extern struct bench_scheme bench_schemes[BENCH_SCHEMES_MAX];
size_t bench_nschemes(void);
/* A scheme of this name more: policy @given (installed, or a source or object of the user's own). */
int bench_add_policy(const char *given, struct gs_error *err);

/* Is @name this load's name, or the beginning of it before a dash? */
bool bench_load_is(const struct bench_load *load, const char *name, size_t length);
/* The commit that this program was built from. */
extern const char *const bench_build;

/* By its name; NULL: there is none. */
const struct bench_load *bench_load(const char *name);
const struct bench_scheme *bench_scheme(const char *name);
/*
 * The scheme of static slices: the shortest slice that a BE works with; several BE need longer
 * ones.
 */
unsigned int bench_slice_us(const struct bench_load *load);
/* The LC alone is the same for all loads with this LC: the first of them stands for it. */
const struct bench_load *bench_alone_of(const struct bench_load *load);
/* Why this cell cannot be measured here: static text in @ret; false: it can. */
bool bench_absent(const struct bench_load *load, const struct bench_scheme *scheme,
		  enum bench_mode mode, char *ret, size_t size);

/* Units of work in one request; 1 for a BE, which has none. */
unsigned int bench_kernels(const struct bench_program *p);
/* Is there such a program in $PATH? */
bool bench_in_path(const char *program);
/* torch_load.py, beside this program or installed. */
void bench_torch_script(char *ret, size_t size);

/* ---- measuring -------------------------------------------------------------------------------- */

struct bench_cell;
struct bench_run {
	enum bench_mode mode;
	double seconds, warmup_s; /* of one cell, in the GPU's time */
	double dilate;            /* PATH */
	const char *params;       /* SIM: a file of the model's parameters; NULL: the H200's */
	unsigned int gpus;        /* REAL and PATH: so many side by side */
	char machine[200];        /* rows of one machine are never mixed with another's */
	char gpu[96];
	char driver[32];         /* ""; not known, or the model */
	unsigned int host_gpus;  /* 0: not known */
	struct bench_path *path; /* REAL and PATH: what the programs need */
	bool dry_run;            /* the same: of the daemon */
	bool beside_others;      /* the same: others' TSGs are no reason to refuse */
	/* the same; may be NULL: non-zero gives the cell up, and all that runs is ended in order */
	const volatile sig_atomic_t *stop;
	/* the same; may be NULL: the window is over, and all still runs */
	void (*before_end)(void *user, const struct bench_cell *cell);
	void *user;
};

/* The length of a cell: longer where a policy has to find out what each program is. */
double bench_warmup_s(const struct bench_run *run, const struct bench_scheme *scheme);

/* The result of a cell, as a line of the raw data has it. */
struct bench_cell {
	const struct bench_load *load;
	const struct bench_scheme *scheme;
	unsigned int block;
	double *latency_us; /* as they came; in a result sorted; malloc'd */
	size_t n;
	double *token_us; /* the same of tokens, where requests have several */
	size_t ntokens;
	double late_p99_us; /* what the load generator itself came too late; NAN: not known */
	double be_rate;     /* NAN: there was none, or it is not known */
	double lost_pct, switches_per_s; /* NAN: not known */
	json_t *in_force;                /* what the settings were while it was measured */
	json_t *where;                   /* driver, build, GPUs on the host */
	bool proved;                     /* they were as the scheme says */
	char failed[200];                /* "": it was measured */
};
void bench_cell_free(struct bench_cell *cell);

/* The name of the model's GPU. 0 or -errno: the run's are wrong. */
int bench_model_name(const struct bench_run *run, char *ret, size_t size, struct gs_error *err);
/* One cell on the model; @cell has load, scheme and block. 0, or -errno: the bench cannot go on. */
int bench_on_model(const struct bench_run *run, struct bench_cell *cell, struct gs_error *err);

/* The same with real programs; begin once, before the first cell. */
int bench_path_begin(struct bench_run *run, struct gs_error *err);
/* May a cell of the one go on with the programs of the other's? The schemes differ in the policy. */
bool bench_same_programs(const struct bench_scheme *a, const struct bench_scheme *b);
/*
 * @n cells of one load and block, one after the other with the same programs; then those of the next
 * block, which runs beside it on the next GPU: @ngpus blocks. -EINTR: SIGINT or SIGTERM came;
 * programs and daemon have been ended.
 */
int bench_on_path(struct bench_run *run, struct bench_cell *cells, size_t n, unsigned int ngpus,
		  struct gs_error *err);
void bench_path_end(struct bench_run *run);

#endif /* GPUSCHED_BENCH_BENCH_H */
