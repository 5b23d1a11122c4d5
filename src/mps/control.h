/* SPDX-License-Identifier: MIT */
/*
 * control.h - sends commands to NVIDIA's MPS control daemon with the rights of the pool's user
 *
 * Every call has a time limit, since the control daemon and its server may hang. The commands are
 * get_server_list, start_server, get_client_list, terminate_client and quit (see `man
 * nvidia-cuda-mps-control`). Versions differ in their answers, so only the number at the beginning
 * of a line is read.
 */
#ifndef GPUSCHED_MPS_CONTROL_H
#define GPUSCHED_MPS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mps/place.h"

#define GS_MPS_CLIENTS 64

/* Finds a program's full path, in $PATH or where drivers install it; "" if it is not installed. */
void gs_mps_control_program(const char *name, char *ret, size_t size);

/*
 * Sets the environment variables that the control program, the server and the clients need: the
 * pipe and log directories, and the GPUs.
 */
void gs_mps_control_environment(const struct gs_mps_place *p, const char *gpus);

/*
 * For a child of fork(): executes @argv, with @in and @out as standard streams. The program ends
 * with its parent. Does not return.
 */
void gs_mps_control_exec(char *const *argv, int in, int out) __attribute__((noreturn));

/*
 * Sends one command and reads the answer. Call gs_mps_control_environment() first. -ENOENT: the
 * control program is not installed; -ESRCH: no control daemon answers; -ETIMEDOUT.
 */
int gs_mps_control_ask(char *ret, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns the server's pid in *ret; if there are several (one per user), the first; 0: none. */
int gs_mps_control_server(pid_t *ret);
int gs_mps_control_clients(pid_t server, pid_t ret[GS_MPS_CLIENTS], size_t *ret_n);

/*
 * Checks that MPS can be used. -ENOTSUP with the reason: nvidia-smi reports MIG, or an exclusive or
 * prohibited compute mode, on one of the GPUs. Without nvidia-smi returns 0.
 */
int gs_mps_control_check_gpus(const char *gpus, struct gs_error *err);

#endif /* GPUSCHED_MPS_CONTROL_H */
