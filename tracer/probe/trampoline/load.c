// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load.c - the payload's code: what it is told of the kernel, and its way into the
 * window.
 */
#include "tracer/probe/trampoline/internal.h"
#include "tracer/guest/call-type.h"
#include "tracer/guest/tasks.h"
#include "tracer/payload/event-ring.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/window/detour.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * How long the guest may wait for its host (payload.h): a call is answered within milliseconds,
 * but text is patched while it waits, a busy host takes its time, and going on without an answer
 * means that the guest patches text which is not as it expects. It is less than any of the kernel's
 * watchdogs allows (20 s). A full ring is emptied within milliseconds, too, and who asks for no
 * losses would rather have the guest wait for a busy host.
 */
#define CALL_TIMEOUT_MS 10000
#define FULL_TIMEOUT_MS 1000

static uint64_t none_or(uint64_t offset)
{
	return offset == GUEST_NONE ? PAYLOAD_NONE : offset;
}

static uint64_t percpu(const struct guest_kernel *g, uint64_t var)
{
	return var == GUEST_NONE ? PAYLOAD_NONE : guest_percpu_disp(g, var);
}

static uint64_t field_or_none(const struct trace *t, const char *path)
{
	struct guestsym_field f;

	return guestsym_field(t->gs, path, &f) ? PAYLOAD_NONE : f.offset;
}

static uint64_t address_or_none(const struct trace *t, const char *name)
{
	uint64_t addr = guestsym_addr(t->gs, name);

	return addr ? addr + t->guest.slide : PAYLOAD_NONE;
}

static uint64_t address_of_either(const struct trace *t, const char *name, const char *older)
{
	uint64_t addr = address_or_none(t, name);

	return addr == PAYLOAD_NONE ? address_or_none(t, older) : addr;
}

static void config_fill(struct trace *t, const struct trampoline *tr, struct payload_config *cfg)
{
	const struct payload_header *h = &tr->window.header;
	const struct guest_layout *at = &t->guest.at;
	uint64_t text_mutex = guestsym_addr(t->gs, "text_mutex"),
		 kprobe = guestsym_addr(t->gs, "current_kprobe");
	struct task_layout tasks;
	bool stacks = !task_layout_learn(&tasks, t->gs, &t->guest);
	struct machine_info info;

	machine_get_info(t->m, &info);
	*cfg = (struct payload_config){
		.window = h->va,
		.ring_size = h->ring_size,
		.cpu_number = percpu(&t->guest, at->cpu_number),
		.current_task = percpu(&t->guest, at->current_task),
		.preempt_count = percpu(&t->guest, at->preempt_count),
		.current_kprobe = kprobe ? guest_percpu_disp(&t->guest, kprobe) : PAYLOAD_NONE,
		.instance_data = field_or_none(t, "kretprobe_instance.data"),
		.task_pid = none_or(at->task_pid),
		.task_tgid = none_or(at->task_tgid),
		.task_comm = none_or(at->task_comm),
		.task_migration_disabled = none_or(at->task_migration_disabled),
		.task_flags = none_or(at->task_flags),
		.irq_stack = at->irq_stack == GUEST_NONE ? PAYLOAD_NONE
							 : percpu(&t->guest, at->irq_stack),
		.task_stack = stacks ? tasks.stack : PAYLOAD_NONE,
		.stack_size = stacks ? (uint32_t)tasks.stack_size : 1,
		.need_resched_bit = GUEST_TIF_NEED_RESCHED,
		.return_thunk = returns_thunk(t) ? returns_thunk(t) : PAYLOAD_NONE,
		.text_mutex = text_mutex ? text_mutex + t->guest.slide : PAYLOAD_NONE,
		.call_timeout = info.tsc_khz * CALL_TIMEOUT_MS,
		.full_timeout = t->cfg.lossless ? info.tsc_khz * FULL_TIMEOUT_MS : PAYLOAD_NONE,
		.irqentry_enter = address_or_none(t, "irqentry_enter"),
		.do_syscall = address_or_none(t, "do_syscall_64"),
		.idle_enter = address_of_either(t, "ct_idle_enter", "rcu_idle_enter"),
		.idle_exit = address_of_either(t, "ct_idle_exit", "rcu_idle_exit"), /* until 6.0 */
		.count_add = address_or_none(t, "preempt_count_add"),
		.count_sub = address_or_none(t, "preempt_count_sub"),
		.bh_disable = address_or_none(t, "__local_bh_disable_ip"),
		.msleep = address_or_none(t, "msleep"),
		.event_rings = h->va + event_ring_at(h, 0),
		.event_ring_size = h->event_ring_size,
		.fbuffer_event = field_or_none(t, "trace_event_buffer.event"),
		.fbuffer_file = field_or_none(t, "trace_event_buffer.trace_file"),
		.fbuffer_entry = field_or_none(t, "trace_event_buffer.entry"),
		.trace_buffer = trampoline_guest_buffer(t),
	};
}

