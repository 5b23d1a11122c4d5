/* SPDX-License-Identifier: MIT */
/*
 * command.h - what a command line would run, as /proc would show it afterwards
 */
#ifndef GPUSCHED_PROCESS_COMMAND_H
#define GPUSCHED_PROCESS_COMMAND_H

#include "process/reader.h"

/*
 * Fills in executable and arguments. A script has its interpreter's, by its first line; that of
 * `env NAME` is NAME. Looks into $PATH. -ENOENT: nothing would run; -E2BIG: *@ret has the first
 * arguments alone.
 */
int gs_command_program(char *const argv[], struct gs_program *ret);

#endif /* GPUSCHED_PROCESS_COMMAND_H */
