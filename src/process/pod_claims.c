// SPDX-License-Identifier: MIT
/*
 * pod_claims.c - reads resource claims from the checkpoint file of NVIDIA's DRA driver
 *
 * The file lists the claims, the pods for which they are reserved, and how each claim shares the
 * GPU. The file's checksum is not verified, since it depends on the layout of Go's structures. A
 * torn file is not valid JSON, and so is noticed anyway.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "process/pod_source.h"

#define DRIVER "gpu.nvidia.com"
#define BYTES_MAX (8u << 20)

static const char *probe(const struct gs_pod_places *p)
{
	return p->claims;
}

/*
 * Returns the claims in the newest format that we know; NULL: we know none of the formats. The
 * driver writes the same claims in several formats into one file.
 */
static json_t *claims_of(const json_t *o)
{
	static const char *const versions[] = { "v3", "v2", "v1" };

	for (size_t i = 0; i < GS_COUNT(versions); i++) {
		json_t *claims = json_object_get(json_object_get(o, versions[i]), "preparedClaims");

		if (json_is_object(claims))
			return claims;
	}
	return NULL;
}

/*
 * Reads how a claim shares the GPU: as a text such as "TimeSlicing Long", and as a slice if it has
 * one.
 */
static int read_sharing(const json_t *sharing, bool by_admin, struct gs_pod_names *n)
{
	char strategy[16], interval[16];
	int r = 0;

	gs_pod_text(sharing, "strategy", strategy, sizeof(strategy));
	gs_pod_text(json_object_get(sharing, "timeSlicingConfig"), "interval", interval,
		    sizeof(interval));
	snprintf(n->sharing, GS_SHARING_LEN, "%s%s%s", strategy, *interval ? " " : "", interval);
	n->asks = (struct gs_pod_asks){ .slice_by_admin = by_admin };
	if (*interval && !strcmp(strategy, "TimeSlicing"))
		r = gs_pod_synonym(GS_IN_CLAIM, "interval", interval, &n->asks);
	return r < 0 ? r : 0;
}

/*
 * Finds the driver's configuration in a claim. It can come from the claim itself or from the device
 * class, which only administrators make. The claim's configuration takes precedence.
 */
static int sharing_of(const json_t *status, struct gs_pod_names *n)
{
	json_t *list = json_object_get(
		json_object_get(json_object_get(status, "allocation"), "devices"), "config");
	bool claims = false;
	json_t *one;
	int r = 0;
	size_t i;

	json_array_foreach(list, i, one) {
		json_t *opaque = json_object_get(one, "opaque");
		json_t *sharing = json_object_get(json_object_get(opaque, "parameters"), "sharing");
		const char *driver = json_string_value(json_object_get(opaque, "driver"));
		const char *source = json_string_value(json_object_get(one, "source"));
		bool by_admin = source && !strcmp(source, "FromClass");

		if (!driver || strcmp(driver, DRIVER) != 0 || !sharing || (by_admin && claims))
			continue;
		claims |= !by_admin;
		r = read_sharing(sharing, by_admin, n);
	}
	return r;
}

/*
 * Stores a pod's names and slice. If the pod has several claims, the one with the shortest slice
 * counts; of two equal ones, the one from an administrator.
 */
static int learn_pod(struct gs_pod_book *b, struct gs_pod_names n)
{
	struct gs_pod_names other = { 0 };

	memcpy(other.uid, n.uid, sizeof(other.uid));
	gs_pod_find(b, &other);
	if (other.asks.slice_us &&
	    (!n.asks.slice_us || other.asks.slice_us < n.asks.slice_us ||
	     (other.asks.slice_us == n.asks.slice_us && other.asks.slice_by_admin))) {
		n.asks = other.asks;
		memcpy(n.sharing, other.sharing, sizeof(n.sharing));
	}
	return *n.pod ? gs_pod_learn(b, GS_POD_CHECKPOINT, &n) : -EINVAL;
}

/* Stores a claim for each pod for which it is reserved. */
static int learn(struct gs_pod_book *b, const json_t *claim)
{
	const json_t *status = json_object_get(claim, "status");
	struct gs_pod_names n = { 0 };
	json_t *one;
	size_t i;
	int r;

	gs_pod_text(claim, "namespace", n.namespace, sizeof(n.namespace));
	r = sharing_of(status, &n);
	json_array_foreach(json_object_get(status, "reservedFor"), i, one) {
		const char *what = json_string_value(json_object_get(one, "resource"));
		int q;

		if (!what || strcmp(what, "pods") != 0)
			continue;
		gs_pod_text(one, "uid", n.uid, sizeof(n.uid));
		gs_pod_text(one, "name", n.pod, sizeof(n.pod));
		q = learn_pod(b, n);
		r = r ? r : q;
	}
	return r;
}

/* Reads the whole file, and replaces all earlier entries. A torn file changes nothing. */
static int read_all(struct gs_pod_book *b, const char *folder, const char *entry)
{
	CLEANUP_JSON json_t *o = NULL;
	json_t *claims, *claim;
	const char *key;
	int r;

	if (strcmp(entry, GS_POD_CHECKPOINT) != 0)
		return 0;
	r = gs_pod_json(folder, entry, BYTES_MAX, &o);
	if (r)
		return r;
	claims = claims_of(o);
	if (!claims)
		return json_object_size(o) ? 0 : -EPROTONOSUPPORT;
	gs_pod_forget(b, NULL);
	json_object_foreach(claims, key, claim) {
		int q = learn(b, claim);

		r = r ? r : q;
	}
	return r;
}

const struct gs_pod_source gs_pod_by_claims = {
	.name = "claims", .probe = probe, .read = read_all, .look_up = gs_pod_by_book
};
