/* SPDX-License-Identifier: MIT */
/*
 * ask.h - one request to gpusched's daemon, for a plugin that must not keep its host waiting
 *
 * No library: what is loaded into slurmstepd has to bring nothing along.
 */
#ifndef GPUSCHED_SLURM_ASK_H
#define GPUSCHED_SLURM_ASK_H

/*
 * Asks @verb on the daemon's socket with the JSON @args. 0: done; -ETIMEDOUT after @ms; -EPROTO: it
 * was refused, and why[] says why, as far as it fits; -errno.
 */
int gs_ask(const char *socket_path, const char *verb, const char *args, int ms, char *why,
	   int why_size);

#endif /* GPUSCHED_SLURM_ASK_H */
