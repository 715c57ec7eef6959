// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * files-blk.c - hvtrace/blk/: which requests the tracer blk records. Named and written as the files
 * of /sys/block/DEVICE/trace/ of the kernel (kernel/trace/blktrace.c, 6.1), which are one device's.
 */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX 4096

/* BLK_TC_ of linux/blktrace_api.h, from bit 0 on, in the order in which the kernel names them. */
static const struct {
	const char *name;
	unsigned int bit;
} kinds[] = {
	{"read", 0},  {"write", 1},    {"flush", 2},	 {"sync", 3},
	{"queue", 4}, {"requeue", 5},  {"issue", 6},	 {"complete", 7},
	{"fs", 8},    {"pc", 9},       {"notify", 10},	 {"ahead", 11},
	{"meta", 12}, {"discard", 13}, {"drv_data", 14}, {"fua", 15},
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void show_mask(struct open_file *f, struct text *out)
{
	uint64_t mask = trace_blk_limit(f->trace, BLK_ACT_MASK);
	const char *before = "";

	for (size_t i = 0; i < NR_KINDS; i++) {
		if (!(mask >> kinds[i].bit & 1))
			continue;
		text_printf(out, "%s%s", before, kinds[i].name);
		before = ",";
	}
	text_putc(out, '\n');
}

/* False: there is none of that name. */
static bool add_kind(const char *name, uint64_t *mask)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		if (strcasecmp(name, kinds[i].name) != 0)
			continue;
		*mask |= UINT64_C(1) << kinds[i].bit;
		return true;
	}
	return false;
}

/* A number in any base, or names (blk_trace_str2mask()). */
static bool mask_of(char *words, uint64_t *mask)
{
	char *word, *end;

	*mask = strtoull(words, &end, 0);
	if (*words >= '0' && *words <= '9' && !*end)
		return true;
	*mask = 0;
	while ((word = strsep(&words, ",")))
		if (*word && !add_kind(word, mask))
			return false;
	return true;
}

static ssize_t write_mask(struct open_file *f, const char *text, size_t len, off_t off)
{
	char words[256];
	uint64_t mask;

	(void)off;
	if (len >= sizeof(words))
		return -EINVAL;
	copy_stripped(words, sizeof(words), text, len);
	if (!mask_of(words, &mask))
		return -EINVAL;
	trace_set_blk_limit(f->trace, BLK_ACT_MASK, mask & UINT16_MAX);
	return (ssize_t)len;
}

static void show_devices(struct open_file *f, struct text *out)
{
	trace_print_blk_devices(f->trace, out);
}

static ssize_t write_devices(struct open_file *f, const char *text, size_t len, off_t off)
{
	char words[WORDS_MAX];
	int ret;

	(void)off;
	if (len >= sizeof(words) || memchr(text, '\0', len))
		return -EINVAL;
	memcpy(words, text, len);
	words[len] = '\0';
	ret = trace_set_blk_devices(f->trace, words);
	return ret ? ret : (ssize_t)len;
}

static enum blk_limit limit_of(const struct open_file *f)
{
	return *(const enum blk_limit *)f->file->arg;
}

static void show_limit(struct open_file *f, struct text *out)
{
	text_printf(out, "%" PRIu64 "\n", trace_blk_limit(f->trace, limit_of(f)));
}

static int set_limit(struct open_file *f, uint64_t value)
{
	if (limit_of(f) == BLK_PID && value > INT32_MAX)
		return -EINVAL;
	trace_set_blk_limit(f->trace, limit_of(f), value);
	return 0;
}

static const enum blk_limit pid = BLK_PID, start_lba = BLK_START_LBA, end_lba = BLK_END_LBA;

static const struct tracefs_file files[] = {
	{.path = "hvtrace/blk/act_mask",
	 .what = "only requests of these kinds, with commas between them",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_mask,
	 .write = write_mask},
	{.path = "hvtrace/blk/devices",
	 .what = "only these disks, by name or as MAJOR,MINOR; all",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_devices,
	 .write = write_devices},
	{.path = "hvtrace/blk/end_lba",
	 .what = "only up to this sector",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .arg = &end_lba,
	 .show = show_limit,
	 .set = set_limit},
	{.path = "hvtrace/blk/pid",
	 .what = "only what this task does; 0: all do",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .arg = &pid,
	 .show = show_limit,
	 .set = set_limit},
	{.path = "hvtrace/blk/start_lba",
	 .what = "only from this sector on",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .arg = &start_lba,
	 .show = show_limit,
	 .set = set_limit},
};

const struct tracefs_table tracefs_blk_files =
	TRACEFS_TABLE("Block devices, of the tracer blk", files);
