// SPDX-License-Identifier: GPL-2.0-or-later
/* patch.c - makes the payload's code ready for one kernel and one window. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "tracer/payload/patch.h"
#include "tracer/guest/site.h"
#include "tracer/payload/code.h"
#include "tracer/payload/payload.h"

/* Of records in a full ring: for interrupts that have passed the check when it was not full. */
#define RING_RESERVE 64
/* Bytes of event data, likewise; what a ring's end makes unused counts, too. */
#define EVENT_RESERVE (2 * EVENT_MAX)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What values an operand takes. */
enum fit {
	FIT_DISP,     /* displacement as it is: sign-extended 32 bits */
	FIT_WINDOW,   /* the same for every offset that the code adds to it */
	FIT_OFFSET,   /* in task_struct */
	FIT_OPTIONAL, /* the same, or PAYLOAD_NONE */
	FIT_ADDRESS,  /* sign-extended 32 bits, or PAYLOAD_NONE, which is no address */
	FIT_RING,     /* bytes: a power of two */
	FIT_EVENTS,   /* likewise */
	FIT_POWER,    /* of two */
	FIT_BIT,      /* of 32 */
	FIT_ANY,
};

struct operand {
	const char *name; /* of the member of struct payload_config that it depends on */
	size_t member, member_size;
	enum fit fit;
	uint8_t width; /* bytes in the code */
};

#define OPERAND(m, f, w)                                                                           \
	{                                                                                          \
#m, offsetof(struct payload_config, m),                                            \
			sizeof(((struct payload_config *)NULL)->m), f, w                           \
	}

static const struct operand operands[NR_PATCHES] = {
	[PATCH_WINDOW] = OPERAND(window, FIT_WINDOW, 4),
	[PATCH_CPU_NUMBER] = OPERAND(cpu_number, FIT_DISP, 4),
	[PATCH_CURRENT_TASK] = OPERAND(current_task, FIT_DISP, 4),
	[PATCH_PREEMPT_COUNT] = OPERAND(preempt_count, FIT_DISP, 4),
	[PATCH_PID] = OPERAND(task_pid, FIT_OFFSET, 4),
	[PATCH_TGID] = OPERAND(task_tgid, FIT_OPTIONAL, 4),
	[PATCH_COMM] = OPERAND(task_comm, FIT_OPTIONAL, 4),
	[PATCH_MIGRATION_DISABLED] = OPERAND(task_migration_disabled, FIT_OPTIONAL, 4),
	[PATCH_TASK_FLAGS] = OPERAND(task_flags, FIT_OPTIONAL, 4),
	[PATCH_NEED_RESCHED] = OPERAND(need_resched_bit, FIT_BIT, 1),
	[PATCH_RING_SHIFT] = OPERAND(ring_size, FIT_RING, 1),
	[PATCH_RING_MASK] = OPERAND(ring_size, FIT_RING, 4),
	[PATCH_RING_FULL] = OPERAND(ring_size, FIT_RING, 4),
	[PATCH_FULL_TIMEOUT] = OPERAND(full_timeout, FIT_ANY, 8),
	[PATCH_CALL_TIMEOUT] = OPERAND(call_timeout, FIT_ANY, 8),
	[PATCH_TEXT_MUTEX] = OPERAND(text_mutex, FIT_ADDRESS, 4),
	[PATCH_TASK_STACK] = OPERAND(task_stack, FIT_OPTIONAL, 4),
	[PATCH_STACK_MASK] = OPERAND(stack_size, FIT_POWER, 4),
	[PATCH_IRQ_STACK] = OPERAND(irq_stack, FIT_ADDRESS, 4),
	[PATCH_RETURN] = OPERAND(return_thunk, FIT_ADDRESS, SITE_SIZE),
	[PATCH_EVENT_SHIFT] = OPERAND(event_ring_size, FIT_EVENTS, 1),
	[PATCH_EVENT_MASK] = OPERAND(event_ring_size, FIT_EVENTS, 4),
	[PATCH_EVENT_FULL] = OPERAND(event_ring_size, FIT_EVENTS, 4),
	[PATCH_EVENT_RINGS] = OPERAND(event_rings, FIT_ADDRESS, 4),
	[PATCH_FBUFFER_EVENT] = OPERAND(fbuffer_event, FIT_OPTIONAL, 4),
	[PATCH_FBUFFER_FILE] = OPERAND(fbuffer_file, FIT_OPTIONAL, 4),
	[PATCH_CURRENT_KPROBE] = OPERAND(current_kprobe, FIT_ADDRESS, 4),
	[PATCH_IRQENTRY_ENTER] = OPERAND(irqentry_enter, FIT_ADDRESS, SITE_SIZE),
	[PATCH_DO_SYSCALL] = OPERAND(do_syscall, FIT_ADDRESS, SITE_SIZE),
	[PATCH_IDLE_ENTER] = OPERAND(idle_enter, FIT_ADDRESS, SITE_SIZE),
	[PATCH_IDLE_EXIT] = OPERAND(idle_exit, FIT_ADDRESS, SITE_SIZE),
	[PATCH_COUNT_ADD] = OPERAND(count_add, FIT_ADDRESS, SITE_SIZE),
	[PATCH_COUNT_SUB] = OPERAND(count_sub, FIT_ADDRESS, SITE_SIZE),
	[PATCH_BH_DISABLE] = OPERAND(bh_disable, FIT_ADDRESS, SITE_SIZE),
	[PATCH_MSLEEP] = OPERAND(msleep, FIT_ADDRESS, SITE_SIZE),
	[PATCH_TRACE_BUFFER] = OPERAND(trace_buffer, FIT_ADDRESS, 4),
	[PATCH_INSTANCE_DATA] = OPERAND(instance_data, FIT_OPTIONAL, 4),
	[PATCH_FBUFFER_ENTRY] = OPERAND(fbuffer_entry, FIT_OPTIONAL, 4),
};

