// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traps.c - see traps.h
 *
 * One who reserves room gets it, and a record that is complete but for its number, as payload.h
 * has them; one who commits gets the number written, and what is complete then is collected at
 * once. A vCPU that is interrupted in between makes its other records meanwhile: payload/staging.c
 * keeps their order.
 *
 * Whatever the guest passes is looked at: at worst it harms its own records.
 */
#include "tracer/tracepoint/traps.h"
#include "tracer/borrow/borrow.h"
#include "tracer/collect/collect.h"
#include "tracer/core/lock.h"
#include "tracer/events/events.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/payload/event-ring.h"
#include "tracer/payload/record.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/window/window.h"

#include <errno.h>
#include <string.h>

#define RESERVE_COOKIE (BORROW_COOKIE - 1)
#define COMMIT_COOKIE  (BORROW_COOKIE - 2)

/* --- in and out ------------------------------------------------------------------------------ */

static uint64_t text_va(struct trace *t, uint32_t offset)
{
	return trampoline_window(t)->header.va + WINDOW_TEXT + offset;
}

static int layout_learn(struct trace *t)
{
	struct event_traps *at = t->event_traps;
	const struct {
		const char *path;
		uint32_t *offset;
	} members[] = {
		{"trace_event_buffer.event", &at->event},
		{"trace_event_buffer.trace_file", &at->file},
		{"trace_event_buffer.entry", &at->entry},
	};
	struct guestsym_field f;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (guestsym_field(t->gs, members[i].path, &f) || f.size != sizeof(uint64_t))
			return -EOPNOTSUPP;
		*members[i].offset = f.offset;
	}
	return 0;
}

int event_traps_insert(struct trace *t)
{
	const struct payload_text *text = trampoline_text(t);
	const struct machine_trap traps[] = {
		trampoline_trap(t, text->reserve_trap, RESERVE_COOKIE),
		trampoline_trap(t, text->commit_trap, COMMIT_COOKIE),
	};
	int ret = layout_learn(t);

	if (!ret)
		ret = machine_traps_set(t->m, traps, 2);
	t->event_traps->set = !ret;
	return ret;
}

int event_traps_remove(struct trace *t)
{
	const struct payload_text *text;
	uint64_t vas[2];

	if (!t->event_traps->set)
		return 0;
	text = trampoline_text(t);
	vas[0] = text_va(t, text->reserve_trap);
	vas[1] = text_va(t, text->commit_trap);
	t->event_traps->set = false;
	return machine_traps_clear(t->m, vas, 2);
}

/* --- what the guest has ---------------------------------------------------------------------- */

/* Of a struct trace_event_buffer, which lies on the stack of who calls. */
static int member_write(struct trace *t, uint64_t fbuffer, uint32_t offset, uint64_t value)
{
	uint64_t va = fbuffer + offset, pa;
	int ret = va % sizeof(value) ? -EFAULT : guest_translate(&t->guest, va, &pa);

	return ret ? ret : machine_write(t->m, pa, &value, sizeof(value));
}

static int member_read(struct trace *t, uint64_t fbuffer, uint32_t offset, uint64_t *value)
{
	return guest_read(&t->guest, fbuffer + offset, value, sizeof(*value));
}

/* A counter of the vCPU's control block. Nobody but this thread moves it. */
static int counter_read(struct trace *t, unsigned int vcpu, unsigned int member, uint64_t *value)
{
	return window_read(trampoline_window(t), WINDOW_CTL + vcpu * CTL_SIZE + member, value,
			   sizeof(*value));
}

static int counter_write(struct trace *t, unsigned int vcpu, unsigned int member, uint64_t value)
{
	return window_write(trampoline_window(t), WINDOW_CTL + vcpu * CTL_SIZE + member, &value,
			    sizeof(value));
}

static uint64_t record_at(struct trace *t, unsigned int vcpu, uint64_t n)
{
	uint32_t size = trampoline_window(t)->header.ring_size;

	return WINDOW_RINGS + (uint64_t)vcpu * size + (n * PAYLOAD_RECORD_SIZE & (size - 1));
}

static uint64_t room_at(struct trace *t, unsigned int vcpu, uint64_t place)
{
	const struct payload_header *h = &trampoline_window(t)->header;

	return event_ring_at(h, vcpu) + (place & (h->event_ring_size - 1));
}

/* --- reserving ------------------------------------------------------------------------------- */

static bool is_wanted(const struct trace *t, unsigned int vcpu, uint32_t file)
{
	uint32_t event = events_at_file(t->trace_events, file);

	for (const struct instance *i = t->instances; i && event != EVENT_NONE; i = i->next)
		if (instance_takes_event(i, vcpu, event))
			return true;
	return false;
}

