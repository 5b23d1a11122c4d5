/* SPDX-License-Identifier: MIT */
/*
 * control.h - NVIDIA's control program, asked in its own words with the rights of the pool's user
 *
 * Every call is bounded: a control daemon may hang as well as its server. The words (of `man
 * nvidia-cuda-mps-control`): get_server_list, start_server, get_client_list, terminate_client, quit.
 * Answers are read leniently, since versions differ: a line counts by the number it begins with.
 */
#ifndef GPUSCHED_MPS_CONTROL_H
#define GPUSCHED_MPS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mps/place.h"

#define GS_MPS_CLIENTS 64

/* Full paths; "" where it is not there. In $PATH, else where drivers put them. */
void gs_mps_program(const char *name, char *ret, size_t size);

/*
 * The environment of the control program, its server and its clients: PIPE and LOG directory, GPUs.
 */
void gs_mps_environment(const struct gs_mps_place *p, const char *gpus);

/*
 * In a child of fork(): becomes @argv, with @in and @out for its standard streams; it ends with its
 * parent. Does not return.
 */
void gs_mps_exec(char *const *argv, int in, int out) __attribute__((noreturn));

/* After gs_mps_environment(). 0; -ESRCH: no control daemon answers; -ETIMEDOUT: it does not answer in time. */
int gs_mps_ask(char *ret, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The server's pid, the first if there are several (one user has one); 0: none. */
int gs_mps_server(pid_t *ret);
int gs_mps_clients(pid_t server, pid_t ret[GS_MPS_CLIENTS], size_t *ret_n);

/*
 * -ENOTSUP with the reason where MPS cannot be used: a GPU in an exclusive compute mode or with MIG,
 * as nvidia-smi says. Without nvidia-smi nobody says so: 0.
 */
int gs_mps_check_gpus(const char *gpus, struct gs_error *err);

#endif /* GPUSCHED_MPS_CONTROL_H */
