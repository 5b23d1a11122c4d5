/* SPDX-License-Identifier: MIT */
/* bundles.h - checks the folders in which container runtimes keep their bundles */
#ifndef GPUSCHED_PROBE_BUNDLES_H
#define GPUSCHED_PROBE_BUNDLES_H

#include "probe/probe.h"

/* Checks the @i-th folder, and names the check. False: there are no more. */
bool gs_probe_kubernetes_bundles(size_t i, struct gs_probe *k, const char **ret_name);

#endif /* GPUSCHED_PROBE_BUNDLES_H */
