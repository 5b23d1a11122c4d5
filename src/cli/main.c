// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"

/*
 * Puts a dummy in place of each standard descriptor that the caller has closed. Otherwise the first
 * file that we open would get its number, and our output. The dummy can be neither read nor
 * written.
 */
static void hold_standard_files(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH) != fd)
			_exit(GS_EXIT_FAILED);
}

int main(int argc, char **argv)
{
	hold_standard_files();
	if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
		setlocale(LC_CTYPE, "C.UTF-8"); /* names are UTF-8 in every locale */
	return cli_main(&cli_table, argc, argv);
}
