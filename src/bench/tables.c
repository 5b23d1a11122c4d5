// SPDX-License-Identifier: MIT
/* tables.c - lists every load and every scheme of the bench */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bench/given.h"
#include "build.h"
#include "bench/spawn.h"
#include "policy/policy.h"

const char *const bench_build = GPUSCHED_BUILD;
const char *const bench_mode_names[BENCH_MODES] = { "real", "path", "sim" };

/* ---- programs -------------------------------------------------------------------------------- */

static const struct bench_program one_kernel = {
	.arrivals = "closed", .period_us = 5000, .kernel_us = 100, .kernels = 1, .burst = 1
};
static const struct bench_program twenty_kernels = {
	.arrivals = "closed", .period_us = 10000, .kernel_us = 50, .kernels = 20, .burst = 1
};
static const struct bench_program open_arrivals = {
	.arrivals = "poisson", .period_us = 5000, .kernel_us = 100, .kernels = 1, .burst = 1
};
static const struct bench_program launch_bound = {
	.arrivals = "closed",
	.period_us = 5000,
	.kernel_us = 4,
	.kernels = 500,
	.gap_us = 14,
	.burst = 1,
};
static const struct bench_program bursts = {
	.arrivals = "poisson", .period_us = 50000, .kernel_us = 100, .kernels = 1, .burst = 10
};

/* Requests of 100 us that together need @percent of the GPU. */
#define PART(name, percent) \
	static const struct bench_program name = { \
		.arrivals = "poisson", \
		.period_us = 100 * 100.0 / (percent), \
		.kernel_us = 100, \
		.kernels = 1, \
		.burst = 1, \
	}
PART(part_5, 5);
PART(part_20, 20);
PART(part_40, 40);
PART(part_60, 60);
PART(part_80, 80);

/*
 * Like the server of a language model: each token is a graph of 1.2 ms, and then the CPU reads the
 * result.
 */
#define LLM_TOKENS 64
/* time of a request without other programs, on the model and on an H200 */
#define LLM_REQUEST_US 78500
#define LLM(name, percent) \
	static const struct bench_program name = { \
		.arrivals = "poisson", \
		.period_us = LLM_REQUEST_US * 100.0 / (percent), \
		.kernel_us = 100, \
		.kernels = 12, \
		.tokens = LLM_TOKENS, \
		.burst = 1, \
	}
LLM(llm_30, 30);
LLM(llm_60, 60);
LLM(llm_75, 75);
LLM(llm_90, 90);

static const struct bench_program batch = { BENCH_BATCH, .kernel_us = 1000 };
static const struct bench_program short_batch = { BENCH_BATCH, .kernel_us = 100 };
static const struct bench_program blocks_20 = { BENCH_BATCH, .kernel_us = 1000, .block_us = 20 };
static const struct bench_program blocks_100 = { BENCH_BATCH, .kernel_us = 1000, .block_us = 100 };
static const struct bench_program blocks_1000 = { BENCH_BATCH, .kernel_us = 1000,
						  .block_us = 1000 };
static const struct bench_program long_batch = { BENCH_BATCH, .kernel_us = 20000,
						 .block_us = 1000 };
static const struct bench_program longest_batch = { BENCH_BATCH, .kernel_us = 100000,
						    .block_us = 1000 };
static const struct bench_program memory_batch = { BENCH_MEMORY, .kernel_us = 1000 };
static const struct bench_program copies = { BENCH_COPY };
static const struct bench_program half_idle = {
	.arrivals = "closed", .period_us = 20000, .kernel_us = 1000, .kernels = 20, .burst = 1
};

static const struct bench_program graph_service = { BENCH_TORCH, .torch = "graph" };
static const struct bench_program eager_service = { BENCH_TORCH, .torch = "eager" };
static const struct bench_program decoder_service = { BENCH_TORCH, .torch = "decoder" };
static const struct bench_program memory_service = { BENCH_TORCH, .torch = "memory" };
static const struct bench_program resnet_service = { BENCH_TORCH, .torch = "resnet152" };
static const struct bench_program bert_service = { BENCH_TORCH, .torch = "bert" };
static const struct bench_program vgg_loop = { BENCH_TORCH, .torch = "vgg19", .loop = true };
static const struct bench_program densenet_loop = { BENCH_TORCH, .torch = "densenet201",
						    .loop = true };
