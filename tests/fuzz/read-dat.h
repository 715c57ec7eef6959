/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read-dat.h - all that a file says when it could be opened. */
#ifndef HVTRACE_TESTS_READ_DAT_H
#define HVTRACE_TESTS_READ_DAT_H

#include "frontend/dat/dat.h"

#include <stdlib.h>
#include <string.h>

/* A few bytes can be gigabytes once they are uncompressed. */
#define BYTES_MAX (UINT64_C(256) << 20)

/* Each is read, so that a sanitizer sees where it ends. */
static unsigned int read_sum;

static inline void look_at(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i += 61)
		read_sum += at[i];
	if (len)
		read_sum += at[len - 1];
}

static inline uint64_t read_vcpu(struct dat *d, const struct dat_buffer *b,
				 const struct dat_vcpu *v, uint64_t left)
{
	struct dat_pages *p = dat_pages_open(d, b, v);
	const void *page;
	size_t size;

	if (!p)
		return 0;
	while (left && dat_pages_next(p, &page, &size) == 1) {
		look_at(page, size);
		left -= size < left ? size : left;
	}
	dat_pages_close(p);
	return left;
}

static inline void read_buffers(struct dat *d)
{
	uint64_t left = BYTES_MAX;

	for (size_t i = 0; i < dat_nr_buffers(d); i++)
		for (unsigned int v = 0; v < dat_buffer(d, i)->nr_vcpus; v++)
			left = read_vcpu(d, dat_buffer(d, i), &dat_buffer(d, i)->vcpus[v], left);
}

static inline void read_texts(const struct dat_info *info)
{
	const struct dat_text texts[] = {
		info->header_page,    info->header_event, info->kallsyms,
		info->printk_formats, info->cmdlines,
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].text)
			look_at(texts[i].text, texts[i].len + 1);
	for (size_t i = 0; i < info->nr_formats; i++)
		look_at(info->formats[i].text.text, info->formats[i].text.len + 1);
	for (unsigned int bit = 0; bit < 64; bit++)
		read_sum += (unsigned int)dat_time(info, bit % 3, UINT64_MAX >> bit);
	read_sum += dat_counts_ns(info);
}

static inline void read_guests(const struct dat *d)
{
	struct dat_guest g;
	uint32_t vcpu;
	int32_t tid;

	for (size_t n = 0; dat_guest(d, n, &g); n++) {
		look_at(g.name, strlen(g.name) + 1);
		for (uint32_t i = 0; i < g.nr; i++) {
			dat_guest_vcpu(&g, i, &vcpu, &tid);
			read_sum += vcpu + (uint32_t)tid + dat_guest_is(&g, d);
		}
	}
}

/* Opened, and all read that it has. False: it was refused, with one line that names it. */
static inline bool read_dat(int fd)
{
	char err[256];
	struct dat *d = dat_open_fd(fd, "fuzz", err, sizeof(err));

	if (!d) {
		if (strncmp(err, "fuzz: ", 6) != 0 || strchr(err, '\n'))
			abort();
		return false;
	}
	read_texts(dat_info(d));
	read_guests(d);
	read_buffers(d);
	dat_close(d);
	return true;
}

#endif
