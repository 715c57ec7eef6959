// SPDX-License-Identifier: GPL-2.0-or-later
/* files-buffer.c - sizes and numbers of ring buffers, and the snapshot that is swapped with them.
 */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* --- sizes -------------------------------------------------------------------------------- */

/* One size, or X for sizes that differ. */
static void show_size(struct open_file *f, struct text *out)
{
	unsigned int vcpus = trace_vcpus(f->trace);
	uint64_t kb = instance_buffer_kb(f->instance, f->vcpu == ALL_VCPUS ? 0 : (unsigned)f->vcpu);

	for (unsigned int i = 1; f->vcpu == ALL_VCPUS && i < vcpus; i++) {
		if (instance_buffer_kb(f->instance, i) != kb) {
			text_puts(out, "X\n");
			return;
		}
	}
	text_printf(out, "%" PRIu64 "\n", kb);
}

/* The kernel rounds bytes up to pages in 64 bits: what overflows there is the least. */
static int set_size(struct open_file *f, uint64_t kb)
{
	const uint64_t page_data = 4080;
	uint64_t bytes = kb << 10;

	if (!kb)
		return -EINVAL;
	kb = bytes > UINT64_MAX - page_data + 1 ? 0 : bytes >> 10;
	return instance_resize(f->instance, f->vcpu, kb ? kb : 1);
}

static void show_percent(struct open_file *f, struct text *out)
{
	text_printf(out, "%u\n", instance_buffer_percent(f->instance));
}

static int set_percent(struct open_file *f, uint64_t percent)
{
	return instance_set_buffer_percent(f->instance, percent);
}

static void show_total_size(struct open_file *f, struct text *out)
{
	unsigned int vcpus = trace_vcpus(f->trace);
	uint64_t kb = 0;

	for (unsigned int i = 0; i < vcpus; i++)
		kb += instance_buffer_kb(f->instance, i);
	text_printf(out, "%" PRIu64 "\n", kb);
}

static void show_stats(struct open_file *f, struct text *out)
{
	instance_print_stats(f->instance, (unsigned int)f->vcpu, out);
}

static ssize_t write_free(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)f;
	(void)text;
	(void)off;
	return (ssize_t)len;
}

/* The buffers go when the file is closed, so also when the task that has it open is killed. */
static void release_free(struct open_file *f)
{
	if (instance_options(f->instance) & OUTPUT_DISABLE_ON_FREE)
		instance_set_on(f->instance, false);
	instance_resize(f->instance, ALL_VCPUS, 1);
}

/* --- snapshot ----------------------------------------------------------------------------- */

static int open_snapshot(struct open_file *f)
{
	if (!opened_to_read(f) || !instance_has_snapshot(f->instance))
		return 0;
	f->data = instance_snapshot_open(f->instance, f->vcpu);
	return f->data || !instance_has_snapshot(f->instance) ? 0 : -ENOMEM;
}

static void release_snapshot(struct open_file *f)
{
	if (f->data)
		instance_read_close(f->data);
}

/* Nothing but a header: lines that begin with '#'. */
static bool is_header(const char *text, size_t len)
{
	for (const char *line = text, *end; line < text + len; line = end + 1) {
		end = memchr(line, '\n', (size_t)(text + len - line));
		if (*line != '#' || !end)
			return false;
	}
	return true;
}

