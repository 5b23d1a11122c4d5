// SPDX-License-Identifier: MIT
/*
 * self.c - tells the taps that this process's calls are gpusched's own
 *
 * Begins and ends are counted, since a daemon's engine and a restore in the same process overlap.
 * The mark must not outlive the process, since its pid will be used again.
 */
#include <pthread.h>
#include <unistd.h>

#include "engine/internal.h"
#include "engine/ops.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int users;
static pid_t of;

void gs_self_get(struct gs_table *o)
{
	pthread_mutex_lock(&lock);
	if (of != getpid()) { /* a forked child begins without a mark */
		of = getpid();
		users = 0;
	}
	if (!users++)
		gs_engine_ops.self_add(o, of);
	pthread_mutex_unlock(&lock);
}

void gs_self_put(struct gs_table *o)
{
	pthread_mutex_lock(&lock);
	if (users && !--users)
		gs_engine_ops.self_del(o, of);
	pthread_mutex_unlock(&lock);
}
