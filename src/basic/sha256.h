/* SPDX-License-Identifier: MIT */
/* sha256.h - names the content of a file by its SHA-256, as sha256sum prints it */
#ifndef GPUSCHED_BASIC_SHA256_H
#define GPUSCHED_BASIC_SHA256_H

#include <stddef.h>

#define GS_SHA256_LEN 65 /* in hex, with the 0 */

void gs_sha256(const void *data, size_t len, char ret[GS_SHA256_LEN]);

#endif /* GPUSCHED_BASIC_SHA256_H */
