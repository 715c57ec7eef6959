// SPDX-License-Identifier: GPL-2.0-or-later
/* print.c - what the hist file reads, and the line of a histogram in the trigger file.
 */
#include <inttypes.h>

#include "tracer/events/hist/internal.h"
#include "tracer/output/output.h"

#define BAR_LEN 20

/* Of the values that are shown in proportion. */
struct total {
	uint64_t max, sum;
};

struct printer {
	const struct event_trigger_owner *owner;
	const struct hist_spec *spec;
	struct total total[HIST_VALS_MAX];
	struct text *out;
};

static uint64_t key_word(const struct hist_field *field, const struct hist_entry *entry)
{
	uint64_t value;

	memcpy(&value, entry->key + field->offset, sizeof(value));
	return value;
}

/* %ps and %pS, padded to width. */
static void print_symbol(struct printer *p, uint64_t addr, bool offset, size_t width)
{
	size_t start = p->out->len;
	struct output_symbol sym = {0};

	if (p->owner->symbol(p->owner->arg, addr, &sym)) {
		text_puts(p->out, sym.name);
		if (offset)
			text_printf(p->out, "+0x%" PRIx64 "/0x%" PRIx64, sym.off, sym.size);
		if (sym.module)
			text_printf(p->out, " [%s]", sym.module);
	} else {
		text_printf(p->out, "0x%" PRIx64, addr);
	}
	while (!p->out->failed && p->out->len - start < width)
		text_putc(p->out, ' ');
}

static void print_stack(struct printer *p, const struct hist_field *field,
			const struct hist_entry *entry)
{
	uint64_t ips[HIST_STACK_DEPTH];

	memcpy(ips, entry->key + field->offset, sizeof(ips));
	text_printf(p->out, "%s:\n", hist_field_name(field));
	for (size_t i = 0; i < HIST_STACK_DEPTH && ips[i]; i++) {
		text_puts(p->out, "         ");
		print_symbol(p, ips[i], true, 0);
		text_putc(p->out, '\n');
	}
}

static void print_syscall(struct printer *p, uint64_t nr)
{
	const char *name = p->owner->syscall_name(p->owner->arg, nr);

	text_printf(p->out, "%-30s[%3" PRIu64 "]", name ? name : "unknown_syscall", nr);
}

static void print_key(struct printer *p, const struct hist_field *field,
		      const struct hist_entry *entry)
{
	unsigned int flags = field->flags;
	uint64_t value = key_word(field, entry);

	if (flags & HIST_STACKTRACE) {
		print_stack(p, field, entry);
		return;
	}
	text_printf(p->out, "%s: ", hist_field_name(field));
	if (flags & HIST_HEX) {
		text_printf(p->out, "%" PRIx64, value);
	} else if (flags & (HIST_SYM | HIST_SYM_OFFSET)) {
		text_printf(p->out, "[%" PRIx64 "] ", value);
		print_symbol(p, value, flags & HIST_SYM_OFFSET, flags & HIST_SYM ? 45 : 55);
	} else if (flags & HIST_EXECNAME) {
		text_printf(p->out, "%-16.16s[%10" PRIu64 "]", entry->comm, value);
	} else if (flags & HIST_SYSCALL) {
		print_syscall(p, value);
	} else if (flags & HIST_LOG2) {
		text_printf(p->out, "~ 2^%-2" PRIu64, value);
	} else if (flags & HIST_BUCKETS) {
		text_printf(p->out, "~ %" PRIu64 "-%" PRIu64, value, value + field->buckets - 1);
	} else if (flags & HIST_STRING) {
		text_printf(p->out, "%-50s", (const char *)entry->key + field->offset);
	} else {
		text_printf(p->out, "%10" PRIu64, value);
	}
}

/* In hundredths of a percent. False: it cannot be told. */
static bool proportion(uint64_t value, uint64_t total, uint64_t *part)
{
	*part = 0;
	if (total && value < UINT64_MAX / 10000) {
		*part = value * 10000 / total;
		return true;
	}
	total /= 10000;
	if (total)
		*part = value / total;
	return total || !value;
}

