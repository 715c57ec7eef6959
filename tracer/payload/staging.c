// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * staging.c - takes records out of a staging ring while the guest writes it.
 *
 * The guest stores a record's number behind all the rest of the record, and x86 keeps stores and
 * loads in order: what is read after a right number has been seen is a whole record. So each
 * stretch is copied twice, the first time for the numbers (the second time it is in the cache). A
 * record may be overwritten meanwhile; the guest has then moved its head before, so the head that
 * is read afterwards tells which ones.
 */
#include "tracer/payload/staging.h"
#include "tracer/lib/host-time.h"

#include <errno.h>
#include <stdlib.h>

/* No guest makes so many records between two looks: this is no head. */
#define JUMP_MAX (UINT64_C(1) << 40)
#define ASK_MIN	 64
#define TRIES	 16

int staging_init(struct staging *s, const struct staging_io *io, unsigned int vcpu,
		 uint32_t ring_size)
{
	*s = (struct staging){
		.io = *io,
		.ctl = WINDOW_CTL + (uint64_t)vcpu * CTL_SIZE,
		.ring = WINDOW_RINGS + (uint64_t)vcpu * ring_size,
		.length = ring_size / PAYLOAD_RECORD_SIZE,
		.next = ring_size / PAYLOAD_RECORD_SIZE,
		.base = ring_size / PAYLOAD_RECORD_SIZE,
		.head = ring_size / PAYLOAD_RECORD_SIZE,
		.patience_ns = STAGING_STUCK_NS,
		.ask = STAGING_BATCH,
		.batch = calloc(STAGING_BATCH, sizeof(*s->batch)),
	};
	return s->batch ? 0 : -ENOMEM;
}

void staging_exit(struct staging *s)
{
	free(s->batch);
	s->batch = NULL;
}

/* A head that is not as expected is read twice: not all ways to copy copy eight bytes at once. */
static int read_head(struct staging *s, uint64_t *head)
{
	uint64_t ctl[2] = {0};

	_Static_assert(CTL_DROPPED == CTL_HEAD + 8, "they are read together");
	for (int i = 0; i < 2; i++) {
		int ret = s->io.read(s->io.arg, s->ctl + CTL_HEAD, ctl, sizeof(ctl));

		if (ret)
			return ret;
		if (ctl[0] - s->next <= s->length)
			break;
	}
	*head = s->head = ctl[0];
	if (ctl[1] - s->dropped <= JUMP_MAX) /* else it is no count of the payload's */
		s->dropped = ctl[1];
	return 0;
}

static void lose(struct staging *s, uint64_t n)
{
	s->next += n;
	s->lost += n;
	s->untold += n;
}

/* Go on at a head that has gone backwards or far ahead. How many were lost cannot be known. */
static void resync(struct staging *s, uint64_t head)
{
	lose(s, 1);
	s->corrupt++;
	s->jumps++;
	s->next = head;
	s->base = head - s->taken - s->lost;
	s->stuck_ns = 0;
}

/*
 * The guest is ahead by more than the ring: go on where it does not write at once. Gives how many
 * records there are now.
 */
static uint64_t catch_up(struct staging *s, uint64_t head)
{
	uint64_t ahead = head - s->next;

	if (ahead > JUMP_MAX)
		resync(s, head);
	else if (ahead > s->length)
		lose(s, ahead - s->length + s->length / 8);
	return head - s->next;
}

int staging_head(struct staging *s, uint64_t *head)
{
	int ret = read_head(s, head);

	if (!ret && *head - s->next > JUMP_MAX)
		resync(s, *head);
	return ret;
}

static int copy(struct staging *s, size_t n)
{
	uint64_t at = s->next & (s->length - 1);
	size_t first = n < s->length - at ? n : s->length - at;
	int ret;

	s->copied += n;
	ret = s->io.read(s->io.arg, s->ring + at * PAYLOAD_RECORD_SIZE, s->batch,
			 first * PAYLOAD_RECORD_SIZE);
	if (ret || first == n)
		return ret;
	return s->io.read(s->io.arg, s->ring, s->batch + first, (n - first) * PAYLOAD_RECORD_SIZE);
}

