// SPDX-License-Identifier: GPL-2.0-or-later
/* files-recording.c - whether and how is recorded: tracing_on, current_tracer, trace_clock… */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TRACER_NAME_MAX 100 /* MAX_TRACER_SIZE */
#define CLOCK_NAME_MAX	64  /* and of hwlat_detector/mode */

bool recording_is_on(struct open_file *f)
{
	bool on;

	view_lock(f->view);
	on = f->dir->pauses ? f->dir->was_on : instance_is_on(f->instance);
	view_unlock(f->view);
	return on;
}

void recording_pause(struct open_file *f)
{
	view_lock(f->view);
	if (!f->dir->pauses++) {
		f->dir->was_on = instance_is_on(f->instance);
		instance_set_on(f->instance, false);
	}
	view_unlock(f->view);
}

void recording_resume(struct open_file *f)
{
	view_lock(f->view);
	if (!--f->dir->pauses)
		instance_set_on(f->instance, f->dir->was_on);
	view_unlock(f->view);
}

static void show_on(struct open_file *f, struct text *out)
{
	text_puts(out, recording_is_on(f) ? "1\n" : "0\n");
}

static int set_on(struct open_file *f, uint64_t value)
{
	view_lock(f->view);
	if (f->dir->pauses)
		f->dir->was_on = value;
	else
		instance_set_on(f->instance, value);
	view_unlock(f->view);
	return 0;
}

static void show_tracers(struct open_file *f, struct text *out)
{
	bool top = f->instance == trace_top(f->trace);
	const char *name, *before = "";

	for (unsigned int i = 0; (name = trace_tracer_name(i, NULL)); i++) {
		if ((!top && trace_tracer_is_top(name)) || !trace_has_tracer(f->trace, name))
			continue;
		text_printf(out, "%s%s", before, name);
		before = " ";
	}
	text_putc(out, '\n');
}

static void show_tracer(struct open_file *f, struct text *out)
{
	text_printf(out, "%s\n", instance_tracer(f->instance));
}

static bool is_tracer(const char *name)
{
	const char *known;

	for (unsigned int i = 0; (known = trace_tracer_name(i, NULL)); i++)
		if (!strcmp(name, known))
			return true;
	return false;
}

static ssize_t write_tracer(struct open_file *f, const char *text, size_t len, off_t off)
{
	char name[TRACER_NAME_MAX + 1];
	bool busy;
	int rc;

	(void)off;
	copy_stripped(name, sizeof(name), text, len < TRACER_NAME_MAX ? len : TRACER_NAME_MAX);
	if (!is_tracer(name))
		return -EINVAL;
	if (!strcmp(name, instance_tracer(f->instance)))
		return (ssize_t)len;
	view_lock(f->view);
	busy = f->dir->busy;
	view_unlock(f->view);
	if (busy)
		return -EBUSY;
	rc = instance_set_tracer(f->instance, name);
	return rc ? rc : (ssize_t)len;
}

static void show_clock(struct open_file *f, struct text *out)
{
	const char *now = instance_clock(f->instance), *name;

	for (unsigned int i = 0; (name = trace_clock_name(i, NULL)); i++)
		text_printf(out, strcmp(name, now) ? "%s%s" : "%s[%s]", i ? " " : "", name);
	text_putc(out, '\n');
}

static ssize_t write_clock(struct open_file *f, const char *text, size_t len, off_t off)
{
	char name[CLOCK_NAME_MAX];
	int rc;

	(void)off;
	if (len >= sizeof(name))
		return -EINVAL;
	copy_stripped(name, sizeof(name), text, len);
	rc = instance_set_clock(f->instance, name);
	return rc ? rc : (ssize_t)len;
}

/*
 * Events carry the time since the event before. The kernels of before 5.13 went over to absolute
 * ones for histograms of common_timestamp; 6.1 and 6.12 have nothing that does.
 */
static void show_timestamp_mode(struct open_file *f, struct text *out)
{
	(void)f;
	text_puts(out, "[delta] absolute\n");
}

static void show_cpumask(struct open_file *f, struct text *out)
{
	print_mask(instance_cpumask(f->instance), trace_vcpus(f->trace), out);
	text_putc(out, '\n');
}

static ssize_t write_cpumask(struct open_file *f, const char *text, size_t len, off_t off)
{
	uint64_t mask;
	int rc = parse_mask(text, len, trace_vcpus(f->trace), &mask);

	(void)off;
	if (!rc)
		rc = instance_set_cpumask(f->instance, mask);
	return rc ? rc : (ssize_t)len;
}

/* As tracing_nsecs_read() and tracing_nsecs_write() (kernel/trace/trace.c, 6.1) reckon. */
static void show_usecs(uint64_t ns, struct text *out)
{
	text_printf(out, "%" PRId64 "\n", (int64_t)((ns + 500) / 1000));
}

static void show_thresh(struct open_file *f, struct text *out)
{
	show_usecs(trace_thresh(f->trace), out);
}

static int set_thresh(struct open_file *f, uint64_t us)
{
	trace_set_thresh(f->trace, us * 1000);
	return 0;
}

static void show_max_latency(struct open_file *f, struct text *out)
{
	show_usecs(instance_max_latency(f->instance), out);
}

static int set_max_latency(struct open_file *f, uint64_t us)
{
	instance_set_max_latency(f->instance, us * 1000);
	return 0;
}