static uint64_t member(const struct payload_config *cfg, const struct operand *op)
{
	uint64_t value = 0;

	/* x86 on both sides: little endian. */
	memcpy(&value, (const uint8_t *)cfg + op->member, op->member_size);
	return value;
}

static bool fits_disp(uint64_t value)
{
	return (int64_t)value >= INT32_MIN && (int64_t)value <= INT32_MAX;
}

static bool fits(enum fit fit, uint64_t value)
{
	switch (fit) {
	case FIT_DISP:
		return value != PAYLOAD_NONE && fits_disp(value);
	case FIT_ADDRESS:
		return fits_disp(value);
	case FIT_WINDOW:
		return fits_disp(value) && fits_disp(value + WINDOW_RINGS) &&
		       value + WINDOW_RINGS > value;
	case FIT_OPTIONAL:
		if (value == PAYLOAD_NONE)
			return true;
		__attribute__((fallthrough));
	case FIT_OFFSET:
		return value <= INT32_MAX - sizeof(((struct payload_record *)NULL)->comm);
	case FIT_EVENTS:
		return value > 2 * EVENT_RESERVE && !(value & (value - 1));
	case FIT_RING:
		return value >= 2 * RING_RESERVE << PAYLOAD_RECORD_SHIFT && !(value & (value - 1));
	case FIT_POWER:
		return value && value <= INT32_MAX && !(value & (value - 1));
	case FIT_BIT:
		return value < 32;
	case FIT_ANY:
		return true;
	}
	return false;
}

/* What the code gets for it. */
static uint64_t operand_value(unsigned int kind, uint64_t value)
{
	switch (kind) {
	case PATCH_NEED_RESCHED:
		return (STATE_NEED_RESCHED_SHIFT - value) & 31;
	case PATCH_RING_SHIFT:
	case PATCH_EVENT_SHIFT:
		return (uint64_t)__builtin_ctzll(value) - CTL_SHIFT;
	case PATCH_RING_MASK:
		return value - PAYLOAD_RECORD_SIZE;
	case PATCH_STACK_MASK:
	case PATCH_EVENT_MASK:
		return value - 1;
	case PATCH_RING_FULL:
		return (value >> PAYLOAD_RECORD_SHIFT) - RING_RESERVE;
	case PATCH_EVENT_FULL:
		return value - EVENT_RESERVE;
	default:
		return value;
	}
}

