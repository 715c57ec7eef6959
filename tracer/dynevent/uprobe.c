// SPDX-License-Identifier: GPL-2.0-or-later
/* uprobe.c - probes in user mode (kprobe.h): uprobe_events and uprobe_profile. */
#include "tracer/dynevent/uprobe-guest.h"
#include "tracer/dynevent/files.h"
#include "tracer/dynevent/kprobe.h"
#include "tracer/events/events.h"
#include "tracer/instance/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* A definition that is being made: its file is looked up before the rest of it is read. */
struct making {
	struct probe_events *p;
	struct probe_event *pe;
};

static int find_file(void *arg, const char *path, const char **why)
{
	struct making *m = arg;
	struct guest_probes *g = m->p->guest;
	const char *refused = guest_probes_why_not(g, PROBE_ROW_UPROBE);
	char err[256];
	int ret;

	if (!refused && guest_probes_open(g, err, sizeof(err)))
		refused = err;
	if (refused) {
		trace_note(m->p->t, "%s: no probe in user mode: %s", path, refused);
		return -EOPNOTSUPP;
	}
	if (*path != '/') { /* of nobody's directory in the guest */
		*why = "Failed to find the given file";
		return -ENOENT;
	}
	ret = guest_uprobe_find(g, path, &m->pe->guest, why);
	m->pe->in_guest = !ret;
	return ret;
}

bool uprobe_same_place(const struct probe_event *a, const struct probe_event *b)
{
	return a->guest.inode == b->guest.inode && a->def->offset == b->def->offset;
}

/* The kernel keeps one counter for each instruction. */
static int check_ref(const struct probe_events *p, const struct probe_event *pe)
{
	for (const struct probe_event *other = p->first; other; other = other->next) {
		if (other->def->kind != PROBE_UPROBE || !uprobe_same_place(other, pe) ||
		    other->def->ref == pe->def->ref)
			continue;
		trace_note(p->t, "%s:%s: an earlier probe at this instruction has another counter",
			   pe->def->group, pe->def->event);
		return -EINVAL;
	}
	return 0;
}

static int place(const struct probe_events *p, const struct probe_event *pe)
{
	const struct guest_uprobe_place place = {
		.is_return = pe->def->is_return,
		.offset = pe->def->offset,
		.ref = pe->def->ref,
	};

	return guest_uprobe_place(p->guest, &pe->guest, &place);
}

static int define(struct probe_events *p, const struct probe_words *words, struct probe_error *err)
{
	struct making m = {.p = p, .pe = calloc(1, sizeof(*m.pe))};
	const struct probe_symbols symbols = {
		.file = find_file,
		.has_char = probe_kernel_has_char(p->t),
		.has_names = probe_kernel_has_meta_args(p->t),
		.arg = &m,
	};
	int ret = m.pe ? uprobe_def_parse(words, &symbols, &m.pe->def, err) : -ENOMEM;

	if (!ret) {
		m.pe->probe = UINT32_MAX;
		ret = place(p, m.pe);
	}
	if (!ret)
		ret = check_ref(p, m.pe);
	if (!ret)
		ret = probe_event_add(p, m.pe, err);
	if (ret && m.pe)
		probe_event_discard(p, m.pe);
	return ret;
}

static int uprobe_event_define(struct trace *t, const char *line)
{
	return probe_line_define(t, line, define, "trace_uprobe");
}

const struct dyn_event_ops uprobe_event_ops = {
	.syntax =
		"  p[:[GROUP/][EVENT]] PATH:OFFSET[(REF)] [ARG...]   in a file that the guest runs\n"
		"  r[:[GROUP/][EVENT]] PATH:OFFSET[(REF)] [ARG...]   when the function there returns\n"
		"    PATH as the guest's init sees it; OFFSET in the file;\n"
		"    REF: where the file has a counter of who waits for hits (USDT)\n"
		"    FETCH, of user mode: %REGISTER @ADDRESS @+OFFSET $stackN $stack $retval $comm\n"
		"      \\IMMEDIATE +|-[u]OFFSET(FETCH)",
	.define = uprobe_event_define,
	.print = probe_event_print,
	.is_busy = probe_event_is_busy,
	.matches = probe_event_matches,
	.remove = probe_event_remove,
};

/* --- files.h --------------------------------------------------------------------------------- */

ssize_t trace_write_uprobe_events(struct trace *t, const char *text, size_t len)
{
	return dyn_events_write(t, &uprobe_event_ops, text, len);
}

int trace_clear_uprobe_events(struct trace *t)
{
	return dyn_events_clear(t, &uprobe_event_ops);
}

void trace_print_uprobe_events(struct trace *t, struct text *out)
{
	dyn_events_print(t, &uprobe_event_ops, out);
}

void trace_print_uprobe_profile(struct trace *t, struct text *out)
{
	struct probe_events *p = t->probe_events;

	events_lock(t->trace_events);
	for (struct probe_event *pe = p->first; pe; pe = pe->next) {
		uint64_t hits, missed;

		if (pe->def->kind != PROBE_UPROBE)
			continue;
		guest_probe_count(p->guest, pe->guest.row, &hits, &missed);
		text_printf(out, "  %s %-44s %15" PRIu64 "\n", pe->def->symbol, pe->def->event,
			    pe->def->is_return ? hits : hits + missed);
	}
	events_unlock(t->trace_events);
}