static const struct bench_program training = { BENCH_TORCH, .torch = "train" };
static const struct bench_program two_process_training = { BENCH_TORCH, .torch = "ddp" };

/* ---- held out -------------------------------------------------------------------------------- */
/*
 * bench/held-out.md says what these programs resemble, and when somebody looked at them. Users may
 * ask for those of DISB, which are loads of both kinds.
 */

/* With one kernel per layer: VGG-19, ResNet-152. */
#define VGG .kernel_us = 40, .kernels = 19
#define RESNET .kernel_us = 12, .kernels = 152
#define AT_ONCE .arrivals = "closed", .period_us = 1, .burst = 1

static const struct bench_program vgg_100 = {
	.arrivals = "periodic", .period_us = 10000, .burst = 1, VGG
};
static const struct bench_program vgg_closed = { AT_ONCE, VGG };
static const struct bench_program resnet_closed = { AT_ONCE, RESNET };
static const struct bench_program resnet_20 = {
	.arrivals = "periodic", .period_us = 50000, .burst = 1, RESNET
};
static const struct bench_program resnet_20_poisson = {
	.arrivals = "poisson", .period_us = 50000, .burst = 1, RESNET
};
static const struct bench_program chat = { .arrivals = "poisson",
					   .period_us = 180800,
					   .cv = 1.09,
					   .kernel_us = 100,
					   .kernels = 12,
					   .tokens = 129,
					   .burst = 1 };
static const struct bench_program code_assistant = { .arrivals = "poisson",
						     .period_us = 389600,
						     .cv = 13.15,
						     .kernel_us = 100,
						     .kernels = 12,
						     .tokens = 13,
						     .burst = 1 };
static const struct bench_program driving = {
	.arrivals = "periodic", .period_us = 210300, .burst = 4, VGG
};

/* ---- loads ----------------------------------------------------------------------------------- */

#define A "one kernel of 100 us a request, "
#define B "20 kernels of 50 us a request, "
#define BESIDE_TRAINING " beside the training of a transformer"

#define BLOCKS(us, load, count) \
	{ \
		.name = "blocks-" us "-" #count "be", \
		.text = A "beside " #count " BE of 1 ms kernels with thread blocks of " us " us", \
		.lc = &one_kernel, .be = &(load), .nlc = 1, .nbe = (count) \
	}
#define HELD_OUT(called, what, service, n, other, m) \
	{ \
		.name = "held-" called, .text = "held out: " what, .held_out = true, \
		.lc = &(service), .be = &(other), .nlc = (n), .nbe = (m) \
	}
#define DISB(letter, what, service, n, other, m) \
	{ \
		.name = "disb-" letter, .text = "after DISB: " what, .asked = true, \
		.lc = &(service), .be = &(other), .nlc = (n), .nbe = (m) \
	}
#define PART_LOAD(percent, program) \
	{ \
		.name = "part-" percent, \
		.text = "arrivals by the clock, " A "which take " percent \
			" % of the GPU, beside 1 BE", \
		.lc = &(program), .be = &batch, .nlc = 1, .nbe = 1 \
	}
#define LLM_LOAD(percent, program) \
	{ \
		.name = "llm-" percent, \
		.text = "64 tokens a request, a CUDA graph of 1.2 ms each, at " percent \
			" % of what it can do alone, beside 1 BE", \
		.lc = &(program), .be = &batch, .nlc = 1, .nbe = 1 \
	}

