// SPDX-License-Identifier: MIT
/*
 * main.c - run "module SUITE": print "PASS name" or "FAIL name: why" for each check, and "DONE" at
 * the end
 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Prints how the node on standard input answers: "ok", or the error. */
static void suite_stdin(void)
{
	struct gpusched_module_about about;
	int r = node_about(STDIN_FILENO, &about);

	printf("%s\n", r ? strerror(-r) : "ok");
	exit(0);
}

/* Prints the running policy, how many TSGs the module knows, and how many of them are changed. */
static void about(void)
{
	struct gpusched_module_about about;

	if (node_about(node_open(), &about))
		die("/dev/gpusched");
	printf("%s %u %u\n", about.policy[0] ? about.policy : "-", about.tsgs, about.changed);
	exit(0);
}

int main(int argc, char **argv)
{
	const char *suite = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(suite, "node"))
		suite_node();
	else if (!strcmp(suite, "beat"))
		suite_beat();
	else if (!strcmp(suite, "policy"))
		suite_policy(number);
	else if (!strcmp(suite, "slow"))
		suite_slow();
	else if (!strcmp(suite, "hooks"))
		suite_hooks();
	else if (!strcmp(suite, "types"))
		suite_types();
	else if (!strcmp(suite, "example") && argc > 2)
		suite_example(argv[2]);
	else if (!strcmp(suite, "hostile"))
		suite_hostile((unsigned int)number);
	else if (!strcmp(suite, "storm"))
		storm();
	else if (!strcmp(suite, "hold"))
		hold_and_wait();
	else if (!strcmp(suite, "tell"))
		tell_and_wait((unsigned int)number);
	else if (!strcmp(suite, "cost"))
		cost();
	else if (!strcmp(suite, "text") && argc > 2)
		text(argv[2]);
	else if (!strcmp(suite, "owner"))
		owner();
	else if (!strcmp(suite, "about"))
		about();
	else if (!strcmp(suite, "stdin"))
		suite_stdin();
	else
		die("usage: module SUITE");
	puts("DONE");
	return 0;
}