/* Added to what the code has there; an immediate takes its place. */
static bool is_displacement(enum fit fit)
{
	return fit <= FIT_OPTIONAL;
}

static void fill_return(uint8_t *buf, const struct payload_config *cfg, uint32_t off)
{
	uint64_t thunk = cfg->return_thunk == PAYLOAD_NONE ? 0 : cfg->return_thunk;

	site_return_make(buf + off, cfg->window + WINDOW_TEXT + off, thunk);
}

static bool is_jump(unsigned int kind)
{
	return kind != PATCH_RETURN && operands[kind].width == SITE_SIZE;
}

/* Where there is no such function nothing calls this code either. */
static void fill_jump(uint8_t *buf, const struct payload_config *cfg, const struct payload_patch *p)
{
	uint64_t target = member(cfg, &operands[p->kind]);

	if (target != PAYLOAD_NONE)
		site_return_make(buf + p->off, cfg->window + WINDOW_TEXT + p->off, target);
}

static void fill_in(uint8_t *buf, const struct payload_config *cfg, const struct payload_patch *p)
{
	const struct operand *op = &operands[p->kind];
	uint64_t value = 0;

	if (is_displacement(op->fit))
		memcpy(&value, buf + p->off, op->width);
	value += operand_value(p->kind, member(cfg, op));
	memcpy(buf + p->off, &value, op->width);
}

/* The NOPs that the processors' manuals advise. */
static void fill_nops(uint8_t *buf, size_t len)
{
	static const uint8_t nops[][9] = {
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40},
		{0x0f, 0x1f, 0x44},
		{0x66, 0x0f, 0x1f, 0x44},
		{0x0f, 0x1f, 0x80},
		{0x0f, 0x1f, 0x84},
		{0x66, 0x0f, 0x1f, 0x84},
	};

	while (len) {
		size_t n = len < ARRAY_SIZE(nops) ? len : ARRAY_SIZE(nops);

		memcpy(buf, nops[n - 1], n);
		buf += n;
		len -= n;
	}
}

static void describe_called(struct payload_text *text)
{
	static const struct {
		const uint8_t *entry;
		enum call_type type;
	} called[] = {
		{payload_work, CALL_TYPE_WORK},
		{payload_kprobe, CALL_TYPE_KPROBE},
		{payload_kprobe_stop, CALL_TYPE_KPROBE},
		{payload_kretprobe, CALL_TYPE_KRETPROBE},
		{payload_kretprobe_stop, CALL_TYPE_KRETPROBE},
		{payload_kretprobe_entry, CALL_TYPE_KRETPROBE},
		{payload_uprobe, CALL_TYPE_UPROBE},
		{payload_uprobe_stop, CALL_TYPE_UPROBE},
		{payload_uprobe_called, CALL_TYPE_UPROBE},
		{payload_uretprobe, CALL_TYPE_URETPROBE},
		{payload_uretprobe_stop, CALL_TYPE_URETPROBE},
	};

	_Static_assert(ARRAY_SIZE(called) == ARRAY_SIZE(text->called), "all of them");
	for (size_t i = 0; i < ARRAY_SIZE(called); i++) {
		text->called[i].entry = (uint32_t)(called[i].entry - payload_code);
		text->called[i].type = called[i].type;
	}
}

static void fill_types(uint8_t *buf, const struct payload_config *cfg,
		       const struct payload_text *text)
{
	_Static_assert(TYPE_SIZE == CALL_TYPE_SIZE, "there is room for it");
	for (size_t i = 0; i < ARRAY_SIZE(text->called); i++)
		memcpy(buf + text->called[i].entry - CALL_TYPE_SIZE,
		       cfg->type[text->called[i].type], CALL_TYPE_SIZE);
}