static void print_bar(struct text *out, uint64_t value, uint64_t max)
{
	char bar[BAR_LEN + 1];
	uint64_t part;

	if (!proportion(value, max, &part)) {
		text_printf(out, "%20s", "[ERROR]");
		return;
	}
	for (uint64_t i = 0; i < BAR_LEN; i++)
		bar[i] = i < part * BAR_LEN / 10000 ? '#' : ' ';
	bar[BAR_LEN] = '\0';
	text_puts(out, bar);
}

static void print_percent(struct text *out, uint64_t value, uint64_t sum)
{
	uint64_t part;

	if (proportion(value, sum, &part))
		text_printf(out, " %3" PRIu64 ".%02" PRIu64, part / 100, part % 100);
	else
		text_puts(out, "[ERROR]");
}

static void print_val(struct printer *p, unsigned int i, const struct hist_entry *entry)
{
	const struct hist_field *field = &p->spec->fields[i];
	uint64_t value = entry->sum[i];

	text_printf(p->out, " %s", i ? hist_field_name(field) : "hitcount");
	if (field->flags & HIST_PERCENT) {
		text_puts(p->out, " (%):");
		print_percent(p->out, value, p->total[i].sum);
		return;
	}
	text_puts(p->out, ": ");
	if (field->flags & HIST_GRAPH)
		print_bar(p->out, value, p->total[i].max);
	else if (field->flags & HIST_HEX)
		text_printf(p->out, "%10" PRIx64, value);
	else
		text_printf(p->out, "%10" PRIu64, value);
}

static void print_saved(struct printer *p, const struct hist_vars *vars)
{
	for (unsigned int i = 0; i < p->spec->nr_save_vars; i++) {
		const struct hist_field *var = p->spec->save_var[i].var;

		if (var->string != HIST_NO_STRING)
			text_printf(p->out, "  %s: %-32.256s", var->var, vars->str[var->string]);
		else
			text_printf(p->out, "  %s: %10" PRIu64, var->var, vars->val[var->slot]);
	}
}

/* What onmax and onchange have found. */
static void print_tracks(struct printer *p, struct hist_entry *entry)
{
	const struct hist_vars *vars = hist_entry_vars(p->spec, entry);

	for (unsigned int i = 0; i < p->spec->nr_actions; i++) {
		const struct hist_action *a = &p->spec->action[i];

		if (a->act == HIST_SNAPSHOT || a->handler == HIST_ONMATCH)
			continue;
		text_puts(p->out, a->handler == HIST_ONMAX ? "\n\tmax: " : "\n\tchanged: ");
		text_printf(p->out, "%10" PRIu64, vars->val[a->track_slot]);
		print_saved(p, vars);
	}
}

static void print_keys(struct printer *p, const struct hist_entry *entry)
{
	const struct hist_spec *spec = p->spec;
	bool lines = false;

	text_puts(p->out, "{ ");
	for (unsigned int i = spec->nr_vals; i < spec->nr_fields; i++) {
		if (i > spec->nr_vals)
			text_puts(p->out, ", ");
		print_key(p, &spec->fields[i], entry);
		lines |= (spec->fields[i].flags & HIST_STACKTRACE) != 0;
	}
	text_puts(p->out, lines ? "}" : " }");
}

/* The kernel does not show what was computed. */
static void print_entry(struct printer *p, struct hist_entry *entry)
{
	const struct hist_spec *spec = p->spec;

	print_keys(p, entry);
	for (unsigned int i = spec->no_hitcount; i < spec->nr_vals; i++) {
		if (spec->fields[i].flags & HIST_EXPR)
			continue;
		if (i)
			text_putc(p->out, ' ');
		print_val(p, i, entry);
	}
	print_tracks(p, entry);
	text_putc(p->out, '\n');
}

