// SPDX-License-Identifier: GPL-2.0-or-later
/* boot-text.c - a boot as tables, and for programs. */
#include "frontend/jobs/boot.h"

#include "frontend/lib/json.h"
#include "frontend/report/duration.h"
#include "frontend/report/render.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LEVEL = 9 }; /* letters of its column */

static void put_time(uint64_t ns, struct text *out)
{
	text_printf(out, "%8" PRIu64 ".%06" PRIu64, ns / 1000000000, ns / 1000 % 1000000);
}

static void put_summary(const struct boot *b, struct text *out)
{
	uint64_t sum = 0;
	char ns[DURATION_LEN];

	for (size_t i = 0; i < b->nr_calls; i++)
		sum += b->call[i].to - b->call[i].from;
	text_printf(out, "# boot: %zu initcalls, %s in all", b->nr_calls, duration_text(sum, ns));
	if (b->user) {
		text_printf(out, "; the first program%s", *b->program ? ", " : "");
		render_name(b->program, out);
		text_printf(out, " began at %s", duration_text(b->user, ns));
	}
	text_putc(out, '\n');
}

static void put_phases(const struct boot *b, struct text *out)
{
	struct boot_phase phase[BOOT_PHASES_MAX];
	size_t nr = boot_phases(b, phase);
	char ns[DURATION_LEN];

	text_printf(out, "%15s %10s %10s  %s\n", "FROM", "TOOK", "INITCALLS", "PHASE");
	for (size_t i = 0; i < nr; i++) {
		put_time(phase[i].from, out);
		text_printf(out, " %10s ", duration_text(phase[i].to - phase[i].from, ns));
		if (phase[i].level >= 0)
			text_printf(out, "%10u  ", phase[i].calls);
		else
			text_printf(out, "%10s  ", "");
		render_name(phase[i].name, out);
		text_putc(out, '\n');
	}
}

static void put_call(const struct boot *b, const struct boot_call *c, struct text *out)
{
	char ns[DURATION_LEN];
	size_t at;

	put_time(c->from, out);
	text_printf(out, " %10s %4u ", duration_text(c->to - c->from, ns), c->cpu);
	if (c->ended)
		text_printf(out, "%7" PRId64, c->ret);
	else
		text_printf(out, "%7s", "-");
	text_puts(out, "  ");
	at = out->len;
	render_name(b->level[c->level].name, out);
	text_printf(out, "%*s ", out->len - at < LEVEL ? (int)(LEVEL - (out->len - at)) : 0, "");
	render_name(c->name, out);
	text_putc(out, '\n');
}

void boot_render_text(const struct boot *b, const struct boot_view *view, struct text *out)
{
	uint32_t *idx = calloc(view->rows + 1, sizeof(*idx));
	size_t nr = idx ? boot_slowest(b, view, idx) : 0;

	out->failed |= !idx;
	put_summary(b, out);
	put_phases(b, out);
	text_printf(out, "\n%15s %10s %4s %7s  %-9s %s\n", "FROM", "TOOK", "CPU", "RETURN", "LEVEL",
		    nr < b->nr_calls ? "SLOWEST INITCALLS" : "INITCALL");
	for (size_t i = 0; i < nr; i++)
		put_call(b, &b->call[idx[i]], out);
	free(idx);
}

/* --- for programs -------------------------------------------------------------------------------
 */

static void json_phases(const struct boot *b, struct json *j)
{
	struct boot_phase phase[BOOT_PHASES_MAX];
	size_t nr = boot_phases(b, phase);

	json_begin_rows(j, "phases");
	for (size_t i = 0; i < nr; i++) {
		json_begin_object(j, NULL);
		json_put_text(j, "name", phase[i].name);
		json_put_number(j, "from_ns", phase[i].from);
		json_put_number(j, "to_ns", phase[i].to);
		json_put_number(j, "initcalls", phase[i].calls);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_call(const struct boot *b, const struct boot_call *c, struct json *j)
{
	json_begin_object(j, NULL);
	json_put_text(j, "name", c->name);
	json_put_text(j, "level", b->level[c->level].name);
	json_put_number(j, "from_ns", c->from);
	json_put_number(j, "ns", c->to - c->from);
	json_put_signed(j, "pid", c->pid);
	json_put_number(j, "cpu", c->cpu);
	if (c->ended)
		json_put_signed(j, "return", c->ret);
	else
		json_put_null(j, "return");
	json_end_object(j);
}

void boot_json(const struct boot *b, const struct boot_view *view, FILE *out)
{
	uint32_t *idx = calloc(view->rows + 1, sizeof(*idx));
	size_t nr = idx ? boot_slowest(b, view, idx) : 0;
	struct json j = {.out = out};

	json_begin_object(&j, NULL);
	json_put_number(&j, "initcalls", b->nr_calls);
	json_put_number(&j, "until_ns", b->until);
	if (b->user) {
		json_put_number(&j, "first_program_ns", b->user);
		json_put_text(&j, "first_program", b->program);
	}
	json_phases(b, &j);
	json_begin_rows(&j, "slowest");
	for (size_t i = 0; i < nr; i++)
		json_call(b, &b->call[idx[i]], &j);
	json_end_array(&j);
	json_end_object(&j);
	free(idx);
}