struct bench_load bench_loads[BENCH_LOADS_MAX] = {
	{ "a-1be", A "beside 1 BE of 1 ms kernels", true, false, &one_kernel, &batch, 1, 1 },
	{ "a-3be", A "beside 3", true, false, &one_kernel, &batch, 1, 3 },
	{ "a-8be", A "beside 8", true, false, &one_kernel, &batch, 1, 8 },
	{ "b-1be", B "beside 1 BE", true, false, &twenty_kernels, &batch, 1, 1 },
	{ "b-3be", B "beside 3", true, false, &twenty_kernels, &batch, 1, 3 },
	{ "b-8be", B "beside 8", true, false, &twenty_kernels, &batch, 1, 8 },
	{ "open-1be", "arrivals by the clock, " A "beside 1 BE", true, false, &open_arrivals,
	  &batch, 1, 1 },
	{ "launch-1be", "launch-bound: 500 kernels of 4 us a request, 14 us apart, beside 1 BE",
	  true, false, &launch_bound, &batch, 1, 1 },
	{ "graph", "ResNet-50 as a CUDA graph" BESIDE_TRAINING, true, false, &graph_service,
	  &training, 1, 1 },
	{ "eager", "ResNet-50, eager" BESIDE_TRAINING, true, false, &eager_service, &training, 1,
	  1 },
	{ "decoder", "a decoder of 16 tokens a request" BESIDE_TRAINING, true, false,
	  &decoder_service, &training, 1, 1 },
	BLOCKS("20", blocks_20, 1),
	BLOCKS("100", blocks_100, 1),
	BLOCKS("1000", blocks_1000, 1),
	BLOCKS("20", blocks_20, 3),
	BLOCKS("100", blocks_100, 3),
	BLOCKS("1000", blocks_1000, 3),
	LLM_LOAD("30", llm_30),
	LLM_LOAD("60", llm_60),
	LLM_LOAD("75", llm_75),
	LLM_LOAD("90", llm_90),
	PART_LOAD("5", part_5),
	PART_LOAD("20", part_20),
	PART_LOAD("40", part_40),
	PART_LOAD("60", part_60),
	PART_LOAD("80", part_80),
	{ "two-lc", "two LC, each with " A "beside 1 BE", false, false, &one_kernel, &batch, 2, 1 },
	{ "short-be", A "beside 1 BE of 100 us kernels", false, false, &one_kernel, &short_batch, 1,
	  1 },
	{ "long-be", A "beside 1 BE of 20 ms kernels", false, false, &one_kernel, &long_batch, 1,
	  1 },
	{ "longest-be", A "beside 1 BE of 100 ms kernels", false, false, &one_kernel,
	  &longest_batch, 1, 1 },
	{ "memory-be", A "beside 1 BE that is bound by memory", false, false, &one_kernel,
	  &memory_batch, 1, 1 },
	{ "copy-be", A "beside 1 BE that copies to the GPU", false, false, &one_kernel, &copies, 1,
	  1 },
	{ "bursts", "10 requests at once, each of a kernel of 100 us, beside 1 BE", false, false,
	  &bursts, &batch, 1, 1 },
	/*
	 * arrivals by the clock: a client that waits for answers would send fewer requests the
	 * longer they take, and most of them while the BE rests
	 */
	{ "half-be", "arrivals by the clock, " A "beside 1 BE that rests half of its time", false,
	  false, &open_arrivals, &half_idle, 1, 1 },
	{ "memory-lc", "requests that copy 8 GiB within the GPU" BESIDE_TRAINING, false, false,
	  &memory_service, &training, 1, 1 },
	{ "trainings-2be", "ResNet-50 as a CUDA graph beside two trainings", false, false,
	  &graph_service, &training, 1, 2 },
	{ "trainings-4be", "ResNet-50 as a CUDA graph beside four trainings", false, false,
	  &graph_service, &training, 1, 4 },
	{ "ddp-be", "ResNet-50 as a CUDA graph beside a training in two processes", false, false,
	  &graph_service, &two_process_training, 1, 1 },
	{ "inference-vgg", "ResNet-152 beside VGG-19 in a loop", false, false, &resnet_service,
	  &vgg_loop, 1, 1 },
	{ "inference-densenet", "the shapes of BERT beside DenseNet-201 in a loop", false, false,
	  &bert_service, &densenet_loop, 1, 1 },
	DISB("a", "VGG-19 100 times/s beside ResNet-152 in a loop", vgg_100, 1, resnet_closed, 1),
	DISB("b", "VGG-19 in a loop beside ResNet-152 in a loop", vgg_closed, 1, resnet_closed, 1),
	DISB("c", "VGG-19 100 times/s beside five in a loop", vgg_100, 1, resnet_closed, 5),
	DISB("d", "five services 20 times/s beside five in a loop", resnet_20, 5, resnet_closed, 5),
	DISB("e", "the same, Poisson arrivals", resnet_20_poisson, 5, resnet_closed, 5),
	HELD_OUT("disb-a", "VGG-19 100 times/s beside ResNet-152 in a loop", vgg_100, 1,
		 resnet_closed, 1),
	HELD_OUT("disb-b", "VGG-19 in a loop beside ResNet-152 in a loop", vgg_closed, 1,
		 resnet_closed, 1),
	HELD_OUT("disb-c", "VGG-19 100 times/s beside five in a loop", vgg_100, 1, resnet_closed,
		 5),
	HELD_OUT("disb-d", "five services 20 times/s beside five in a loop", resnet_20, 5,
		 resnet_closed, 5),
	HELD_OUT("disb-e", "the same, Poisson arrivals", resnet_20_poisson, 5, resnet_closed, 5),
	HELD_OUT("chat", "a language model's server by Azure's conversation trace", chat, 1, batch,
		 1),
	HELD_OUT("code", "the same by Azure's code trace, in bursts", code_assistant, 1, batch, 1),
	HELD_OUT("driving", "bursts of four as DISB's REAL trace has them", driving, 1, batch, 1),
};

