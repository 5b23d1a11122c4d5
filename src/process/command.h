/* SPDX-License-Identifier: MIT */
/*
 * command.h - what a command line would run, as /proc would show it afterwards
 */
#ifndef GPUSCHED_PROCESS_COMMAND_H
#define GPUSCHED_PROCESS_COMMAND_H

#include "process/reader.h"

/*
 * Fills in executable and arguments. For a script they are those of its interpreter, which its
 * first line names; for `env NAME` that is NAME. Searches $PATH. -ENOENT: nothing would run;
 * -E2BIG: *@ret has only the first arguments.
 */
int gs_command_program(char *const argv[], struct gs_program *ret);

#endif /* GPUSCHED_PROCESS_COMMAND_H */
