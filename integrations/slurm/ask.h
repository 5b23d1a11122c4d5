/* SPDX-License-Identifier: MIT */
/*
 * ask.h - send one request to gpusched's daemon, with a time limit
 *
 * Uses no library, since the plugin is loaded into slurmstepd and must not pull in others.
 */
#ifndef GPUSCHED_SLURM_ASK_H
#define GPUSCHED_SLURM_ASK_H

/*
 * Sends @verb with the JSON @args to the daemon's socket. Returns 0, -ETIMEDOUT after @ms, -EPROTO
 * when the daemon refuses (why[] then has the reason, as far as it fits), or -errno.
 */
int gs_ask(const char *socket_path, const char *verb, const char *args, int ms, char *why,
	   int why_size);

#endif /* GPUSCHED_SLURM_ASK_H */
