/* SPDX-License-Identifier: MIT */
/*
 * control.h - sends commands to NVIDIA's MPS control daemon with the rights of the pool's user
 *
 * Every call has a time limit, since a control daemon may hang, and so may its server. The commands
 * (see `man nvidia-cuda-mps-control`): get_server_list, start_server, get_client_list,
 * terminate_client, quit. Answers are read leniently, since versions differ: only the number at the
 * beginning of a line counts.
 */
#ifndef GPUSCHED_MPS_CONTROL_H
#define GPUSCHED_MPS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mps/place.h"

#define GS_MPS_CLIENTS 64

/* The full path of a program: in $PATH, or where drivers install it; "" if it is not installed. */
void gs_mps_program(const char *name, char *ret, size_t size);

/*
 * Sets the environment for the control program, its server and its clients: PIPE and LOG directory,
 * GPUs.
 */
void gs_mps_environment(const struct gs_mps_place *p, const char *gpus);

/*
 * For a child of fork(): executes @argv, with @in and @out as standard streams. The program ends
 * with its parent. Does not return.
 */
void gs_mps_exec(char *const *argv, int in, int out) __attribute__((noreturn));

/*
 * Sends one command and reads the answer. Call gs_mps_environment() first. 0; -ESRCH: no control
 * daemon answers; -ETIMEDOUT.
 */
int gs_mps_ask(char *ret, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The pid of the server; the first if there are several (each user has one); 0: none. */
int gs_mps_server(pid_t *ret);
int gs_mps_clients(pid_t server, pid_t ret[GS_MPS_CLIENTS], size_t *ret_n);

/*
 * -ENOTSUP with the reason: MPS cannot be used, since nvidia-smi reports an exclusive compute mode
 * or MIG on one of the GPUs. Without nvidia-smi returns 0.
 */
int gs_mps_check_gpus(const char *gpus, struct gs_error *err);

#endif /* GPUSCHED_MPS_CONTROL_H */
