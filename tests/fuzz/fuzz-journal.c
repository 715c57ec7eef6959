// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-journal.c - journals of recordings with right sums and whatever is in them: read as they
 * are, and made a trace.dat of, which is read, too.
 */
#include "frontend/dat/dat-write.h"
#include "frontend/dat/format.h"
#include "frontend/dat/journal.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/read-dat.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file(void)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	return fd;
}

/* Pages are long, so they are of one byte; all else comes as it is. */
static void put(struct journal *j, struct input *in)
{
	enum journal_kind kind = input_byte(in) % 4 + JOURNAL_SECTION;
	uint32_t a = input_byte(in), b = input_byte(in);
	size_t len = input_u16(in);
	static uint8_t pages[16 * DAT_PAGE_SIZE];

	if (kind == JOURNAL_PAGES) {
		memset(pages, input_byte(in), sizeof(pages));
		journal_put(j, kind, a, b, pages, len % (sizeof(pages) + 1));
		return;
	}
	if (len > in->size)
		len = in->size;
	journal_put(j, kind, a, b, in->data, len);
	in->data += len;
	in->size -= len;
}

static int make(struct input *in)
{
	uint8_t how = input_byte(in);
	const struct journal_shape shape = {how & 1 ? 6 : 7, !(how & 1) && (how & 2),
					    how >> 2 ? how >> 2 : 1};
	int fd = file();
	struct journal *j = journal_new(fd, &shape);

	if (!j || journal_begin(j))
		abort();
	while (in->size > 4)
		put(j, in);
	/* The end is torn. */
	if (pwrite(fd, in->data, in->size, (off_t)journal_size(j)) != (ssize_t)in->size)
		abort();
	journal_free(j);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	int fd = make(&in), out = file();
	struct dat_written written;
	bool is = read_dat(dup(fd)), made = !dat_write(fd, true, out, NULL, NULL, &written);

	/* What it is made of can be read, so can it. */
	if (is && made && !read_dat(dup(out)))
		abort();
	close(out);
	close(fd);
	return 0;
}