/* The one that it has taken of the buffer, and what for. */
static void print_snapshot(struct printer *p)
{
	const struct hist_snapshot *s = p->owner->vars->snapshot;
	_Alignas(struct hist_entry) uint8_t memory[sizeof(struct hist_entry) + HIST_KEY_SIZE_MAX];
	struct hist_entry *entry = (struct hist_entry *)memory;

	if (!s || s->spec != p->spec || !s->taken)
		return;
	text_printf(p->out,
		    "\nSnapshot taken (see tracing/snapshot).  Details:\n"
		    "\ttriggering value { %s(%s) }: %10" PRIu64 "\ttriggered by event with key: ",
		    s->action->handler == HIST_ONMAX ? "onmax" : "onchange", s->action->var,
		    s->val);
	memcpy(entry->comm, s->comm, sizeof(s->comm));
	memcpy(entry->key, s->key, sizeof(s->key));
	print_keys(p, entry);
	text_putc(p->out, '\n');
}

static void add_up(struct printer *p, const struct hist_view *view)
{
	for (size_t i = 0; i < view->nr; i++)
		for (unsigned int val = 0; val < p->spec->nr_vals; val++) {
			uint64_t value = view->entry[i]->sum[val];

			p->total[val].sum += value;
			if (p->total[val].max < value)
				p->total[val].max = value;
		}
}

void hist_print(struct event_trigger *trigger, struct text *out)
{
	struct printer p = {.owner = trigger->at->owner, .spec = trigger->hist->spec, .out = out};
	struct hist_view view = {0};

	text_puts(out, "# event histogram\n#\n# trigger info: ");
	hist_trigger_print(trigger, out);
	text_puts(out, "#\n\n");
	if (hist_map_view(trigger->hist->map, &view))
		out->failed = true;
	hist_view_sort(&view, p.spec, p.owner->kernel.version);
	add_up(&p, &view);
	for (size_t i = 0; i < view.nr; i++)
		print_entry(&p, view.entry[i]);
	print_snapshot(&p);
	text_printf(out,
		    "\nTotals:\n    Hits: %" PRIu64 "\n    Entries: %zu\n    Dropped: %" PRIu64
		    "\n",
		    view.hits, view.nr, view.drops);
	hist_view_free(&view);
}

static void print_sort(const struct hist_spec *spec, struct text *out)
{
	for (unsigned int i = 0; i < spec->nr_sort; i++) {
		const struct hist_sort *sort = &spec->sort[i];

		text_puts(out, i ? "," : ":sort=");
		if (sort->field)
			hist_field_print(&spec->fields[sort->field], out);
		else
			text_puts(out, "hitcount");
		if (sort->descending)
			text_puts(out, ".descending");
	}
}

void hist_trigger_print(struct event_trigger *trigger, struct text *out)
{
	const struct hist_spec *spec = trigger->hist->spec;

	text_puts(out, "hist:");
	if (spec->name)
		text_printf(out, "%s:", spec->name);
	for (unsigned int i = spec->nr_vals; i < spec->nr_fields; i++) {
		text_puts(out, i == spec->nr_vals ? "keys=" : ",");
		hist_field_print(&spec->fields[i], out);
	}
	text_puts(out, spec->no_hitcount ? ":vals=" : ":vals=hitcount");
	for (unsigned int i = 1; i < spec->nr_vals; i++) {
		if (i > spec->no_hitcount)
			text_putc(out, ',');
		hist_field_print(&spec->fields[i], out);
	}
	for (unsigned int i = 0; i < spec->nr_vars; i++) {
		text_putc(out, i ? ',' : ':');
		hist_field_print(spec->var[i], out);
	}
	print_sort(spec, out);
	text_printf(out, ":size=%u", 1U << spec->bits);
	if (spec->timestamps)
		text_printf(out, ":clock=%s", spec->clock);
	if (spec->no_hitcount)
		text_puts(out, ":nohitcount");
	hist_actions_print(spec, out);
	if (trigger->filter_text)
		text_printf(out, " if %s", trigger->filter_text);
	text_puts(out, trigger->paused ? " [paused]\n" : " [active]\n");
}
