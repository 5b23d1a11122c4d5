/* SPDX-License-Identifier: MIT */
/*
 * command.h - predicts the executable and the arguments that /proc will show for a command
 */
#ifndef GPUSCHED_PROCESS_COMMAND_H
#define GPUSCHED_PROCESS_COMMAND_H

#include "process/reader.h"

/*
 * Fills in the executable and the arguments. For a script, these are the interpreter in its first
 * line and the interpreter's arguments. If that interpreter is `env NAME`, it is NAME instead.
 * Searches $PATH. -ENOENT: there is nothing to execute; -E2BIG: *@ret has only the first arguments.
 */
int gs_command_program(char *const argv[], struct gs_program *ret);

#endif /* GPUSCHED_PROCESS_COMMAND_H */
