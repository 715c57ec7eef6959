/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-journal.h - journals of recordings, in files that are gone when they are closed. */
#ifndef HVTRACE_TESTS_MADE_JOURNAL_H
#define HVTRACE_TESTS_MADE_JOURNAL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frontend/dat/dat.h"
#include "frontend/dat/format.h"
#include "frontend/dat/journal.h"

static inline int made_file(void)
{
	int fd = memfd_create("made", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static inline struct journal *made_journal(int fd, unsigned int version, bool zstd,
					   unsigned int vcpus)
{
	const struct journal_shape shape = {version, zstd, vcpus};
	struct journal *j = journal_new(fd, &shape);

	assert_non_null(j);
	assert_int_equal(journal_begin(j), 0);
	return j;
}

static inline void made_put(struct journal *j, enum journal_kind kind, uint32_t a, uint32_t b,
			    const void *data, size_t len)
{
	assert_int_equal(journal_put(j, kind, a, b, data, len), 0);
}

/* nr pages, each full of a byte of its own from `first` on. */
static inline void made_put_pages(struct journal *j, uint32_t buffer, uint32_t vcpu,
				  unsigned int first, size_t nr)
{
	uint8_t pages[16][DAT_PAGE_SIZE];

	assert_true(nr <= 16);
	for (size_t i = 0; i < nr; i++)
		memset(pages[i], (int)(first + i), DAT_PAGE_SIZE);
	made_put(j, JOURNAL_PAGES, buffer, vcpu, pages, nr * DAT_PAGE_SIZE);
}

#endif