/* Who has one called asks whether its type is known. */
static void types_fill(struct trace *t, struct payload_config *cfg)
{
	for (unsigned int i = 0; i < CALL_TYPES; i++)
		call_type_read(t->gs, &t->guest, i, cfg->type[i]);
}

int trampoline_types(struct trace *t)
{
	struct trampoline *tr = t->tramp;
	int ret = 0;

	machine_pause_for(t->m, "telling the guest's kernel what it may call");
	for (size_t i = 0; i < PAYLOAD_CALLED && !ret; i++) {
		uint8_t type[CALL_TYPE_SIZE];

		call_type_read(t->gs, &t->guest, tr->text.called[i].type, type);
		ret = window_write_text(&tr->window,
					WINDOW_TEXT + tr->text.called[i].entry - CALL_TYPE_SIZE,
					type, sizeof(type));
	}
	machine_resume(t->m);
	return ret;
}

int trampoline_load(struct trace *t, struct trampoline *tr, char *err, size_t errlen)
{
	struct payload_header *h = &tr->window.header;
	uint8_t code[WINDOW_TEXT_SIZE];
	struct payload_config cfg;
	const char *what;
	int ret;

	config_fill(t, tr, &cfg);
	types_fill(t, &cfg);
	ret = payload_text_make(&cfg, code, &tr->text, &what);
	if (ret) {
		snprintf(err, errlen,
			 ret == -ENOENT ? "the kernel does not say where its %s is"
					: "the kernel's %s does not fit into the payload",
			 what);
		return ret;
	}
	detours_keep(&tr->window, code);
	h->text_size = tr->text.size;
	h->nr_edges = tr->text.nr_edges;
	memcpy(h->edge, tr->text.edge, sizeof(h->edge));
	h->exit = tr->text.exit;
	h->exit_all = tr->text.exit_all;
	h->work = tr->text.work;
	h->return_thunk = returns_thunk(t);
	flag_sites_describe(t, &tr->text, h->form);
	ret = window_write_text(&tr->window, WINDOW_TEXT, code, sizeof(code));
	if (!ret)
		ret = window_write(&tr->window, WINDOW_HEADER, h, sizeof(*h));
	if (ret)
		snprintf(err, errlen, "the payload cannot be written into the guest: %s",
			 strerror(-ret));
	return ret;
}

int trampoline_returns(struct trace *t)
{
	char err[256];

	return trampoline_load(t, t->tramp, err, sizeof(err));
}

uint64_t trampoline_guest_buffer(const struct trace *t)
{
	uint64_t tr = trace_runtime(t, "global_trace");
	struct guestsym_field f;

	if (!tr || guestsym_field(t->gs, "trace_array.array_buffer.buffer", &f) || f.size != 8)
		return PAYLOAD_NONE;
	return tr + f.offset;
}