size_t bench_table_nloads(void)
{
	size_t n = 0;

	while (n < BENCH_LOADS_MAX && bench_loads[n].name)
		n++;
	return n;
}

/* ---- schemes --------------------------------------------------------------------------------- */

struct bench_scheme bench_schemes[BENCH_SCHEMES_MAX] = {
	{ "alone", "the LC alone", .everywhere = true, .alone = true },
	{ "default", "the driver's own time slices", .everywhere = true },
	{ "be-alone", "the BE alone", .be_alone = true },
	{ "slices", "static slices: 1 us for one BE, 200 us for several", .slices = true },
	{ "mps", "all in one MPS server", .mps = BENCH_MPS },
	{ "mps-prio", "MPS, the BE at client priority 1", .mps = BENCH_MPS_PRIORITY },
	{ "mps-75", "the same, and the BE may use 75 % of the SMs", .mps = BENCH_MPS_PRIORITY,
	  .be_sm_percent = 75 },
	{ "bare", "no gpusched at all: no daemon, no taps", .bare = true },
	{ "lcbe", "policy lcbe", .policy = "lcbe", .told = true },
	{ "rr", "policy rr", .policy = "rr", .told = true },
	{ "auto", "policy auto", .everywhere = true, .policy = "auto", .told = true },
	{ "auto-untold", "policy auto; nobody has a class", .everywhere = true, .policy = "auto" },
	{ "pool", "policy auto; the BE in a pool", .policy = "auto", .told = true,
	  .run_be = "--pool" },
	{ "share", "policy auto; both in one server of ours", .policy = "auto", .told = true,
	  .run_lc = "--share", .run_be = "--share" },
};

size_t bench_table_nschemes(void)
{
	size_t n = 0;

	while (n < BENCH_SCHEMES_MAX && bench_schemes[n].name)
		n++;
	return n;
}

/* The texts that are kept here are never freed. */
int bench_table_add_policy(const char *given, struct gs_error *err)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };
	CLEANUP_FREE char *name = strdup(given), *runs = NULL, *path = NULL;
	size_t n = bench_table_nschemes();
	int r;

	if (bench_table_scheme(given))
		return gs_fail(err, -EINVAL, "%s is a scheme already: --scheme %s", given, given);
	if (n == BENCH_SCHEMES_MAX)
		return gs_fail(err, -E2BIG, "too many policies");
	if (strpbrk(given, "'\"\\\n"))
		return gs_fail(err, -EINVAL, "--policy takes no name with quotes");
	r = gs_policy_info(given, &info, err);
	if (r)
		return r;
	runs = strdup(info.name);
	path = strpbrk(given, "./") ? realpath(given, NULL) : strdup(given);
	if (!name || !runs || !path)
		return gs_fail(err, -ENOMEM, "out of memory");
	bench_schemes[n] = (struct bench_scheme){ .text = "a policy that --policy names",
						  .everywhere = true,
						  .told = true };
	bench_schemes[n].name = TAKE_PTR(name);
	bench_schemes[n].policy = TAKE_PTR(path);
	bench_schemes[n].runs = TAKE_PTR(runs);
	return 0;
}

/* auto classifies a program after some three seconds, both on a GPU and on the model. */
#define UNTOLD_WARMUP_S 5