static void show_dump_on_oops(struct open_file *f, struct text *out)
{
	char value[DUMP_ON_OOPS_MAX];

	trace_dump_on_oops(f->trace, value);
	text_printf(out, "%s\n", value);
}

static ssize_t write_dump_on_oops(struct open_file *f, const char *text, size_t len, off_t off)
{
	char value[DUMP_ON_OOPS_MAX];
	int rc;

	(void)off;
	if (len > sizeof(value) - 1)
		return -EINVAL;
	copy_stripped(value, sizeof(value), text, len);
	rc = trace_set_dump_on_oops(f->trace, value);
	return rc ? rc : (ssize_t)len;
}

/* --- hwlat_detector/ ---------------------------------------------------------------------- */

static void show_width(struct open_file *f, struct text *out)
{
	text_printf(out, "%" PRIu64 "\n", trace_hwlat_us(f->trace, HWLAT_WIDTH));
}

static int set_width(struct open_file *f, uint64_t us)
{
	return trace_set_hwlat_us(f->trace, HWLAT_WIDTH, us);
}

static void show_window(struct open_file *f, struct text *out)
{
	text_printf(out, "%" PRIu64 "\n", trace_hwlat_us(f->trace, HWLAT_WINDOW));
}

static int set_window(struct open_file *f, uint64_t us)
{
	return trace_set_hwlat_us(f->trace, HWLAT_WINDOW, us);
}

static const char *const hwlat_modes[] = {
	[HWLAT_NONE] = "none",
	[HWLAT_ROUND_ROBIN] = "round-robin",
	[HWLAT_PER_CPU] = "per-cpu",
};

static void show_mode(struct open_file *f, struct text *out)
{
	unsigned int now = trace_hwlat_mode(f->trace);

	for (unsigned int i = 0; i < NR_HWLAT_MODES; i++)
		text_printf(out, i == now ? "%s[%s]" : "%s%s", i ? " " : "", hwlat_modes[i]);
	text_putc(out, '\n');
}

static ssize_t write_mode(struct open_file *f, const char *text, size_t len, off_t off)
{
	char name[CLOCK_NAME_MAX];

	(void)off;
	if (len >= sizeof(name))
		return -EINVAL;
	copy_stripped(name, sizeof(name), text, len);
	for (unsigned int i = 0; i < NR_HWLAT_MODES; i++) {
		if (strcmp(name, hwlat_modes[i]) != 0)
			continue;
		trace_set_hwlat_mode(f->trace, i);
		return (ssize_t)len;
	}
	return -EINVAL;
}

static void show_errors(struct open_file *f, struct text *out)
{
	error_log_print(instance_errors(f->instance), out);
}

static int open_errors(struct open_file *f)
{
	if (opened_to_truncate(f))
		error_log_clear(instance_errors(f->instance));
	return 0;
}

static ssize_t write_nothing(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)f;
	(void)text;
	(void)off;
	return (ssize_t)len;
}

static const struct tracefs_file files[] = {
	{.path = "available_tracers", .what = "see below", .mode = 0440, .show = show_tracers},
	{.path = "current_tracer",
	 .what = "one of them",
	 .mode = 0640,
	 .show = show_tracer,
	 .write = write_tracer},
	{.path = "error_log",
	 .what = "what was wrong with commands",
	 .mode = 0640,
	 .open = open_errors,
	 .show = show_errors,
	 .write = write_nothing},
	/* The kernel's is a file of /proc, and that is the guest's. */
	{.path = "ftrace_dump_on_oops",
	 .what = "what is printed on stderr when the guest's kernel oopses or panics: 0, 1 (the buffers),\n"
		 "2 (of that CPU), INSTANCE[=2], several with commas (/proc/sys/kernel has it in a guest)",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_dump_on_oops,
	 .write = write_dump_on_oops},
	{.path = "hwlat_detector/mode",
	 .what = "hwlat: none, round-robin or per-cpu",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_mode,
	 .write = write_mode},
	{.path = "hwlat_detector/width",
	 .what = "hwlat: microseconds of each window that are looked at",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_width,
	 .set = set_width},
	{.path = "hwlat_detector/window",
	 .what = "hwlat: microseconds from one window to the next",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_window,
	 .set = set_window},
	{.path = "timestamp_mode",
	 .what = "delta or absolute; the one in brackets is in use",
	 .mode = 0440,
	 .show = show_timestamp_mode},
	{.path = "trace_clock",
	 .what = "what time stamps say (below); the one in brackets is in use",
	 .mode = 0640,
	 .show = show_clock,
	 .write = write_clock},
	{.path = "tracing_cpumask",
	 .what = "vCPUs that are recorded, in hexadecimal",
	 .mode = 0640,
	 .show = show_cpumask,
	 .write = write_cpumask},
	/* What tracing_on was called in 2.6.28. */
	{.path = "tracing_enabled",
	 .what = "tracing_on, as it was called in 2.6.28",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_on,
	 .set = set_on},
	{.path = "tracing_max_latency",
	 .what = "microseconds: the longest so far; it can be set",
	 .mode = 0640,
	 .show = show_max_latency,
	 .set = set_max_latency},
	{.path = "tracing_on",
	 .what = "1 or 0: record or do not",
	 .mode = 0640,
	 .show = show_on,
	 .set = set_on},
	{.path = "tracing_thresh",
	 .what = "microseconds: nothing shorter is recorded",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_thresh,
	 .set = set_thresh},
};

const struct tracefs_table tracefs_recording_files = TRACEFS_TABLE("What is recorded", files);
