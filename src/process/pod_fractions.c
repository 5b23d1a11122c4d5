// SPDX-License-Identifier: MIT
/*
 * pod_fractions.c - reads names from the files of NVIDIA's GPU fractioning
 *
 * Its folder has a file ID.json for each container that has a fraction of a GPU.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "basic/json_sheet.h"
#include "process/pod_source.h"

#define VERSION 1
#define BYTES_MAX 65536

static const char *probe(const struct gs_pod_places *p)
{
	return p->fractions;
}

static int read_one(struct gs_pod_book *b, const char *folder, const char *entry)
{
	const char *dot = strrchr(entry, '.');
	struct gs_pod_names n = { 0 };
	CLEANUP_JSON json_t *o = NULL;
	int r;

	/* a file with another name is a temporary file that is still being written */
	if (entry[0] == '.' || !dot || strcmp(dot, ".json") != 0)
		return 0;
	if ((size_t)(dot - entry) >= sizeof(n.id))
		return -EINVAL;
	r = gs_pod_json(folder, entry, BYTES_MAX, &o);
	if (r)
		return r;
	if (json_number_value(json_object_get(o, "schemaVersion")) != VERSION)
		return -EPROTONOSUPPORT;
	snprintf(n.id, sizeof(n.id), "%.*s", (int)(dot - entry), entry);
	gs_pod_text(o, "podUID", n.uid, sizeof(n.uid));
	gs_pod_text(o, "namespace", n.namespace, sizeof(n.namespace));
	gs_pod_text(o, "pod", n.pod, sizeof(n.pod));
	return *n.namespace && *n.pod ? gs_pod_learn(b, entry, &n) : -EINVAL;
}

const struct gs_pod_source gs_pod_by_fractions = {
	.name = "fractions", .probe = probe, .read = read_one, .look_up = gs_pod_by_book
};