static void describe_changes(struct payload_text *text)
{
	text->preempt_inc = (uint32_t)(payload_preempt_inc - payload_code);
	text->preempt_dec = (uint32_t)(payload_preempt_dec - payload_code);
	text->bh_disable = (uint32_t)(payload_bh_disable - payload_code);
	text->bh_lock = (uint32_t)(payload_bh_lock - payload_code);
	text->bh_enable = (uint32_t)(payload_bh_enable - payload_code);
	text->softirq_enter = (uint32_t)(payload_softirq_enter - payload_code);
	text->softirq_exit = (uint32_t)(payload_softirq_exit - payload_code);
	text->hardirq_enter = (uint32_t)(payload_hardirq_enter - payload_code);
	text->hardirq_exit = (uint32_t)(payload_hardirq_exit - payload_code);
	text->count_add = (uint32_t)(payload_count_add - payload_code);
	text->count_sub = (uint32_t)(payload_count_sub - payload_code);
	text->bh_disable_call = (uint32_t)(payload_bh_disable_call - payload_code);
}

static void describe_probes(struct payload_text *text)
{
	text->kprobe = (uint32_t)(payload_kprobe - payload_code);
	text->kretprobe = (uint32_t)(payload_kretprobe - payload_code);
	text->kretprobe_entry = (uint32_t)(payload_kretprobe_entry - payload_code);
	text->kprobe_call = (uint32_t)(payload_kprobe_call - payload_code);
	text->kprobe_stop = (uint32_t)(payload_kprobe_stop - payload_code);
	text->kretprobe_stop = (uint32_t)(payload_kretprobe_stop - payload_code);
	text->kprobe_trap = (uint32_t)(payload_kprobe_trap - payload_code);
	text->tracepoint = (uint32_t)(payload_tracepoint - payload_code);
	text->tracepoint_stop = (uint32_t)(payload_tracepoint_stop - payload_code);
	text->uprobe = (uint32_t)(payload_uprobe - payload_code);
	text->uretprobe = (uint32_t)(payload_uretprobe - payload_code);
	text->uprobe_stop = (uint32_t)(payload_uprobe_stop - payload_code);
	text->uretprobe_stop = (uint32_t)(payload_uretprobe_stop - payload_code);
	text->uprobe_called = (uint32_t)(payload_uprobe_called - payload_code);
}

