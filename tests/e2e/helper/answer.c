// SPDX-License-Identifier: MIT
/*
 * answer.c - prints the daemon's answer to one request
 *
 *   answer SOCKET PATH [BODY]
 *
 * Tests that wait ask often. This starts in a tenth of curl's time, since it needs no library.
 * Exits with 0 if the answer's status is 200, and with 1 for any other, or for none within 2 s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_S 2

static int connect_to(const char *path)
{
	struct timeval wait = { .tv_sec = WAIT_S };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
	    connect(fd, (struct sockaddr *)&at, sizeof(at)))
		exit(1);
	return fd;
}

/* Reads until the daemon closes the connection, which it does after HTTP/1.0. */
static char *read_all(int fd)
{
	size_t have = 0, room = 1 << 16;
	char *text = malloc(room + 1);
	ssize_t n;

	while (text && (n = recv(fd, text + have, room - have, 0)) > 0) {
		have += (size_t)n;
		if (have == room)
			text = realloc(text, (room *= 2) + 1);
	}
	if (!text || n < 0)
		exit(1);
	text[have] = '\0';
	return text;
}

int main(int argc, char **argv)
{
	const char *body = argc > 3 ? argv[3] : NULL;
	char *answer, *end;
	int fd;

	if (argc < 3)
		return 2;
	fd = connect_to(argv[1]);
	if (body)
		dprintf(fd, "POST %s HTTP/1.0\r\nContent-Length: %zu\r\n\r\n%s", argv[2],
			strlen(body), body);
	else
		dprintf(fd, "GET %s HTTP/1.0\r\n\r\n", argv[2]);
	answer = read_all(fd);
	end = strstr(answer, "\r\n\r\n");
	if (!end || strncmp(answer, "HTTP/1.", 7) || strncmp(answer + 8, " 200", 4))
		return 1;
	fputs(end + 4, stdout);
	free(answer);
	return 0;
}
