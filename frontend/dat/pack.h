/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack.h - what is packed in files, by zstd. */
#ifndef HVTRACE_FRONTEND_DAT_PACK_H
#define HVTRACE_FRONTEND_DAT_PACK_H

#include <stddef.h>

struct pack;

struct pack *pack_new(void); /* NULL: no memory */
void pack_free(struct pack *p);
/* Packed, valid until the next call; NULL: no memory. */
const void *pack_do(struct pack *p, const void *data, size_t len, size_t *packed);
/* At most so long. */
size_t pack_bound(size_t len);
/* Exactly len bytes into `to`; 0, or -EBADMSG: they are others. */
int unpack_zstd(const void *packed, size_t packed_len, void *to, size_t len);

#endif
