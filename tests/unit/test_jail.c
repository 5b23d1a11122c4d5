// SPDX-License-Identifier: MIT
/* test_jail.c - check what a process can do after it has confined itself as the park helper does */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "park/jail.h"

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

/* Runs @fn in a child that is in the jail, with unix sockets or without. Returns what it returns. */
static int jailed(bool sockets, int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(gs_park_jail(2) || (!sockets && gs_park_jail_sockets()) ? 255 : fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int makes_unix_socket(void)
{
	return error_of(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int makes_network_socket(void)
{
	return error_of(socket(AF_INET, SOCK_DGRAM, 0));
}

static int executes(void)
{
	char *const argv[] = { (char *)"true", NULL };

	return error_of(execv("/bin/true", argv));
}

static int unmounts(void)
{
	return error_of(umount("/proc"));
}

static int uses_files(void)
{
	return error_of(open("/proc/self/status", O_RDONLY));
}

static int sees_descriptors(void)
{
	return error_of(fcntl(3, F_GETFD));
}

static void it_makes_no_socket(void **state)
{
	assert_int_equal(jailed(false, makes_unix_socket), EPERM);
	assert_int_equal(jailed(false, makes_network_socket), EPERM);
}

static void until_then_it_makes_unix_sockets(void **state)
{
	assert_int_equal(jailed(true, makes_unix_socket), 0);
	assert_int_equal(jailed(true, makes_network_socket), EPERM);
}

static void it_executes_and_mounts_nothing(void **state)
{
	assert_int_equal(jailed(false, executes), EPERM);
	assert_int_equal(jailed(false, unmounts), EPERM);
}

static void it_opens_files(void **state)
{
	assert_int_equal(jailed(false, uses_files), 0);
}

static void it_keeps_no_other_descriptor(void **state)
{
	int fd = dup2(0, 3);

	assert_int_equal(fd, 3);
	assert_int_equal(jailed(false, sees_descriptors), EBADF);
	close(3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_makes_no_socket),
		cmocka_unit_test(until_then_it_makes_unix_sockets),
		cmocka_unit_test(it_executes_and_mounts_nothing),
		cmocka_unit_test(it_opens_files),
		cmocka_unit_test(it_keeps_no_other_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
