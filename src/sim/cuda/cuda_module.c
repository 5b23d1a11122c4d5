/* SPDX-License-Identifier: MIT */
/*
 * cuda_module.c - loads modules from PTX text
 *
 * The text is not executed. The library reads its entries and their parameters, and comments that
 * say what a kernel costs:
 *     // gpusched-sim: NAME work iterations=I      parameter I is the number of loop iterations
 *     // gpusched-sim: NAME hold flag=F limit=L    waits until *F != 0 or L ns have passed
 *     // gpusched-sim: NAME bad                    makes an invalid access
 * The load generator's kernels are recognized by name. All others take a fixed short time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cuda/cuda_priv.h"

#define MARK "// gpusched-sim:"

static unsigned int type_size(const char *type)
{
	const char *digits = type + strcspn(type, "0123456789");
	unsigned long bits = strtoul(digits, NULL, 10);

	return bits >= 8 && bits <= 64 ? (unsigned int)bits / 8 : 8;
}

/* Reads the list of parameters after ".entry NAME". False: there are more than we support. */
static bool read_params(const char *at, struct cu_function *f)
{
	const char *open = strchr(at, '('), *body = strchr(at, '{'), *end;

	if (!open || (body && open > body))
		return true;
	end = strchr(open, ')');
	for (const char *p = open; end && (p = strstr(p, ".param")) && p < end; p += 6) {
		const char *type = strchr(p + 1, '.');

		if (!type || f->nparams == sizeof(f->size))
			return false;
		f->size[f->nparams++] = (uint8_t)type_size(type + 1);
	}
	return true;
}

static struct cu_function *find(CUmodule m, const char *name)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (!strcmp(m->fn[i].name, name))
			return &m->fn[i];
	return NULL;
}

static bool read_entries(CUmodule m, const char *text)
{
	for (const char *p = text; (p = strstr(p, ".entry")); p++) {
		struct cu_function *f = &m->fn[m->n];

		if (m->n == sizeof(m->fn) / sizeof(m->fn[0]))
			return false;
		if (sscanf(p, ".entry %127[A-Za-z0-9_$]", f->name) != 1 || !read_params(p, f))
			return false;
		m->n++;
	}
	return m->n > 0;
}

static void read_costs(CUmodule m, const char *text)
{
	for (const char *p = text; (p = strstr(p, MARK)); p++) {
		char name[128], kind[16];
		struct cu_function *f;
		int a = -1, b = -1, n = 0;

		if (sscanf(p + strlen(MARK), " %127[A-Za-z0-9_$] %15[a-z]%n", name, kind, &n) != 2)
			continue;
		f = find(m, name);
		if (!f)
			continue;
		p += strlen(MARK) + (size_t)n;
		if (!strcmp(kind, "work") && sscanf(p, " iterations=%d", &a) == 1) {
			f->kind = KERNEL_WORK;
			f->iterations_at = a;
		} else if (!strcmp(kind, "hold") && sscanf(p, " flag=%d limit=%d", &a, &b) == 2) {
			f->kind = KERNEL_HOLD;
			f->flag_at = a;
			f->limit_at = b;
		} else if (!strcmp(kind, "bad")) {
			f->kind = KERNEL_BAD;
			continue;
		}
		if (a >= (int)f->nparams || b >= (int)f->nparams || a < 0)
			f->kind = KERNEL_PLAIN;
	}
}

/* Recognizes gsload's kernels: gs_work(out, iterations), gs_hold(flag, limit in clocks). */
static void know_gsload(CUmodule m)
{
	for (unsigned int i = 0; i < m->n; i++) {
		struct cu_function *f = &m->fn[i];

		if (f->kind != KERNEL_PLAIN || f->nparams != 2)
			continue;
		if (!strcmp(f->name, "gs_work")) {
			f->kind = KERNEL_WORK;
			f->iterations_at = 1;
		} else if (!strcmp(f->name, "gs_hold")) {
			f->kind = KERNEL_HOLD;
			f->flag_at = 0;
			f->limit_at = 1;
			f->limit_in_clocks = true;
		}
	}
}

API CUresult cuModuleLoadData(CUmodule *ret, const void *image)
{
	CUmodule m;

	if (!cu_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!image || !strstr(image, ".version"))
		return CUDA_ERROR_INVALID_PTX;
	m = calloc(1, sizeof(*m));
	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!read_entries(m, image)) {
		free(m);
		return CUDA_ERROR_INVALID_PTX;
	}
	read_costs(m, image);
	know_gsload(m);
	*ret = m;
	return CUDA_SUCCESS;
}

API CUresult cuModuleLoadDataEx(CUmodule *ret, const void *image, unsigned int n, int *options,
				void **values)
{
	return cuModuleLoadData(ret, image);
}

API CUresult cuModuleUnload(CUmodule m)
{
	free(m);
	return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction *ret, CUmodule m, const char *name)
{
	struct cu_function *f = m ? find(m, name) : NULL;

	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	*ret = f;
	return CUDA_SUCCESS;
}

API CUresult cuFuncGetAttribute(int *ret, int attribute, CUfunction f)
{
	*ret = attribute == 0 ? 1024 : 0; /* CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK */
	return CUDA_SUCCESS;
}

API CUresult cuFuncSetAttribute(CUfunction f, int attribute, int value)
{
	return CUDA_SUCCESS;
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, CUfunction f, int threads,
							 size_t shared)
{
	if (threads <= 0 || threads > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = threads <= 256 ? 8 : 2048 / threads;
	return CUDA_SUCCESS;
}