/* It ends before the ring does. */
static int room_take(struct trace *t, unsigned int vcpu, uint64_t len, uint64_t *place)
{
	uint64_t size = trampoline_window(t)->header.event_ring_size, head,
		 bytes = (EVENT_HEADER + len + 7) & ~UINT64_C(7);
	int ret = counter_read(t, vcpu, CTL_EVENT_HEAD, &head);

	if (ret)
		return ret;
	head = (head + 7) & ~UINT64_C(7); /* the guest may have put anything there */
	if (size - (head & (size - 1)) < bytes)
		head = (head | (size - 1)) + 1;
	*place = head;
	return counter_write(t, vcpu, CTL_EVENT_HEAD, head + bytes);
}

/* Its number comes with the commit; what the room begins with tells it. */
static int record_write(struct trace *t, const struct machine_hit *hit, uint32_t file, uint64_t len,
			uint64_t place)
{
	struct window *w = trampoline_window(t);
	uint32_t header[] = {0, EVENT_TYPE_LEN};
	struct payload_record r;
	struct guest_state st;
	uint64_t n;
	int ret = counter_read(t, hit->vcpu, CTL_HEAD, &n);

	if (ret)
		return ret;
	record_of_hit(&t->guest, hit, PAYLOAD_EVENT, &r, &st);
	instances_note_task(t, &st);
	r.event_at = (uint32_t)place;
	r.event_file = file;
	r.event_len = (uint32_t)len;
	header[0] = (uint32_t)n;
	ret = window_write(w, room_at(t, hit->vcpu, place), header, sizeof(header));
	if (!ret)
		ret = counter_write(t, hit->vcpu, CTL_HEAD, n + 1);
	if (!ret)
		ret = window_write(w, record_at(t, hit->vcpu, n), &r, RECORD_SEQ);
	return ret;
}

/*
 * trace_event_buffer_reserve(fbuffer, file, len) returns what fbuffer->entry is then: it has been
 * NULL before, and stays so where the event is not wanted.
 */
static void reserve_hit(struct trace *t, const struct machine_hit *hit)
{
	const struct event_traps *at = t->event_traps;
	uint64_t va = trampoline_window(t)->header.va, fbuffer = hit->regs->rdi,
		 file = hit->regs->rsi, len = hit->regs->rdx, place, entry,
		 offset = file - (va + WINDOW_EVENT_FILES);

	if (offset >= EVENT_FILES_SIZE || len > EVENT_MAX ||
	    !is_wanted(t, hit->vcpu, (uint32_t)offset) || room_take(t, hit->vcpu, len, &place))
		return;
	entry = va + room_at(t, hit->vcpu, place) + EVENT_HEADER;
	if (!member_write(t, fbuffer, at->file, file) &&
	    !member_write(t, fbuffer, at->event, entry - sizeof(uint32_t)) &&
	    !record_write(t, hit, (uint32_t)offset, len, place))
		member_write(t, fbuffer, at->entry, entry);
}

/* --- committing ------------------------------------------------------------------------------ */

static bool wants_stack(struct trace *t, uint64_t file)
{
	struct window *w = trampoline_window(t);
	uint64_t offset = file - w->header.va - WINDOW_EVENT_FILES;
	uint8_t stack = 0;

	return offset < EVENT_FILES_SIZE &&
	       !window_read(w,
			    WINDOW_EVENT_FILES + offset / EVENT_FILE_SIZE * EVENT_FILE_SIZE +
				    EVENT_FILE_FLAGS,
			    &stack, sizeof(stack)) &&
	       stack & EVENT_STACK_CALL;
}

/* trace_event_buffer_commit(fbuffer) */
static void commit_hit(struct trace *t, const struct machine_hit *hit)
{
	uint64_t fbuffer = hit->regs->rdi, event, file, offset;
	struct window *w = trampoline_window(t);
	uint32_t n;

	if (member_read(t, fbuffer, t->event_traps->event, &event) ||
	    member_read(t, fbuffer, t->event_traps->file, &file))
		return;
	/* Of no other vCPU's. */
	offset = event - sizeof(n) - w->header.va - event_ring_at(&w->header, hit->vcpu);
	if (offset > w->header.event_ring_size - EVENT_HEADER ||
	    window_read(w, room_at(t, hit->vcpu, offset), &n, sizeof(n)))
		return;
	if (wants_stack(t, file))
		collect_event_stack(t, hit->vcpu, n, hit->regs->rsp, hit->regs->rbp);
	if (!window_write(w, record_at(t, hit->vcpu, n) + RECORD_SEQ, &n, sizeof(n)))
		collect_drain(t, hit->vcpu);
}

bool event_traps_hit(struct trace *t, const struct machine_hit *hit)
{
	if (hit->cookie != RESERVE_COOKIE && hit->cookie != COMMIT_COOKIE)
		return false;
	vcpu_lock(t, hit->vcpu);
	if (hit->cookie == RESERVE_COOKIE)
		reserve_hit(t, hit);
	else
		commit_hit(t, hit);
	vcpu_unlock(t, hit->vcpu);
	return true;
}