/* How many records from batch[i] on have the right number; that of batch[i] is s->next. */
static size_t count_written(const struct staging *s, size_t i, size_t n)
{
	uint32_t seq = (uint32_t)s->next;
	size_t start = i;

	while (i < n && s->batch[i].seq == seq++)
		i++;
	return i - start;
}

/* A record of another lap, or none yet. */
static bool is_other_lap(const struct staging *s, const struct payload_record *r)
{
	return !r->seq || !(((uint32_t)s->next - r->seq) & (s->length - 1));
}

static bool stuck_for_long(struct staging *s)
{
	int64_t now = host_ns();

	if (!s->stuck_ns)
		s->stuck_ns = now;
	return now - s->stuck_ns >= s->patience_ns;
}

/* The next record is not there. Give up those of the n in the batch that have had their time. */
static void give_up(struct staging *s, uint64_t head, size_t n)
{
	size_t i = 0;

	if (!stuck_for_long(s) && head - s->next <= s->length / 2)
		return;
	do {
		s->corrupt += !is_other_lap(s, &s->batch[i]);
		lose(s, 1);
		i++;
	} while (i < n && head - s->next > s->length / 2 && !count_written(s, i, i + 1));
	s->stuck_ns = 0;
}

/* Copy n written records, and see which ones have been overwritten meanwhile. */
static int copy_written(struct staging *s, size_t n, const struct payload_record **records)
{
	uint64_t head, ahead;
	size_t first = 0;
	int ret = copy(s, n);

	if (!ret)
		ret = read_head(s, &head);
	if (ret)
		return ret;
	ahead = head - s->next;
	if (ahead >= s->length + n) {
		catch_up(s, head);
		return 0;
	}
	if (ahead > s->length) {
		first = (size_t)(ahead - s->length);
		lose(s, first);
	}
	*records = s->batch + first;
	return (int)count_written(s, first, n);
}

static int take_once(struct staging *s, size_t max, const struct payload_record **records)
{
	uint64_t head, n;
	size_t written;
	int ret = read_head(s, &head);

	if (ret)
		return ret;
	n = catch_up(s, head);
	if (!n)
		return 0;
	if (n > s->ask)
		n = s->ask;
	if (n > max)
		n = max;
	ret = copy(s, n);
	if (ret)
		return ret;
	written = count_written(s, 0, n);
	/* No more than is of use while there is one that holds the others up. */
	s->ask = written == n || written > STAGING_BATCH / 2 ? STAGING_BATCH : ASK_MIN + written;
	if (!written) {
		give_up(s, head, n);
		return 0;
	}
	s->stuck_ns = 0;
	return copy_written(s, written, records);
}

/* Two batches, or two rings: all that there is, before and after something was lost. */
static uint64_t reads_max(const struct staging *s)
{
	return 2 * (s->length < STAGING_BATCH ? s->length : STAGING_BATCH);
}

int staging_take(struct staging *s, size_t max, const struct payload_record **records,
		 uint64_t *lost)
{
	uint64_t start = s->next, lost_before, end = s->copied + reads_max(s);
	int n, ret, tries = 0;

	/* Where something was lost there may be more at once. Bounds: the guest could go on so. */
	do {
		lost_before = s->lost;
		n = take_once(s, max, records);
	} while (!n && s->lost != lost_before && s->copied < end && ++tries < TRIES);
	if (n < 0)
		return n;
	s->next += (uint64_t)n;
	s->taken += (uint64_t)n;
	if (lost)
		*lost = n ? s->untold : 0;
	if (n)
		s->untold = 0;
	if (!s->lossless || s->next == start)
		return n;
	ret = s->io.write(s->io.arg, s->ctl + CTL_TAIL, &s->next, sizeof(s->next));
	return ret ? ret : n;
}

int staging_end(struct staging *s)
{
	uint64_t head;
	int ret = read_head(s, &head);

	if (!ret)
		lose(s, catch_up(s, head));
	return ret;
}