static void show_help(struct open_file *f, struct text *out)
{
	text_printf(out, "# tracer: %s\n#\n#\n# * Snapshot is %s *\n#\n# Snapshot commands:\n",
		    instance_tracer(f->instance),
		    instance_has_snapshot(f->instance) ? "allocated" : "freed");
	if (f->vcpu == ALL_VCPUS)
		text_puts(out, "# echo 0 > snapshot : Clears and frees snapshot buffer\n"
			       "# echo 1 > snapshot : Allocates snapshot buffer, if not already "
			       "allocated.\n"
			       "#                      Takes a snapshot of the main buffer.\n"
			       "# echo 2 > snapshot : Clears snapshot buffer (but does not "
			       "allocate or free)\n");
	else
		text_puts(out,
			  "# echo 0 > snapshot : Invalid for per_cpu snapshot file.\n"
			  "# echo 1 > snapshot : Allocates snapshot buffer, if not already "
			  "allocated.\n"
			  "#                      Takes a snapshot of the main buffer for this "
			  "cpu.\n"
			  "# echo 2 > snapshot : Clears this cpu's snapshot buffer (but does "
			  "not allocate)\n");
	text_puts(out, "#                      (Doesn't have to be '2' works with any number that\n"
		       "#                       is not a '0' or '1')\n");
}

/* An empty snapshot reads as what may be done with it. 1: this one does. */
static int has_no_events(struct open_file *f)
{
	char head[4096];
	ssize_t n = f->data ? instance_read(f->data, head, sizeof(head), 0) : 0;

	return n < 0 ? (int)n : is_header(head, (size_t)n);
}

static ssize_t read_snapshot(struct open_file *f, char *buf, size_t len, off_t off)
{
	if (instance_lends_snapshot(f->instance))
		return -EBUSY;
	if (!off || !f->shown) {
		int empty = has_no_events(f);

		if (empty < 0)
			return empty;
		text_free(&f->text);
		f->text = (struct text){0};
		if (empty)
			show_help(f, &f->text);
		f->shown = true;
	}
	return f->text.len ? text_read(&f->text, buf, len, off)
			   : instance_read(f->data, buf, len, off);
}

/* As kernels do that can swap one CPU's buffer, which tracers of latencies need. */
static int set_snapshot(struct open_file *f, uint64_t value)
{
	if (instance_lends_snapshot(f->instance))
		return -EBUSY;
	if (value == 0 && f->vcpu != ALL_VCPUS)
		return -EINVAL;
	if (value == 1)
		return instance_snapshot(f->instance, f->vcpu);
	if (!instance_has_snapshot(f->instance))
		return 0;
	if (value == 0)
		return instance_snapshot_free(f->instance);
	instance_snapshot_clear(f->instance, f->vcpu);
	return 0;
}

static const struct tracefs_file files[] = {
	{.path = "buffer_percent",
	 .what = "how full one vCPU's buffer is, in percent, when poll(2) and read(2) of trace_pipe_raw go on",
	 .mode = 0640,
	 .show = show_percent,
	 .set = set_percent},
	{.path = "buffer_size_kb",
	 .what = "of each vCPU; X: they differ",
	 .mode = 0640,
	 .show = show_size,
	 .set = set_size},
	{.path = "buffer_total_size_kb",
	 .what = "of all vCPUs",
	 .mode = 0440,
	 .show = show_total_size},
	{.path = "free_buffer",
	 .what = "closing it frees the buffers",
	 .mode = 0200,
	 .flags = TRACEFS_STREAM,
	 .write = write_free,
	 .release = release_free},
	{.path = "snapshot",
	 .what = "1: take one (it changes places with the buffers), 0: free it, 2: empty it",
	 .mode = 0640,
	 .open = open_snapshot,
	 .release = release_snapshot,
	 .read = read_snapshot,
	 .set = set_snapshot},
	{.path = "per_cpu/cpu%d/buffer_size_kb",
	 .what = "of one vCPU",
	 .mode = 0640,
	 .show = show_size,
	 .set = set_size},
	{.path = "per_cpu/cpu%d/snapshot",
	 .what = "the same of one vCPU; 0 is for all only",
	 .mode = 0640,
	 .open = open_snapshot,
	 .release = release_snapshot,
	 .read = read_snapshot,
	 .set = set_snapshot},
	{.path = "per_cpu/cpu%d/stats",
	 .what = "events that there are, that were lost, that were read",
	 .mode = 0440,
	 .show = show_stats},
};

const struct tracefs_table tracefs_buffer_files = TRACEFS_TABLE("Buffers", files);
