// SPDX-License-Identifier: GPL-2.0-or-later
/* blk-select.c - see blk-select.h */
#include "tracer/tracers/blk-select.h"
#include "tracer/core/lock.h"
#include "tracer/lib/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct blk_select *blk_select_new(void)
{
	struct blk_select *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->limit[BLK_ACT_MASK] = UINT16_MAX;
	s->limit[BLK_END_LBA] = UINT64_MAX;
	return s;
}

void blk_select_free(struct blk_select *s)
{
	free(s);
}

static bool has_device(const struct blk_select *s, uint32_t device)
{
	for (unsigned int n = 0; n < s->n; n++)
		if (s->v[n].device == device)
			return true;
	return !s->n;
}

bool blk_selected(const struct blk_select *s, const struct blk_record *r, int32_t pid)
{
	if (!(r->action >> BLK_TC_SHIFT & s->limit[BLK_ACT_MASK]))
		return false;
	if (r->sector && (r->sector < s->limit[BLK_START_LBA] || r->sector > s->limit[BLK_END_LBA]))
		return false;
	if (s->limit[BLK_PID] && s->limit[BLK_PID] != (uint32_t)pid)
		return false;
	return has_device(s, r->device);
}

/* --- devices by name ------------------------------------------------------------------------- */

/* Only a guest that is there and has come so far can be asked. */
static void ask_for_disks(struct trace *t, struct disks *disks)
{
	struct disks now;

	memset(disks, 0, sizeof(*disks));
	change_lock(t);
	if (t->m && !t->detached && !disks_read(&t->guest, t->gs, &now))
		*disks = now;
	change_unlock(t);
}

/* "254,0" */
static bool number_of(const char *word, uint32_t *device)
{
	unsigned long major, minor;
	char *end;

	if (!isdigit((unsigned char)*word))
		return false;
	major = strtoul(word, &end, 10);
	if (*end != ',' || !isdigit((unsigned char)end[1]))
		return false;
	minor = strtoul(end + 1, &end, 10);
	if (*end || minor >> DISK_MINOR_BITS || major >> (32 - DISK_MINOR_BITS))
		return false;
	*device = (uint32_t)(major << DISK_MINOR_BITS | minor);
	return true;
}

/* Where the guest does not tell which it has, any. */
static bool by_number(const struct disks *disks, const char *word, uint32_t *device)
{
	const struct disk *disk;

	if (!number_of(word, device))
		return false;
	disk = disks_find(disks, *device);
	return disk ? disk->whole == *device : !disks->n;
}

static int add_device(struct trace *t, const struct disks *disks, const char *word,
		      struct blk_select *to)
{
	const struct disk *disk = disks_named(disks, word);
	uint32_t device;

	if (!disk && !by_number(disks, word, &device)) {
		trace_note(t, "blk: the guest has no disk %.32s", word);
		return -ENODEV;
	}
	if (to->n == BLK_DEVICES_MAX)
		return -E2BIG;
	to->v[to->n].device = disk ? disk->device : device;
	snprintf(to->v[to->n].name, sizeof(to->v[to->n].name), "%s", disk ? disk->name : "");
	to->n++;
	return 0;
}

int trace_set_blk_devices(struct trace *t, const char *names)
{
	struct blk_select new = {0};
	char *copy = strdup(names), *rest = NULL;
	struct disks disks;
	int ret = 0;

	if (!copy)
		return -ENOMEM;
	ask_for_disks(t, &disks);
	for (char *word = strtok_r(copy, " \t\n", &rest); word && !ret;
	     word = strtok_r(NULL, " \t\n", &rest))
		if (strcmp(word, "all") != 0)
			ret = add_device(t, &disks, word, &new);
	disks_free(&disks);
	free(copy);
	if (ret)
		return ret;
	trace_writers_stop(t);
	t->blk->n = new.n;
	memcpy(t->blk->v, new.v, sizeof(new.v));
	trace_writers_go(t);
	return 0;
}

void trace_print_blk_devices(struct trace *t, struct text *out)
{
	const struct blk_select *s = t->blk;

	trace_writers_stop(t);
	if (!s->n)
		text_puts(out, "all");
	for (unsigned int n = 0; n < s->n; n++) {
		text_puts(out, n ? " " : "");
		if (s->v[n].name[0])
			text_puts(out, s->v[n].name);
		else
			text_printf(out, "%u,%u", s->v[n].device >> DISK_MINOR_BITS,
				    s->v[n].device & ((1U << DISK_MINOR_BITS) - 1));
	}
	trace_writers_go(t);
	text_putc(out, '\n');
}

/* --- numbers -----------------------------------------------------------------------------------
 */

uint64_t trace_blk_limit(struct trace *t, enum blk_limit which)
{
	return __atomic_load_n(&t->blk->limit[which], __ATOMIC_RELAXED);
}

void trace_set_blk_limit(struct trace *t, enum blk_limit which, uint64_t value)
{
	trace_writers_stop(t);
	__atomic_store_n(&t->blk->limit[which], value, __ATOMIC_RELAXED);
	trace_writers_go(t);
}
