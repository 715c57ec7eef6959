// SPDX-License-Identifier: GPL-2.0-or-later
/* blk.c - prints what the tracer blk records: blktrace's lines (kernel/trace/blktrace.c, 6.1). */
#include "tracer/output/internal.h"

#include <inttypes.h>
#include <linux/blktrace_api.h>

#define MINOR_BITS 20 /* of the kernel's dev_t */
#define SECOND	   1000000000
#define RWBS_LEN   8

_Static_assert(sizeof(struct trace_blk_entry) == sizeof(struct blk_io_trace), "the same layout");

/* What kind of action it is: one of BLK_TC_. */
static bool is_of(const struct trace_blk_entry *e, uint32_t category)
{
	return e->action & BLK_TC_ACT(category);
}

static char direction(const struct trace_blk_entry *e)
{
	if (is_of(e, BLK_TC_DISCARD))
		return 'D';
	if (is_of(e, BLK_TC_WRITE))
		return 'W';
	return e->bytes ? 'R' : 'N';
}

static void put_rwbs(const struct trace_blk_entry *e, char rwbs[RWBS_LEN])
{
	unsigned int n = 0;

	if (is_of(e, BLK_TC_FLUSH))
		rwbs[n++] = 'F';
	rwbs[n++] = direction(e);
	if (is_of(e, (uint32_t)BLK_TC_FUA))
		rwbs[n++] = 'F';
	if (is_of(e, BLK_TC_AHEAD))
		rwbs[n++] = 'A';
	if (is_of(e, BLK_TC_SYNC))
		rwbs[n++] = 'S';
	if (is_of(e, BLK_TC_META))
		rwbs[n++] = 'M';
	rwbs[n] = '\0';
}

static unsigned int major_of(uint32_t device)
{
	return device >> MINOR_BITS;
}

static unsigned int minor_of(uint32_t device)
{
	return device & ((1U << MINOR_BITS) - 1);
}

/* --- what stands behind the action -------------------------------------------------------- */

static void put_task(struct output *o, const struct trace_blk_entry *e)
{
	char comm[COMM_LEN];

	comms_find(o->cfg.comms, e->ent.pid, comm);
	text_printf(o->text, "[%.*s]", COMM_LEN, comm);
}

static void put_sectors(struct output *o, const struct trace_blk_entry *e)
{
	text_printf(o->text, "%" PRIu64 " + %u ", e->sector, e->bytes >> 9);
}

static void print_generic(struct output *o, const struct trace_blk_entry *e, uint64_t more)
{
	(void)more;
	if (is_of(e, BLK_TC_PC))
		text_printf(o->text, "%u ", e->bytes);
	else if (e->bytes >> 9)
		put_sectors(o, e);
	put_task(o, e);
	text_putc(o->text, '\n');
}

static void print_with_error(struct output *o, const struct trace_blk_entry *e, uint64_t more)
{
	(void)more;
	if (!is_of(e, BLK_TC_PC)) {
		if (e->bytes >> 9)
			put_sectors(o, e);
		else
			text_printf(o->text, "%" PRIu64 " ", e->sector);
	}
	text_printf(o->text, "[%u]\n", e->error);
}

static void print_plug(struct output *o, const struct trace_blk_entry *e, uint64_t more)
{
	(void)more;
	put_task(o, e);
	text_putc(o->text, '\n');
}

static void print_unplug(struct output *o, const struct trace_blk_entry *e, uint64_t more)
{
	put_task(o, e);
	text_printf(o->text, " %" PRIu64 "\n", more);
}

static void print_split(struct output *o, const struct trace_blk_entry *e, uint64_t more)
{
	text_printf(o->text, "%" PRIu64 " / %" PRIu64 " ", e->sector, more);
	put_task(o, e);
	text_putc(o->text, '\n');
}

/* Behind its device comes the one that it goes to, which is not printed. */
static void print_remap(struct output *o, const struct trace_blk_entry *e, uint64_t more)
{
	uint32_t from = (uint32_t)(more >> 32);
	uint64_t sector = 0;

	if (e->pdu_len >= sizeof(struct blk_io_trace_remap))
		memcpy(&sector, e->pdu + offsetof(struct blk_io_trace_remap, sector_from),
		       sizeof(sector));
	put_sectors(o, e);
	text_printf(o->text, "<- (%u,%u) %" PRIu64 "\n", major_of(from), minor_of(from),
		    __builtin_bswap64(sector));
}

