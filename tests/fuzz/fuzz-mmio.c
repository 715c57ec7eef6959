// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-mmio.c - what QEMU's log says of devices, in whatever pieces it comes. */
#include <stdlib.h>
#include <string.h>

#include "vmm/qemu/mmio-lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No matter how it is cut into pieces, the same is told of it. */
struct told {
	uint64_t n, sum;
};

static void tell(void *arg, const struct mmio_line *line)
{
	struct told *told = arg;

	if (line->size < 8 && line->value >> 8 * line->size)
		abort();
	told->n++;
	told->sum = told->sum * 31 + line->addr + line->value + line->ns + line->cpu + line->size +
		    line->is_write;
}

static struct told feed(const char *text, size_t len, size_t piece)
{
	struct mmio_lines lines = {0};
	struct told told = {0};

	for (size_t at = 0, n; at < len; at += n) {
		n = piece < len - at ? piece : len - at;
		mmio_lines_feed(&lines, text + at, n, tell, &told);
	}
	return told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told whole, pieces;
	char *text;

	if (!size)
		return 0;
	/* Of its own length, so that reading on is seen. */
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data, size);
	whole = feed(text, size, size);
	pieces = feed(text, size, 1 + data[0] % 16);
	if (whole.n != pieces.n || whole.sum != pieces.sum)
		abort();
	free(text);
	return 0;
}
