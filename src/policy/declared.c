// SPDX-License-Identifier: MIT
/*
 * declared.c - reads what a policy's object declares: GPUSCHED_POLICY(), options, callbacks
 */
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "policy/foreign.h"
#include "policy/polelf.h"
#include "policy/priv.h"

/* Callbacks in the order of a TSG's life, as `policy list` shows them. */
static const char *const callbacks[] = {
	"init",          "exit",        "task_init",     "schedule",
	"timeslice_set", "work_submit", "request_begin", "request_end",
	"task_destroy",  "tick_begin",  "tick",          "tick_end",
};

static Elf_Data *section_named(const struct gs_polelf *e, const char *name)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(e->elf, scn))) {
		Elf_Data *data = NULL;
		const char *n = gs_polelf_section(e, elf_ndxscn(scn), NULL, &data);

		if (n && strcmp(n, name) == 0)
			return data;
	}
	return NULL;
}

/* Says what an object is that is no policy of ours; NULL: unknown. */
static const char *foreign(const struct gs_polelf *e)
{
	const char *is = NULL;
	Elf_Scn *scn = NULL;

	while (!is && (scn = elf_nextscn(e->elf, scn))) {
		const char *n = gs_polelf_section(e, elf_ndxscn(scn), NULL, NULL);

		is = n ? gs_foreign_section(n) : NULL;
	}
	return is;
}

static void find_callbacks(const struct gs_polelf *e, char *ret, size_t size)
{
	*ret = '\0';
	for (size_t c = 0; c < GS_COUNT(callbacks); c++) {
		for (size_t i = 0; i < e->nsymbols; i++) {
			GElf_Sym sym;
			const char *name = gs_polelf_symbol(e, i, &sym);
			size_t at = strlen(ret);

			if (!name || GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
			    strncmp(name, "gpusched_ops_", 13) || strcmp(name + 13, callbacks[c]))
				continue;
			snprintf(ret + at, size - at, "%s%s", at ? " " : "", callbacks[c]);
			break;
		}
	}
}

static int read_options(const struct gs_polelf *e, struct gs_policy_info *info)
{
	Elf_Data *data = section_named(e, "gpusched.opts");
	CLEANUP_FREE struct gpusched_option_desc *all = NULL;

	if (!data || !data->d_size)
		return 0;
	if (data->d_size % sizeof(*all))
		return -EINVAL;
	/* In a damaged object the section may be unaligned: copy it. */
	all = malloc(data->d_size);
	if (!all)
		return -ENOMEM;
	memcpy(all, data->d_buf, data->d_size);
	return gs_options_read(all, data->d_size / sizeof(*all), info);
}

int gs_polobj_declared(const struct gs_polobj *obj, struct gs_policy_info *ret,
		       struct gs_error *err)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };
	CLEANUP(gs_polelf_close) struct gs_polelf e = { 0 };
	struct gpusched_policy_desc d = { 0 };
	Elf_Data *data;

	if (gs_polelf_open(obj, &e) < 0)
		return gs_fail(err, -EINVAL,
			       "%s is no BPF object: build it with 'gpusched policy build'",
			       obj->path);
	data = section_named(&e, "gpusched");
	if (data && data->d_buf)
		memcpy(&d, data->d_buf, data->d_size < sizeof(d) ? data->d_size : sizeof(d));
	if (!data && foreign(&e))
		return gs_fail(err, -EINVAL, "%s has %s", obj->path, foreign(&e));
	if (d.magic != GPUSCHED_DESC_MAGIC || data->d_size < 8)
		return gs_fail(err, -EINVAL,
			       "%s is not a gpusched policy: no GPUSCHED_POLICY() in it",
			       obj->path);
	snprintf(info.path, sizeof(info.path), "%s", obj->path);
	info.abi = d.abi;
	if (d.abi == GPUSCHED_ABI_VERSION && data->d_size == sizeof(d)) {
		snprintf(info.name, sizeof(info.name), "%.31s", d.name);
		info.tick_us = d.tick_us;
		info.timeout_ms = d.timeout_ms;
		info.flags = d.flags;
		data = section_named(&e, "gpusched.about");
		if (data && data->d_size == sizeof(info.about))
			snprintf(info.about, sizeof(info.about), "%.67s",
				 (const char *)data->d_buf);
		data = section_named(&e, "gpusched.classes");
		if (data && data->d_size == sizeof(info.classes))
			snprintf(info.classes, sizeof(info.classes), "%.63s",
				 (const char *)data->d_buf);
		find_callbacks(&e, info.callbacks, sizeof(info.callbacks));
		info.reads = gs_polelf_reads(&e, &info.reads_more);
		info.never_admits = gs_polelf_reads_no_admit(&e, info.tick_us != 0);
		info.stack =
			gs_polelf_stack(&e, gs_polelf_text(&e), info.deepest, sizeof(info.deepest));
		if (read_options(&e, &info) < 0)
			return gs_fail(err, -EINVAL, "%s: its options are damaged; build it again",
				       obj->path);
	}
	*ret = info;
	info.options = NULL;
	return 0;
}
