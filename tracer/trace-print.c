// SPDX-License-Identifier: GPL-2.0-or-later
/* trace-print.c - a trace as text: what the kernel's `trace` file would read. */
#include "tracer/internal.h"

#include <errno.h>

#include "tracer/reader.h"

static bool find_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	const struct trace *t = arg;
	const struct guestsym_symbol *found = modules_find(t, addr, &sym->off, &sym->size);

	if (!found)
		found = guestsym_find(t->gs, addr - t->guest.slide, &sym->off, &sym->size);
	if (!found)
		return false;
	sym->name = found->name;
	return true;
}

static int copy_text(struct reader *r, FILE *out)
{
	char buf[1 << 14];
	ssize_t n;

	while ((n = reader_read(r, buf, sizeof(buf))) > 0) {
		if (fwrite(buf, 1, (size_t)n, out) != (size_t)n)
			return errno ? -errno : -EIO;
	}
	return (int)n;
}

int trace_print(struct trace *t, FILE *out)
{
	const struct output_config cfg = {
		.options = OUTPUT_DEFAULT,
		.tracer = t->tracer->name,
		.release = guestsym_release(t->gs),
		.cpus = t->vcpus,
		.ns = t->clock->ns,
		.comms = t->comms,
		.symbol = find_symbol,
		.arg = t,
	};
	struct reader *r = reader_open(t->ring, t->vcpus, READER_ALL_CPUS, false, &cfg);
	int ret;

	if (!r)
		return -ENOMEM;
	ret = copy_text(r, out);
	reader_close(r);
	return ret;
}