static const struct {
	const char *act[2]; /* short, and with the option verbose */
	void (*print)(struct output *o, const struct trace_blk_entry *e, uint64_t more);
} actions[] = {
	[__BLK_TA_QUEUE] = {{"Q", "queue"}, print_generic},
	[__BLK_TA_BACKMERGE] = {{"M", "backmerge"}, print_generic},
	[__BLK_TA_FRONTMERGE] = {{"F", "frontmerge"}, print_generic},
	[__BLK_TA_GETRQ] = {{"G", "getrq"}, print_generic},
	[__BLK_TA_SLEEPRQ] = {{"S", "sleeprq"}, print_generic},
	[__BLK_TA_REQUEUE] = {{"R", "requeue"}, print_with_error},
	[__BLK_TA_ISSUE] = {{"D", "issue"}, print_generic},
	[__BLK_TA_COMPLETE] = {{"C", "complete"}, print_with_error},
	[__BLK_TA_PLUG] = {{"P", "plug"}, print_plug},
	[__BLK_TA_UNPLUG_IO] = {{"U", "unplug_io"}, print_unplug},
	[__BLK_TA_UNPLUG_TIMER] = {{"UT", "unplug_timer"}, print_unplug},
	[__BLK_TA_INSERT] = {{"I", "insert"}, print_generic},
	[__BLK_TA_SPLIT] = {{"X", "split"}, print_split},
	[__BLK_TA_BOUNCE] = {{"B", "bounce"}, print_generic},
	[__BLK_TA_REMAP] = {{"A", "remap"}, print_remap},
};

/* --- lines ---------------------------------------------------------------------------------- */

/* The number that the data behind it begins with, big-endian. */
static uint64_t first_of_pdu(const struct trace_blk_entry *e)
{
	uint64_t value = 0;

	if (e->pdu_len >= sizeof(value))
		memcpy(&value, e->pdu, sizeof(value));
	return __builtin_bswap64(value);
}

static void put_classic(struct output *o, const struct ring_event *ev)
{
	const struct trace_blk_entry *e = ev->data;

	text_printf(o->text, "%3u,%-3u %2u %5u.%09u %5u ", major_of(e->device), minor_of(e->device),
		    o->cpu, (unsigned int)(ev->ts / SECOND), (unsigned int)(ev->ts % SECOND),
		    (unsigned int)e->ent.pid);
}

static void print_line(struct output *o, const struct ring_event *ev, bool classic)
{
	const struct trace_blk_entry *e = ev->data;
	unsigned int what = e->action & ((1U << BLK_TC_SHIFT) - 1);
	char rwbs[RWBS_LEN];

	if (what >= sizeof(actions) / sizeof(actions[0]) || !actions[what].print) {
		text_printf(o->text, "Unknown action %x\n", what);
		return;
	}
	put_rwbs(e, rwbs);
	if (classic)
		put_classic(o, ev);
	else
		text_printf(o->text, "%3u,%-3u ", major_of(e->device), minor_of(e->device));
	text_printf(o->text, "%2s %3s ", actions[what].act[output_option(o, OUTPUT_VERBOSE)], rwbs);
	actions[what].print(o, e, first_of_pdu(e));
}

static bool is_whole(const struct ring_event *ev)
{
	const struct trace_blk_entry *e = ev->data;

	return ev->len >= sizeof(*e) && ev->len - sizeof(*e) >= e->pdu_len;
}

static void blk_trace(struct output *o, const struct ring_event *ev)
{
	if (is_whole(ev))
		print_line(o, ev, false);
	else
		text_puts(o->text, "[ENTRY TOO SHORT]\n");
}

/* What blkparse reads: the record itself, with what the common header has the place of. */
static void blk_bin(struct output *o, const struct ring_event *ev)
{
	const struct trace_blk_entry *e = ev->data;
	const uint32_t begin[] = {BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION, 0};

	if (!is_whole(ev))
		return;
	text_add(o->text, begin, sizeof(begin));
	text_add(o->text, &ev->ts, sizeof(ev->ts));
	text_add(o->text, &e->sector, sizeof(*e) - offsetof(struct trace_blk_entry, sector));
	text_add(o->text, e->pdu, e->pdu_len);
}

const struct entry_ops blk_entry_ops = {
	.len = sizeof(struct trace_blk_entry),
	.trace = blk_trace,
	.bin = blk_bin,
};

bool output_blk_event(struct output *o, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;

	if (!(o->cfg.blk_options & OUTPUT_BLK_CLASSIC) || ent->type != TRACE_BLK || !is_whole(ev))
		return false;
	print_line(o, ev, true);
	return true;
}

void output_blk_header(struct output *o)
{
	if (o->cfg.blk_options & OUTPUT_BLK_CLASSIC)
		text_puts(o->text, "# DEV   CPU TIMESTAMP     PID ACT FLG\n"
				   "#  |     |     |           |   |   |\n");
}