static void describe(struct payload_text *text)
{
	_Static_assert(ARRAY_SIZE(text->edge) == ARRAY_SIZE(((struct payload_header *)NULL)->edge),
		       "the header has room for them");
	text->function = (uint32_t)(payload_function - payload_code);
	text->call = (uint32_t)(payload_call - payload_code);
	text->lock = (uint32_t)(payload_lock - payload_code);
	text->lock_record = (uint32_t)(payload_lock_record - payload_code);
	text->stack = (uint32_t)(payload_stack - payload_code);
	text->depth = (uint32_t)(payload_depth - payload_code);
	text->depth_record = (uint32_t)(payload_depth_record - payload_code);
	text->exit = (uint32_t)(payload_exit - payload_code);
	text->exit_all = (uint32_t)(payload_exit_all - payload_code);
	text->reserve = (uint32_t)(payload_reserve - payload_code);
	text->reserve_rest = (uint32_t)(payload_reserve_rest - payload_code);
	text->commit = (uint32_t)(payload_commit - payload_code);
	text->commit_rest = (uint32_t)(payload_commit_rest - payload_code);
	text->reserve_look = (uint32_t)(payload_reserve_look - payload_code);
	text->reserve_trap = (uint32_t)(payload_reserve_trap - payload_code);
	text->commit_look = (uint32_t)(payload_commit_look - payload_code);
	text->commit_trap = (uint32_t)(payload_commit_trap - payload_code);
	text->event_data = (uint32_t)(payload_event_data - payload_code);
	text->event_data_rest = (uint32_t)(payload_event_data_rest - payload_code);
	text->ring_commit = (uint32_t)(payload_ring_commit - payload_code);
	text->ring_commit_rest = (uint32_t)(payload_ring_commit_rest - payload_code);
	text->branch = (uint32_t)(payload_branch - payload_code);
	text->branch_rest = (uint32_t)(payload_branch_rest - payload_code);
	text->print_trap = (uint32_t)(payload_print_trap - payload_code);
	text->cli = (uint32_t)(payload_cli - payload_code);
	text->sti = (uint32_t)(payload_sti - payload_code);
	text->irq_entry = (uint32_t)(payload_irq_entry - payload_code);
	text->syscall_entry = (uint32_t)(payload_syscall_entry - payload_code);
	text->irq_exit = (uint32_t)(payload_irq_exit - payload_code);
	text->user_exit = (uint32_t)(payload_user_exit - payload_code);
	text->idle = (uint32_t)(payload_idle - payload_code);
	text->idle_exit = (uint32_t)(payload_idle_exit - payload_code);
	text->moved_cli = (uint32_t)(payload_moved_cli - payload_code);
	text->moved_sti = (uint32_t)(payload_moved_sti - payload_code);
	text->moved_look = (uint32_t)(payload_moved_look - payload_code);
	text->moved_exit = (uint32_t)(payload_moved_exit - payload_code);
	describe_changes(text);
	text->tracing_off = (uint32_t)(payload_tracing_off - payload_code);
	text->tracing_off_rest = (uint32_t)(payload_tracing_off_rest - payload_code);
	text->tracing_on = (uint32_t)(payload_tracing_on - payload_code);
	text->tracing_on_rest = (uint32_t)(payload_tracing_on_rest - payload_code);
	text->switch_call = (uint32_t)(payload_switch_call - payload_code);
	describe_called(text);
	text->work = (uint32_t)(payload_work - payload_code);
	describe_probes(text);
	text->size = (uint32_t)(payload_code_end - payload_code);
	text->nr_edges = 0;
	for (const struct payload_edge *e = payload_edges; e != payload_edges_end; e++) {
		text->edge[text->nr_edges++] =
			(struct payload_way_out){.from = e->from, .to = e->to, .how = e->how};
	}
}

int payload_text_make(const struct payload_config *cfg, uint8_t *buf, struct payload_text *text,
		      const char **what)
{
	for (size_t i = 0; i < NR_PATCHES; i++) {
		if (!fits(operands[i].fit, member(cfg, &operands[i]))) {
			*what = operands[i].name;
			return member(cfg, &operands[i]) == PAYLOAD_NONE ? -ENOENT : -ERANGE;
		}
	}
	describe(text);
	memset(buf, 0xcc, WINDOW_TEXT_SIZE); /* int3 */
	memcpy(buf, payload_code, text->size);
	fill_types(buf, cfg, text);
	for (const struct payload_patch *p = payload_patches; p != payload_patches_end; p++) {
		if (p->kind == PATCH_RETURN)
			fill_return(buf, cfg, p->off);
		else if (is_jump(p->kind))
			fill_jump(buf, cfg, p);
		else
			fill_in(buf, cfg, p);
	}
	for (const struct payload_optional *o = payload_optional; o != payload_optional_end; o++) {
		if (member(cfg, &operands[o->kind]) == PAYLOAD_NONE)
			fill_nops(buf + o->from, o->to - o->from);
	}
	return 0;
}

void payload_form_make(const struct payload_form *form, uint64_t va,
		       uint8_t bytes[PAYLOAD_FORM_MAX])
{
	int32_t rel = (int32_t)(form->target - (va + form->size));

	memcpy(bytes, form->bytes, PAYLOAD_FORM_MAX);
	if (form->relative)
		memcpy(bytes + form->size - form->relative, &rel, sizeof(rel));
}
