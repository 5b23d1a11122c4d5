/* SPDX-License-Identifier: MIT */
/* api_link.h - declares the links between users' sockets and the server */
#ifndef GPUSCHED_DAEMON_API_LINK_H
#define GPUSCHED_DAEMON_API_LINK_H

#include <stdbool.h>

struct api;
struct api_link;
struct api_uid;
struct gs_peer;

int api_links_begin(struct api *a);
/* Waits a second for answers on their way. False: a user's lane hangs, and still uses @a. */
bool api_links_end(struct api *a);
/*
 * Connects a user's socket with the server, which gets *ret_server. Takes @fd, if it succeeds. The
 * link counts as the user's connection until its lane has closed @fd.
 */
struct api_link *api_link_new(struct api *a, struct api_uid *u, int fd, int *ret_server);
/* The server has closed its end. */
void api_link_end(struct api_link *l);
struct api_uid *api_link_uid(const struct api_link *l);
int api_link_peer(const struct api_link *l, struct gs_peer *ret);
/* Has the user's lane close @fd; @u may be NULL. True: the loop hears of it. */
bool api_close(struct api *a, struct api_uid *u, int fd);

#endif /* GPUSCHED_DAEMON_API_LINK_H */