double bench_table_warmup_s(const struct bench_run *run, const struct bench_scheme *scheme)
{
	return scheme->policy && !scheme->told ? fmax(run->warmup_s, UNTOLD_WARMUP_S)
					       : run->warmup_s;
}

bool bench_table_load_is(const struct bench_load *load, const char *name, size_t length)
{
	if (load->given)
		return strlen(load->given->path) == length &&
		       !strncmp(load->given->path, name, length);
	return !strncmp(load->name, name, length) &&
	       (load->name[length] == '\0' || load->name[length] == '-');
}

const struct bench_load *bench_table_load(const char *name)
{
	for (size_t i = 0; i < bench_table_nloads(); i++)
		if (!strcmp(bench_loads[i].name, name))
			return &bench_loads[i];
	return NULL;
}

const struct bench_scheme *bench_table_scheme(const char *name)
{
	for (size_t i = 0; i < bench_table_nschemes(); i++)
		if (!strcmp(bench_schemes[i].name, name))
			return &bench_schemes[i];
	return NULL;
}

unsigned int bench_table_slice_us(const struct bench_load *load)
{
	return load->nbe > 1 ? 200 : 1;
}

const struct bench_load *bench_table_alone(const struct bench_load *load)
{
	for (size_t i = 0; i < bench_table_nloads(); i++)
		if (bench_loads[i].lc == load->lc && bench_loads[i].nlc == load->nlc &&
		    bench_loads[i].asked == load->asked &&
		    bench_loads[i].held_out == load->held_out)
			return &bench_loads[i];
	return load;
}

unsigned int bench_table_kernels(const struct bench_program *p)
{
	return p->work == BENCH_REQUESTS ? p->kernels * (p->tokens ? p->tokens : 1) : 1;
}

/* ---- what is not here ------------------------------------------------------------------------ */

bool bench_table_in_path(const char *program)
{
	const char *path = getenv("PATH");
	CLEANUP_FREE char *copy = strdup(path ? path : "");
	char file[PATH_MAX], *at = copy, *dir;

	while (copy && (dir = strsep(&at, ":"))) {
		snprintf(file, sizeof(file), "%s/%s", dir, program);
		if (!access(file, X_OK))
			return true;
	}
	return false;
}

/* Looked up once, since python takes seconds to answer. */
static bool has_torch(void)
{
	static int known = -1;
	static const char *const argv[] = { "python3", "-c", "import torch, torchvision", NULL };
	CLEANUP_CHILD struct bench_child c = BENCH_CHILD_NONE;
	CLEANUP_FD int null = -1;

	if (known < 0) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		known = !bench_spawn_to(argv, null, null, &c, NULL) &&
			bench_spawned_wait(&c, 60000) == 0;
	}
	return known;
}

static const char *program_absent(const struct bench_program *p, enum bench_mode mode)
{
	bool bandwidth = p->work == BENCH_MEMORY || p->work == BENCH_COPY;

	if (mode != BENCH_REAL && bandwidth)
		return "the model has no memory bandwidth";
	if (p->work != BENCH_TORCH)
		return NULL;
	if (mode != BENCH_REAL)
		return "PyTorch runs on a real GPU only";
	return has_torch() ? NULL : "python3 has no torch and torchvision here";
}

static const char *mps_absent(const struct bench_scheme *s, enum bench_mode mode)
{
	if ((s->mps == BENCH_NO_MPS && !s->run_be) || mode == BENCH_SIM)
		return NULL;
	return bench_table_in_path("nvidia-cuda-mps-control")
		       ? NULL
		       : "there is no nvidia-cuda-mps-control";
}

bool bench_table_absent(const struct bench_load *load, const struct bench_scheme *scheme,
			enum bench_mode mode, char *ret, size_t size)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };
	const char *why = program_absent(load->lc, mode);

	ret[0] = '\0';
	if (!why && !scheme->alone)
		why = program_absent(load->be, mode);
	if (!why)
		why = mps_absent(scheme, mode);
	if (why)
		snprintf(ret, size, "%s", why);
	else if (scheme->policy && !scheme->runs && gs_policy_info(scheme->policy, &info, NULL))
		snprintf(ret, size, "there is no policy %s", scheme->policy);
	return ret[0];
}
